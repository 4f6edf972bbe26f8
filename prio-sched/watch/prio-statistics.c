/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-statistics.c: counts and times a scheduler's tasks */

#include "config.h"

#include "watch/prio-statistics-private.h"

#include "base/prio-check-private.h"
#include "watch/prio-histogram-private.h"
#include "prio-observe.h"

typedef struct
{
  guint64 n_continued, n_aborted;
  PrioHistogram waits, runs; /* µs */
} PrioCount;

/* The counts of a scheduler and its groups.  Only the thread that runs the context changes them, except @wanted. */
typedef struct
{
  const PrioRunQueue *run_queue; /* of the scheduler */
  gboolean wanted;               /* whether the last call was a start, not a stop; atomic */
  gboolean on;
  gint64 since;                    /* when counting was started, µs */
  guint64 last_run;                /* the number of the last run that had begun at @since; only later runs count */
  PrioCount of[PRIO_N_PRIORITIES]; /* the counts of each priority, from background */
} PrioCounts;

static PrioCounts *
counts_of (const PrioObserved *task)
{
  PrioCounts *counts = prio_run_queue_get_record (task->scheduler);

  return counts != NULL && counts->on && task->kind != PRIO_OBSERVED_IDLE ? counts : NULL;
}

/* Counts a run that has ended.  The task may run again as a continuation. */
static void
ran (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  PrioCounts *counts = counts_of (task);
  PrioCount *count;

  if (counts == NULL || task->run <= counts->last_run)
    return;

  count = &counts->of[prio_count_index ((PrioTaskPriority) task->priority)];
  count->n_continued += task->continuation;
  prio_histogram_add (&count->waits, task->begun - MAX (prio_observed_waits_since (task), counts->since));
  prio_histogram_add (&count->runs, now - task->begun);
}

static void
aborted (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gboolean runs,
         gint64 now G_GNUC_UNUSED)
{
  PrioCounts *counts = counts_of (task);

  if (counts != NULL && !runs)
    counts->of[prio_count_index ((PrioTaskPriority) task->priority)].n_aborted++;
}

static PrioObserver observer = { .yielded = ran, .ended = ran, .aborted = aborted };

/* The size of PrioStatistics in version 1.0. */
#define SIZE_1_0 (G_STRUCT_OFFSET (PrioStatistics, user_blocking) + sizeof (PrioTaskStatistics))

static PrioCounts *
get_counts (PrioScheduler *self)
{
  return prio_run_queue_get_record (prio_scheduler_get_run_queue (self));
}

static PrioCounts *
ensure_counts (PrioScheduler *self)
{
  PrioCounts *counts = get_counts (self), *made;

  if (counts != NULL)
    return counts;
  made = g_atomic_rc_box_new0 (PrioCounts);
  made->run_queue = prio_scheduler_get_run_queue (self);
  return prio_run_queue_set_record (prio_scheduler_get_run_queue (self), made);
}

/* Starts counting from 0 if @wanted, or stops counting.  The caller has entered the loop (prio-loop-private.h). */
static void
follow (PrioLoop *loop, gpointer run_queue)
{
  PrioCounts *counts = prio_run_queue_get_record (run_queue);

  prio_groups_finish_aborted (loop);
  counts->on = __atomic_load_n (&counts->wanted, __ATOMIC_SEQ_CST);
  if (!counts->on)
    return;
  prio_observers_ensure (loop);
  prio_run_queue_share_record (run_queue);
  counts->since = prio_clock_now ();
  counts->last_run = prio_observed_count (loop);
  memset (counts->of, 0, sizeof counts->of);
}

/**
 * prio_scheduler_start_statistics:
 * @self: a scheduler
 *
 * Starts counting and timing the scheduler's tasks: see [struct@PrioSched.Statistics].
 *
 * All numbers begin at 0, even if the scheduler is counting already.  A running task is not counted.
 *
 * ```c
 * static gboolean
 * log_minute (gpointer scheduler) // every minute
 * {
 *   PrioStatistics statistics = PRIO_STATISTICS_INIT;
 *
 *   prio_scheduler_get_statistics (scheduler, &statistics);
 *   prio_scheduler_start_statistics (scheduler);
 *   write_log (&statistics);
 *   return G_SOURCE_CONTINUE;
 * }
 * ```
 *
 * While a scheduler counts, the clock is read when a task is posted and when it ends, which takes about 150 ns a task.
 * Any thread may call this function.  On a thread that does not run the main context, the call takes effect later.
 *
 * Since: 1.0
 */
void
prio_scheduler_start_statistics (PrioScheduler *self)
{
  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_SCHEDULER));

  if (!__atomic_exchange_n (&ensure_counts (self)->wanted, TRUE, __ATOMIC_SEQ_CST))
    prio_observer_add (&observer);
  prio_observed_call (prio_scheduler_get_loop (self), follow, prio_scheduler_get_run_queue (self));
}

