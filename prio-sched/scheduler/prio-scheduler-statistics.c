/* prio-scheduler-statistics.c: what the tasks of a scheduler have done, and how long it took
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-dispatch-counts-private.h"
#include "scheduler/prio-statistics-private.h"

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

static void
op_set_collects (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_run_queue_set_collects (op->target, op->flag);
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
 * Off, which is the default, nothing is counted, and costs nothing.  On, a task that is posted and run costs less than
 * a tenth more.
 *
 * Any thread may call it.  From another thread than the one that runs the main context, it begins, or ends, when that
 * comes to it.
 *
 * Since: 1.0
 */
void
prio_scheduler_set_collects_statistics (PrioScheduler *self, gboolean collects_statistics)
{
  PrioOp op = { .apply = op_set_collects, .flag = collects_statistics != FALSE };

  g_return_if_fail (PRIO_IS_SCHEDULER (self));

  op.target = self->run_queue;
  if (__atomic_exchange_n (&self->collects, (gint) op.flag, __ATOMIC_SEQ_CST) == (gint) op.flag)
    return;

  prio_loop_submit (self->run_queue->loop, &op);
  g_object_notify (G_OBJECT (self), "collects-statistics");
}

/**
 * prio_scheduler_get_collects_statistics: (get-property collects-statistics)
 * @self: a scheduler
 *
 * Tells whether the scheduler counts what its tasks do, and how long that takes.  Any thread may call it.
 *
 * Returns: whether it counts
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_get_collects_statistics (PrioScheduler *self)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), FALSE);

  return __atomic_load_n (&self->collects, __ATOMIC_SEQ_CST);
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

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);

  if (!prio_scheduler_enter (self, G_STRFUNC, "the statistics are"))
    return NULL;

  statistics = g_atomic_rc_box_new0 (PrioStatistics);
  prio_run_queue_copy_counts (self->run_queue, &statistics->counts);
  prio_run_queue_count_waiting (self->run_queue, &statistics->waiting);
  for (guint i = 0; i < PRIO_N_PRIORITIES && self->run_queue->counts != NULL; i++)
    statistics->counts.of[i].n_aborted += statistics->waiting.dropped[i];
  prio_loop_leave (self->run_queue->loop);
  return statistics;
}

static void
op_reset (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_run_queue_reset_counts (op->target);
}

/**
 * prio_scheduler_reset_statistics:
 * @self: a scheduler
 *
 * Sets all numbers of [method@PrioSched.Scheduler.get_statistics] to 0, but for what waits.  A task that runs counts
 * when it has ended.
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
