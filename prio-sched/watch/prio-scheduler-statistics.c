/* prio-scheduler-statistics.c: what the tasks of a scheduler have done, and how long it took
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "watch/prio-scheduler-statistics-private.h"

#include "loop/prio-observer-private.h"
#include "loop/prio-run-queue-group-private.h"
#include "watch/prio-statistics-private.h"

GParamSpec *
prio_scheduler_make_collects_statistics (void)
{
  /**
   * PrioScheduler:collects-statistics: (getter get_collects_statistics) (setter set_collects_statistics)
   *
   * Whether the scheduler counts what its tasks do, and how long that takes.
   *
   * Since: 1.0
   */
  return g_param_spec_boolean ("collects-statistics", NULL, NULL, FALSE,
                               G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
}

/* Of a scheduler, and of its groups.  What changes, but @n_changes, belongs to the owner thread. */
typedef struct
{
  const PrioRunQueue *run_queue; /* of the scheduler */
  guint n_changes; /* atomic: how often they have begun or ended, as requested; odd while they are to be on */
  guint n_adapted; /* of these: what the loop has heard of */
  gboolean on;
  gint64 since;          /* when it was turned on, µs; */
  guint64 last_run;      /* the last run that had begun then */
  PrioCount of[PRIO_N_PRIORITIES]; /* from background */
} PrioCounts;

/* Where @task is counted, or NULL. */
static PrioCounts *
counts_of (const PrioObserved *task)
{
  PrioCounts *counts = __atomic_load_n (&task->scheduler->counts, __ATOMIC_ACQUIRE);

  return counts != NULL && counts->on && task->kind != PRIO_OBSERVED_IDLE ? counts : NULL;
}

