/* prio-runner-idle.c: idle callbacks that are numbers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"
#include "loop/prio-idle-private.h"

/* Drops the operation's reference to the runner. */
static void
op_request (PrioLoop *loop, const PrioOp *op)
{
  PrioIdle *idle = op->target;
  PrioRunner *runner = idle->data;

  if (runner->ids.run_queue != NULL)
    {
      prio_id_queue_hold (&runner->ids);
      idle->data = &runner->ids;
      idle->run_queue = runner->ids.run_queue;
      prio_idle_op_request (loop, op);
    }
  else
    {
      g_free (idle);
    }
  prio_loop_defer_release (loop, (GDestroyNotify) prio_runner_unref, runner);
}

/**
 * prio_runner_request_idle_callback:
 * @self: a runner
 * @timeout: milliseconds after which the function is called in any case, or 0 for never
 *
 * Calls the runner's function once, with the returned number, when the main context has
 * nothing else to do.  The call is not for a task, so the function must not call
 * [func@PrioSched.Runner.next].
 *
 * It is otherwise like [method@PrioSched.Scheduler.request_idle_callback];
 * [func@PrioSched.IdleDeadline.get_current] returns the deadline.  The numbers may equal
 * those of the runner's tasks, so a binding uses a separate runner for idle callbacks.
 *
 * Any thread may call it.  If the scheduler and its tasks have gone, nothing is called.
 *
 * Returns: a number above 0, for [method@PrioSched.Scheduler.cancel_idle_callback]
 *
 * Since: 1.0
 */
guint
prio_runner_request_idle_callback (PrioRunner *self, guint timeout)
{
  g_return_val_if_fail (self != NULL, 0);

  return prio_idle_submit (self->loop, op_request, &(PrioIdle) { .data = prio_runner_ref (self) }, timeout);
}
