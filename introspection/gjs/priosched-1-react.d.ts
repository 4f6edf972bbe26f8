// priosched-1-react.d.ts: types of the functions of React's Scheduler
//
// Part of priosched-1.d.ts.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/// <reference path="priosched-1.d.ts" />

declare module '@girs/priosched-1' {
    import type Gio from 'gi://Gio?version=2.0';

    export namespace PrioSched {
        /** The timeout of React's level immediate, in milliseconds: it has passed from the start. */
        const TIMEOUT_IMMEDIATE: number;
        /** The timeout of React's level user-blocking, in milliseconds. */
        const TIMEOUT_USER_BLOCKING: number;
        /** The timeout of React's level normal, in milliseconds. */
        const TIMEOUT_NORMAL: number;
        /** The timeout of React's level low, in milliseconds. */
        const TIMEOUT_LOW: number;
        /** The timeout of React's level idle: 0, for none. */
        const TIMEOUT_IDLE: number;

        /** Options of post_task(), of a scheduler or a group. */
        interface TimedTaskOptions extends PostTaskOptions {
            /**
             * The timeout, in milliseconds from the end of the delay. When it has passed, the task runs before all tasks whose timeout has
             * not passed. A negative timeout has passed from the start; 0 means no timeout.
             */
            timeout?: number | null;
        }

        /** Options of post_steps(). */
        interface StepsOptions<V> extends TimedTaskOptions {
            /** Called when the task yields, with the last value from the generator. */
            progress?: ((value: V) => void) | null;
        }

        /** The levels of React's Scheduler, each of which has a timeout. */
        type Level = 'immediate' | 'user-blocking' | 'normal' | 'low' | 'idle';

        /** The options of schedule_callback(). */
        interface ScheduleCallbackOptions {
            /** A signal that may abort the task. */
            signal?: Gio.Cancellable | null;
            /** How long the task waits before it is queued, in whole milliseconds. */
            delay?: number;
            /** The name of the task in reports and traces. */
            name?: string;
            /** The timeout in milliseconds, instead of the level's. */
            timeout?: number | null;
        }

        /** The result of schedule_callback(). */
        interface ScheduledCallback {
            /** Settles with the result of the last function or, if the task is cancelled, with an AbortError that need not be
             * handled. */
            finished: Promise<unknown>;
            /** Cancels the task. Returns whether that was still possible. */
            cancel(): boolean;
        }

        interface Scheduler {
            /** Returns whether the timeout of the running task had passed when the task, or its continuation,
             * started. */
            did_timeout(): boolean;
            /** Returns the priority of the running code, which a yield inherits. */
            get_current_priority(): TaskPriority;
            /** Sets the time slice to the length of a frame at fps frames a second, from 1 to 125: whole milliseconds, at most
             * 50. If fps is 0, the slice adapts. */
            force_frame_rate(fps: number): void;
            /** Makes should_yield() true until every other source has had its turn. */
            request_paint(): void;
            /** Returns the next task if schedule_callback() or another language has posted it; null for other tasks, and if there is
             * none. */
            get_first_task(): ScheduledCallback | Task | null;
            /** Returns a function that runs func with the current state, wherever and as often as it is called. */
            wrap_callback<F extends (...args: any[]) => any>(func: F): F;
            /** Works like React's unstable_scheduleCallback(): calls callback(didTimeout). If that returns a function, calls the
             * function as a continuation, and so on. */
            schedule_callback(level: Level, callback: (didTimeout: boolean) => unknown,
                options?: ScheduleCallbackOptions | null): ScheduledCallback;
            /** Cancels a task of schedule_callback(). Returns whether that was still possible. */
            cancel_callback(scheduled: ScheduledCallback): boolean;
            /** Calls func now, with another priority, and returns its result; an async function continues with that
             * priority. */
            run_with_priority<T>(priority: Nick | TaskPriority, func: () => T): T;
        }
    }
}
