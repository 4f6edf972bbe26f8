// prio-sched.d.ts: types of PrioSched in GJS, and of PrioSched.web
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/// <reference lib="es2021" />

declare module 'gi://PrioSched' {
    export default PrioSched;
}

declare module 'gi://PrioSched?version=1' {
    export default PrioSched;
}

declare namespace PrioSched {
    type Nick = 'background' | 'user-visible' | 'user-blocking';

    enum TaskPriority {
        BACKGROUND = 1,
        USER_VISIBLE,
        USER_BLOCKING,
    }

    /** What tasks need of a Gio.Cancellable. */
    interface Cancellable {
        cancel(): void;
        is_cancelled(): boolean;
    }

    interface PostTaskOptions {
        priority?: Nick | TaskPriority | null;
        signal?: Cancellable | null;
        /** Whole milliseconds. */
        delay?: number;
        name?: string;
    }

    interface YieldOptions {
        signal?: Cancellable | 'inherit' | null;
        priority?: Nick | TaskPriority | 'inherit' | null;
    }

    interface IdleDeadline {
        time_remaining(): number;
        did_timeout(): boolean;
    }

    class Scheduler {
        static get_default(): Scheduler;
        static ref_thread_default(): Scheduler;
        static ['new'](context: object | null): Scheduler;
        post_task<T>(callback: () => T, options?: PostTaskOptions): Promise<Awaited<T>>;
        yield(options?: YieldOptions): Promise<void>;
        /** Yields between items, if should_yield() says so. */
        each<T>(items: Iterable<T> | AsyncIterable<T>): AsyncIterableIterator<T>;
        /** Calls job as a task; the next call aborts that one, whose promise is then fulfilled with undefined. */
        latest<A extends unknown[], T>(job: (signal: TaskSignal, ...args: A) => T,
            options?: {priority?: Nick | TaskPriority, signal?: Cancellable | null}): Latest<A, T>;
        /** Settles as promise does, and goes on as a continuation of the current task. */
        adopt<T>(promise: T): Promise<Awaited<T>>;
        queue_microtask(callback: () => void): void;
        request_idle_callback(callback: (deadline: IdleDeadline) => void, timeout?: number): number;
        cancel_idle_callback(id: number): void;
        follow_frame_clock(frame_clock: object): void;
        unfollow_frame_clock(frame_clock: object): void;
        should_yield(): boolean;
        get_time_slice(): number;
        set_time_slice(time_slice: number): void;
        pause(): void;
        resume(): void;
        get_paused(): boolean;
    }

    interface Latest<A extends unknown[], T> {
        (...args: A): Promise<Awaited<T> | undefined>;
        /** Aborts the run that there is, if any. */
        abort(): void;
    }

    class TaskSignal implements Cancellable {
        static any(signals: Cancellable[], priority: Nick | TaskPriority): TaskSignal;
        static any_following(signals: Cancellable[], priority_source: TaskSignal): TaskSignal;
        static new_timeout(delay: number): TaskSignal;
        readonly priority: TaskPriority;
        cancel(): void;
        is_cancelled(): boolean;
        is_aborted(): boolean;
        has_fixed_priority(): boolean;
        connect(signal: 'priority-change', callback: (self: TaskSignal, previous: TaskPriority) => void): number;
        connect(signal: 'cancelled', callback: (self: TaskSignal) => void): number;
        disconnect(id: number): void;
    }

    class TaskController {
        constructor(properties?: {priority?: Nick | TaskPriority});
        static ['new'](priority: Nick | TaskPriority): TaskController;
        readonly signal: TaskSignal;
        set_priority(priority: Nick | TaskPriority): boolean;
        abort(reason?: unknown): void;
    }

    /** What the native part gives: with 'state', each reaction has the state of the code that registered it. */
    const nativePart: 'none' | 'speed' | 'state';

    /** The interfaces of the web. */
    const web: Web;

