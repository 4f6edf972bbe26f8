/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-statistics.h: counts and times of a scheduler's tasks */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-watch.h> can be included directly."
#endif

#include "prio-scheduler.h"

G_BEGIN_DECLS

/**
 * PrioTaskTimes:
 * @total: the sum of all times
 * @longest: the longest time
 * @median: half of the times are not longer than this
 * @percentile_99: 99 percent of the times are not longer than this
 *
 * How long tasks have waited, or have run, in milliseconds.  All fields are 0 if there are no times.
 *
 * The sum and the longest time are exact, to the microsecond.  The median and the percentile are rounded down, by a
 * fifth at most.
 *
 * Since: 1.0
 */
typedef struct
{
  double total;
  double longest;
  double median;
  double percentile_99;
  /*< private >*/
  double reserved[4];
} PrioTaskTimes;

/**
 * PrioTaskStatistics:
 * @n_queued: how many tasks wait in a queue, even if the scheduler is paused
 * @n_delayed: how many tasks wait for the end of their delay
 * @n_run: how often tasks have run, to their end or until they yielded.  A task that was aborted while it ran counts
 * @n_continued: how many of these @n_run runs continued a task after a yield
 * @n_aborted: how many tasks were aborted or cancelled while they waited, and did not run.  A task whose signal was
 *   aborted before it was posted is not counted.  A task that another thread aborts counts under the priority that it
 *   has when the scheduler's thread processes the abort
 * @waiting: how long tasks waited in a queue before they ran: one time for each of the @n_run runs
 * @running: how long tasks ran: one time for each of the @n_run runs
 *
 * The statistics of one priority: a part of [struct@PrioSched.Statistics].
 *
 * Since: 1.0
 */
typedef struct
{
  guint64 n_queued;
  guint64 n_delayed;
  guint64 n_run;
  guint64 n_continued;
  guint64 n_aborted;
  PrioTaskTimes waiting;
  PrioTaskTimes running;
  /*< private >*/
  guint64 reserved[4];
} PrioTaskStatistics;

/**
 * PrioStatistics:
 * @size: the size of the structure, which `PRIO_STATISTICS_INIT` sets, or 0 for the fields of version 1.0.  Fields that
 *   the library does not know are set to 0
 * @collecting: whether the scheduler is counting
 * @background: statistics of tasks of %PRIO_TASK_PRIORITY_BACKGROUND
 * @user_visible: statistics of tasks of %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @user_blocking: statistics of tasks of %PRIO_TASK_PRIORITY_USER_BLOCKING
 *
 * Statistics of a scheduler's tasks since [method@PrioSched.Scheduler.start_statistics], by priority.
 * [method@PrioSched.Scheduler.get_statistics] fills the structure.  In C, include `<prio-sched-watch.h>`.
 *
 * ```c
 * PrioStatistics statistics = PRIO_STATISTICS_INIT;
 *
 * prio_scheduler_get_statistics (scheduler, &statistics);
 * g_print ("%" G_GUINT64_FORMAT " background tasks ran, of which the longest took %.1f ms\n",
 *          statistics.background.n_run, statistics.background.running.longest);
 * if (statistics.user_blocking.waiting.percentile_99 > 16)
 *   g_print ("one urgent task in a hundred waits longer than a frame\n");
 * ```
 *
 * Every kind of task is counted, including tasks of the scheduler's groups, under the priority that it has when it is
 * counted; a lent priority or an expired timeout does not matter.  Idle callbacks, microtasks and functions in threads
 * are not counted.
 *
 * # Counts
 *
 * Each number is exact.  A task that another thread has posted is not included if its signal is aborted before the main
 * loop has received the task.  A task that yields is queued again, and counts each time.  So `n_run` + `n_aborted` +
 * `n_queued` + `n_delayed` is the number of tasks that waited at the start or were posted since, plus the yields, minus
 * the running tasks, of which there may be several in nested main loops.
 *
 * # Times
 *
 * The clock is read when a task is queued, when it begins and when it ends.  If a task begins directly after another
 * task, the clock is read once for both.
 *
 * - A task *waits* from the time when it is queued until it begins.  A delayed task is queued when it is due, and a
 *   task from another thread when the main loop receives it.  For a task that waits already, the time counts from the
 *   start of the statistics.
 * - A task *runs* until its function, its microtasks and its callbacks have ended, including everything that its nested
 *   main loops run.  Its destroy notify may be called later, and is then not included.
 *
 * Since: 1.0
 */
typedef struct
{
  gsize size;
  gboolean collecting;
  PrioTaskStatistics background;
  PrioTaskStatistics user_visible;
  PrioTaskStatistics user_blocking;
} PrioStatistics;

/**
 * PRIO_STATISTICS_INIT:
 *
 * Initializes a [struct@PrioSched.Statistics]: sets its field `size`, and the other fields to 0.
 *
 * Since: 1.0
 */
#define PRIO_STATISTICS_INIT { .size = sizeof (PrioStatistics) }

PRIO_AVAILABLE_IN_ALL
void prio_scheduler_start_statistics (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_stop_statistics (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_get_statistics (PrioScheduler *self, PrioStatistics *statistics);

G_END_DECLS
