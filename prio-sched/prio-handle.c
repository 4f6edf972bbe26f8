/* prio-handle.c: a way back to a signal that may be dropped meanwhile
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-handle-private.h"

#include "prio-core-private.h"
#include "prio-hub-private.h"

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

/* Under the lock: the signal of @hub is being disposed, and will do what @visit is for. */
static void
leave_to_dispose (PrioHub *hub, PrioVisit visit)
{
  if (visit == PRIO_VISIT_SAY && hub->owes == PRIO_OWES_SOON)
    hub->owes = PRIO_OWES_NOW;
  else if (visit == PRIO_VISIT_CHANGE)
    hub->missed_change = TRUE;
}

/* The weak reference of @handle was cleared.  Returns whether the signal is kept, that is
 * whether it is there again.  Otherwise it is between the end of its weak references and
 * its finalization, or finalized. */
static gboolean
is_kept (PrioHandle *handle, PrioVisit visit)
{
  gboolean kept = FALSE;

  prio_lock_lock (&prio_hub_lock);
  if (handle->hub != NULL)
    {
      kept = handle->hub->kept;
      if (!kept)
        leave_to_dispose (handle->hub, visit);
    }
  prio_lock_unlock (&prio_hub_lock);

  return kept;
}

/* Returns: (transfer full) (nullable): the graph's reference, if it has one */
static GCancellable *
take_from_graph (PrioHandle *handle)
{
  GCancellable *signal = NULL;

  prio_lock_lock (&prio_hub_lock);
  if (handle->hub != NULL)
    signal = prio_hub_release_locked (handle->hub);
  prio_lock_unlock (&prio_hub_lock);

  return signal;
}

/* A kept signal has its weak reference, unless somebody called g_object_run_dispose ().
 *
 * Returns: (transfer full) (nullable): the signal, or NULL if nobody holds it */
GCancellable *
prio_handle_get (PrioHandle *handle, PrioVisit visit)
{
  GCancellable *signal = g_weak_ref_get (&handle->signal);

  if (signal == NULL && is_kept (handle, visit))
    signal = g_weak_ref_get (&handle->signal);
  if (signal == NULL)
    signal = take_from_graph (handle);
  return signal;
}

/* A reason to keep the signal has gone.  It is asked again in its dispose () if it is
 * there now, and its weak reference is cleared. */
void
prio_handle_reconsider (PrioHandle *handle)
{
  GCancellable *signal = prio_handle_get (handle, PRIO_VISIT_LOOK);

  if (signal == NULL)
    return;

  prio_hub_reconsider (prio_hub_for (signal));
  g_object_unref (signal);
}

static gboolean
say_now (gpointer handle)
{
  prio_hub_say (handle);
  return G_SOURCE_REMOVE;
}

/* The context of the signal has gone, and what was to be done there is done in the default
 * one. */
static void
call_from_default_context (GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  GSource *source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_HIGH);
  g_source_set_callback (source, func, data, notify);
  g_source_set_static_name (source, "prio-sched dependent signal");
  g_source_attach (source, NULL);
  g_source_unref (source);
}

/* Before 2.80, g_object_unref () touches an object that dispose () has given another
 * reference after it has dropped its own: it thaws the notifications of the object.  To
 * drop the last reference on another thread meanwhile would free what it touches.  As long
 * as they are frozen, GLib has a record of that, by this name. */
static gboolean
is_within_unref (GCancellable *signal)
{
  GThread *keeper;

  if (glib_check_version (2, 80, 0) == NULL ||
      g_object_get_qdata (G_OBJECT (signal), g_quark_from_static_string ("GObject-notify-queue")) == NULL)
    return FALSE;

  prio_lock_lock (&prio_hub_lock);
  keeper = prio_hub_for (signal)->handle->keeper;
  prio_lock_unlock (&prio_hub_lock);
  return keeper != g_thread_self ();
}

/* Until that has returned: what follows is drop (). */
static gboolean
wait_for_unref (gpointer signal)
{
  return is_within_unref (signal) ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

/* After wait_for_unref (), or because the context goes where it waits. */
static void
drop (gpointer signal)
{
  if (is_within_unref (signal))
    call_from_default_context (wait_for_unref, signal, drop);
  else
    g_object_unref (signal);
}

static void
drop_arrived (PrioLoop *loop, const PrioOp *op)
{
  if (prio_loop_is_dead (loop))
    prio_loop_bury (loop, drop, op->target);
  else
    prio_core_append_job (prio_core_own (loop), prio_effective (PRIO_TASK_PRIORITY_USER_BLOCKING, FALSE),
                          wait_for_unref, op->target, drop);
}

/* Drops the reference of @signal that has been the graph's: in a main context, if who gave
 * it has not returned from g_object_unref () of a GLib that minds. */
void
prio_handle_drop (PrioHandle *handle, GCancellable *signal)
{
  PrioOp op = { .apply = drop_arrived, .target = signal };

  if (is_within_unref (signal))
    prio_loop_submit (handle->loop, &op);
  else
    g_object_unref (signal);
}

/* Nothing of the user's may run here.  Takes the reference of @handle. */
static void
say_from_default_context (PrioHandle *handle)
{
  call_from_default_context (say_now, handle, (GDestroyNotify) prio_handle_unref);
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
