/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-pause.c: pauses and resumes schedulers */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "base/prio-debug-private.h"

/* Applies the latest call of pause () or resume (), because operations of several threads are applied in any order. */
static void
op_set_paused (PrioLoop *loop, const PrioOp *op)
{
  PrioRunQueue *run_queue = op->target;
  gboolean paused = __atomic_load_n (&run_queue->wants_pause, __ATOMIC_SEQ_CST);

  /* After the end of the context, tasks are not held back, so that they are found and released. */
  if (prio_loop_is_dead (loop) || run_queue->paused == paused)
    return;
  prio_run_queue_tell_paused (run_queue, paused);
  prio_run_queue_set_paused (run_queue, paused);
}

static void
set_paused (PrioScheduler *self, gboolean paused)
{
  if (__atomic_exchange_n (&self->run_queue->wants_pause, paused, __ATOMIC_SEQ_CST) == paused)
    return;

  prio_debug ("A scheduler %s", paused ? "is paused" : "goes on");
  prio_scheduler_submit_change (self, op_set_paused, "paused");
}

/**
 * prio_scheduler_pause:
 * @self: a scheduler
 *
 * Runs no more tasks of the scheduler until [method@PrioSched.Scheduler.resume].  Tasks that are posted in between are
 * queued, and delays continue.  Microtasks, idle callbacks (except their timeouts), other schedulers of the main
 * context, and functions in threads ([method@PrioSched.Scheduler.run_in_thread]) are not affected.
 *
 * Pauses are not counted: one call of [method@PrioSched.Scheduler.resume] ends them all, and so does the end of the
 * scheduler.  Pause a scheduler that your code has created, not the default scheduler, which other code uses too.
 *
 * The time that the call takes grows with the number of the scheduler's groups, not of its tasks.  Any thread may call
 * this function.
 *
 * Since: 1.0
 */
void
prio_scheduler_pause (PrioScheduler *self)
{
  g_return_if_fail (PRIO_IS_SCHEDULER (self));

  set_paused (self, TRUE);
}

/**
 * prio_scheduler_resume:
 * @self: a scheduler
 *
 * Lets the scheduler's tasks run again.  Queued tasks have kept their age, and so their order among tasks of other
 * schedulers.  Any thread may call this function.
 *
 * Since: 1.0
 */
void
prio_scheduler_resume (PrioScheduler *self)
{
  g_return_if_fail (PRIO_IS_SCHEDULER (self));

  set_paused (self, FALSE);
}

/**
 * prio_scheduler_get_paused: (get-property paused)
 * @self: a scheduler
 *
 * Returns whether the scheduler's tasks are held back.  Any thread may call this function.
 *
 * ```c
 * static void
 * on_pause_clicked (GtkButton *button, gpointer scheduler)
 * {
 *   if (prio_scheduler_get_paused (scheduler))
 *     prio_scheduler_resume (scheduler);
 *   else
 *     prio_scheduler_pause (scheduler);
 * }
 * ```
 *
 * Returns: whether the scheduler is paused
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_get_paused (PrioScheduler *self)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), FALSE);

  return __atomic_load_n (&self->run_queue->wants_pause, __ATOMIC_SEQ_CST);
}
