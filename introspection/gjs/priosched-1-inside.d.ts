// priosched-1-inside.d.ts: types for diagnosis, tests and bindings: long tasks, statistics, the clock of a test, numbered tasks
//
// Part of priosched-1.d.ts.  Adds members to its classes.
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
            /** The sum of the times. */
            total: number;
            /** The longest time. */
            longest: number;
            /** Half of the times are not longer than this. */
            median: number;
            /** 99 percent of the times are not longer than this. */
            percentile_99: number;
        }

        /** Statistics of the tasks of one priority. */
        class TaskStatistics {
            static $gtype: GObject.GType<TaskStatistics>;
            /** How many tasks wait for their turn now. */
            n_queued: number;
            /** How many tasks wait for the end of their delay now. */
            n_delayed: number;
            /** How often tasks have run, to their end or to a yield. */
            n_run: number;
            /** How many of the runs in n_run continued after a yield. */
            n_continued: number;
            /** How many tasks were aborted while they waited. */
            n_aborted: number;
            /** How long tasks have waited in a queue before each run. */
            waiting: TaskTimes;
            /** How long the runs took. */
            running: TaskTimes;
        }

        /** Statistics of a scheduler's tasks, by priority. */
        class Statistics {
            static $gtype: GObject.GType<Statistics>;
            size: number;
            /** Whether the scheduler is counting. */
            collecting: boolean;
            /** The tasks of the priority background. */
            background: TaskStatistics;
            /** The tasks of the priority user-visible. */
            user_visible: TaskStatistics;
            /** The tasks of the priority user-blocking. */
            user_blocking: TaskStatistics;
        }

        /** Called when a task or a source has blocked the main loop. */
        interface LongTaskFunc {
            /** Reports a long task or source: its name; the task's priority, or 0 for a source; and the duration in milliseconds. */
            (name: string | null, priority: number, duration: number): void;
        }

        /** The clock of a test: delays, timeouts, slices and frames follow the time that the test sets, and no main loop sleeps. */
        namespace testing {
            /** Starts a test: from now on the time stands still, unless the test advances it. */
            function begin(): void;
            /** Ends the test: schedulers use the system's time again. */
            function end(): void;
            /** Advances the time, and runs each task that becomes due, at the time when it is due. */
            function advance(milliseconds: number): void;
            /** Advances the time like advance(), while the program runs the main loop. */
            function advance_async(milliseconds: number): Promise<void>;
            /** Advances the time, and runs nothing, as if the calling code had taken that long. */
            function spend(milliseconds: number): void;
            /** Runs everything that is ready, and does not advance the time. */
            function run_until_idle(): void;
            /** Runs the next task that is ready, and no other. Returns whether there was one. */
            function step(): boolean;
            /** How much time of the test has passed, in milliseconds. */
            const elapsed: number;
            /** The time that schedulers read, in microseconds. */
            const time: number;
            /** The names of the tasks that wait for their turn, in the order of their posts. */
            const queued: string[];
            /** The names of the tasks that wait for the end of their delay, in the order of their posts. */
            const delayed: string[];
        }
        function testing_advance(milliseconds: number): void;
        function testing_advance_async(milliseconds: number, callback?: Gio.AsyncReadyCallback | null): void;
        function testing_advance_finish(result: Gio.AsyncResult): boolean;
        function testing_begin(): void;
        function testing_end(): void;
        function testing_get_elapsed(): number;
        function testing_get_time(): number;
        function testing_list_delayed(): string[];
        function testing_list_queued(): string[];
        function testing_run_until_idle(): void;
        function testing_spend(milliseconds: number): void;
        function testing_step(): boolean;

        interface RunnerNameFunc {
            (id: number): string | null;
        }

        interface TaskGroup {
            /** For bindings, like the next four methods: posts a task of a Runner to the group. */
            post_id(runner: Runner, id: number, priority: number, signal: Gio.Cancellable | null, delay: number,
                timeout: number, takes_turns: boolean, name: string | null): [number, Gio.Cancellable, number];
            return_id(handle: number, failure: string | null): void;
            add_lender(handle: number): number;
            wait_id(own: TaskGroup | null, handle: number, until: TaskGroupWait, cancellable: Gio.Cancellable | null,
                runner: Runner, id: number): void;
            finish_id(id: number): [boolean, Task | null, number];
        }

        interface Runner {
            /** Returns whether the calling thread runs the scheduler's main context. */
            is_owner(): boolean;
            /** Removes a delayed or queued task from its queue; take_rejected() reports it. */
            cancel(id: number): boolean;
            set_name_func(func: RunnerNameFunc): void;
        }

        interface Scheduler {
            /** Calls func when a task or a source has blocked the main loop for threshold milliseconds; returns an id for
             * remove_long_task_func(). */
            add_long_task_func(threshold: number, func: LongTaskFunc): number;
            /** Removes a function that add_long_task_func() has added. */
            remove_long_task_func(id: number): void;
        }
    }
}
