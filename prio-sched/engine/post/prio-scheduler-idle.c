/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-idle.c: requests idle callbacks */

#include "config.h"

#include "loop/prio-idle-private.h"
#include "loop/prio-number-private.h"
#include "scheduler/prio-scheduler-private.h"

/**
 * prio_scheduler_request_idle_callback:
 * @self: a scheduler
 * @timeout: milliseconds after which @func is called even if the main context is busy, or 0 for no such limit
 * @func: (scope notified) (closure user_data) (destroy notify): the function to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Requests one call of @func, when the main context is idle: the web's `requestIdleCallback()`.
 *
 * @func gets a deadline, the end of the idle period: the next frame (see
 * [method@PrioSched.Scheduler.follow_frame_clock]), the next delayed task or timer of the main context, or 50 ms,
 * whichever is first.  Other work ends the period early.  A callback that is requested during an idle period waits for
 * the next period.  Yields and microtasks of @func inherit the priority `background` (§4.2.1 of the WICG draft).
 *
 * Any thread may call this function; @func is called on the thread that runs the scheduler's main context.  While the
 * scheduler is paused, @timeout has no effect: @func is called only when the main context is idle.
 *
 * Returns: a number above 0, for [method@PrioSched.Scheduler.cancel_idle_callback]
 *
 * Since: 1.0
 */
guint
prio_scheduler_request_idle_callback (PrioScheduler *self, guint timeout, PrioIdleFunc func,
                                      gpointer user_data, GDestroyNotify notify)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), 0);
  g_return_val_if_fail (func != NULL, 0);

  return prio_idle_submit (self->run_queue->loop, prio_idle_op_request,
                           &(PrioIdle) { .run_queue = self->run_queue, .func = func, .told = (gconstpointer) func, .data = user_data, .notify = notify },
                           timeout);
}

static void
op_cancel (PrioLoop *loop, const PrioOp *op)
{
  prio_idle_cancel (loop, GPOINTER_TO_UINT (op->target));
}

/**
 * prio_scheduler_cancel_idle_callback:
 * @self: a scheduler
 * @id: the number that [method@PrioSched.Scheduler.request_idle_callback] returned
 *
 * Cancels an idle callback: the web's `cancelIdleCallback()`.  If the callback has already been called, or does not
 * exist, this does nothing.  Any thread may call this function.
 *
 * ```c
 * static void
 * on_changed (GtkTextBuffer *buffer, gpointer data)
 * {
 *   MyEditor *self = data;
 *
 *   prio_scheduler_cancel_idle_callback (scheduler, self->save_id);
 *   self->save_id = prio_scheduler_request_idle_callback (scheduler, 2000, save_draft, self, NULL);
 * }
 * ```
 *
 * Since: 1.0
 */
void
prio_scheduler_cancel_idle_callback (PrioScheduler *self, guint id)
{
  g_return_if_fail (PRIO_IS_SCHEDULER (self));

  prio_loop_submit (self->run_queue->loop, &(PrioOp) { .apply = op_cancel, .target = GUINT_TO_POINTER (id) });
}

static void
run_number (PrioIdleDeadline *deadline, gpointer data)
{
  PrioRunner *runner = data;

  runner->func (deadline->id, runner->data);
}

/* Requests an idle callback of a runner, unless the runner is closed.  The callback becomes a user of the runner, and
 * takes over the operation's reference. */
static void
op_request_number (PrioLoop *loop, const PrioOp *op)
{
  PrioIdle *idle = op->target;
  PrioRunner *runner = idle->data;

  if (runner->run_queue == NULL)
    {
      g_free (idle);
      prio_loop_defer_release (loop, prio_numbers_unref, runner);
      return;
    }

  prio_numbers_hold (runner);
  idle->run_queue = runner->run_queue;
  prio_idle_op_request (loop, op);
}

/* Requests an idle callback: calls the runner's function with the returned number when the context is idle or, unless
 * @timeout is 0, after @timeout ms at the latest.  Any thread may call this function. */
guint
prio_numbers_request_idle (PrioRunner *self, guint timeout)
{
  g_atomic_int_inc (&self->refs);
  return prio_idle_submit (self->loop, op_request_number, &(PrioIdle) { .func = run_number, .data = self, .notify = prio_numbers_drop }, timeout);
}
