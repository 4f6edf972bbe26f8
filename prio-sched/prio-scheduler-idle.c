/* prio-scheduler-idle.c: requesting idle callbacks
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-scheduler-private.h"

static gint last_id;

static void
idle_came (PrioLoop *loop, const PrioOp *op)
{
  PrioIdle *idle = op->target;

  prio_core_hold (idle->core);
  prio_idle_request (loop, idle, op->due);
}

/**
 * prio_scheduler_request_idle_callback:
 * @self: a scheduler
 * @func: (scope notified) (closure user_data) (destroy notify): what to call
 * @timeout: milliseconds after which @func is called in any case, or 0 for never
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Has @func called once, when the main context has nothing else to do: the web's
 * `requestIdleCallback()`.
 *
 * @func is told how long that is likely to last: until the next frame (see
 * [method@PrioSched.Scheduler.follow_frame_clock]), the next delayed task, or 50 ms,
 * whichever comes first.  Callbacks that are requested in that time wait for the
 * next.  What a callback starts inherits `background` (§4.2.1 of the draft).
 *
 * Any thread may call it; @func is called on the thread that runs the scheduler's
 * main context.  [method@PrioSched.Scheduler.pause] does not hold it back, only its
 * timeout.
 *
 * Returns: a number above 0, for [method@PrioSched.Scheduler.cancel_idle_callback]
 *
 * Since: 1.0
 */
guint
prio_scheduler_request_idle_callback (PrioScheduler *self, PrioIdleFunc func, guint timeout,
                                      gpointer user_data, GDestroyNotify notify)
{
  PrioOp op = { .apply = idle_came };
  PrioIdle *idle;
  guint id;

  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), 0);
  g_return_val_if_fail (func != NULL, 0);

  do
    id = (guint) g_atomic_int_add (&last_id, 1) + 1;
  while (id == 0);

  idle = g_new0 (PrioIdle, 1);
  idle->id = id;
  idle->core = self->core;
  idle->func = func;
  idle->data = user_data;
  idle->notify = notify;

  op.target = idle;
  if (timeout > 0)
    op.due = prio_time_after (g_get_monotonic_time (), timeout * G_TIME_SPAN_MILLISECOND);
  prio_loop_submit (self->core->loop, &op);

  return id;
}

static void
cancel_came (PrioLoop *loop, const PrioOp *op)
{
  prio_idle_cancel (loop, GPOINTER_TO_UINT (op->target));
}

/**
 * prio_scheduler_cancel_idle_callback:
 * @self: a scheduler
 * @id: what [method@PrioSched.Scheduler.request_idle_callback] returned
 *
 * Has an idle callback not be called: the web's `cancelIdleCallback()`.  If it has
 * been called already, or there is none, this does nothing.  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_scheduler_cancel_idle_callback (PrioScheduler *self, guint id)
{
  PrioOp op = { .apply = cancel_came, .target = GUINT_TO_POINTER (id) };

  g_return_if_fail (PRIO_IS_SCHEDULER (self));

  prio_loop_submit (self->core->loop, &op);
}
