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

        interface Scheduler {
            /** Whether the timeout of the running task had passed when its turn came, or that of what follows its yield. */
            did_timeout(): boolean;
            /** The priority of what is running, which a yield inherits. */
            get_current_priority(): TaskPriority;
            /** Calls func now, with another priority, and gives what it returns; an async function goes on with it. */
            run_with_priority<T>(priority: Nick | TaskPriority, func: () => T): T;
        }
    }
}
