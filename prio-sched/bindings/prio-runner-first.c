/* prio-runner-first.c: the first task of a scheduler, if it is a number
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"
#include "bindings/prio-task-group-id-private.h"

#include "loop/prio-first-private.h"
#include "task/prio-task-impl-private.h"

/* The number of the first task of @queue, or 0 if that is none of @self, or a continuation. */
static guint
id_of_head (PrioRunner *self, PrioQueue *queue)
{
  PrioEntry *entry = queue->kind == PRIO_QUEUE_ENTRIES ? (PrioEntry *) queue->head : NULL;

  if (entry != NULL ? prio_entry_is_continuation (entry) : (queue->effective & 1) != 0)
    return 0;
  if (prio_numbers_of (queue->head) == &self->numbers)
    return queue->head->id;
  if (entry == NULL || entry->funcs->run != prio_task_entry_funcs.run)
    return 0;
  return prio_runner_id_of_task (self, prio_task_from_entry (entry));
}

/**
 * prio_runner_get_first:
 * @self: a runner
 *
 * Gets the number of the task that comes next of all tasks of the scheduler, if it is one of this runner, in a group or not, and no
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
  if (self->numbers.run_queue != NULL)
    queue = prio_run_queue_first (self->numbers.run_queue);
  if (queue != NULL)
    id = id_of_head (self, queue);
  prio_loop_leave (self->loop);
  return id;
}
