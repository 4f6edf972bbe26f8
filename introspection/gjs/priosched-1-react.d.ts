// priosched-1-react.d.ts: types of what React's Scheduler has
//
// Part of priosched-1.d.ts.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/// <reference path="priosched-1.d.ts" />

declare module '@girs/priosched-1' {
    export namespace PrioSched {
        /** The timeouts of the levels of React's Scheduler, in milliseconds. */
        const TIMEOUT_IMMEDIATE: number;
        const TIMEOUT_USER_BLOCKING: number;
        const TIMEOUT_NORMAL: number;
        const TIMEOUT_LOW: number;
        /** 0 is no timeout. */
        const TIMEOUT_IDLE: number;

        /** Options of Scheduler.post_task() and post_steps(). */
        interface TimedTaskOptions extends PostTaskOptions {
            /**
             * In milliseconds from the end of the delay: after it the task goes before every task whose timeout has not passed.  A
             * negative one has passed; 0 is none.
             */
            timeout?: number | null;
        }

        interface Task {
            /** Lets the task go on with another function when the running one has returned. */
            continue_with(func: TaskFunc): void;
        }

        interface Scheduler {
            /** Whether the timeout of the running task had passed when its turn came, or that of what follows its yield. */
            did_timeout(): boolean;
            /** The priority of what is running, which a yield inherits. */
            get_current_priority(): TaskPriority;
            /** Calls func now, with another priority, and gives what it returns; an async function goes on with it. */
            /** Sets the time slice to the whole milliseconds of a frame, 1 to 125 a second; 0 resets it. */
            force_frame_rate(fps: number): void;
            /** should_yield() is true until every other source has had its turn. */
            request_paint(): void;
            /** The task of the library's own that comes next, or null. */
            get_first_task(): Task | null;
            run_with_priority<T>(priority: Nick | TaskPriority, func: () => T): T;
        }
    }
}
