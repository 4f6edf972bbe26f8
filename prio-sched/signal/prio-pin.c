/* prio-pin.c: who keeps a signal that nobody else holds
 *
 * The rule is in prio-pin-private.h.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "signal/prio-pin-private.h"

#include "loop/prio-run-queue-private.h"

/* Of PrioHandle: of the kept signals, those that have not been looked at for the longest time
 * first. */
static GQueue pinned_signals = G_QUEUE_INIT;

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
  GThread *pinned_by;

  if (glib_check_version (2, 80, 0) == NULL ||
      g_object_get_qdata (G_OBJECT (signal), g_quark_from_static_string ("GObject-notify-queue")) == NULL)
    return FALSE;

  prio_lock_lock (&prio_signal_lock);
  pinned_by = prio_signal_node_find (signal)->handle->pinned_by;
  prio_lock_unlock (&prio_signal_lock);
  return pinned_by != g_thread_self ();
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
op_drop (PrioLoop *loop, const PrioOp *op)
{
  if (prio_loop_is_dead (loop))
    prio_loop_defer_release (loop, drop, op->target);
  else
    prio_run_queue_append_job (prio_run_queue_own (loop), prio_effective (PRIO_TASK_PRIORITY_USER_BLOCKING, FALSE),
                               wait_for_unref, op->target, drop);
}

/* Drops the reference of @signal that has been the graph's: in a main context, if who gave
 * it has not returned from g_object_unref () of a GLib that minds. */
