/* prio-scheduler-idle.c: requests idle callbacks
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-idle-private.h"
#include "scheduler/prio-runner-private.h"
#include "scheduler/prio-scheduler-private.h"

static gint last_id;

static void
op_request_idle (PrioLoop *loop, const PrioOp *op)
{
  PrioIdle *idle = op->target;

  prio_run_queue_hold (idle->run_queue);
  prio_idle_request (loop, idle, op->due);
}

/* The same for a callback of a runner; drops the operation's reference to the runner. */
static void
op_request_runner_idle (PrioLoop *loop, const PrioOp *op)
{
  PrioIdle *idle = op->target;
  PrioRunner *runner = idle->data;

  if (runner->ids.run_queue != NULL)
    {
      prio_id_queue_hold (&runner->ids);
      idle->data = &runner->ids;
      idle->run_queue = runner->ids.run_queue;
      op_request_idle (loop, op);
    }
  else
    {
      g_free (idle);
    }
  prio_loop_defer_release (loop, (GDestroyNotify) prio_runner_unref, runner);
}

/* Requests a callback with the fields of @template; returns its number. */
static guint
request (PrioLoop *loop, const PrioIdle *template, guint timeout)
{
  PrioIdle *idle = g_memdup2 (template, sizeof *template);
  PrioOp op = { .apply = idle->func != NULL ? op_request_idle : op_request_runner_idle, .target = idle };
  guint id;

  do
    id = (guint) g_atomic_int_add (&last_id, 1) + 1;
  while (id == 0);

  idle->id = id;
  if (timeout > 0)
    op.due = prio_time_after (prio_clock_now (), timeout * G_TIME_SPAN_MILLISECOND);
  prio_loop_submit (loop, &op);

  return id;
}

/**
 * prio_scheduler_request_idle_callback:
 * @self: a scheduler
 * @func: (scope notified) (closure user_data) (destroy notify): what to call
 * @timeout: milliseconds after which @func is called in any case, or 0 for never
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Calls @func once, when the main context has nothing else to do: the web's
 * `requestIdleCallback()`.
 *
 * @func gets a deadline, which estimates how long the idle period lasts: until the next frame
 * (see [method@PrioSched.Scheduler.follow_frame_clock]), the next delayed task or timer of the
 * main context, or 50 ms, whichever comes first.  A callback that is requested during an idle
 * period waits for the next one.  Where a callback yields, and in its microtasks, it is `background`
 * (§4.2.1 of the draft).
 *
 * Any thread may call it; @func is called on the thread that runs the scheduler's
 * main context.  [method@PrioSched.Scheduler.pause] does not hold back the callback, only
 * its timeout.
 *
 * Returns: a number above 0, for [method@PrioSched.Scheduler.cancel_idle_callback]
 *
 * Since: 1.0
 */
guint
prio_scheduler_request_idle_callback (PrioScheduler *self, PrioIdleFunc func, guint timeout,
                                      gpointer user_data, GDestroyNotify notify)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), 0);
  g_return_val_if_fail (func != NULL, 0);

  return request (self->run_queue->loop,
                  &(PrioIdle) { .run_queue = self->run_queue, .func = func, .data = user_data, .notify = notify },
                  timeout);
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

  return request (self->loop, &(PrioIdle) { .data = prio_runner_ref (self) }, timeout);
}

static void
op_cancel (PrioLoop *loop, const PrioOp *op)
{
  prio_idle_cancel (loop, GPOINTER_TO_UINT (op->target));
}

/**
 * prio_scheduler_cancel_idle_callback:
 * @self: a scheduler
 * @id: what [method@PrioSched.Scheduler.request_idle_callback] returned
 *
 * Cancels an idle callback: the web's `cancelIdleCallback()`.  If the callback has
 * already been called, or there is none with this number, this does nothing.  Any thread
 * may call it.
 *
 * Since: 1.0
 */
void
prio_scheduler_cancel_idle_callback (PrioScheduler *self, guint id)
{
  PrioOp op = { .apply = op_cancel, .target = GUINT_TO_POINTER (id) };

  g_return_if_fail (PRIO_IS_SCHEDULER (self));

  prio_loop_submit (self->run_queue->loop, &op);
}
