// priosched-1-web.d.ts: types of PrioSched.web, the web's interfaces
//
// Part of priosched-1.d.ts. The types are as in a browser, without the parts that need a document; none of them is global.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/// <reference path="priosched-1.d.ts" />

declare module '@girs/priosched-1' {
    import type Gio from 'gi://Gio?version=2.0';

    export namespace PrioSched {
        /** The web's interfaces, in addition to the library's. Event, EventTarget, DOMException and the options of
         * listeners are as in a browser, and [MDN](https://developer.mozilla.org/docs/Web/API) has their references. */
        namespace web {
            /** The priorities of the web. */
            type TaskPriority = 'background' | 'user-visible' | 'user-blocking';

            /** The scheduler of the default main context, like the global scheduler of a browser. */
            const scheduler: Scheduler;

            /** The signals of the web, of GIO and of the library. */
            type AnySignal = AbortSignal | Gio.Cancellable;

            /** The options of postTask(). */
            interface SchedulerPostTaskOptions {
                /** A signal that may abort the task; a TaskSignal also sets its priority, unless one is given. */
                signal?: AnySignal;
                /** The fixed priority of the task; by default it follows the signal's priority, or is user-visible. */
                priority?: TaskPriority;
                /** How long the task waits before it is queued, in milliseconds. */
                delay?: number;
            }

            /** Posts tasks, and yields, with the names and the behavior of the web. */
            class Scheduler {
                protected constructor();
                /** Posts a task. The promise settles with the callback's result or exception, or with the reason of an
                 * abort. */
                postTask<T>(callback: () => T, options?: SchedulerPostTaskOptions): Promise<Awaited<T>>;
                /** Lets more urgent work run first, and continues with the task's signal and priority. */
                yield(options?: SchedulerYieldOptions): Promise<void>;
            }

            /** Options of an older draft, which browsers ignore. If only one option is given, the other is not inherited. */
            interface SchedulerYieldOptions {
                /** The signal of the continuation instead of the task's. */
                signal?: AnySignal | 'inherit';
                /** The priority of the continuation instead of the task's. */
                priority?: TaskPriority | 'inherit';
            }

            /** The options of a TaskController. */
            interface TaskControllerInit {
                /** The initial priority of the signal; by default user-visible. */
                priority?: TaskPriority;
            }

            /** Aborts the tasks of its signal, and changes their priority. */
            class TaskController extends AbortController {
                /** Creates a controller whose signal has the priority in init; by default user-visible. */
                constructor(init?: TaskControllerInit);
                /** The controller's signal, for postTask(). Calls of GIO take its cancellable. */
                get signal(): TaskSignal;
                /** Changes the priority of all tasks of the signal. */
                setPriority(priority: TaskPriority): void;
            }

            /** The options of TaskSignal.any(). */
            interface TaskSignalAnyInit {
                /** A priority, or the signal whose priority is followed. */
                priority?: TaskPriority | TaskSignal | PrioSched.TaskSignal;
            }

            interface TaskSignalEventMap extends AbortSignalEventMap {
                prioritychange: TaskPriorityChangeEvent;
            }

            /** Aborts tasks, and sets their priority. */
            class TaskSignal extends AbortSignal {
                protected constructor();
                /** Returns a signal that is aborted as soon as one of the signals is, and that has the priority in init. */
                static any(signals: Iterable<AnySignal>, init?: TaskSignalAnyInit): TaskSignal;
                /** The current priority of the signal. */
                get priority(): TaskPriority;
                /** A function that is called when the priority has changed, or null. */
                onprioritychange: ((this: TaskSignal, event: TaskPriorityChangeEvent) => any) | null;

                /** Calls a function at each event of a type: prioritychange or abort. */
                addEventListener<K extends keyof TaskSignalEventMap>(type: K,
                    callback: EventListener<this, TaskSignalEventMap[K]> | null, options?: AddOptions): void;
                addEventListener(type: string, callback: EventListener<this> | null, options?: AddOptions): void;
                /** Removes a function that addEventListener() has added. */
                removeEventListener<K extends keyof TaskSignalEventMap>(type: K,
                    callback: EventListener<this, TaskSignalEventMap[K]> | null, options?: RemoveOptions): void;
                removeEventListener(type: string, callback: EventListener<this> | null, options?: RemoveOptions): void;
            }

            /** The options of a TaskPriorityChangeEvent. */
            interface TaskPriorityChangeEventInit extends EventInit {
                /** The priority before the change. */
                previousPriority: TaskPriority;
            }

            /** The event of a changed priority. */
            class TaskPriorityChangeEvent extends Event {
                /** Creates an event, such as for a test. */
                constructor(type: string, init: TaskPriorityChangeEventInit);
                /** The priority before the change. */
                get previousPriority(): TaskPriority;
            }

            /** Aborts the work that has its signal. */
            class AbortController {
                /** Creates a controller. */
                constructor();
                /** The controller's signal, for postTask(). Calls of GIO take its cancellable. */
                get signal(): AbortSignal;
                /** Aborts the signal; the reason may be any value, and is an AbortError by default. */
                abort(reason?: any): void;
            }

