// priosched-1.d.ts: types of PrioSched in GJS, in the form of @girs
//
// Name this file in the "include" of tsconfig.json, beside the packages @girs/gjs and @girs/gio-2.0. It declares
// nothing global but the namespace in imports.gi, as those packages do.
//
// tests/bindings/check-types-gjs.py compares the names with the GIR and with the names in GJS.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/// <reference path="priosched-1-react.d.ts" />
/// <reference path="priosched-1-web.d.ts" />
/// <reference path="priosched-1-inside.d.ts" />

declare module 'gi://PrioSched?version=1' {
    import PrioSched from '@girs/priosched-1';
    export default PrioSched;
}

declare module 'gi://PrioSched' {
    import PrioSched from '@girs/priosched-1';
    export default PrioSched;
}

interface GjsGiImports {
    PrioSched: typeof import('@girs/priosched-1').default;
}

declare module '@girs/priosched-1' {
    import type GLib from 'gi://GLib?version=2.0';
    import type GObject from 'gi://GObject?version=2.0';
    import type Gio from 'gi://Gio?version=2.0';

    export default PrioSched;

    export namespace PrioSched {
        const MAJOR_VERSION: number;
        const MINOR_VERSION: number;
        const MICRO_VERSION: number;

        /** The ability of the native part for GJS: with 'state', the state of a task crosses every promise. */
        const nativePart: 'none' | 'speed' | 'state';

        /** The name of a priority, as the web has it. */
        type Nick = 'background' | 'user-visible' | 'user-blocking';

        /** How urgent a task is. */
        enum TaskPriority {
            /** no priority, where a priority is optional */
            UNSET,
            /** work that no user waits for: logs, caches, indexes */
            BACKGROUND,
            /** work that the user can see, but does not wait for; the default */
            USER_VISIBLE,
            /** work that the user waits for */
            USER_BLOCKING,
        }
        namespace TaskPriority {
            const $gtype: GObject.GType<TaskPriority>;
        }

        /** The stages in the life of a Task. */
        enum TaskState {
            PENDING,
            RUNNING,
            FULFILLED,
            FAILED,
            ABORTED,
        }
        namespace TaskState {
            const $gtype: GObject.GType<TaskState>;
        }

        /** The outcome of a post to a Runner. */
        enum PostResult {
            REJECTED,
            OUTSIDE,
            INSIDE,
        }
        namespace PostResult {
            const $gtype: GObject.GType<PostResult>;
        }

        /** Flags of a yield, for the options that its continuation inherits. */
        enum YieldFlags {
            NONE = 0,
            DROP_SIGNAL = 1,
            DROP_PRIORITY = 2,
            KEEP_PRIORITY = 4,
        }
        namespace YieldFlags {
            const $gtype: GObject.GType<YieldFlags>;
        }

        /** The event that ends a wait with TaskGroup.wait_async(). */
        enum TaskGroupWait {
            DRAINED,
            ALL,
            ANY,
            FIRST,
        }
        namespace TaskGroupWait {
            const $gtype: GObject.GType<TaskGroupWait>;
        }

        /** How a stopping worker ends its queued tasks. */
        enum ChannelPace {
            EACH = 0,
            TURN = 1,
            FRAME = 2,
        }
        namespace ChannelPace {
            const $gtype: GObject.GType<ChannelPace>;
        }
        enum WorkerStop {
            ABORT,
            FINISH,
        }
        namespace WorkerStop {
            const $gtype: GObject.GType<WorkerStop>;
        }

        class Error extends GLib.Error {
            static $gtype: GObject.GType<GLib.Error>;
            /** A signal's priority cannot be changed while its change is being announced. */
            static NOT_ALLOWED: number;
            /** The main context was destroyed before the task ran. */
            static CLOSED: number;
            /** The result of the task was deferred, and the task was dropped without a result. */
            static DROPPED: number;
            constructor(options: {message: string, code: number});
            static quark(): GLib.Quark;
        }

