/* prio-runner-cancel.c: takes a task that is a number out of its queue
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"

/**
 * prio_runner_cancel:
 * @self: a runner
 * @id: the number of a task
 *
 * Aborts a task alone that is delayed or queued, as [method@PrioSched.Task.cancel] does with others: it leaves its queue at once,
 * and [method@PrioSched.Runner.take_rejected] reports it.
 *
 * ```c
 * prio_runner_post_full (runner, id, PRIO_TASK_PRIORITY_BACKGROUND, NULL, 10000, FALSE);
 * …
 * if (!prio_runner_cancel (runner, id))
 *   forget_when_it_runs (id);
 * ```
 *
 * A task without a signal, a delay and a timeout is found only if there are no more than a thousand older ones of its priority.
 *
 * Call it on the thread that runs the main context; on others it does nothing.
 *
 * Returns: whether it has been taken out; %FALSE if it runs, if its signal has been aborted, or if it is not found
 *
 * Since: 1.0
 */
gboolean
prio_runner_cancel (PrioRunner *self, guint id)
{
  gboolean cancelled;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (id != 0, FALSE);

  if (!prio_loop_enter (self->loop))
    return FALSE;
  cancelled = self->ids.run_queue != NULL && prio_id_queue_cancel (&self->ids, id);
  prio_loop_leave (self->loop);
  if (cancelled)
    prio_loop_flush_releases (self->loop);
  return cancelled;
}
