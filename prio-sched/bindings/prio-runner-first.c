/* prio-runner-first.c: the first task of a scheduler, if it is a number
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"

#include "loop/prio-first-private.h"

/**
 * prio_runner_get_first:
 * @self: a runner
 *
 * Gets the number of the task that comes next of all tasks of the scheduler, if it is one of this runner, and no
 * continuation: see [method@PrioSched.Scheduler.dup_first_task].
 *
 * Call it on the thread that runs the main context; on others it returns 0.
 *
 * Returns: the number, or 0
 *
 * Since: 1.0
 */
guint
prio_runner_get_first (PrioRunner *self)
{
  PrioQueue *queue = NULL;
  guint id = 0;

  g_return_val_if_fail (self != NULL, 0);

  if (!prio_loop_enter (self->loop))
    return 0;
  if (self->ids.run_queue != NULL)
    queue = prio_run_queue_first (self->ids.run_queue);
  if (queue != NULL && prio_id_queue_of_head (queue) == &self->ids)
    {
      if (queue->kind == PRIO_QUEUE_IDS)
        id = (queue->effective & 1) == 0 ? GPOINTER_TO_UINT (queue->head->data) : 0;
      else
        id = ((PrioEntry *) queue->head)->continuation ? 0 : queue->head->id;
    }
  prio_loop_leave (self->loop);
  return id;
}