        interface IdleFunc {
            (deadline: IdleDeadline): void;
        }
        interface RunnerFunc {
            (id: number): void;
        }
        interface FeedFunc {
            (group: TaskGroup): Task | null;
        }
        interface RowFunc {
            (group: TaskGroup, item: any, position: number, signal: TaskSignal): Task | null;
        }
        interface TaskFunc {
            (task: Task): void;
        }
        interface TaskReadyCallback {
            (source_object: GObject.Object | null, task: Task): void;
        }

        function error_quark(): GLib.Quark;
        function idle_deadline_get_current(): IdleDeadline | null;
        function runner_end(): boolean;
        function runner_next(): number;
        function scheduling_state_ref_current(): SchedulingState | null;
        /** Writes a trace in the Chrome trace event format to a duplicate of the file descriptor fd, such as a
         * Gio.FileOutputStream's. */
        function trace_start(fd: number): boolean;
        function trace_stop(): void;

        /** The options of tasks, without timeouts. */
        interface PostTaskOptions {
            priority?: Nick | TaskPriority | null;
            /** A signal that may abort the task. */
            signal?: Gio.Cancellable | null;
            /** In whole milliseconds. */
            delay?: number;
            name?: string;
            /** Whether its continuations wait behind queued tasks of the same priority. */
            takesTurns?: boolean; takes_turns?: boolean;
        }

        /** The options of a TaskGroup. */
        interface TaskGroupOptions {
            /** By default the default main context's; hold another one while you use the group. */
            scheduler?: Scheduler;
            /** The most tasks that run at a time, a whole number from 1; by default Infinity. */
            limit?: number;
            priority?: Nick | TaskPriority;
        }

        /** Options of the tasks of TaskGroup.feed(). */
        interface FeedOptions {
            priority?: Nick | TaskPriority | null;
            /** Aborts the tasks, and the feed, as an abort of the group does. */
            signal?: Gio.Cancellable | null;
            name?: string;
        }

        /** Options of waits for a TaskGroup. */
        interface WaitOptions {
            /** A signal that ends only this wait. */
            signal?: Gio.Cancellable | null;
        }

        /** Options of Scheduler.yield(). */
        interface YieldTaskOptions {
            signal?: Gio.Cancellable | 'inherit' | null;
            priority?: Nick | TaskPriority | 'inherit' | null;
            /** Whether the continuation waits behind queued tasks of the same priority. */
            takesTurns?: boolean; takes_turns?: boolean;
        }

        namespace Scheduler {
            interface SignalSignatures extends GObject.Object.SignalSignatures {
                'notify::context': (pspec: GObject.ParamSpec) => void;
                'notify::next-frame': (pspec: GObject.ParamSpec) => void;
                'notify::paused': (pspec: GObject.ParamSpec) => void;
                'notify::time-slice': (pspec: GObject.ParamSpec) => void;
                'notify::lends-priority': (pspec: GObject.ParamSpec) => void;
                'notify::frame-share': (pspec: GObject.ParamSpec) => void;
            }
            interface ConstructorProps extends GObject.Object.ConstructorProps {
                context: GLib.MainContext | null;
                next_frame: number; nextFrame: number;
                time_slice: number; timeSlice: number;
                frame_share: number; frameShare: number;
                lends_priority: boolean; lendsPriority: boolean;
            }
        }

        /**
         * The error of an abort: `error instanceof PrioSched.AbortError` is true for GIO's error of a cancelled operation, which is
         * the reason by default, for the web's AbortError, and for reasons that are derived from this class.
         */
        class AbortError extends globalThis.Error {
            constructor(message?: string);
        }

        /** The result of latest(). */
        interface Latest<A extends unknown[], T> {
            (...args: A): Promise<Awaited<T> | undefined>;
            /** Aborts the current run, if any. */
            abort(): void;
        }

