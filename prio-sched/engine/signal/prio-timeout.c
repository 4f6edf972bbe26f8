/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-timeout.c: signals that are aborted after a delay */

#include "config.h"

#include "signal/prio-timeout-private.h"

#include "loop/prio-run-queue-private.h"
#include "signal/prio-pin-private.h"
#include "signal/prio-signal-travel-private.h"

#include <glib/gi18n-lib.h>

static gboolean
timer_fired (gpointer data)
{
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_TIMED_OUT, _("The time is up"));
  PrioHandle *handle = data;

  handle->timer = NULL;
  prio_signal_node_abort_by_handle (handle, reason);
  return G_SOURCE_REMOVE;
}

/* Unpins the signal, whose timer has fired or was destroyed, unless there is another reason to pin it. */
static void
timer_gone (gpointer data)
{
  PrioHandle *handle = data;

  prio_lock_lock (&prio_signal_lock);
  if (handle->node != NULL)
    handle->node->may_time_out = FALSE;
  prio_lock_unlock (&prio_signal_lock);

  prio_handle_reevaluate (handle);
  prio_handle_unref (handle);
}

static void
op_start_timer (PrioLoop *loop, const PrioOp *op)
{
  PrioHandle *handle = op->target;

  if (prio_loop_is_dead (loop))
    {
      prio_loop_defer_release (loop, timer_gone, handle);
      return;
    }

  handle->timer = prio_run_queue_new_entry (prio_run_queue_own (loop), timer_fired, handle, timer_gone);
  handle->timer->priority = PRIO_TASK_PRIORITY_USER_BLOCKING;
  /* As a continuation, the timer is not held up by tasks of the same priority that yield in a loop. */
  handle->timer->turn = PRIO_ENTRY_GOES_ON;
  prio_run_queue_add (handle->timer, ((const PrioTimedOp *) op)->due);
}

/* Aborts the signal @delay ms from now.  The timer is a task of the library at the highest priority, because tasks of
 * any priority may wait for the abort. */
void
prio_handle_start_timer (PrioHandle *handle, guint64 delay)
{
  PrioTimedOp self = { { .apply = op_start_timer, .target = prio_handle_ref (handle), .size = sizeof self }, prio_due_after (delay) };

  prio_loop_submit (handle->loop, &self.op);
}

/* Stops the timer, unless it has fired, or was destroyed with its context.  An operation for the owner thread. */
static void
op_stop_timer (PrioLoop *loop, const PrioOp *op)
{
  PrioHandle *handle = op->target;
  PrioEntry *timer = g_steal_pointer (&handle->timer);

  if (timer != NULL && !prio_loop_is_dead (loop))
    prio_run_queue_abort_entry (timer);
  prio_loop_defer_release (loop, (GDestroyNotify) prio_handle_unref, handle);
}

void
prio_handle_stop_timer (PrioHandle *handle)
{
  prio_loop_submit (handle->loop, &(PrioOp) { .apply = op_stop_timer, .target = prio_handle_ref (handle) });
}
