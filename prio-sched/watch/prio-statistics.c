/* prio-statistics.c: the numbers of a scheduler's tasks
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "watch/prio-statistics-private.h"

#include "scheduler/prio-options-private.h"

#define US_PER_MS 1e3

/**
 * PrioStatistics:
 *
 * What the tasks of a scheduler have done since it [collects
 * statistics][property@PrioSched.Scheduler:collects-statistics], by priority.  In C, include `<prio-sched-watch.h>`.
 *
 * ```c
 * prio_scheduler_set_collects_statistics (scheduler, TRUE);
 * load_everything (scheduler);
 *
 * g_autoptr (PrioStatistics) statistics = prio_scheduler_get_statistics (scheduler);
 * g_autoptr (PrioTimes) times = prio_statistics_get_running_times (statistics, PRIO_TASK_PRIORITY_BACKGROUND);
 *
 * g_print ("%" G_GUINT64_FORMAT " ran, of which the longest took %.1f ms\n",
 *          prio_statistics_get_n_run (statistics, PRIO_TASK_PRIORITY_BACKGROUND), prio_times_get_longest (times));
 * g_print ("%" G_GUINT64_FORMAT " wait, and %" G_GUINT64_FORMAT " for the end of a delay\n",
 *          prio_statistics_get_n_queued (statistics, PRIO_TASK_PRIORITY_BACKGROUND),
 *          prio_statistics_get_n_delayed (statistics, PRIO_TASK_PRIORITY_BACKGROUND));
 * ```
 *
 * Every kind of task is counted, those of the scheduler's groups included, under the priority that it has by itself at
 * that moment: what is lent to it, and a timeout that has passed, do not change it.  Idle callbacks, microtasks and
 * what runs in threads are not tasks of a priority, and are not counted.
 *
 * # What is counted
 *
 * Each number is exact; a task that another thread posts, and whose signal is aborted before the main loop has heard of it, is
 * in none.  A task that yields is queued again, and counts each time: so what has been posted since, with what waited then and
 * with the yields, is `n_run` + `n_aborted` + `n_queued` + `n_delayed`, and what runs now.  The task that runs now, and in a
 * nested main loop those that run around it, are in none of them.
 *
 * # How it is timed
 *
 * The clock is read when a task is queued, when it begins and when it is over.  One that follows another at once begins
 * when that one is over.
 *
 * - A task *waits* from when it is queued until it begins: after a delay, from when it is due; from another thread,
 *   from when the main loop has it.  What waited already when the statistics began has waited from then on.
 * - A task *runs* until its function, its microtasks and its destroy notify are over, and with it whatever a nested
 *   main loop of its runs.
 *
 * Any thread may use it.
 *
 * Since: 1.0
 */

G_DEFINE_BOXED_TYPE (PrioStatistics, prio_statistics, prio_statistics_ref, prio_statistics_unref)

/**
 * PrioTimes:
 *
 * How long tasks have waited, or have run: [method@PrioSched.Statistics.get_waiting_times],
 * [method@PrioSched.Statistics.get_running_times].  In C, include `<prio-sched-watch.h>`.
 *
 * All times are in milliseconds.  The count, the total and the longest are exact, to the microsecond.  The median and
 * other percentiles are found by a histogram with four steps for each doubling, and are rounded down, by a fifth at most.
 *
 * ```c
 * g_autoptr (PrioTimes) waits = prio_statistics_get_waiting_times (statistics, PRIO_TASK_PRIORITY_USER_BLOCKING);
 *
 * if (prio_times_get_percentile (waits, 99) > 16)
 *   g_print ("one urgent task in a hundred waits for a frame\n");
 * ```
 *
 * Any thread may use it.
 *
 * Since: 1.0
 */

struct _PrioTimes
{
  PrioHistogram histogram; /* µs */
};

G_DEFINE_BOXED_TYPE (PrioTimes, prio_times, prio_times_ref, prio_times_unref)

/**
 * prio_statistics_ref: (skip)
 * @self: statistics
 *
 * Adds a reference.  Any thread may call it.
 *
 * ```c
 * // A thread that writes the log keeps them as long as it needs them.
 * g_async_queue_push (log_queue, prio_statistics_ref (statistics));
 * ```
 *
 * Returns: (transfer full): @self
 *
 * Since: 1.0
 */
PrioStatistics *
prio_statistics_ref (PrioStatistics *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_atomic_rc_box_acquire (self);
}

/**
 * prio_statistics_unref: (skip)
 * @self: (transfer full): statistics
 *
 * Drops a reference.  Any thread may call it.
 *
 * ```c
 * PrioStatistics *statistics = g_async_queue_pop (log_queue);
 *
 * write_log (statistics);
 * prio_statistics_unref (statistics);
 * ```
 *
 * Since: 1.0
 */
void
prio_statistics_unref (PrioStatistics *self)
{
  g_return_if_fail (self != NULL);

  g_atomic_rc_box_release (self);
}

static gboolean
check (const char *function G_GNUC_UNUSED, const PrioStatistics *self, PrioTaskPriority priority)
{
  g_return_val_if_fail (self != NULL, FALSE);
  prio_return_val_if_wrong (prio_check_priority (function, (gint) priority), FALSE);
  return TRUE;
}

