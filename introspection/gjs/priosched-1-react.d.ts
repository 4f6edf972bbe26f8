// priosched-1-react.d.ts: types of what React's Scheduler has
//
// Part of priosched-1.d.ts.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/// <reference path="priosched-1.d.ts" />

declare module '@girs/priosched-1' {
    import type Gio from 'gi://Gio?version=2.0';

    export namespace PrioSched {
        /** The timeouts of the levels of React's Scheduler, in milliseconds. */
        const TIMEOUT_IMMEDIATE: number;
        const TIMEOUT_USER_BLOCKING: number;
        const TIMEOUT_NORMAL: number;
        const TIMEOUT_LOW: number;
        /** 0 is not a timeout. */
        const TIMEOUT_IDLE: number;

        /** Options of post_task(), of a scheduler or a group. */
        interface TimedTaskOptions extends PostTaskOptions {
            /**
             * In milliseconds from the end of the delay: after it the task goes before every task whose timeout has not passed.  A
             * negative one has passed; 0 is none.
             */
            timeout?: number | null;
        }

        /** Options of post_steps(). */
        interface StepsOptions<V> extends TimedTaskOptions {
            /** Called, where the task yields, with what the generator has yielded last. */
            progress?: ((value: V) => void) | null;
        }

        /** The levels of React's Scheduler, each of which has a timeout. */
        type Level = 'immediate' | 'user-blocking' | 'normal' | 'low' | 'idle';

        interface ScheduleCallbackOptions {
            signal?: Gio.Cancellable | null;
            /** In whole milliseconds. */
            delay?: number;
            name?: string;
            /** In milliseconds, instead of the level's. */
            timeout?: number | null;
        }

        /** The result of schedule_callback(). */
        interface ScheduledCallback {
            /** Settles with what the last of the functions returns; cancelled, with an AbortError that nobody has to handle. */
            finished: Promise<unknown>;
            /** Returns whether that was still possible. */
            cancel(): boolean;
        }

        interface Scheduler {
            /** Whether the timeout of the running task had passed when its turn, or its continuation's, came. */
            did_timeout(): boolean;
            /** The priority of what is running, which a yield inherits. */
            get_current_priority(): TaskPriority;
            /** Sets the time slice to the whole milliseconds of a frame, 1 to 125 a second, and to 50 at most; 0 resets it. */
            force_frame_rate(fps: number): void;
            /** should_yield() is true until every other source has had its turn. */
            request_paint(): void;
            /** The next task: of schedule_callback(), or a task of the library's own; null for other tasks, and if there is none. */
            get_first_task(): ScheduledCallback | Task | null;
            /** The function runs with the state of now, wherever and as often as it is called. */
            wrap_callback<F extends (...args: any[]) => any>(func: F): F;
            /** As React's: calls callback(didTimeout), and then, as continuations, the functions that it returns. */
            schedule_callback(level: Level, callback: (didTimeout: boolean) => unknown,
                options?: ScheduleCallbackOptions | null): ScheduledCallback;
            /** Returns whether that was still possible. */
            cancel_callback(scheduled: ScheduledCallback): boolean;
            /** Calls func now, with another priority, and gives what it returns; an async function goes on with it. */
            run_with_priority<T>(priority: Nick | TaskPriority, func: () => T): T;
        }
    }
}