            interface AbortSignalEventMap {
                abort: Event;
            }

            /** Aborts the tasks and other work that have the signal. */
            class AbortSignal extends EventTarget {
                protected constructor();
                /** Returns a signal that is aborted already. */
                static abort(reason?: any): AbortSignal;
                /** Returns a signal that is aborted after that many milliseconds. */
                static timeout(milliseconds: number): AbortSignal;
                /** Returns a signal that is aborted as soon as one of the signals is. */
                static any(signals: Iterable<AnySignal>): AbortSignal;
                /** Whether the signal has been aborted. */
                get aborted(): boolean;
                /** The reason of the abort, or undefined. */
                get reason(): any;
                /** For GIO: a cancellable that is cancelled with the signal, and has its priority and reason. An addition
                 * to the web's interface. */
                get cancellable(): PrioSched.TaskSignal;
                /** A function that is called at the abort, or null. */
                onabort: ((this: AbortSignal, event: Event) => any) | null;
                /** Throws the reason if the signal has been aborted. */
                throwIfAborted(): void;

                /** Calls a function at each event of a type: abort. */
                addEventListener<K extends keyof AbortSignalEventMap>(type: K,
                    callback: EventListener<this, AbortSignalEventMap[K]> | null, options?: AddOptions): void;
                addEventListener(type: string, callback: EventListener<this> | null, options?: AddOptions): void;
                /** Removes a function that addEventListener() has added. */
                removeEventListener<K extends keyof AbortSignalEventMap>(type: K,
                    callback: EventListener<this, AbortSignalEventMap[K]> | null, options?: RemoveOptions): void;
                removeEventListener(type: string, callback: EventListener<this> | null, options?: RemoveOptions): void;
            }

            type EventListener<T = EventTarget, E = Event> =
                ((this: T, event: E) => any) | {handleEvent(event: E): any};

            interface EventListenerOptions {
                capture?: boolean;
            }

            interface AddEventListenerOptions extends EventListenerOptions {
                once?: boolean;
                passive?: boolean;
                /** A signal whose abort removes the listener. */
                signal?: AnySignal;
            }

            type AddOptions = AddEventListenerOptions | boolean;
            type RemoveOptions = EventListenerOptions | boolean;

            class EventTarget {
                constructor();
                addEventListener(type: string, callback: EventListener<this> | null, options?: AddOptions): void;
                removeEventListener(type: string, callback: EventListener<this> | null, options?: RemoveOptions): void;
                dispatchEvent(event: Event): boolean;
            }

            interface EventInit {
                bubbles?: boolean;
                cancelable?: boolean;
                composed?: boolean;
            }

            class Event {
                static readonly NONE: 0;
                static readonly CAPTURING_PHASE: 1;
                static readonly AT_TARGET: 2;
                static readonly BUBBLING_PHASE: 3;
                readonly NONE: 0;
                readonly CAPTURING_PHASE: 1;
                readonly AT_TARGET: 2;
                readonly BUBBLING_PHASE: 3;

                constructor(type: string, init?: EventInit);
                get type(): string;
                get target(): EventTarget | null;
                get srcElement(): EventTarget | null;
                get currentTarget(): EventTarget | null;
                get eventPhase(): number;
                get bubbles(): boolean;
                get cancelable(): boolean;
                get composed(): boolean;
                get defaultPrevented(): boolean;
                get isTrusted(): boolean;
                /** The time of the event, in milliseconds. */
                get timeStamp(): number;
                cancelBubble: boolean;
                returnValue: boolean;
                composedPath(): EventTarget[];
                initEvent(type: string, bubbles?: boolean, cancelable?: boolean): void;
                preventDefault(): void;
                stopPropagation(): void;
                stopImmediatePropagation(): void;
            }

            interface IdleRequestOptions {
                /** How long to wait for idle time at most, in milliseconds. */
                timeout?: number;
            }

            /** The argument of an idle callback; valid while the callback runs. */
            class IdleDeadline {
                protected constructor();
                /** Whether the callback is called because its timeout has expired. */
                get didTimeout(): boolean;
                /** Returns how many milliseconds the callback may take. */
                timeRemaining(): number;
            }

            type IdleRequestCallback = (deadline: IdleDeadline) => void;

            /** Calls a function when there is nothing else to do, or after the timeout in options. Returns a number for cancelIdleCallback(). */
            function requestIdleCallback(callback: IdleRequestCallback, options?: IdleRequestOptions): number;
            /** Removes the callback of requestIdleCallback(). */
            function cancelIdleCallback(handle: number): void;
            /** Calls a function before the next task. */
            function queueMicrotask(callback: () => void): void;

            /** Defines in target, such as globalThis, the names of web that target lacks. */
            function install(target: object): void;

            /** The additions to the web's interface, for the default main context. */
            const extras: Extras;