    interface Web {
        scheduler: WebScheduler;
        TaskController: typeof WebTaskController;
        TaskSignal: typeof WebTaskSignal;
        TaskPriorityChangeEvent: typeof WebTaskPriorityChangeEvent;
        AbortController: typeof WebAbortController;
        AbortSignal: typeof WebAbortSignal;
        Event: typeof WebEvent;
        EventTarget: typeof WebEventTarget;
        DOMException: typeof WebDOMException;
        IdleDeadline: typeof WebIdleDeadline;
        requestIdleCallback(callback: (deadline: WebIdleDeadline) => void, options?: {timeout?: number}): number;
        cancelIdleCallback(handle: number): void;
        queueMicrotask(callback: () => void): void;
        install(target: object): void;
        readonly extras: WebExtras;
    }

    /** What the web has not. */
    interface WebExtras {
        readonly scheduler: WebScheduler;
        readonly native: Scheduler;
        /** Milliseconds. */
        timeSlice: number;
        shouldYield(): boolean;
        followFrameClock(frameClock: object): void;
        unfollowFrameClock(frameClock: object): void;
        each<T>(items: Iterable<T> | AsyncIterable<T>): AsyncIterableIterator<T>;
        latest<A extends unknown[], T>(job: (signal: WebTaskSignal, ...args: A) => T,
            options?: {priority?: Nick, signal?: WebAbortSignal | Cancellable}): Latest<A, T>;
        adopt<T>(promise: T): Promise<Awaited<T>>;
        /** Those of another scheduler in the same main context. */
        newScheduler(): WebExtras;
    }

    interface WebScheduler {
        postTask<T>(callback: () => T, options?: {priority?: Nick, signal?: WebAbortSignal | Cancellable, delay?: number}): Promise<Awaited<T>>;
        yield(): Promise<void>;
    }

    class WebIdleDeadline {
        protected constructor();
        readonly didTimeout: boolean;
        timeRemaining(): number;
    }

    class WebDOMException extends Error {
        constructor(message?: string, name?: string);
        readonly code: number;
    }

    class WebEvent {
        constructor(type: string, init?: {bubbles?: boolean, cancelable?: boolean, composed?: boolean});
        readonly type: string;
        readonly target: WebEventTarget | null;
        readonly currentTarget: WebEventTarget | null;
        readonly defaultPrevented: boolean;
        readonly timeStamp: number;
        returnValue: boolean;
        initEvent(type: string, bubbles?: boolean, cancelable?: boolean): void;
        preventDefault(): void;
        stopPropagation(): void;
        stopImmediatePropagation(): void;
    }

    type Listener = ((event: any) => void) | {handleEvent(event: any): void} | null;

    class WebEventTarget {
        constructor();
        addEventListener(type: string, callback: Listener,
            options?: boolean | {capture?: boolean, once?: boolean, passive?: boolean, signal?: WebAbortSignal | Cancellable}): void;
        removeEventListener(type: string, callback: Listener, options?: boolean | {capture?: boolean}): void;
        dispatchEvent(event: WebEvent): boolean;
    }

    class WebAbortSignal extends WebEventTarget {
        protected constructor();
        static abort(reason?: unknown): WebAbortSignal;
        static timeout(milliseconds: number): WebAbortSignal;
        static any(signals: Iterable<WebAbortSignal | Cancellable>): WebAbortSignal;
        readonly aborted: boolean;
        readonly reason: any;
        /** Cancelled with the signal, for GIO; a native signal with the same priority and reason. Not the web's. */
        readonly cancellable: TaskSignal;
        onabort: ((event: WebEvent) => void) | null;
        throwIfAborted(): void;
    }

    class WebAbortController {
        constructor();
        readonly signal: WebAbortSignal;
        abort(reason?: unknown): void;
    }

    class WebTaskSignal extends WebAbortSignal {
        static any(signals: Iterable<WebAbortSignal | Cancellable>, init?: {priority?: Nick | WebTaskSignal | TaskSignal}): WebTaskSignal;
        readonly priority: Nick;
        onprioritychange: ((event: WebTaskPriorityChangeEvent) => void) | null;
    }

    class WebTaskController extends WebAbortController {
        constructor(init?: {priority?: Nick});
        readonly signal: WebTaskSignal;
        setPriority(priority: Nick): void;
    }

    class WebTaskPriorityChangeEvent extends WebEvent {
        constructor(type: string, init: {previousPriority: Nick});
        readonly previousPriority: Nick;
    }
}