/**
 * prio_statistics_get_n_queued:
 * @self: statistics
 * @priority: a priority
 *
 * Tells how many tasks waited in a queue, those of a scheduler that is paused included.  Any thread may call it.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint64
prio_statistics_get_n_queued (const PrioStatistics *self, PrioTaskPriority priority)
{
  return check (G_STRFUNC, self, priority) ? self->waiting.queued[prio_count_index (priority)] : 0;
}

/**
 * prio_statistics_get_n_delayed:
 * @self: statistics
 * @priority: a priority
 *
 * Tells how many tasks waited for the end of their delay.  Any thread may call it.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint64
prio_statistics_get_n_delayed (const PrioStatistics *self, PrioTaskPriority priority)
{
  return check (G_STRFUNC, self, priority) ? self->waiting.delayed[prio_count_index (priority)] : 0;
}

/**
 * prio_statistics_get_n_run:
 * @self: statistics
 * @priority: a priority
 *
 * Tells how often tasks have run: to their end, or until they have yielded.  One that was aborted while it ran has run.
 * Any thread may call it.
 *
 * Returns: how often
 *
 * Since: 1.0
 */
guint64
prio_statistics_get_n_run (const PrioStatistics *self, PrioTaskPriority priority)
{
  return check (G_STRFUNC, self, priority) ? self->of[prio_count_index (priority)].n_run : 0;
}

/**
 * prio_statistics_get_n_continued:
 * @self: statistics
 * @priority: a priority
 *
 * Tells how many of [method@PrioSched.Statistics.get_n_run] went on after a yield.  Any thread may call it.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint64
prio_statistics_get_n_continued (const PrioStatistics *self, PrioTaskPriority priority)
{
  return check (G_STRFUNC, self, priority) ? self->of[prio_count_index (priority)].n_continued : 0;
}

/**
 * prio_statistics_get_n_aborted:
 * @self: statistics
 * @priority: a priority
 *
 * Tells how many tasks have been aborted while they waited, and did not run.  One whose signal was aborted before it
 * was posted is not counted.  What another thread aborts counts under the priority that it has when the scheduler's thread hears of
 * that.  Any thread may call it.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint64
prio_statistics_get_n_aborted (const PrioStatistics *self, PrioTaskPriority priority)
{
  return check (G_STRFUNC, self, priority) ? self->of[prio_count_index (priority)].n_aborted : 0;
}

static PrioTimes *
times_new (const PrioHistogram *histogram)
{
  PrioTimes *times = g_atomic_rc_box_new (PrioTimes);

  times->histogram = *histogram;
  return times;
}

/**
 * prio_statistics_get_waiting_times:
 * @self: statistics
 * @priority: a priority
 *
 * Tells how long the tasks that have run had waited since they were queued.  Any thread may call it.
 *
 * Returns: (transfer full): the times
 *
 * Since: 1.0
 */
PrioTimes *
prio_statistics_get_waiting_times (const PrioStatistics *self, PrioTaskPriority priority)
{
  return check (G_STRFUNC, self, priority) ? times_new (&self->of[prio_count_index (priority)].waits) : NULL;
}

/**
 * prio_statistics_get_running_times:
 * @self: statistics
 * @priority: a priority
 *
 * Tells how long tasks have run, each time.  Any thread may call it.
 *
 * Returns: (transfer full): the times
 *
 * Since: 1.0
 */
PrioTimes *
prio_statistics_get_running_times (const PrioStatistics *self, PrioTaskPriority priority)
{
  return check (G_STRFUNC, self, priority) ? times_new (&self->of[prio_count_index (priority)].runs) : NULL;
}

/**
 * prio_times_ref: (skip)
 * @self: times
 *
 * Adds a reference.  Any thread may call it.
 *
 * ```c
 * // The times before the last change, to be compared with those after it.
 * g_clear_pointer (&before, prio_times_unref);
 * before = prio_times_ref (times);
 * ```
 *
 * Returns: (transfer full): @self
 *
 * Since: 1.0
 */
PrioTimes *
prio_times_ref (PrioTimes *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_atomic_rc_box_acquire (self);
}

/**
 * prio_times_unref: (skip)
 * @self: (transfer full): times
 *
 * Drops a reference.  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_times_unref (PrioTimes *self)
{
  g_return_if_fail (self != NULL);

  g_atomic_rc_box_release (self);
}

/**
 * prio_times_get_count:
 * @self: times
 *
 * Tells how many times there are.  Any thread may call it.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint64
prio_times_get_count (const PrioTimes *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->histogram.count;
}

/**
 * prio_times_get_total:
 * @self: times
 *
 * Tells their sum.  Any thread may call it.
 *
 * Returns: milliseconds
 *
 * Since: 1.0
 */
double
prio_times_get_total (const PrioTimes *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return (double) self->histogram.total / US_PER_MS;
}

/**
 * prio_times_get_longest:
 * @self: times
 *
 * Tells the longest of them.  Any thread may call it.
 *
 * Returns: milliseconds, or 0 if there are none
 *
 * Since: 1.0
 */
double
prio_times_get_longest (const PrioTimes *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return (double) self->histogram.longest / US_PER_MS;
}

/**
 * prio_times_get_percentile:
 * @self: times
 * @percent: from 0 to 100
 *
 * Tells the time that so many percent of them do not exceed; 50 is the median.  Any thread may call it.
 *
 * Returns: milliseconds, or 0 if there are none
 *
 * Since: 1.0
 */
double
prio_times_get_percentile (const PrioTimes *self, double percent)
{
  g_return_val_if_fail (self != NULL, 0);
  g_return_val_if_fail (percent >= 0 && percent <= 100, 0);

  return (double) prio_histogram_time_at (&self->histogram, percent / 100) / US_PER_MS;
}
