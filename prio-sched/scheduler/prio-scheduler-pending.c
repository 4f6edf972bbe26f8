/* prio-scheduler-pending.c: how many tasks of a scheduler wait
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-count-private.h"

/**
 * prio_scheduler_get_n_pending:
 * @self: a scheduler
 *
 * Counts the tasks, of any kind, that are queued or delayed, those of the scheduler's groups included.  The running task
 * is not counted, nor is one that has deferred its result, nor what waits for a thread of the pool;
 * [property@PrioSched.TaskGroup:pending] counts such tasks too.
 *
 * ```c
 * gtk_widget_set_visible (spinner, prio_scheduler_get_n_pending (scheduler) > 0);
 * ```
 *
 * It counts when it is called, and nothing is counted before.  So this is no property, and is not notified.  The time
 * it takes grows with the number of tasks, of all delayed tasks of the main context, and of the scheduler's groups,
 * those without tasks included.
 *
 * Call it on the thread that runs the scheduler's main context.  On another one it logs a critical
 * message, and returns 0.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint
prio_scheduler_get_n_pending (PrioScheduler *self)
{
  guint n;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), 0);

  if (!prio_scheduler_enter (self, G_STRFUNC, "how many tasks wait is"))
    return 0;
  n = prio_run_queue_count (self->run_queue);
  prio_loop_leave (self->run_queue->loop);
  return n;
}
