// priosched-1.d.ts: types of PrioSched in GJS, in the form of @girs
//
// Name this file in the "include" of tsconfig.json, next to the packages @girs/gjs and @girs/gio-2.0. It declares
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
        /** The minor version of the library. */
        const MINOR_VERSION: number;
        const MICRO_VERSION: number;

        /** 'speed' if the native part for GJS makes tasks faster; 'state' if code also keeps its task's signal and priority after every await. */
        const nativePart: 'none' | 'speed' | 'state';

        /** The name of a priority, as on the web. */
        type Nick = 'background' | 'user-visible' | 'user-blocking';

        /** How urgent a task is. */
        enum TaskPriority {
            /** No priority, for an optional priority. */
            UNSET,
            /** Work that no user waits for: logs, caches, indexes. */
            BACKGROUND,
            /** Work that the user can see, but does not wait for; the default. */
            USER_VISIBLE,
            /** Work that the user waits for. */
            USER_BLOCKING,
        }
        namespace TaskPriority {
            const $gtype: GObject.GType<TaskPriority>;
        }

        /** The stages in the life of a Task. */
        enum TaskState {
            /** The task waits for its turn, or for its delay. */
            PENDING,
            /** The task has started, and has no result. */
            RUNNING,
            /** The task has a result. */
            FULFILLED,
            /** The task has ended with an error. */
            FAILED,
            /** An abort has ended the task. */
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
            /** The continuation inherits the signal and the priority. */
            NONE = 0,
            /** The continuation does not inherit the signal. */
            DROP_SIGNAL = 1,
            /** The continuation does not inherit the priority. */
            DROP_PRIORITY = 2,
            /** The continuation inherits the priority, even if a signal or a priority is given. */
            KEEP_PRIORITY = 4,
        }
        namespace YieldFlags {
            const $gtype: GObject.GType<YieldFlags>;
        }

        /** The event that ends a wait with TaskGroup.wait_async(). */
        enum TaskGroupWait {
            /** No task is queued or running. */
            DRAINED,
            /** All tasks have returned, or the first has failed. */
            ALL,
            /** The first task has returned, or all have failed. */
            ANY,
            /** The first task has completed. */
            FIRST,
        }
        namespace TaskGroupWait {
            const $gtype: GObject.GType<TaskGroupWait>;
        }

        /** How often a channel calls its callback. */
        enum ChannelPace {
            /** Once for each value. */
            EACH = 0,
            /** At most once in a turn of the main loop. */
            TURN = 1,
            /** At most once in a frame. */
            FRAME = 2,
        }
        namespace ChannelPace {
            const $gtype: GObject.GType<ChannelPace>;
        }
        /** How a stopping worker ends its queued tasks. */
        enum WorkerStop {
            /** The tasks fail with Error.CLOSED. */
            ABORT,
            /** The tasks run before the worker stops. */
            FINISH,
        }
        namespace WorkerStop {
            const $gtype: GObject.GType<WorkerStop>;
        }

        /** The library's errors. */
        class Error extends GLib.Error {
            static $gtype: GObject.GType<GLib.Error>;
            /** A signal's priority cannot be changed while an earlier change is being announced. */
            static NOT_ALLOWED: number;
            /** The main context was destroyed before the task ran. */
            static CLOSED: number;
            /** The result of the task was deferred, and the task was dropped without a result. */
            static DROPPED: number;
            /** Creates an error, such as for a test. */
            constructor(options: {message: string, code: number});
            static quark(): GLib.Quark;
        }

        /** The type of idle callbacks. */
        interface IdleFunc {
            /** Called with the deadline. */
            (deadline: IdleDeadline): void;
        }
        interface RunnerFunc {
            (id: number): void;
        }
        /** The type of the function of Feed.new(). */
        interface FeedFunc {
            /** Returns the next task of the group, or null at the end. */
            (group: TaskGroup): Task | null;
        }
        interface FeedRowFunc {
            (group: TaskGroup, item: any, position: number, signal: TaskSignal): Task | null;
        }
        interface TaskFunc {
            (task: Task): void;
        }
        interface TaskReadyCallback {
            (source_object: GObject.Object | null, task: Task): void;
        }

        function error_quark(): GLib.Quark;
        function idle_deadline_dup_current(): IdleDeadline | null;
        function runner_end(): boolean;
        function runner_next(): number;
        function scheduling_state_ref_current(): SchedulingState | null;
        /** Writes a trace in the Chrome trace event format to a duplicate of the file descriptor fd, such as a
         * Gio.FileOutputStream's. */
        function trace_start(fd: number): boolean;
        /** Ends the trace of trace_start(). */
        function trace_stop(): void;

        /** The options of tasks, without timeouts. */
        interface PostTaskOptions {
            /** The fixed priority of the task; by default it follows the signal's priority, or is user-visible. */
            priority?: Nick | TaskPriority | null;
            /** A signal that may abort the task. */
            signal?: Gio.Cancellable | null;
            /** How long the task waits before it is queued, in whole milliseconds. */
            delay?: number;
            /** The name of the task in reports and traces. */
            name?: string;
            /** Whether its continuations wait behind queued tasks of the same priority. */
            takesTurns?: boolean; takes_turns?: boolean;
        }

        /** The options of a TaskGroup. */
        interface TaskGroupOptions {
            /** The scheduler of the tasks, by default get_default(). Hold any other while you use the group. */
            scheduler?: Scheduler;
            /** The most tasks that run at a time, a whole number from 1; by default Infinity. */
            limit?: number;
            /** The priority of tasks that are posted without one; by default user-visible. */
            priority?: Nick | TaskPriority;
        }

        /** Options of the tasks of TaskGroup.feed(). */
        interface FeedOptions {
            /** The priority of the tasks; by default the group's. */
            priority?: Nick | TaskPriority | null;
            /** A signal that aborts the tasks and the feed, as an abort of the group does. */
            signal?: Gio.Cancellable | null;
            /** The name of the tasks in reports and traces. */
            name?: string;
        }

        /** Options of waits for a TaskGroup. */
        interface WaitOptions {
            /** A signal that ends only this wait. */
            signal?: Gio.Cancellable | null;
        }

        /** Options of Scheduler.yield(). */
        interface YieldTaskOptions {
            /** The signal that the continuation has instead of the task's. */
            signal?: Gio.Cancellable | 'inherit' | null;
            /** The priority that the continuation has instead of the task's. */
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
                'notify::task-share': (pspec: GObject.ParamSpec) => void;
                'notify::starvation-limit': (pspec: GObject.ParamSpec) => void;
            }
            interface ConstructorProps extends GObject.Object.ConstructorProps {
                context: GLib.MainContext | null;
                next_frame: number; nextFrame: number;
                time_slice: number; timeSlice: number;
                task_share: number; taskShare: number;
                starvation_limit: number; starvationLimit: number;
                lends_priority: boolean; lendsPriority: boolean;
            }
        }

        /**
         * The error of an abort: `error instanceof PrioSched.AbortError` is true for GIO's error of a cancelled operation, which is
         * the reason by default, for the web's AbortError, and for instances of classes that are derived from this class.
         */
        class AbortError extends globalThis.Error {
            /** Creates an error with a message, such as a reason for abort(). */
            constructor(message?: string);
        }

        /** The result of latest(). */
        interface Latest<A extends unknown[], T> {
            /** Starts the job as a task, and aborts the previous run. The promise is fulfilled with undefined if a later call
             * aborts this run. */
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
            /** Whether pause() keeps tasks from running. */
            get paused(): boolean;
            /** A signal for posts of other tasks: the signal of the running task, of any scheduler; null outside any task. If that task has no
             * signal, this is a new signal that is never aborted; if the task has its own priority, this signal has that priority. */
            get current_signal(): TaskSignal | null; get currentSignal(): TaskSignal | null;
            /** How long tasks run before every other source has its turn, in milliseconds. */
            get time_slice(): number; set time_slice(value: number);
            get timeSlice(): number; set timeSlice(value: number);
            /** The least share of time that tasks get beside slow frames and idle sources of other code, from 0 to 0.9. */
            get task_share(): number; set task_share(value: number);
            get taskShare(): number; set taskShare(value: number);
            /** How long a task waits behind yields of its priority before it has a turn, in milliseconds; 0 means for ever. */
            get starvation_limit(): number; set starvation_limit(value: number);
            get starvationLimit(): number; set starvationLimit(value: number);
            /** Whether a waiting task lends its priority to the task that it waits for. */
            get lends_priority(): boolean; set lends_priority(value: boolean);
            get lendsPriority(): boolean; set lendsPriority(value: boolean);
            /** Creates another scheduler, for the main context in properties; most programs use get_default(). */
            constructor(properties?: Partial<Scheduler.ConstructorProps>, ...args: any[]);
            _init(...args: any[]): void;
            /** Creates another scheduler for a main context, with its own queues; null stands for the default main context. */
            static ['new'](context: GLib.MainContext | null): Scheduler;
            /** The scheduler of the default main context. */
            static get_default(): Scheduler;
            /** Returns the scheduler of the calling thread's default main context. Any thread may call this. */
            static ref_thread_default(): Scheduler;
            /** Returns all live schedulers, of any main context, the oldest first. */
            static list_all(): Scheduler[];
            connect<K extends keyof Scheduler.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, Scheduler.SignalSignatures[K]>): number;
            connect(signal: string, callback: (...args: any[]) => any): number;
            connect_after<K extends keyof Scheduler.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, Scheduler.SignalSignatures[K]>): number;
            connect_after(signal: string, callback: (...args: any[]) => any): number;
            /** Posts a task. The promise settles with the callback's result or exception, or with the reason of an abort. Throws a TypeError for a
             * generator function: use post_steps(). */
            post_task<T>(callback: () => T, options?: TimedTaskOptions | null): Promise<Awaited<T>>;
            /** Lets more urgent work run first, and continues with the task's signal and priority. */
            yield(options?: YieldTaskOptions | null): Promise<void>;
            /** Waits that many milliseconds, and continues the task, with its signal and priority unless others are given. */
            sleep(delay: number, options?: YieldTaskOptions | null): Promise<void>;
            /** Posts a task that runs a generator in steps, and yields when the slice is over. Before each yield, the task calls the option
             * progress with the generator's last value. The promise settles with the generator's result. */
            post_steps<V, T>(make: () => Generator<V | Promise<unknown>, T, any>, options?: StepsOptions<V> | null): Promise<T>;
            /** Iterates over items, and yields between two of them if should_yield() returns true. */
            each<T>(items: AsyncIterable<T>): AsyncIterableIterator<T>;
            each<T>(items: Iterable<T>): AsyncIterableIterator<Awaited<T>>;
            /** Divides items into slices, and yields between two of them: for await (const slice of slices(items)) for (const item of slice).
             * A slice ends when should_yield() returns true. The overhead for an item is a tenth of each()'s. */
            slices<T>(items: Iterable<T>): AsyncIterableIterator<IterableIterator<T>>;
            /** Returns a function that calls job as a task; its next call aborts the previous run, whose promise is
             * then fulfilled with undefined. */
            latest<A extends unknown[], T>(job: (...args: A) => T,
                options?: {priority?: Nick | TaskPriority, signal?: Gio.Cancellable | null}): Latest<A, T>;
            /** Returns a promise that settles in the same way as the given promise, in a continuation of the current task. */
            adopt<T>(promise: T): Promise<Awaited<T>>;
            /** Calls a function before the next task. */
            queue_microtask(callback: () => void): void;
            /** Calls a function when there is nothing else to do, or after the timeout, in milliseconds. */
            request_idle_callback(callback: IdleFunc, timeout?: number): number;
            /** Removes the callback of request_idle_callback(). An unknown number has no effect. */
            cancel_idle_callback(id: number): void;
            /** Posts a task without a result. The function is called again as long as it returns GLib.SOURCE_CONTINUE. */
            post(priority: Nick | TaskPriority, func: () => boolean): void;
            /** Posts a task with options, but without a result. The function is called again as long as it returns true. Returns false
             * if the signal is aborted already. */
            post_full(options: TaskOptions | null, func: () => boolean): boolean;
            /** Throws an error, because JavaScript functions run in one thread only. */
            run_in_thread(...args: any[]): never;
            run_in_thread_full(...args: any[]): never;
            /** For bindings: makes should_yield() true until every other source has had its turn. */
            end_slice(): void;
            /** For bindings: returns the task that runs next, or null. */
            dup_first_task(): Task | null;
            /** Calls the callback when more urgent work has run. To await a yield, use yield() instead. */
            yield_async(callback: Gio.AsyncReadyCallback<this>): void;
            yield_async(options: YieldOptions | null, callback: Gio.AsyncReadyCallback<this>): void;
            /** Finishes yield_async(); call it in the callback. Returns true, or throws the reason of the abort. */
            yield_finish(result: Gio.AsyncResult): boolean;
            /** Calls the callback after a delay. To await a delay, use sleep() instead. */
            sleep_async(delay: number, options: YieldOptions | null, callback: Gio.AsyncReadyCallback<this>): void;
            /** Finishes sleep_async(); call it in the callback. Returns true, or throws the reason of the abort. */
            sleep_finish(result: Gio.AsyncResult): boolean;
            /** Returns whether to let other work run. */
            should_yield(): boolean;
            /** Returns how many tasks are queued or delayed; each call counts them. */
            count_pending(): number;
            /** Follows a Gdk.FrameClock, or GNOME Shell's global.stage, which reports when frames are due. */
            follow_frame_clock(frame_clock: GObject.Object): void;
            /** Ends follow_frame_clock(). */
            unfollow_frame_clock(frame_clock: GObject.Object): void;
            /** Returns the main context in which the tasks run. */
            get_context(): GLib.MainContext;
            /** Returns when the next frame is due, in microseconds of GLib.get_monotonic_time(), or 0 if that is not known. */
            get_next_frame(): number;
            /** Sets when the next frame is due, in microseconds of GLib.get_monotonic_time(), or 0 if none is. */
            set_next_frame(next_frame: number): void;
            /** Returns how long tasks run before every other source has its turn, in milliseconds. */
            get_time_slice(): number;
            /** Sets how long tasks run before every other source has its turn, in milliseconds; 0 runs one task at a time. */
            set_time_slice(time_slice: number): void;
            /** Returns how long a task waits behind yields of its priority before it has a turn, in milliseconds; 0 means for ever. */
            get_starvation_limit(): number;
            /** Sets how long a task waits behind yields of its priority before it has a turn, in milliseconds; 0 means for ever. */
            set_starvation_limit(starvation_limit: number): void;
            /** Returns the least share of time that tasks get beside slow frames and idle sources of other code, from 0 to 0.9. */
            get_task_share(): number;
            /** Sets the least share of time that tasks get beside slow frames and idle sources of other code, from 0 for none to 0.9. */
            set_task_share(share: number): void;
            /** Returns whether a waiting task lends its priority to the task that it waits for; only other languages post such tasks. */
            get_lends_priority(): boolean;
            /** Sets whether a waiting task lends its priority to the task that it waits for. */
            set_lends_priority(lends_priority: boolean): void;
            /** Starts counting tasks, from 0. */
            start_statistics(): void;
            /** Stops counting. The numbers are kept until the next start_statistics(). */
            stop_statistics(): void;
            /** Returns the statistics of tasks since start_statistics(), and of waiting tasks. */
            get_statistics(): Statistics;
            /** Keeps tasks from running, until resume(). Tasks can be posted meanwhile, and delays continue. Any thread may call this. */
            pause(): void;
            /** Lets tasks run again, after pause(). Any thread may call this. */
            resume(): void;
            /** Returns whether pause() keeps tasks from running. */
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
            /** The current priority of the signal, and of tasks that are posted with it. */
            get priority(): TaskPriority;
            /** Whether the signal has been aborted. */
            get aborted(): boolean;
            /** The reason of the abort, or null. */
            get reason(): GLib.Error | null;

            /** Creates a signal with a priority. Programs usually create a TaskController, which has a signal. */
            constructor(properties?: Partial<TaskSignal.ConstructorProps>, ...args: any[]);
            _init(...args: any[]): void;
            /** Returns a signal that is aborted as soon as one of the signals is. */
            static any(signals: Gio.Cancellable[], priority: Nick | TaskPriority): TaskSignal;
            /** Returns a signal that is aborted as soon as one of the signals is, with priority_source's priority. */
            static any_following(signals: Gio.Cancellable[], priority_source: TaskSignal): TaskSignal;
            static new_any: typeof TaskSignal.any;
            static new_any_following: typeof TaskSignal.any_following;
            /** Returns a signal that has been aborted, with a reason; null stands for the error of a cancelled operation. */
            static new_aborted(reason: GLib.Error | null): TaskSignal;
            /** Returns a signal that is aborted after a delay in milliseconds. */
            static new_timeout(timeout: number): TaskSignal;
            /** Aborts the signal, as Gio.Cancellable.cancel() does. */
            cancel(): void;

            connect<K extends keyof TaskSignal.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskSignal.SignalSignatures[K]>): number;
            connect(signal: string, callback: (...args: any[]) => any): number;
            /** Connects to the abort, as Gio.Cancellable.connect() does. */
            connect(callback: GObject.Callback): number;
            connect(...args: never[]): any;
            /** Disconnects a handler. The handler itself may call it, unlike the method of Gio.Cancellable. */
            disconnect(handler: number): void;
            connect_after<K extends keyof TaskSignal.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskSignal.SignalSignatures[K]>): number;
            connect_after(signal: string, callback: (...args: any[]) => any): number;

            /** Returns the current priority of the signal. */
            get_priority(): TaskPriority;
            /** Returns the error with which the signal was aborted, or null. */
            dup_reason(): GLib.Error | null;
            /** Returns whether the priority can never change. */
            has_fixed_priority(): boolean;
            /** Returns whether the signal is aborted; for a dependent signal, is_cancelled() reports the abort a little later. */
            is_aborted(): boolean;
            /** Returns how many tasks that were posted with the signal are queued or delayed; each call counts them. */
            count_pending(): number;
            /** Keeps the signal alive as long as its sources can make it emit a GObject signal. */
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
            /** The priority of its signal, which set_priority() changes. */
            get priority(): TaskPriority;
            /** The controller's signal, for posts and for any call of GIO. */
            get signal(): TaskSignal;

            /** Creates a controller whose signal has a priority; by default user-visible. */
            constructor(priority: Nick | TaskPriority);
            constructor(properties?: Partial<TaskController.ConstructorProps>, ...args: any[]);
            _init(...args: any[]): void;
            /** Creates a controller whose signal has a priority, as its constructor does. */
            static ['new'](priority: Nick | TaskPriority): TaskController;

            connect<K extends keyof TaskController.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskController.SignalSignatures[K]>): number;
            connect(signal: string, callback: (...args: any[]) => any): number;
            connect_after<K extends keyof TaskController.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskController.SignalSignatures[K]>): number;
            connect_after(signal: string, callback: (...args: any[]) => any): number;

            /** Aborts the signal; the reason may be any value. */
            abort(reason?: unknown): void;
            /** Returns the controller's signal, for posts and for any call of GIO. */
            get_signal(): TaskSignal;
            /** Changes the priority of all tasks of the signal, and of signals that follow it. Throws an error if called in a
             * handler of an earlier change. */
            set_priority(priority: Nick | TaskPriority): boolean;
        }

        namespace Task {
            interface SignalSignatures extends GObject.Object.SignalSignatures {
                'notify::progress': (pspec: GObject.ParamSpec) => void;
                'notify::name': (pspec: GObject.ParamSpec) => void;
                'notify::priority': (pspec: GObject.ParamSpec) => void;
                'notify::return-on-abort': (pspec: GObject.ParamSpec) => void;
                'notify::state': (pspec: GObject.ParamSpec) => void;
                'notify::completed': (pspec: GObject.ParamSpec) => void;
            }
            interface ConstructorProps extends GObject.Object.ConstructorProps {
                name: string | null;
                progress: number;
                return_on_abort: boolean;
                returnOnAbort: boolean;
            }
        }

        /** A task that another language has posted, or that gets its result from its creator. In JavaScript, post_task() returns a
         * promise. */
        interface Task extends Gio.AsyncResult {}

        /** A task that another language has posted, or that gets its result from its creator. In JavaScript, post_task() returns a promise. */
        class Task extends GObject.Object {
            static $gtype: GObject.GType<Task>;
            $signals: Task.SignalSignatures;
            /** The progress of the task, from 0 to 1; notify::progress reports changes. */
            get progress(): number; set progress(value: number);
            /** Whether an abort ends the task at once, even if its function has deferred the result. */
            get return_on_abort(): boolean; set return_on_abort(value: boolean);
            get returnOnAbort(): boolean; set returnOnAbort(value: boolean);
            /** The name of the task in reports and traces. */
            get name(): string | null; set name(value: string | null);
            /** The current priority of the task. */
            get priority(): TaskPriority;
            /** The current state of the task. */
            get state(): TaskState;
            /** Whether the task has ended. */
            get completed(): boolean;

            /** Creates a task. Use Task.new(), which takes a scheduler. */
            constructor(properties?: Partial<Task.ConstructorProps>, ...args: any[]);
            _init(...args: any[]): void;
            /** Creates a task that is in no queue, and gets its result later. An abort of the signal ends the task at once. */
            static ['new'](scheduler: Scheduler, options: TaskOptions | null): Task;

            connect<K extends keyof Task.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, Task.SignalSignatures[K]>): number;
            connect(signal: string, callback: (...args: any[]) => any): number;
            connect_after<K extends keyof Task.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, Task.SignalSignatures[K]>): number;
            connect_after(signal: string, callback: (...args: any[]) => any): number;

            /** Ends the task with GIO's error of a cancelled operation. If the task has ended already, this has no effect. */
            cancel(): void;
            /** Lets the result be returned after the function has ended. */
            defer(): void;
            /** Returns the progress of the task, from 0 to 1. */
            get_progress(): number;
            /** Returns whether an abort ends the task at once. */
            get_return_on_abort(): boolean;
            /** Sets whether an abort ends the task at once. */
            set_return_on_abort(return_on_abort: boolean): void;
            /** Sets the progress of the task, from 0 to 1; notify::progress reports it. */
            set_progress(progress: number): void;
            /** Returns the error with which the task has ended, or null. */
            get_error(): GLib.Error | null;
            /** Returns the name of the task, or null. */
            dup_name(): string | null;
            /** Returns the current priority of the task. */
            get_priority(): TaskPriority;
            /** Returns the signal of the task, or null. */
            get_cancellable(): Gio.Cancellable | null;
            /** Returns the current state of the task. */
            get_state(): TaskState;
            /** Returns the boolean that is the result of an ended task, or throws the error of the task. */
            propagate_boolean(): boolean;
            /** Returns the integer that is the result of an ended task, or throws the error of the task. */
            propagate_int(): number;
            /** Returns true and the result of an ended task, or throws the error of the task. */
            propagate_value(): [boolean, unknown];
            /** Ends the task with a boolean as its result. */
            return_boolean(result: boolean): void;
            /** Ends the task with an error. */
            return_error(error: GLib.Error): void;
            /** Ends the task with the reason of the abort if its signal has been aborted. Returns whether it has. */
            return_error_if_aborted(): boolean;
            /** Ends the task with an integer as its result. */
            return_int(result: number): void;
            /** Ends the task with any value as its result. */
            return_value(result: unknown): void;
            /** Sets the name of the task in reports and traces. */
            set_name(name: string | null): void;
            /** A task is not a promise: use {@link wait_async} to wait. */
            readonly then: undefined;
            /** Calls the callback when the task has ended, or when the cancellable ends the wait. */
            wait_async(cancellable: Gio.Cancellable | null, callback: Gio.AsyncReadyCallback<this> | null): void;
            /** Finishes wait_async(); call it in the callback. Returns true, or throws the error of the task or of the cancelled wait. */
            wait_finish(result: Gio.AsyncResult): boolean;
        }

        namespace TaskGroup {
            interface SignalSignatures extends GObject.Object.SignalSignatures {
                'notify::limit': (pspec: GObject.ParamSpec) => void;
                'notify::return-on-abort': (pspec: GObject.ParamSpec) => void;
                'notify::n-tasks': (pspec: GObject.ParamSpec) => void;
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

        /** Runs a limited number of tasks at a time. The next task is chosen when a place is free. */
        class TaskGroup extends GObject.Object {
            static $gtype: GObject.GType<TaskGroup>;
            $signals: TaskGroup.SignalSignatures;
            /** The most tasks that run at a time; Infinity for no limit. */
            get limit(): number; set limit(value: number);
            /** Whether an abort ends a task at once; changes apply to tasks that are posted from then on. */
            get return_on_abort(): boolean; set return_on_abort(value: boolean);
            get returnOnAbort(): boolean; set returnOnAbort(value: boolean);
            /** The number of tasks without a result. */
            get n_tasks(): number; get nTasks(): number;
            /** The priority of tasks that were posted without one. */
            get priority(): TaskPriority;
            /** The scheduler that runs the tasks, or null once it is gone. */
            get scheduler(): Scheduler | null;
            /** The signal that the next abort() aborts, for other operations that belong to the group. */
            get signal(): TaskSignal;

            /** Creates a group, with the scheduler, the limit and the priority in properties. */
            constructor(properties?: TaskGroupOptions, ...args: any[]);
            _init(...args: any[]): void;
            /** Creates a group, as the constructor does; the limit is at least 1. */
            static ['new'](scheduler: Scheduler, limit: number, priority: Nick | TaskPriority): TaskGroup;

            connect<K extends keyof TaskGroup.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskGroup.SignalSignatures[K]>): number;
            connect(signal: string, callback: (...args: any[]) => any): number;
            connect_after<K extends keyof TaskGroup.SignalSignatures>(signal: K,
                callback: GObject.SignalCallback<this, TaskGroup.SignalSignatures[K]>): number;
            connect_after(signal: string, callback: (...args: any[]) => any): number;

            /**
             * Aborts all tasks. The reason may be any value. The group can be used again at once: it does not wait for the promises
             * of running tasks, but frees their places. Their functions get the abort at the next yield; their results are ignored.
             */
            abort(reason?: unknown): void;
            /** Cancels tasks that have not started; running tasks continue. */
            cancel_pending(): void;
            /** Returns how many tasks may run at a time. */
            get_limit(): number;
            /** Sets how many tasks may run at a time; Infinity for no limit. Running tasks continue. */
            set_limit(limit: number): void;
            /** Returns the number of tasks that are queued or running. */
            get_n_tasks(): number;
            /** Returns the priority of tasks that were posted without one. */
            get_priority(): TaskPriority;
            /** Changes the priority of queued and running tasks that were posted without one. Throws an error if called in a
             * handler of an earlier change. */
            set_priority(priority: Nick | TaskPriority): boolean;
            /** Returns the signal that the next abort() aborts. */
            get_signal(): TaskSignal;
            /** Returns the scheduler that runs the tasks, or null once it is gone. */
            dup_scheduler(): Scheduler | null;
            /** Posts a task that starts when a place is free, and keeps the place until the promise settles. */
            post_task<T>(callback: () => T, options?: TimedTaskOptions | null): Promise<Awaited<T>>;
            /** Posts the steps of a generator, as Scheduler.post_steps() does. */
            post_steps<V, T>(make: () => Generator<V | Promise<unknown>, T, any>, options?: StepsOptions<V> | null): Promise<T>;
            /**
             * Posts a task callback(item) for each item. Takes the next item when a place is free, so there may be a million items.
             * The promise settles after the last task. An abort of the group, or an exception of the iterator of items, rejects it.
             */
            feed<T>(callback: (item: T) => unknown, items: Iterable<T>, options?: FeedOptions | null): Promise<void>;
            /**
             * Creates a feed, which posts a task callback(item, position) for each row of a list that is in view or near it. The task
             * is aborted when its row is removed, or is no longer near the view. The callback is called again when the row comes back,
             * so it should check whether the row is loaded already. Keep a reference to the feed: it ends when it has none, or when the group is aborted.
             */
            feed_model(callback: (item: any, position: number) => unknown, model: Gio.ListModel, options?: {name?: string} | null): Feed;
            /**
             * Posts a task callback(item, position) for each row that a GTK list shows, and for rows near these. view is a
             * Gtk.ListView, Gtk.GridView or Gtk.ColumnView in a Gtk.ScrolledWindow. The view holds the feed until the view is disposed
             * of. This needs PrioSchedGtk.
             */
            feed_view(callback: (item: any, position: number) => unknown, view: GObject.Object, options?: {name?: string} | null): Feed;
            /**
             * Calls callback(group), and waits for all tasks and feeds of the group. The promise is then fulfilled with the callback's
             * result. The first error of a task, of a feed or of the callback aborts the rest, and rejects the promise when all have
             * ended; until then, posts in the group throw that error. An aborted task does not count as failed. An abort of the
             * calling task aborts the group.
             */
            run<T>(callback: (group: this) => T): Promise<Awaited<T>>;
            /** Waits until no task is queued or running. */
            drained(options?: WaitOptions | null): Promise<void>;
            /** Waits like drained(), but rejects the promise as soon as a task is rejected. */
            all(options?: WaitOptions | null): Promise<void>;
            /** Waits for the first task that is fulfilled from now on, and returns its result. */
            any(options?: WaitOptions | null): Promise<unknown>;
            /** Waits for the first task that completes from now on; the promise settles as that task does. */
            first(options?: WaitOptions | null): Promise<unknown>;
            /** Calls the callback at the end of a wait. To wait with a promise, use drained(), all(), any() or first() instead. */
            wait_async(until: TaskGroupWait, cancellable: Gio.Cancellable | null,
                callback: Gio.AsyncReadyCallback<this> | null): void;
            /** Finishes wait_async(); call it in the callback. Returns true and, for a wait for ANY or FIRST, the task that ended it, otherwise
             * null. Throws the error of the task, or the reason of an abort. */
            wait_finish(result: Gio.AsyncResult): [boolean, Task | null];
        }

        /** The argument of an idle callback; valid while the callback runs. */
        class IdleDeadline {
            static $gtype: GObject.GType<IdleDeadline>;
            protected constructor();
            static dup_current(): IdleDeadline | null;
            /** Returns a copy of the deadline, which stays valid after the callback. */
            copy(): IdleDeadline;
            /** Returns whether the callback is called because its timeout has expired. */
            did_timeout(): boolean;
            /** Returns how many milliseconds the callback may take. */
            get_time_remaining(): number;
        }

        /** The state that a task runs in: its signal and its priority. */
        class SchedulingState {
            static $gtype: GObject.GType<SchedulingState>;
            protected constructor();
            /** Returns the state of the running code, or null outside any task. */
            static get_current(): SchedulingState | null;
            static ref_current(): SchedulingState | null;
            /** Returns the scheduler of the task, or null once it is gone. */
            dup_scheduler(): Scheduler | null;
            static ['new'](parent: SchedulingState | null, scheduler: Scheduler, priority: TaskPriority): SchedulingState;
            /** Returns the priority of the task. */
            get_priority(): number;
            /** Returns the signal of the task, or null. */
            get_cancellable(): Gio.Cancellable | null;
            /** Calls the callback in a continuation of the task. */
            resume_async(callback: Gio.AsyncReadyCallback): void;
            /** Finishes resume_async(); call it in the callback. Returns true, or throws the reason of the abort. */
            resume_finish(result: Gio.AsyncResult): boolean;
            run(func: () => void): void;
        }

        /** Runs tasks that are identified by numbers, for language bindings. */
        class Runner {
            static $gtype: GObject.GType<Runner>;
            protected constructor();
            static ['new'](scheduler: Scheduler, func: RunnerFunc): Runner;
            static end(): boolean;
            static next(): number;
            post(id: number, priority: number): PostResult;
            post_full(id: number, priority: number, signal: Gio.Cancellable | null, delay: number, timeout: number, takes_turns: boolean): PostResult;
            get_first(): number;
            yield_full(id: number, priority: number, signal: Gio.Cancellable | null, delay: number, expiry: number, takes_turns: boolean): PostResult;
            request_idle_callback(timeout: number): number;
            /** Returns a number by which the next four methods know a task that lends its priority to a task it waits for, or borrows one. */
            add_lender(id: number, priority: number, signal: Gio.Cancellable | null): number;
            remove_lender(lender: number): void;
            begin_wait(lender: number, awaited: number): void;
            begin_wait_for_id(lender: number, id: number): void;
            end_wait(lender: number, awaited: number): void;
            take_rejected(): number[] | null;
            yield(id: number): PostResult;
        }

        /** Options of Scheduler.post_full(). */
        class TaskOptions {
            static $gtype: GObject.GType<TaskOptions>;
            /** Creates options. */
            constructor(properties?: Partial<Omit<TaskOptions, 'name' | 'source_tag'>>);
            /** The fixed priority of the task, which does not follow its signal. */
            priority: TaskPriority;
            size: number; reserved: number;
            /** A task signal that may abort the task and sets its priority. */
            signal: TaskSignal | null;
            /** A cancellable that may abort the task, instead of a task signal. */
            cancellable: Gio.Cancellable | null;
            /** How long the task waits before it is queued, in milliseconds. */
            delay: number;
            /** The object that is the source of the result, for Gio.AsyncResult.get_source_object(). */
            source_object: GObject.Object | null;
            /** Milliseconds after which the task runs before all tasks whose timeout has not passed; 0 for none. */
            timeout: number;
            /** Whether its continuations wait behind tasks of the same priority. */
            takes_turns: boolean;
            /** The name of the task; read-only, because GJS cannot write a string into a structure. */
            readonly name: string | null;
            /** A tag that identifies the function that posts the task, as for Gio.AsyncResult.is_tagged(). */
            readonly source_tag: null;
        }

        /** Options of Scheduler.yield_async(). */
        class YieldOptions {
            static $gtype: GObject.GType<YieldOptions>;
            /** Creates options. */
            constructor(properties?: Partial<Omit<YieldOptions, 'name'>>);
            /** The priority of the continuation instead of the task's. */
            priority: TaskPriority;
            size: number; reserved: number;
            /** A task signal of the continuation instead of the task's. */
            signal: TaskSignal | null;
            /** A cancellable of the continuation instead of the task's. */
            cancellable: Gio.Cancellable | null;
            /** The state that the continuation has instead of the current one. */
            state: SchedulingState | null;
            /** The options that the continuation does not inherit. */
            flags: YieldFlags;
            /** Whether the continuation waits behind queued tasks of the same priority. */
            takes_turns: boolean;
            /** The name of the continuation; read-only, because GJS cannot write a string into a structure. */
            readonly name: string | null;
        }

        type SchedulerClass = typeof Scheduler;
        type TaskClass = typeof Task;
        /** The options of a Channel. */
        interface ChannelOptions {
            /** How many values wait or are in use at most; 1 by default. */
            capacity?: number;
            /** How often the callback is called: for each value, or at most once in a turn of the main loop or in a frame. */
            pace?: 'each' | 'turn' | 'frame' | ChannelPace;
            /** The scheduler that calls the callback; by default the default main context's. */
            scheduler?: Scheduler;
            /** The priority of the calls; by default the signal's, or user-visible. */
            priority?: Nick | TaskPriority | null;
            /** A signal whose abort closes the channel. */
            signal?: Gio.Cancellable | null;
            /** The name of the calls in reports and traces. */
            name?: string | null;
        }
        namespace Channel {
            interface SignalSignatures extends GObject.Object.SignalSignatures {}
            interface ConstructorProps extends GObject.Object.ConstructorProps {}
        }
        /** Brings values to a callback that runs on the main loop, without a queue that grows. */
        class Channel<T = unknown> {
            static $gtype: GObject.GType;
            /** Creates a channel that brings values to the callback. If that returns a promise, the value keeps its place until the
             * promise settles. */
            constructor(callback: (value: T) => unknown, options?: ChannelOptions | null);
            /** How many values wait, are in use, or have promises that are pending. */
            get length(): number;
            /** Whether the channel is closed to further values. */
            get closed(): boolean;
            /** Gives a value, in the place of the oldest waiting value if the channel is full. Returns false if it is closed. */
            replace(value: T): boolean;
            /** Gives a value if there is a place for it. Returns false if the channel is full or closed. */
            offer(value: T): boolean;
            /** Gives a value, and waits for a place. */
            give(value: T): Promise<void>;
            /** Closes the channel to further values; the callback gets the waiting values. */
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
            /** The name of the thread, or null. */
            get name(): string | null;
            /** The scheduler whose tasks run in the thread. */
            get scheduler(): Scheduler;
            /** Throws an error, because JavaScript functions run in one thread only. */
            static ['new'](...args: any[]): never;
            /** Returns the scheduler whose tasks run in the thread. */
            get_scheduler(): Scheduler;
            /** Throws an error, because JavaScript functions run in one thread only. */
            run(...args: any[]): never;
            /** Asks the thread to end, and returns at once. */
            stop(how: WorkerStop): void;
            /** Waits until the thread of a stopped worker has ended, and blocks meanwhile. */
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

        /** Calls a function for the next task of a group whenever the group has a free place: see TaskGroup.feed_model(). */
        class Feed extends GObject.Object {
            static $gtype: GObject.GType<Feed>;
            $signals: Feed.SignalSignatures;
            /** Whether a task that has started continues in the background, and is not aborted, when its row is no longer near the view. */
            get demotes(): boolean; set demotes(value: boolean);
            /** The first row in view. */
            get first(): number;
            /** How many rows on each side of the view are loaded as well, as a multiple of the rows in view. */
            get look_ahead(): number; set look_ahead(value: number);
            get lookAhead(): number; set lookAhead(value: number);
            /** The number of rows in view. */
            get n_rows(): number; get nRows(): number;
            /** Creates a feed that calls func(group) for the next task whenever the group has a free place. It ends when func returns
             * null. */
            static ['new'](group: TaskGroup, func: FeedFunc): Feed;
            /** Creates a feed that calls func(group, item, position, signal) for each row in view or near it. Programs usually call
             * TaskGroup.feed_model(). */
            static new_for_model(group: TaskGroup, model: Gio.ListModel, func: FeedRowFunc): Feed;
            /** The task that ends with the feed. */
            get_task(): Task;
            /** Sets the rows in view. The call is cheap. */
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