/**
 * prio_scheduler_stop_statistics:
 * @self: a scheduler
 *
 * Stops counting the scheduler's tasks.  [method@PrioSched.Scheduler.get_statistics] still returns the numbers.
 *
 * ```c
 * // A switch on the program's own page for developers.
 * static void
 * switched (GtkSwitch *widget, GParamSpec *pspec, gpointer scheduler)
 * {
 *   if (gtk_switch_get_active (widget))
 *     prio_scheduler_start_statistics (scheduler);
 *   else
 *     prio_scheduler_stop_statistics (scheduler);
 * }
 * ```
 *
 * Any thread may call this function.  On a thread that does not run the main context, the call takes effect a little
 * later.
 *
 * Since: 1.0
 */
void
prio_scheduler_stop_statistics (PrioScheduler *self)
{
  PrioCounts *counts;

  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_SCHEDULER));

  counts = get_counts (self);
  if (counts == NULL || !__atomic_exchange_n (&counts->wanted, FALSE, __ATOMIC_SEQ_CST))
    return;
  prio_observed_call (prio_scheduler_get_loop (self), follow, prio_scheduler_get_run_queue (self));
  prio_observer_remove (&observer);
}

/* Stops counting when @self is finalized, unless its record belongs to another scheduler.  Tasks that are still queued
 * are not counted. */
void
prio_scheduler_end_statistics (PrioScheduler *self)
{
  PrioCounts *counts = get_counts (self);

  if (counts != NULL && counts->run_queue == prio_scheduler_get_run_queue (self))
    prio_scheduler_stop_statistics (self);
}

static PrioTaskTimes
times_of (const PrioHistogram *histogram)
{
  return (PrioTaskTimes) {
    .total = (double) histogram->total / 1000,
    .longest = (double) histogram->longest / 1000,
    .median = (double) prio_histogram_time_at (histogram, 0.5) / 1000,
    .percentile_99 = (double) prio_histogram_time_at (histogram, 0.99) / 1000,
  };
}

static void
add_count (PrioTaskStatistics *statistics, const PrioCount *count)
{
  statistics->n_run = count->runs.count;
  statistics->n_continued = count->n_continued;
  statistics->n_aborted += count->n_aborted;
  statistics->waiting = times_of (&count->waits);
  statistics->running = times_of (&count->runs);
}

/**
 * prio_scheduler_get_statistics:
 * @self: a scheduler
 * @statistics: (out caller-allocates): the structure to fill
 *
 * Fills @statistics with counts of the scheduler's tasks since [method@PrioSched.Scheduler.start_statistics], and of
 * the tasks that wait now.
 *
 * If the scheduler is not counting, the counts until the last stop are returned.  The call takes time in proportion to
 * the number of waiting tasks.
 *
 * In C, initialize @statistics with `PRIO_STATISTICS_INIT`, because the call reads its size.
 *
 * Call this function on the thread that runs the scheduler's main context.  On another thread, the call logs a critical
 * message, and leaves @statistics as it is.
 *
 * Since: 1.0
 */
void
prio_scheduler_get_statistics (PrioScheduler *self, PrioStatistics *statistics)
{
  PrioStatistics all = { 0 };
  PrioTaskStatistics *of[PRIO_N_PRIORITIES] = { &all.background, &all.user_visible, &all.user_blocking };
  PrioWaiting waiting;
  PrioCounts *counts;

  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_SCHEDULER));
  g_return_if_fail (statistics != NULL);
  /* A larger size is a mistake, because the structure has less than 4 KiB in every version. */
  g_return_if_fail (statistics->size == 0 || (statistics->size >= SIZE_1_0 && statistics->size <= 4096));

  if (!prio_scheduler_enter (self, G_STRFUNC, "the statistics are"))
    return;
  prio_run_queue_count_waiting (prio_scheduler_get_run_queue (self), &waiting);
  counts = get_counts (self);
  all.collecting = counts != NULL && counts->on;
  for (guint i = 0; i < PRIO_N_PRIORITIES; i++)
    {
      of[i]->n_queued = waiting.queued[i];
      of[i]->n_delayed = waiting.delayed[i];
      of[i]->n_aborted = all.collecting ? waiting.dropped[i] : 0;
      if (counts != NULL)
        add_count (of[i], &counts->of[i]);
    }
  prio_scheduler_leave (self);

  all.size = statistics->size != 0 ? statistics->size : SIZE_1_0;
  memset (statistics, 0, all.size);
  memcpy (statistics, &all, MIN (all.size, sizeof all));
}
