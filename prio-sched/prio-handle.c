/* prio-handle.c: a way back to a signal that may be dropped meanwhile
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-handle-private.h"

#include "prio-context-private.h"
#include "prio-core-private.h"
#include "prio-hub-private.h"
#include "prio-pin-private.h"

#include <glib/gi18n-lib.h>

PrioHandle *
prio_handle_ref (PrioHandle *handle)
{
  g_atomic_int_inc (&handle->refs);
  return handle;
}

void
prio_handle_unref (PrioHandle *handle)
{
  if (g_atomic_int_dec_and_test (&handle->refs))
    {
      g_weak_ref_clear (&handle->signal);
      prio_loop_part (handle->loop);
      g_free (handle);
    }
}

/* The handle of @hub, whose caller holds its signal. */
PrioHandle *
prio_handle_new (PrioHub *hub)
{
  PrioHandle *handle = g_new0 (PrioHandle, 1);
  GMainContext *context = g_main_context_get_thread_default ();

  handle->refs = 1;
  handle->hub = hub;
  handle->loop = prio_loop_join (context != NULL ? context : g_main_context_default ());
  g_weak_ref_init (&handle->signal, hub->signal);
  return handle;
}

static gboolean
say_now (gpointer handle)
{
  prio_hub_say (handle);
  return G_SOURCE_REMOVE;
}

/* Nothing of the user's may run here.  Takes the reference of @handle. */
static void
say_from_default_context (PrioHandle *handle)
{
  prio_call_from_default_context (say_now, handle, (GDestroyNotify) prio_handle_unref);
}

/* The signal has said it, or the context has gone before. */
static void
said_or_gone (gpointer data)
{
  PrioHandle *handle = data;
  gboolean owes;

  prio_lock_lock (&prio_hub_lock);
  owes = handle->hub != NULL && handle->hub->owes == PRIO_OWES_SOON;
  prio_lock_unlock (&prio_hub_lock);

  if (owes)
    say_from_default_context (handle);
  else
    prio_handle_unref (handle);
}

static void
say_arrived (PrioLoop *loop, const PrioOp *op)
{
  if (prio_loop_is_dead (loop))
    say_from_default_context (op->target);
  else
    prio_core_append_job (prio_core_own (loop), prio_effective (PRIO_TASK_PRIORITY_USER_BLOCKING, FALSE),
                          say_now, op->target, said_or_gone);
}

/* Has the signal, which owes it, say `cancelled` from its main context. */
void
prio_handle_say_later (PrioHandle *handle)
{
  PrioOp op = { .apply = say_arrived, .target = prio_handle_ref (handle) };

  prio_loop_submit_quietly (handle->loop, &op);
}

static gboolean
timer_fired (gpointer data)
{
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_TIMED_OUT, _("The time is up"));
  PrioHandle *handle = data;

  handle->timer = NULL;
  prio_hub_abort_by_handle (handle, reason);
  return G_SOURCE_REMOVE;
}

/* The time is over, or runs no more: its signal or its context has gone. */
static void
timer_gone (gpointer data)
{
  PrioHandle *handle = data;

  prio_lock_lock (&prio_hub_lock);
  if (handle->hub != NULL)
    handle->hub->may_time_out = FALSE;
  prio_lock_unlock (&prio_hub_lock);

  prio_handle_reconsider (handle);
  prio_handle_unref (handle);
}

static void
start_arrived (PrioLoop *loop, const PrioOp *op)
{
  PrioHandle *handle = op->target;

  if (prio_loop_is_dead (loop))
    {
      prio_loop_bury (loop, timer_gone, handle);
      return;
    }

  handle->timer = prio_core_new_entry (prio_core_own (loop), timer_fired, handle, timer_gone);
  handle->timer->priority = PRIO_TASK_PRIORITY_USER_BLOCKING;
  prio_core_admit (handle->timer, op->due);
}

/* Has the signal time out @delay ms from now: a task of the library's own, at the priority
 * of those who wait for it. */
void
prio_handle_start_timer (PrioHandle *handle, guint64 delay)
{
  PrioOp op = { .apply = start_arrived, .target = prio_handle_ref (handle), .due = prio_due_after (delay) };

  prio_loop_submit (handle->loop, &op);
}

/* After the context has gone, its timers have. */
static void
stop_arrived (PrioLoop *loop, const PrioOp *op)
{
  PrioHandle *handle = op->target;
  PrioEntry *timer = g_steal_pointer (&handle->timer);

  if (timer != NULL && !prio_loop_is_dead (loop))
    prio_core_refuse (timer);
  prio_loop_bury (loop, (GDestroyNotify) prio_handle_unref, handle);
}

/* Nobody is there any more whom the time concerns. */
void
prio_handle_stop_timer (PrioHandle *handle)
{
  PrioOp op = { .apply = stop_arrived, .target = prio_handle_ref (handle) };

  prio_loop_submit (handle->loop, &op);
}