            /** Additions to the web's interface. */
            interface Extras {
                /** The scheduler of the web's interface. */
                get scheduler(): Scheduler;
                /** The scheduler with the library's interface. */
                get native(): PrioSched.Scheduler;
                /** A signal for posts of other tasks: the signal of the running task, of any scheduler; null outside any task. If that task has
                 * no signal, this is a new signal that is never aborted; if the task has its own priority, this signal has that priority. */
                get currentTaskSignal(): TaskSignal | null;
                /** How long tasks run before every other source has its turn, in milliseconds. */
                timeSlice: number;
                /** How long a task waits behind continuations of its priority until it has a turn, in milliseconds; 0 means for ever. */
                starvationLimit: number;
                /** Returns whether input, a frame or more urgent work is waiting, or the time slice is over. */
                shouldYield(): boolean;
                /** Follows a Gdk.FrameClock, or GNOME Shell's global.stage, which reports when frames are due. */
                followFrameClock(frameClock: object): void;
                /** Ends followFrameClock(). */
                unfollowFrameClock(frameClock: object): void;
                /** Iterates over items, and yields between two of them if shouldYield() returns true. */
                each<T>(items: AsyncIterable<T>): AsyncIterableIterator<T>;
                each<T>(items: Iterable<T>): AsyncIterableIterator<Awaited<T>>;
                /** Divides items into slices, and yields between two of them: for await (const slice of slices(items)) for (const item of slice).
                 * A slice ends when shouldYield() returns true. The overhead for an item is a tenth of each()'s. */
                slices<T>(items: Iterable<T>): AsyncIterableIterator<IterableIterator<T>>;
                /** Returns a function that calls job as a task; its next call aborts the previous run, whose promise is
                 * then fulfilled with undefined. */
                latest<A extends unknown[], T>(job: (...args: A) => T,
                    options?: {priority?: TaskPriority, signal?: AnySignal}): PrioSched.Latest<A, T>;
                /** Returns a promise that settles in the same way as the given promise, in a continuation of the current task. */
                adopt<T>(promise: T): Promise<Awaited<T>>;
                /** Returns these functions for a new scheduler in the same main context. */
                newScheduler(): Extras;
            }

            class DOMException extends globalThis.Error {
                static readonly INDEX_SIZE_ERR: 1;
                static readonly DOMSTRING_SIZE_ERR: 2;
                static readonly HIERARCHY_REQUEST_ERR: 3;
                static readonly WRONG_DOCUMENT_ERR: 4;
                static readonly INVALID_CHARACTER_ERR: 5;
                static readonly NO_DATA_ALLOWED_ERR: 6;
                static readonly NO_MODIFICATION_ALLOWED_ERR: 7;
                static readonly NOT_FOUND_ERR: 8;
                static readonly NOT_SUPPORTED_ERR: 9;
                static readonly INUSE_ATTRIBUTE_ERR: 10;
                static readonly INVALID_STATE_ERR: 11;
                static readonly SYNTAX_ERR: 12;
                static readonly INVALID_MODIFICATION_ERR: 13;
                static readonly NAMESPACE_ERR: 14;
                static readonly INVALID_ACCESS_ERR: 15;
                static readonly VALIDATION_ERR: 16;
                static readonly TYPE_MISMATCH_ERR: 17;
                static readonly SECURITY_ERR: 18;
                static readonly NETWORK_ERR: 19;
                static readonly ABORT_ERR: 20;
                static readonly URL_MISMATCH_ERR: 21;
                static readonly QUOTA_EXCEEDED_ERR: 22;
                static readonly TIMEOUT_ERR: 23;
                static readonly INVALID_NODE_TYPE_ERR: 24;
                static readonly DATA_CLONE_ERR: 25;
                readonly INDEX_SIZE_ERR: 1;
                readonly DOMSTRING_SIZE_ERR: 2;
                readonly HIERARCHY_REQUEST_ERR: 3;
                readonly WRONG_DOCUMENT_ERR: 4;
                readonly INVALID_CHARACTER_ERR: 5;
                readonly NO_DATA_ALLOWED_ERR: 6;
                readonly NO_MODIFICATION_ALLOWED_ERR: 7;
                readonly NOT_FOUND_ERR: 8;
                readonly NOT_SUPPORTED_ERR: 9;
                readonly INUSE_ATTRIBUTE_ERR: 10;
                readonly INVALID_STATE_ERR: 11;
                readonly SYNTAX_ERR: 12;
                readonly INVALID_MODIFICATION_ERR: 13;
                readonly NAMESPACE_ERR: 14;
                readonly INVALID_ACCESS_ERR: 15;
                readonly VALIDATION_ERR: 16;
                readonly TYPE_MISMATCH_ERR: 17;
                readonly SECURITY_ERR: 18;
                readonly NETWORK_ERR: 19;
                readonly ABORT_ERR: 20;
                readonly URL_MISMATCH_ERR: 21;
                readonly QUOTA_EXCEEDED_ERR: 22;
                readonly TIMEOUT_ERR: 23;
                readonly INVALID_NODE_TYPE_ERR: 24;
                readonly DATA_CLONE_ERR: 25;
                constructor(message?: string, name?: string);
                get code(): number;
            }
        }
    }
}
