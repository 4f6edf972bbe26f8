// priosched-1-inside.d.ts: types for diagnosis: long tasks, statistics, names, tasks of bindings
//
// Part of priosched-1.d.ts, whose classes it adds to.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/// <reference path="priosched-1.d.ts" />

declare module '@girs/priosched-1' {
    import type Gio from 'gi://Gio?version=2.0';
    import type GObject from 'gi://GObject?version=2.0';

    export namespace PrioSched {
        /** The web's threshold for long tasks, in milliseconds. */
        const LONG_TASK_THRESHOLD: number;

        /** How long tasks have waited or run, in milliseconds. */
        class TaskTimes {
            static $gtype: GObject.GType<TaskTimes>;
            total: number;
            longest: number;
            median: number;
            percentile_99: number;
        }

        /** Statistics of the tasks of one priority. */
        class TaskStatistics {
            static $gtype: GObject.GType<TaskStatistics>;
            n_queued: number;
            n_delayed: number;
            n_run: number;
            n_continued: number;
            n_aborted: number;
            waiting: TaskTimes;
            running: TaskTimes;
        }

        /** Statistics of a scheduler's tasks, by priority. */
        class Statistics {
            static $gtype: GObject.GType<Statistics>;
            size: number;
            /** Whether the scheduler is counting. */
            collecting: boolean;
            background: TaskStatistics;
            user_visible: TaskStatistics;
            user_blocking: TaskStatistics;
        }

        /** Called when a task or a source has held the main loop: with its name, its priority or 0 for a source, and
         * how long, in milliseconds. */
        interface LongTaskFunc {
            (name: string | null, priority: number, duration: number): void;
        }

        interface RunnerNameFunc {
            (id: number): string | null;
        }

        interface TaskGroup {
            /** For bindings: posts a task of a Runner to the group; waits are tasks of a Runner, too. */
            post_id(runner: Runner, id: number, priority: number, signal: Gio.Cancellable | null, delay: number,
                timeout: number, takes_turns: boolean, name: string | null): [number, Gio.Cancellable, number];
            return_id(handle: number, failure: string | null): void;
            new_lender(handle: number): number;
            wait_id(own: TaskGroup | null, handle: number, until: TaskGroupWait, cancellable: Gio.Cancellable | null,
                runner: Runner, id: number): void;
            finish_id(id: number): [boolean, Task | null, number];
        }

        interface Runner {
            /** Whether the calling thread runs the scheduler's main context. */
            is_owner(): boolean;
            /** Removes a delayed or queued task from its queue; take_rejected() reports it. */
            cancel(id: number): boolean;
            set_name_func(func: RunnerNameFunc): void;
        }

        interface Scheduler {
            /** Calls func when a task or a source has held the main loop for threshold milliseconds; returns an id, to
             * remove it. */
            add_long_task_func(threshold: number, func: LongTaskFunc): number;
            remove_long_task_func(id: number): void;
        }
    }
}