        /** Runs prioritized tasks in a main context. */
        class Scheduler extends GObject.Object {
            static $gtype: GObject.GType<Scheduler>;
            $signals: Scheduler.SignalSignatures;
            /** The main context that the tasks run in. */
            get context(): GLib.MainContext;
            /** When the next frame is due, in microseconds of GLib.get_monotonic_time(), or 0. */
            get next_frame(): number; set next_frame(value: number);
            get nextFrame(): number; set nextFrame(value: number);
            get paused(): boolean;
            /** The signal of the running task, of any scheduler, to post other tasks with; null outside any task.  Without a signal it is never
             * aborted; if the task has its own priority, that is the signal's. */
            get current_signal(): TaskSignal | null; get currentSignal(): TaskSignal | null;
            /** How long tasks run before every other source has its turn, in microseconds. */
            get time_slice(): number; set time_slice(value: number);
            get timeSlice(): number; set timeSlice(value: number);
            /** The share of time that tasks have beside a window that is slow to draw, from 0 to 0.9. */
            get frame_share(): number; set frame_share(value: number);
            get frameShare(): number; set frameShare(value: number);
            get lends_priority(): boolean; set lends_priority(value: boolean);
            get lendsPriority(): boolean; set lendsPriority(value: boolean);
            constructor(properties?: Partial<Scheduler.ConstructorProps>, ...args: any[]);
            _init(...args: any[]): void;
            static ['new'](context: GLib.MainContext | null): Scheduler;
            /** The scheduler of the default main context. */
            static get_default(): Scheduler;
            static ref_thread_default(): Scheduler;
            /** Returns all live schedulers, of any main context, the oldest first. */
            static list_all(): Scheduler[];
            connect<K extends keyof Scheduler.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, Scheduler.SignalSignatures[K]>): number;
            connect(signal: string, callback: (...args: any[]) => any): number;
            connect_after<K extends keyof Scheduler.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, Scheduler.SignalSignatures[K]>): number;
            connect_after(signal: string, callback: (...args: any[]) => any): number;
            /** Posts a task. The promise settles with the callback's result or exception, or with the reason of an abort.  A generator function is a
             * TypeError: use post_steps(). */
            post_task<T>(callback: () => T, options?: TimedTaskOptions | null): Promise<Awaited<T>>;
            /** Lets more urgent work run first, and continues with the task's signal and priority. */
            yield(options?: YieldTaskOptions | null): Promise<void>;
            /** Waits that many milliseconds, and continues the task: under its signal and priority unless others are given. */
            sleep(delay: number, options?: YieldTaskOptions | null): Promise<void>;
            /** Posts a task that steps a generator as long as the slice lasts, then yields. Settles with the generator's result; calls progress with
             * the last value of each slice. */
            post_steps<V, T>(make: () => Generator<V | Promise<unknown>, T, any>, options?: StepsOptions<V> | null): Promise<T>;
            /** Iterates over items, and yields between two of them if should_yield() returns true. */
            each<T>(items: AsyncIterable<T>): AsyncIterableIterator<T>;
            each<T>(items: Iterable<T>): AsyncIterableIterator<Awaited<T>>;
            /** Returns a function that calls job as a task; its next call aborts the previous run, whose promise is
             * then fulfilled with undefined. */
            latest<A extends unknown[], T>(job: (...args: A) => T,
                options?: {priority?: Nick | TaskPriority, signal?: Gio.Cancellable | null}): Latest<A, T>;
            /** Settles as promise does, and continues the current task. */
            adopt<T>(promise: T): Promise<Awaited<T>>;
            /** Calls a function before the next task. */
            queue_microtask(callback: () => void): void;
            /** Calls a function when nothing else is to do, or after the timeout, in milliseconds. */
            request_idle_callback(callback: IdleFunc, timeout?: number): number;
            cancel_idle_callback(id: number): void;
            /** Posts a task without a result, which is called again as long as it returns GLib.SOURCE_CONTINUE. */
            post(priority: Nick | TaskPriority, func: () => boolean): void;
            post_full(options: TaskOptions | null, func: () => boolean): boolean;
            /** Throws an error: the functions of JavaScript run in one thread. */
            run_in_thread(...args: any[]): never;
            run_in_thread_under(...args: any[]): never;
            /** For bindings: makes should_yield () true until every other source has had its turn; and returns the task that
             * runs next. */
            end_slice(): void; dup_first_task(): Task | null;
            yield_async(callback: Gio.AsyncReadyCallback<this>): void;
            yield_async(options: YieldOptions | null, callback: Gio.AsyncReadyCallback<this>): void;
            yield_finish(result: Gio.AsyncResult): boolean;
            sleep_async(delay: number, options: YieldOptions | null, callback: Gio.AsyncReadyCallback<this>): void;
            sleep_finish(result: Gio.AsyncResult): boolean;
            /** Returns whether to let other work run. */
            should_yield(): boolean;
            /** Returns how many tasks are queued or delayed; each call counts them. */
            get n_pending(): number; get nPending(): number;
            get_n_pending(): number;
            /** Learns when frames are due, from a Gdk.FrameClock or the Shell's stage. */
            follow_frame_clock(frame_clock: GObject.Object): void; unfollow_frame_clock(frame_clock: GObject.Object): void;
            get_context(): GLib.MainContext;
            get_next_frame(): number; set_next_frame(next_frame: number): void;
            get_time_slice(): number; set_time_slice(time_slice: number): void;
            /** Returns the share of time that tasks have beside a window that is slow to draw, from 0 to 0.9. */
            get_frame_share(): number; set_frame_share(share: number): void;
            /** Whether a task that waits for another lends it its priority; for tasks that other languages post. */
            get_lends_priority(): boolean; set_lends_priority(lends_priority: boolean): void;
            /** Starts counting tasks, from 0. */
            start_statistics(): void; stop_statistics(): void;
            /** Returns the statistics of tasks since start_statistics(), and of waiting tasks. */
            get_statistics(): Statistics;
            pause(): void; resume(): void;
            get_paused(): boolean;
        }

        namespace TaskSignal {
            interface SignalSignatures extends Gio.Cancellable.SignalSignatures {
                'priority-change': (previous: TaskPriority) => void;
                'notify::priority': (pspec: GObject.ParamSpec) => void;
                'notify::aborted': (pspec: GObject.ParamSpec) => void;
                'notify::reason': (pspec: GObject.ParamSpec) => void;
            }
            interface ConstructorProps extends Gio.Cancellable.ConstructorProps {
                priority: TaskPriority;
            }
        }

        /** Aborts tasks, and sets their priority. */
        class TaskSignal extends Gio.Cancellable {
            static $gtype: GObject.GType<TaskSignal>;
            $signals: TaskSignal.SignalSignatures;
            get priority(): TaskPriority;
            get aborted(): boolean;
            /** The reason of the abort, or null. */
            get reason(): GLib.Error | null;

            constructor(properties?: Partial<TaskSignal.ConstructorProps>, ...args: any[]);
            _init(...args: any[]): void;
            /** Returns a signal that is aborted as soon as one of the signals is. */
            static any(signals: Gio.Cancellable[], priority: Nick | TaskPriority): TaskSignal;
            /** Returns such a signal, with the priority of another signal. */
            static any_following(signals: Gio.Cancellable[], priority_source: TaskSignal): TaskSignal;
            static new_any: typeof TaskSignal.any;
            static new_any_following: typeof TaskSignal.any_following;
            static new_aborted(reason: GLib.Error | null): TaskSignal;
            /** Returns a signal that is aborted after a delay in milliseconds. */
            static new_timeout(timeout: number): TaskSignal;
            /** Aborts it, as Gio.Cancellable.cancel() does. */
            cancel(): void;

            connect<K extends keyof TaskSignal.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskSignal.SignalSignatures[K]>): number;
            connect(signal: string, callback: (...args: any[]) => any): number;
            /** Gio.Cancellable.connect() */
            connect(callback: GObject.Callback): number;
            connect(...args: never[]): any;
            connect_after<K extends keyof TaskSignal.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskSignal.SignalSignatures[K]>): number;
            connect_after(signal: string, callback: (...args: any[]) => any): number;

            get_priority(): TaskPriority;
            dup_reason(): GLib.Error | null;
            /** Returns whether the priority can never change. */
            has_fixed_priority(): boolean;
            is_aborted(): boolean;
            /** Returns how many tasks that were posted with it are queued or delayed; each call counts them. */
            get n_pending(): number; get nPending(): number;
            get_n_pending(): number;
            /** Keeps the signal as long as its sources can make it emit a signal. */
            pin(): void;
        }

        namespace TaskController {
            interface SignalSignatures extends GObject.Object.SignalSignatures {
                'notify::signal': (pspec: GObject.ParamSpec) => void;
            }
            interface ConstructorProps extends GObject.Object.ConstructorProps {
                priority: Nick | TaskPriority;
            }
        }

        /** Aborts the tasks of its signal, and changes their priority. */
        class TaskController extends GObject.Object {
            static $gtype: GObject.GType<TaskController>;
            $signals: TaskController.SignalSignatures;
            /** The priority of its signal, which set_priority () changes. */
            get priority(): TaskPriority;
            get signal(): TaskSignal;

            constructor(priority: Nick | TaskPriority);
            constructor(properties?: Partial<TaskController.ConstructorProps>, ...args: any[]);
            _init(...args: any[]): void;
            static ['new'](priority: Nick | TaskPriority): TaskController;

            connect<K extends keyof TaskController.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskController.SignalSignatures[K]>): number;
            connect(signal: string, callback: (...args: any[]) => any): number;
            connect_after<K extends keyof TaskController.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskController.SignalSignatures[K]>): number;
            connect_after(signal: string, callback: (...args: any[]) => any): number;

            /** Aborts the signal; the reason may be any value. */
            abort(reason?: unknown): void;
            get_signal(): TaskSignal;
            set_priority(priority: Nick | TaskPriority): boolean;
        }

        namespace Task {
            interface SignalSignatures extends GObject.Object.SignalSignatures {
                'notify::progress': (pspec: GObject.ParamSpec) => void;
                'notify::name': (pspec: GObject.ParamSpec) => void;
                'notify::priority': (pspec: GObject.ParamSpec) => void;
                'notify::return-on-abort': (pspec: GObject.ParamSpec) => void;
                'notify::state': (pspec: GObject.ParamSpec) => void;
            }
            interface ConstructorProps extends GObject.Object.ConstructorProps {
                name: string | null;
                progress: number;
                return_on_abort: boolean;
                returnOnAbort: boolean;
            }
        }

        interface Task extends Gio.AsyncResult {}

        /** A task that has a result: a program in C has posted it, or its maker gives it the result. */
        class Task extends GObject.Object {
            static $gtype: GObject.GType<Task>;
            $signals: Task.SignalSignatures;
            get progress(): number; set progress(value: number);
            /** Whether an abort ends it at once, even while it waits. */
            get return_on_abort(): boolean; set return_on_abort(value: boolean);
            get returnOnAbort(): boolean; set returnOnAbort(value: boolean);
            get name(): string | null; set name(value: string | null);
            get priority(): TaskPriority;
            get state(): TaskState;

            constructor(properties?: Partial<Task.ConstructorProps>, ...args: any[]);
            _init(...args: any[]): void;
            /** Makes a task that is in no queue, and gets its result later; an abort of the signal ends it at once. */
            static ['new'](scheduler: Scheduler, options: TaskOptions | null): Task;

            connect<K extends keyof Task.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, Task.SignalSignatures[K]>): number;
            connect(signal: string, callback: (...args: any[]) => any): number;
            connect_after<K extends keyof Task.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, Task.SignalSignatures[K]>): number;
            connect_after(signal: string, callback: (...args: any[]) => any): number;

            cancel(): void;
            /** Lets the result be returned after the function has ended. */
            defer(): void;
            get_progress(): number;
            set_progress(progress: number): void;
            get_error(): GLib.Error | null;
            get_name(): string | null;
            get_priority(): TaskPriority;
            get_cancellable(): Gio.Cancellable | null;
            get_state(): TaskState;
            propagate_boolean(): boolean;
            propagate_int(): number;
            propagate_value(): [boolean, unknown];
            return_boolean(result: boolean): void;
            return_error(error: GLib.Error): void;
            return_error_if_aborted(): boolean;
            return_int(result: number): void;
            return_value(result: unknown): void;
            set_name(name: string | null): void;
            /** A task is not a promise: use {@link wait_async} to wait. */
            readonly then: undefined;
            wait_async(callback: Gio.AsyncReadyCallback<this> | null): void;
            wait_finish(result: Gio.AsyncResult): boolean;
        }

        namespace TaskGroup {
            interface SignalSignatures extends GObject.Object.SignalSignatures {
                'notify::limit': (pspec: GObject.ParamSpec) => void;
                'notify::return-on-abort': (pspec: GObject.ParamSpec) => void;
                'notify::n-pending': (pspec: GObject.ParamSpec) => void;
                'notify::priority': (pspec: GObject.ParamSpec) => void;
                'notify::scheduler': (pspec: GObject.ParamSpec) => void;
                'notify::signal': (pspec: GObject.ParamSpec) => void;
            }
            interface ConstructorProps extends GObject.Object.ConstructorProps {
                limit: number;
                return_on_abort: boolean;
                returnOnAbort: boolean;
                priority: TaskPriority;
                scheduler: Scheduler;
            }
        }

        /** Runs a limited number of tasks at a time; the next one is chosen when a place is free. */
        class TaskGroup extends GObject.Object {
            static $gtype: GObject.GType<TaskGroup>;
            $signals: TaskGroup.SignalSignatures;
            get limit(): number; set limit(value: number);
            /** Applies to tasks that are posted from now on. */
            get return_on_abort(): boolean; set return_on_abort(value: boolean);
            get returnOnAbort(): boolean; set returnOnAbort(value: boolean);
            /** The number of tasks without a result. */
            get n_pending(): number; get nPending(): number;
            get priority(): TaskPriority;
            get scheduler(): Scheduler | null;
            get signal(): TaskSignal;

            constructor(properties?: TaskGroupOptions, ...args: any[]);
            _init(...args: any[]): void;
            static ['new'](scheduler: Scheduler, limit: number, priority: Nick | TaskPriority): TaskGroup;

            connect<K extends keyof TaskGroup.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskGroup.SignalSignatures[K]>): number;
            connect(signal: string, callback: (...args: any[]) => any): number;
            connect_after<K extends keyof TaskGroup.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskGroup.SignalSignatures[K]>): number;
            connect_after(signal: string, callback: (...args: any[]) => any): number;

            /**
             * Aborts all tasks; the group can be used further. The reason may be any value. The group does not wait for the
             * promises of running tasks: it frees their places, and ignores the rest of their functions, which the signal
             * aborts.
             */
            abort(reason?: unknown): void;
            /** Cancels tasks that have not started; running tasks continue. */
            cancel_queued(): void;
            get_limit(): number; set_limit(limit: number): void;
            get_n_pending(): number;
            get_priority(): TaskPriority;
            set_priority(priority: Nick | TaskPriority): boolean;
            get_signal(): TaskSignal;
            dup_scheduler(): Scheduler | null;
            /** Posts a task that starts when a place is free, and keeps the place until the promise settles. */
            post_task<T>(callback: () => T, options?: TimedTaskOptions | null): Promise<Awaited<T>>;
            /** Posts the steps of a generator, as Scheduler.post_steps() does. */
            post_steps<V, T>(make: () => Generator<V | Promise<unknown>, T, any>, options?: StepsOptions<V> | null): Promise<T>;
            /**
             * Posts a task callback(item) for each of the items, which are taken when a place is free: there may be a million. The
             * promise settles with the last task; it is rejected by an abort of the group, and with an exception of items.
             */
            feed<T>(callback: (item: T) => unknown, items: Iterable<T>, options?: FeedOptions | null): Promise<void>;
            /**
             * Makes a feed, which posts a task callback(item, position) for each row of a list that is in view or near it. The task of
             * a row that leaves the window or the list is aborted. The callback is called again when the row comes back, so it looks
             * whether the row is loaded. Hold the feed: it ends when it is no longer referenced, or when the group is aborted.
             */
            feed_model(callback: (item: any, position: number) => unknown, model: Gio.ListModel, options?: {name?: string} | null): Feed;
            /** Waits until no task is queued or running. */
            drained(options?: WaitOptions | null): Promise<void>;
            /** Waits like drained(), but is rejected with the first rejected task. */
            all(options?: WaitOptions | null): Promise<void>;
            /** Waits for the first task that is fulfilled from now on, and returns its result. */
            any(options?: WaitOptions | null): Promise<unknown>;
            /** Settles as the first task that completes from now on. */
            first(options?: WaitOptions | null): Promise<unknown>;
            wait_async(until: TaskGroupWait, cancellable: Gio.Cancellable | null,
                callback: Gio.AsyncReadyCallback<this> | null): void;
            wait_finish(result: Gio.AsyncResult): [boolean, Task | null];
        }

        /** The argument of an idle callback; valid while it runs. */
        class IdleDeadline {
            static $gtype: GObject.GType<IdleDeadline>; protected constructor();
            static get_current(): IdleDeadline | null;
            copy(): IdleDeadline;
            did_timeout(): boolean;
            /** In milliseconds. */
            get_time_remaining(): number;
        }

        /** The state that a task runs in: its signal and its priority. */
        class SchedulingState {
            static $gtype: GObject.GType<SchedulingState>; protected constructor();
            static get_current(): SchedulingState | null; static ref_current(): SchedulingState | null; dup_scheduler(): Scheduler | null;
            static ['new'](parent: SchedulingState | null, scheduler: Scheduler, priority: TaskPriority): SchedulingState;
            get_priority(): number; get_cancellable(): Gio.Cancellable | null;
            resume_async(callback: Gio.AsyncReadyCallback): void; resume_finish(result: Gio.AsyncResult): boolean;
            run(func: () => void): void;
        }

        /** Runs tasks that are identified by numbers, for bindings of languages. */
        class Runner {
            static $gtype: GObject.GType<Runner>; protected constructor();
            static ['new'](scheduler: Scheduler, func: RunnerFunc): Runner;
            static end(): boolean;
            static next(): number;
            post(id: number, priority: number): PostResult;
            post_full(id: number, priority: number, signal: Gio.Cancellable | null, delay: number, timeout: number, takes_turns: boolean): PostResult;
            get_first(): number;
            yield_full(id: number, priority: number, signal: Gio.Cancellable | null, delay: number, expiry: number, takes_turns: boolean): PostResult;
            request_idle_callback(timeout: number): number;
            /** A lender is a task that may lend its priority to another task that it waits for, or be lent one. */
            new_lender(id: number, priority: number, signal: Gio.Cancellable | null): number;
            free_lender(lender: number): void;
            begin_wait(lender: number, awaited: number): void;
            begin_wait_for_id(lender: number, id: number): void;
            end_wait(lender: number, awaited: number): void;
            take_rejected(): number[] | null;
            yield(id: number): PostResult;
        }

        /** Options of Scheduler.post_full(). */
        class TaskOptions {
            static $gtype: GObject.GType<TaskOptions>;
            constructor(properties?: Partial<Omit<TaskOptions, 'name' | 'source_tag'>>);
            priority: TaskPriority;
            size: number; reserved: number;
            signal: TaskSignal | null;
            cancellable: Gio.Cancellable | null;
            delay: number;
            source_object: GObject.Object | null;
            /** Milliseconds after which the task runs first; 0 for none. */
            timeout: number;
            /** Its continuations wait behind tasks of the same priority. */
            takes_turns: boolean;
            /** GJS cannot write a string into a structure. */
            readonly name: string | null;
            readonly source_tag: null;
        }

        /** Options of Scheduler.yield_async(). */
        class YieldOptions {
            static $gtype: GObject.GType<YieldOptions>;
            constructor(properties?: Partial<Omit<YieldOptions, 'name'>>);
            priority: TaskPriority;
            size: number; reserved: number;
            signal: TaskSignal | null;
            cancellable: Gio.Cancellable | null;
            state: SchedulingState | null;
            flags: YieldFlags;
            takes_turns: boolean;
            /** GJS cannot write a string into a structure. */
            readonly name: string | null;
        }

        type SchedulerClass = typeof Scheduler;
        type TaskClass = typeof Task;
        interface ChannelOptions {
            /** How many values wait or are in use at most; 1 by default. */
            capacity?: number;
            /** How often the callback is called: for each value, or at most once in a turn of the main loop, or a frame. */
            pace?: 'each' | 'turn' | 'frame' | ChannelPace;
            scheduler?: Scheduler;
            priority?: Nick | TaskPriority | null;
            signal?: Gio.Cancellable | null;
            name?: string | null;
        }
        namespace Channel {
            interface SignalSignatures extends GObject.Object.SignalSignatures {}
            interface ConstructorProps extends GObject.Object.ConstructorProps {}
        }
        /** Brings values to a callback that runs on the main loop, without a queue that grows. */
        class Channel<T = unknown> {
            static $gtype: GObject.GType;
            /** If the callback returns a promise, the value keeps its place until the promise settles. */
            constructor(callback: (value: T) => unknown, options?: ChannelOptions | null);
            /** How many values wait, are in use, or have promises that are pending. */
            get length(): number;
            get closed(): boolean;
            /** Gives a value, in the place of the oldest waiting value if the channel is full. Returns false if it is closed. */
            replace(value: T): boolean;
            /** Gives a value if there is a place for it. Returns false if the channel is full or closed. */
            offer(value: T): boolean;
            /** Gives a value, and waits for a place. */
            give(value: T): Promise<void>;
            /** Lets no more values in; the callback gets the waiting values. */
            close(): void;
        }

        namespace Worker {
            interface SignalSignatures extends GObject.Object.SignalSignatures {
                'notify::name': (pspec: GObject.ParamSpec) => void;
                'notify::scheduler': (pspec: GObject.ParamSpec) => void;
            }
            interface ConstructorProps extends GObject.Object.ConstructorProps {
                name: string | null;
                scheduler: Scheduler;
            }
        }
        /** A thread that runs tasks. JavaScript has only one thread, so making a worker throws an error. */
        class Worker extends GObject.Object {
            static $gtype: GObject.GType<Worker>;
            $signals: Worker.SignalSignatures;
            get name(): string | null;
            get scheduler(): Scheduler;
            static ['new'](...args: any[]): never;
            get_scheduler(): Scheduler;
            run(...args: any[]): never;
            stop(how: WorkerStop): void;
            join(): void;
        }

        namespace Feed {
            interface SignalSignatures extends GObject.Object.SignalSignatures {
                'notify::demotes': (pspec: GObject.ParamSpec) => void;
                'notify::first': (pspec: GObject.ParamSpec) => void;
                'notify::look-ahead': (pspec: GObject.ParamSpec) => void;
                'notify::n-rows': (pspec: GObject.ParamSpec) => void;
            }
            interface ConstructorProps extends GObject.Object.ConstructorProps {
                demotes: boolean;
                look_ahead: number; lookAhead: number;
            }
        }

        /** Asks for the tasks of a group when it has a free place: see TaskGroup.feed_model(). */
        class Feed extends GObject.Object {
            static $gtype: GObject.GType<Feed>;
            $signals: Feed.SignalSignatures;
            /** Whether the task of a row that has left the window continues in the background if it has started. */
            get demotes(): boolean; set demotes(value: boolean);
            get first(): number;
            /** How many views before and after the view are loaded as well. */
            get look_ahead(): number; set look_ahead(value: number);
            get lookAhead(): number; set lookAhead(value: number);
            get n_rows(): number; get nRows(): number;
            static ['new'](group: TaskGroup, func: FeedFunc): Feed;
            static new_for_model(group: TaskGroup, model: Gio.ListModel, func: RowFunc): Feed;
            /** The task that ends with the feed. */
            get_task(): Task;
            /** Sets the rows in view; it is cheap. */
            set_view(first: number, n_rows: number): void;
        }

        type ChannelClass = typeof Channel;
        type FeedClass = typeof Feed;
        type WorkerClass = typeof Worker;
        type TaskGroupClass = typeof TaskGroup;
        type TaskControllerClass = typeof TaskController;
        type TaskSignalClass = typeof TaskSignal;
    }
}