/* A run of @task is over, whether the task is or not. */
static void
ran (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  PrioCounts *counts = counts_of (task);
  PrioCount *count;

  if (counts == NULL || task->run <= counts->last_run)
    return;

  count = &counts->of[prio_count_index ((PrioTaskPriority) task->priority)];
  count->n_run++;
  count->n_continued += task->continuation;
  prio_histogram_add (&count->waits, task->begun - (task->queued != 0 ? task->queued : counts->since));
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

static PrioCounts *
get_counts (PrioScheduler *self)
{
  return __atomic_load_n (&self->run_queue->counts, __ATOMIC_ACQUIRE);
}

/* The same, which are made if there are none. */
static PrioCounts *
ensure_counts (PrioScheduler *self)
{
  PrioCounts *made = g_atomic_rc_box_new0 (PrioCounts);
  gpointer counts = NULL;

  made->run_queue = self->run_queue;
  if (__atomic_compare_exchange_n (&self->run_queue->counts, &counts, made, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return made;
  g_atomic_rc_box_release (made);
  return counts;
}

static gboolean
is_odd (guint n)
{
  return (n & 1) != 0;
}

/* Begins or ends to count, as was requested last.  If both have been requested meanwhile, it begins anew. */
static void
op_adapt (PrioLoop *loop, const PrioOp *op)
{
  PrioRunQueue *run_queue = op->target;
  PrioCounts *counts = run_queue->counts;
  guint n_changes = __atomic_load_n (&counts->n_changes, __ATOMIC_SEQ_CST);

  if (n_changes == counts->n_adapted)
    return;

  prio_groups_finish_aborted (loop);
  counts->n_adapted = n_changes;
  counts->on = is_odd (n_changes);
  if (!counts->on)
    return;
  prio_observers_ensure (loop);
  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    prio_run_queue_share_counts (run_queue, part);
  counts->since = prio_clock_now ();
  counts->last_run = loop->n_observed_runs;
  memset (counts->of, 0, sizeof counts->of);
}

/* Returns whether that is a change. */
static gboolean
set_wanted (PrioScheduler *self, gboolean wanted)
{
  PrioCounts *counts = wanted ? ensure_counts (self) : get_counts (self);
  guint n_changes = counts != NULL ? __atomic_load_n (&counts->n_changes, __ATOMIC_SEQ_CST) : 0;

  do
    {
      if (is_odd (n_changes) == wanted)
        return FALSE;
    }
  while (!__atomic_compare_exchange_n (&counts->n_changes, &n_changes, n_changes + 1, FALSE, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));

  if (wanted)
    prio_observer_add (&observer);
  prio_loop_submit (self->run_queue->loop, &(PrioOp) { .apply = op_adapt, .target = self->run_queue });
  if (!wanted)
    prio_observer_remove (&observer);
  return TRUE;
}

/* @self ends.  What is queued still runs, and is not counted, unless it is a part of another scheduler, which goes on. */
void
prio_scheduler_end_statistics (PrioScheduler *self)
{
  PrioCounts *counts = get_counts (self);

  if (counts != NULL && counts->run_queue == self->run_queue)
    set_wanted (self, FALSE);
}

/**
 * prio_scheduler_set_collects_statistics: (set-property collects-statistics)
 * @self: a scheduler
 * @collects_statistics: whether to count
 *
 * Sets whether the scheduler counts what its tasks do, and how long that takes: see [struct@PrioSched.Statistics].
 *
 * It begins at 0.  When it ends, the numbers stay for [method@PrioSched.Scheduler.get_statistics].  A task that runs
 * when it begins is not counted.
 *
 * Off, which is the default, nothing is counted, and costs nothing.  On, the clock is read when a task is posted and when it
 * ends: that takes about 150 ns a task.
 *
 * Any thread may call it.  From another thread than the one that runs the main context, it begins, or ends, when that
 * comes to it.
 *
 * Since: 1.0
 */
void
prio_scheduler_set_collects_statistics (PrioScheduler *self, gboolean collects_statistics)
{
  g_return_if_fail (PRIO_IS_SCHEDULER (self));

  if (set_wanted (self, collects_statistics != FALSE))
    g_object_notify (G_OBJECT (self), "collects-statistics");
}

/**
 * prio_scheduler_get_collects_statistics: (get-property collects-statistics)
 * @self: a scheduler
 *
 * Tells whether the scheduler counts what its tasks do, and how long that takes.  Any thread may call it.
 *
 * ```c
 * // A menu item of the program's own page for developers.
 * prio_scheduler_set_collects_statistics (scheduler, !prio_scheduler_get_collects_statistics (scheduler));
 * ```
 *
 * Returns: whether it counts
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_get_collects_statistics (PrioScheduler *self)
{
  PrioCounts *counts;

  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), FALSE);

  counts = get_counts (self);
  return counts != NULL && is_odd (__atomic_load_n (&counts->n_changes, __ATOMIC_SEQ_CST));
}

/**
 * prio_scheduler_get_statistics:
 * @self: a scheduler
 *
 * Tells what the tasks of the scheduler have done since it [collects
 * statistics][property@PrioSched.Scheduler:collects-statistics], or since
 * [method@PrioSched.Scheduler.reset_statistics], and what waits now.
 *
 * What it returns does not change afterwards.  If the scheduler does not collect, it tells what it has collected last,
 * and what waits now.  What waits is counted in this call, which takes as long as there are tasks.
 *
 * Call it on the thread that runs the scheduler's main context.  On another one it logs a critical message, and returns
 * %NULL.
 *
 * Returns: (transfer full) (nullable): the statistics
 *
 * Since: 1.0
 */
PrioStatistics *
prio_scheduler_get_statistics (PrioScheduler *self)
{
  PrioStatistics *statistics;
  PrioCounts *counts;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);

  if (!prio_scheduler_enter (self, G_STRFUNC, "the statistics are"))
    return NULL;

  statistics = g_atomic_rc_box_new0 (PrioStatistics);
  prio_run_queue_count_waiting (self->run_queue, &statistics->waiting);
  counts = get_counts (self);
  if (counts != NULL)
    memcpy (statistics->of, counts->of, sizeof counts->of);
  for (guint i = 0; counts != NULL && counts->on && i < PRIO_N_PRIORITIES; i++)
    statistics->of[i].n_aborted += statistics->waiting.dropped[i];
  prio_loop_leave (self->run_queue->loop);
  return statistics;
}

static void
op_reset (PrioLoop *loop, const PrioOp *op)
{
  PrioCounts *counts = ((PrioRunQueue *) op->target)->counts;

  prio_groups_finish_aborted (loop);
  if (counts != NULL)
    memset (counts->of, 0, sizeof counts->of);
}

/**
 * prio_scheduler_reset_statistics:
 * @self: a scheduler
 *
 * Sets all numbers of [method@PrioSched.Scheduler.get_statistics] to 0, but for what waits.  A task that runs counts
 * when it has ended.
 *
 * ```c
 * // Each minute, that minute's.
 * static gboolean
 * log_minute (gpointer scheduler)
 * {
 *   g_autoptr (PrioStatistics) statistics = prio_scheduler_get_statistics (scheduler);
 *
 *   prio_scheduler_reset_statistics (scheduler);
 *   write_log (statistics);
 *   return G_SOURCE_CONTINUE;
 * }
 * ```
 *
 * Any thread may call it.  From another thread than the one that runs the main context, it takes effect when that comes
 * to it.
 *
 * Since: 1.0
 */
void
prio_scheduler_reset_statistics (PrioScheduler *self)
{
  PrioOp op = { .apply = op_reset };

  g_return_if_fail (PRIO_IS_SCHEDULER (self));

  op.target = self->run_queue;
  prio_loop_submit (self->run_queue->loop, &op);
}