static void
drop_reference (PrioHandle *handle, GCancellable *signal)
{
  PrioOp op = { .apply = op_drop, .target = signal };

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
get_listeners (PrioSignalNode *node)
{
  const PrioSignalNodeFuncs *funcs = prio_signal_node_get_funcs ();

  return (PrioListeners) {
    .abort = funcs->has_handlers (node, PRIO_EDGE_ABORT),
    .change = funcs->has_handlers (node, PRIO_EDGE_PRIORITY),
  };
}

/* Under the lock: whether the signal may yet say something that somebody hears. */
static gboolean
should_be_pinned (PrioSignalNode *node, PrioListeners listeners)
{
  gboolean may_abort = !node->aborted && (node->n_sources[PRIO_EDGE_ABORT] > 0 || node->may_time_out);

  return (listeners.abort && (may_abort || node->pending_cancelled == PRIO_CANCELLED_PENDING)) ||
         (listeners.change && node->n_sources[PRIO_EDGE_PRIORITY] > 0);
}

/* Under the lock.  Returns: (transfer full) (nullable): the graph's reference, if it has
 * one, which is the caller's then */
static GCancellable *
release_locked (PrioSignalNode *node)
{
  if (!node->pinned)
    return NULL;

  node->pinned = FALSE;
  g_queue_unlink (&pinned_signals, &node->handle->pin_link);
  return node->signal;
}

/* A reason to keep the signal may have gone.  Its caller holds it. */
void
prio_signal_node_reevaluate (PrioSignalNode *node)
{
  GCancellable *released = NULL;
  PrioListeners listeners;

  if (node->handle == NULL)
    return;

  listeners = get_listeners (node);
  prio_lock_lock (&prio_signal_lock);
  if (!should_be_pinned (node, listeners))
    released = release_locked (node);
  prio_lock_unlock (&prio_signal_lock);

  if (released != NULL)
    drop_reference (node->handle, released);
}

/* Under the lock: the signal of @node is being disposed, and will do what @visit is for. */
static void
leave_to_dispose (PrioSignalNode *node, PrioVisit visit)
{
  if (visit == PRIO_VISIT_EMIT && node->pending_cancelled == PRIO_CANCELLED_PENDING)
    node->pending_cancelled = PRIO_CANCELLED_IN_DISPOSE;
  else if (visit == PRIO_VISIT_CHANGE)
    node->missed_change = TRUE;
}

/* The weak reference of @handle was cleared.  Returns whether the signal is kept, that is
 * whether it is there again.  Otherwise it is between the end of its weak references and
 * its finalization, or finalized. */
static gboolean
is_pinned (PrioHandle *handle, PrioVisit visit)
{
  gboolean pinned = FALSE;

  prio_lock_lock (&prio_signal_lock);
  if (handle->node != NULL)
    {
      pinned = handle->node->pinned;
      if (!pinned)
        leave_to_dispose (handle->node, visit);
    }
  prio_lock_unlock (&prio_signal_lock);

  return pinned;
}

/* Returns: (transfer full) (nullable): the graph's reference, if it has one */
static GCancellable *
take_from_graph (PrioHandle *handle)
{
  GCancellable *signal = NULL;

  prio_lock_lock (&prio_signal_lock);
  if (handle->node != NULL)
    signal = release_locked (handle->node);
  prio_lock_unlock (&prio_signal_lock);

  return signal;
}

/* A kept signal has its weak reference, unless somebody called g_object_run_dispose ().
 *
 * Returns: (transfer full) (nullable): the signal, or NULL if nobody holds it */
GCancellable *
prio_handle_get (PrioHandle *handle, PrioVisit visit)
{
  GCancellable *signal = g_weak_ref_get (&handle->signal);

  if (signal == NULL && is_pinned (handle, visit))
    signal = g_weak_ref_get (&handle->signal);
  if (signal == NULL)
    signal = take_from_graph (handle);
  return signal;
}

/* A reason to keep the signal has gone.  It is asked again in its dispose () if it is
 * there now, and its weak reference is cleared. */
void
prio_handle_reevaluate (PrioHandle *handle)
{
  GCancellable *signal = prio_handle_get (handle, PRIO_VISIT_LOOK);

  if (signal == NULL)
    return;

  prio_signal_node_reevaluate (prio_signal_node_find (signal));
  g_object_unref (signal);
}

/* Of so many kept signals it is asked again whether they are to be, when one is made. */
#define REEVALUATED_AT_ONCE 2

/* Under the lock: the handle of the next kept signal to look at, or NULL. */
static PrioHandle *
next_pinned (void)
{
  GList *link = g_queue_pop_head_link (&pinned_signals);

  if (link == NULL)
    return NULL;

  g_queue_push_tail_link (&pinned_signals, link);
  return prio_handle_ref (link->data);
}

/* GObject tells nobody that a handler is disconnected.  So who makes a signal looks at two
 * of those that are kept: there are never more that nobody listens to than others, and a
 * few. */
void
prio_signal_node_reevaluate_some (void)
{
  for (guint i = 0; i < REEVALUATED_AT_ONCE; i++)
    {
      PrioHandle *handle;

      prio_lock_lock (&prio_signal_lock);
      handle = next_pinned ();
      prio_lock_unlock (&prio_signal_lock);

      if (handle == NULL)
        return;

      prio_handle_reevaluate (handle);
      prio_handle_unref (handle);
    }
}

/* Under the lock.  The caller's reference is the graph's from now on. */
static void
pin_locked (PrioSignalNode *node)
{
  node->pinned = TRUE;
  node->handle->pinned_by = g_thread_self ();
  node->handle->pin_link.data = node->handle;
  g_queue_push_tail_link (&pinned_signals, &node->handle->pin_link);
}

typedef enum
{
  PRIO_VERDICT_GOES,
  PRIO_VERDICT_PINNED, /* with the reference of who asked */
  PRIO_VERDICT_EMITS  /* it says `cancelled`, and is asked about again */
} PrioVerdict;

/* If it @has_reference, the caller holds one that the graph gets; otherwise it only asks. */
static PrioVerdict
decide (PrioSignalNode *node, PrioListeners listeners, gboolean has_reference)
{
  PrioVerdict verdict = PRIO_VERDICT_GOES;

  prio_lock_lock (&prio_signal_lock);
  if (node->pending_cancelled == PRIO_CANCELLED_IN_DISPOSE)
    {
      node->pending_cancelled = PRIO_CANCELLED_NOT_PENDING;
      verdict = PRIO_VERDICT_EMITS;
    }
  else if (!node->pinned && should_be_pinned (node, listeners))
    {
      if (has_reference)
        pin_locked (node);
      verdict = PRIO_VERDICT_PINNED;
    }
  prio_lock_unlock (&prio_signal_lock);

  return verdict;
}

/* Keeps the signal if that is right still when it can be found again. */
static PrioVerdict
pin (PrioSignalNode *node, PrioListeners listeners)
{
  GCancellable *signal = g_object_ref (node->signal);
  PrioVerdict verdict;

  g_weak_ref_set (&node->handle->signal, signal);
  verdict = decide (node, listeners, TRUE);
  if (verdict != PRIO_VERDICT_PINNED)
    g_object_unref (signal);
  return verdict;
}

/* Has the graph keep the signal, if it may say something that somebody hears.  It is being
 * disposed, or its caller holds it.  Returns whether it is kept from now on: then the caller has it
 * make up for a change that it may have missed. */
gboolean
prio_signal_node_pin (PrioSignalNode *node)
{
  PrioVerdict verdict;

  if (node->handle == NULL)
    return FALSE;

  do
    {
      PrioListeners listeners = get_listeners (node);

      verdict = decide (node, listeners, FALSE);
      if (verdict == PRIO_VERDICT_PINNED)
        verdict = pin (node, listeners);
      if (verdict == PRIO_VERDICT_EMITS)
        {
          g_cancellable_cancel (node->signal);
          prio_signal_node_get_funcs ()->notify_reason (node, PRIO_NOTICE_IN_DISPOSE);
        }
    }
  while (verdict == PRIO_VERDICT_EMITS);

  return verdict == PRIO_VERDICT_PINNED;
}
