/* prio-pin.c: who keeps a signal that nobody else holds
 *
 * The rule is in prio-pin-private.h.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-pin-private.h"

#include "prio-core-private.h"

/* Of PrioHandle: of the kept signals, those that have not been looked at for the longest time
 * first. */
static GQueue kept_signals = G_QUEUE_INIT;

/* The context of the signal has gone, and what was to be done there is done in the default
 * one. */
void
prio_call_from_default_context (GSourceFunc func, gpointer data, GDestroyNotify notify)
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
  keeper = prio_hub_find (signal)->handle->keeper;
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
    prio_call_from_default_context (wait_for_unref, signal, drop);
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
static void
drop_reference (PrioHandle *handle, GCancellable *signal)
{
  PrioOp op = { .apply = drop_arrived, .target = signal };

  if (is_within_unref (signal))
    prio_loop_submit (handle->loop, &op);
  else
    g_object_unref (signal);
}

typedef struct
{
  gboolean abort, change;
} PrioListeners;

/* Not under the lock: GLib has one for the handlers. */
static PrioListeners
get_listeners (PrioHub *hub)
{
  const PrioHubFuncs *funcs = prio_hub_get_funcs ();

  return (PrioListeners) {
    .abort = funcs->has_handlers (hub, PRIO_EDGE_ABORT),
    .change = funcs->has_handlers (hub, PRIO_EDGE_PRIORITY),
  };
}

/* Under the lock: whether the signal may yet say something that somebody hears. */
static gboolean
is_to_be_kept (PrioHub *hub, PrioListeners listeners)
{
  gboolean may_abort = !hub->aborted && (hub->n_sources[PRIO_EDGE_ABORT] > 0 || hub->may_time_out);

  return (listeners.abort && (may_abort || hub->owes == PRIO_OWES_SOON)) ||
         (listeners.change && hub->n_sources[PRIO_EDGE_PRIORITY] > 0);
}

/* Under the lock.  Returns: (transfer full) (nullable): the graph's reference, if it has
 * one, which is the caller's then */
static GCancellable *
release_locked (PrioHub *hub)
{
  if (!hub->kept)
    return NULL;

  hub->kept = FALSE;
  g_queue_unlink (&kept_signals, &hub->handle->kept_link);
  return hub->signal;
}

/* A reason to keep the signal may have gone.  Its caller holds it. */
void
prio_hub_reconsider (PrioHub *hub)
{
  GCancellable *released = NULL;
  PrioListeners listeners;

  if (hub->handle == NULL)
    return;

  listeners = get_listeners (hub);
  prio_lock_lock (&prio_hub_lock);
  if (!is_to_be_kept (hub, listeners))
    released = release_locked (hub);
  prio_lock_unlock (&prio_hub_lock);

  if (released != NULL)
    drop_reference (hub->handle, released);
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
    signal = release_locked (handle->hub);
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

  prio_hub_reconsider (prio_hub_find (signal));
  g_object_unref (signal);
}

/* Of so many kept signals it is asked again whether they are to be, when one is made. */
#define RECONSIDERED_AT_ONCE 2

/* Under the lock: the handle of the next kept signal to look at, or NULL. */
static PrioHandle *
next_kept (void)
{
  GList *link = g_queue_pop_head_link (&kept_signals);

  if (link == NULL)
    return NULL;

  g_queue_push_tail_link (&kept_signals, link);
  return prio_handle_ref (link->data);
}

/* GObject tells nobody that a handler is disconnected.  So who makes a signal looks at two
 * of those that are kept: there are never more that nobody listens to than others, and a
 * few. */
void
prio_hub_reconsider_some (void)
{
  for (guint i = 0; i < RECONSIDERED_AT_ONCE; i++)
    {
      PrioHandle *handle;

      prio_lock_lock (&prio_hub_lock);
      handle = next_kept ();
      prio_lock_unlock (&prio_hub_lock);

      if (handle == NULL)
        return;

      prio_handle_reconsider (handle);
      prio_handle_unref (handle);
    }
}

/* Under the lock.  The caller's reference is the graph's from now on. */
static void
keep_locked (PrioHub *hub)
{
  hub->kept = TRUE;
  hub->handle->keeper = g_thread_self ();
  hub->handle->kept_link.data = hub->handle;
  g_queue_push_tail_link (&kept_signals, &hub->handle->kept_link);
}

typedef enum
{
  PRIO_VERDICT_GOES,
  PRIO_VERDICT_KEPT, /* with the reference of who asked */
  PRIO_VERDICT_SAYS  /* it says `cancelled`, and is asked about again */
} PrioVerdict;

/* If it @has_reference, the caller holds one that the graph gets; otherwise it only asks. */
static PrioVerdict
decide (PrioHub *hub, PrioListeners listeners, gboolean has_reference)
{
  PrioVerdict verdict = PRIO_VERDICT_GOES;

  prio_lock_lock (&prio_hub_lock);
  if (hub->owes == PRIO_OWES_NOW)
    {
      hub->owes = PRIO_OWES_NOTHING;
      verdict = PRIO_VERDICT_SAYS;
    }
  else if (!hub->kept && is_to_be_kept (hub, listeners))
    {
      if (has_reference)
        keep_locked (hub);
      verdict = PRIO_VERDICT_KEPT;
    }
  prio_lock_unlock (&prio_hub_lock);

  return verdict;
}

/* Keeps the signal if that is right still when it can be found again. */
static PrioVerdict
keep (PrioHub *hub, PrioListeners listeners)
{
  GCancellable *signal = g_object_ref (hub->signal);
  PrioVerdict verdict;

  g_weak_ref_set (&hub->handle->signal, signal);
  verdict = decide (hub, listeners, TRUE);
  if (verdict != PRIO_VERDICT_KEPT)
    g_object_unref (signal);
  return verdict;
}

/* Has the graph keep the signal, if it may say something that somebody hears.  It is being
 * disposed, or its caller holds it.  Returns whether it is kept from now on: then the caller has it
 * make up for a change that it may have missed. */
gboolean
prio_hub_keep (PrioHub *hub)
{
  PrioVerdict verdict;

  if (hub->handle == NULL)
    return FALSE;

  do
    {
      PrioListeners listeners = get_listeners (hub);

      verdict = decide (hub, listeners, FALSE);
      if (verdict == PRIO_VERDICT_KEPT)
        verdict = keep (hub, listeners);
      if (verdict == PRIO_VERDICT_SAYS)
        {
          g_cancellable_cancel (hub->signal);
          prio_hub_get_funcs ()->notify_reason (hub, PRIO_NOTICE_IN_DISPOSE);
        }
    }
  while (verdict == PRIO_VERDICT_SAYS);

  return verdict == PRIO_VERDICT_KEPT;
}
