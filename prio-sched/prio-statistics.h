/* prio-statistics.h: what the tasks of a scheduler have done, and how long it took
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-watch.h> can be included directly."
#endif

#include <glib-object.h>

#include "prio-scheduler.h"
#include "prio-version-macros.h"

G_BEGIN_DECLS

/**
 * PrioTimes:
 * @total: the sum of all times
 * @longest: the longest time
 * @median: half of the times are not longer than this
 * @percentile_99: 99 percent of the times are not longer than this
 *
 * How long tasks have waited, or have run, in milliseconds.  All fields are 0 if there are no times.
 *
 * The sum and the longest time are exact, to the microsecond.  The median and the percentile are found by a histogram
 * with four steps for each doubling, and are rounded down, by a fifth at most.
 *
 * Since: 1.0
 */
typedef struct
{
  double total;
  double longest;
  double median;
  double percentile_99;
} PrioTimes;

/**
 * PrioTaskStatistics:
 * @n_queued: how many tasks wait in a queue, those of a scheduler that is paused included
 * @n_delayed: how many tasks wait for the end of their delay
 * @n_run: how often tasks have run: to their end, or until they have yielded.  A task that was aborted while it ran has run
 * @n_continued: how many of @n_run went on after a yield
 * @n_aborted: how many tasks have been aborted while they waited, and did not run.  A task whose signal was aborted before
 *   it was posted is not counted.  What another thread aborts counts under the priority that it has when the scheduler's
 *   thread hears of that
 * @waiting: how long the tasks that have run had waited since they were queued: one time for each of @n_run
 * @running: how long tasks have run, each time: one time for each of @n_run
 *
 * What the tasks of one priority have done: a part of [struct@PrioSched.Statistics].
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
  PrioTimes waiting;
  PrioTimes running;
} PrioTaskStatistics;

/**
 * PrioStatistics:
 * @size: the size of the structure, which the caller sets, or 0
 * @collecting: whether the scheduler counts now
 * @background: what tasks of %PRIO_TASK_PRIORITY_BACKGROUND have done
 * @user_visible: what tasks of %PRIO_TASK_PRIORITY_USER_VISIBLE have done
 * @user_blocking: what tasks of %PRIO_TASK_PRIORITY_USER_BLOCKING have done
 *
 * What the tasks of a scheduler have done since [method@PrioSched.Scheduler.start_statistics], by priority.
 * [method@PrioSched.Scheduler.get_statistics] fills it.  In C, include `<prio-sched-watch.h>`.
 *
 * ```c
 * PrioStatistics statistics = { .size = sizeof statistics };
 *
 * prio_scheduler_get_statistics (scheduler, &statistics);
 * g_print ("%" G_GUINT64_FORMAT " background tasks ran, of which the longest took %.1f ms\n",
 *          statistics.background.n_run, statistics.background.running.longest);
 * if (statistics.user_blocking.waiting.percentile_99 > 16)
 *   g_print ("one urgent task in a hundred waits for a frame\n");
 * ```
 *
 * Every kind of task is counted, those of the scheduler's groups included, under the priority that it has by itself at
 * that moment: what is lent to it, and a timeout that has passed, do not change it.  Idle callbacks, microtasks and
 * what runs in threads are not tasks of a priority, and are not counted.
 *
 * # What is counted
 *
 * Each number is exact; a task that another thread posts, and whose signal is aborted before the main loop has heard of
 * it, is in none.  A task that yields is queued again, and counts each time: so what has been posted since, with what
 * waited then and with the yields, is `n_run` + `n_aborted` + `n_queued` + `n_delayed`, and what runs now.  The task that
 * runs now, and in a nested main loop those that run around it, are in none of them.
 *
 * # How it is timed
 *
 * The clock is read when a task is queued, when it begins and when it is over.  A task that follows another at once
 * begins when that is over.
 *
 * - A task *waits* from when it is queued until it begins: after a delay, from when it is due; from another thread,
 *   from when the main loop has it.  What waited already when the statistics began has waited from then on.
 * - A task *runs* until its function, its microtasks and its destroy notify are over, and with it whatever a nested
 *   main loop of its runs.
 *
 * # How it grows
 *
 * Later versions add fields at the end, and @size tells how much of them the program has room for.  With 0, that is what
 * version 1.0 has.  What a version of the library does not know, it sets to 0.
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

PRIO_AVAILABLE_IN_ALL
void prio_scheduler_start_statistics (PrioScheduler  *self);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_stop_statistics  (PrioScheduler  *self);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_get_statistics   (PrioScheduler  *self,
                                      PrioStatistics *statistics);

G_END_DECLS
