/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-pin.c: pins signals that can still emit
 *
 * prio-pin-private.h explains the rules. */

#include "config.h"

#include "signal/prio-pin-private.h"

#include "base/prio-glib-private.h"
#include "loop/prio-run-queue-private.h"

/* The handles of all pinned signals, with the least recently re-evaluated first. */
static GQueue pinned_signals = G_QUEUE_INIT;

/* A function that is called until it returns FALSE.  Then the Call is freed. */
typedef struct
{
  GSourceFunc func;
  gpointer data;
  gboolean done;
} Call;

static gboolean
call_carry_out (gpointer data)
{
  Call *call = data;

  prio_in_finalize (call);
  call->done = !call->func (call->data);
  return !call->done;
}

static void attach (Call *call, GMainContext *context);

/* Frees the Call.  If the context was destroyed before the Call was done, attaches it to the default context instead. */
static void
call_end (gpointer data)
{
  Call *call = data;

  prio_in_finalize (call);
  if (call->done)
    g_free (call);
  else
    attach (call, NULL);
}

static void
attach (Call *call, GMainContext *context)
{
  GSource *source = g_idle_source_new ();

  prio_before_unref (call);
  g_source_set_priority (source, G_PRIORITY_HIGH);
  g_source_set_callback (source, call_carry_out, call, call_end);
  g_source_set_static_name (source, "prio-sched signal");
  g_source_attach (source, context);
  g_source_unref (source);
}

static Call *
call_new (GSourceFunc func, gpointer data)
{
  Call *call = g_new (Call, 1);

  *call = (Call) { func, data, FALSE };
  return call;
}

/* Calls @func soon, until it returns FALSE, from @context, or from the default one if @context is NULL or destroyed. */
void
prio_call_from_context (GMainContext *context, GSourceFunc func, gpointer data)
{
  attach (call_new (func, data), context);
}

static void
op_call (PrioLoop *loop, const PrioOp *op)
{
  if (prio_loop_is_dead (loop))
    attach (op->target, NULL);
  else
    prio_run_queue_append_job (prio_run_queue_own (loop), prio_effective (PRIO_TASK_PRIORITY_USER_BLOCKING, TRUE),
                               call_carry_out, op->target, call_end);
}

/* Calls @func soon, until it returns FALSE, from the context of @loop or, if that is destroyed, from the default one. */
void
prio_call_later (PrioLoop *loop, GSourceFunc func, gpointer data)
{
  prio_loop_submit_quietly (loop, &(PrioOp) { .apply = op_call, .target = call_new (func, data) });
}

/* Waits, a second at most, while another thread is still in the g_object_unref () whose dispose () has pinned the
 * signal.  During that call, a notification would be lost, or that thread would emit it. */
void
prio_signal_node_wait_for_unref (PrioSignalNode *node)
{
  if (node->handle != NULL)
    prio_wait_for_unref (G_OBJECT (node->signal), __atomic_load_n (&node->handle->pinned_by, __ATOMIC_ACQUIRE),
                         G_TIME_SPAN_SECOND);
}

static gboolean
drop (gpointer signal)
{
  PrioHandle *handle = prio_signal_node_find (signal)->handle;

  if (prio_is_within_unref (signal, __atomic_load_n (&handle->pinned_by, __ATOMIC_ACQUIRE)))
    return G_SOURCE_CONTINUE;
  prio_object_unref (signal);
  return G_SOURCE_REMOVE;
}

/* Drops the graph's reference to @signal.  Waits briefly if another thread is still in the g_object_unref () that
 * pinned it.  If the thread stays there, the signal's main context, which may never run, drops the reference later. */
static void
drop_reference (PrioHandle *handle, GCancellable *signal)
{
  GThread *disposer = __atomic_load_n (&handle->pinned_by, __ATOMIC_ACQUIRE);

  if (prio_wait_for_unref (G_OBJECT (signal), disposer, G_TIME_SPAN_MILLISECOND))
    prio_object_unref (signal);
  else
    prio_call_later (handle->loop, drop, signal);
}

typedef struct
{
  gboolean abort, change;
} PrioListeners;

/* Returns the kinds of handlers that @node has.  The caller does not hold the lock: GLib's look-up takes a lock. */
static PrioListeners
get_listeners (PrioSignalNode *node)
{
  const PrioSignalNodeFuncs *funcs = prio_signal_node_get_funcs ();

  return (PrioListeners) {
    .abort = funcs->has_handlers (node, PRIO_EDGE_ABORT),
    .change = funcs->has_handlers (node, PRIO_EDGE_PRIORITY),
  };
}

/* Returns whether the signal may still emit a GObject signal that has a handler, or is a timeout that may abort a
 * dependent.  The caller holds the lock. */
static gboolean
should_be_pinned (PrioSignalNode *node, PrioListeners listeners)
{
  gboolean may_abort = !node->aborted && (prio_signal_node_has_sources (node, PRIO_EDGE_ABORT) || node->may_time_out);

  return (listeners.abort && (may_abort || node->pending_cancelled == PRIO_CANCELLED_PENDING)) ||
         (node->may_time_out && !node->aborted && node->dependents.head != NULL) ||
         (listeners.change && prio_signal_node_has_sources (node, PRIO_EDGE_PRIORITY));
}

/* Unpins the signal.  The caller holds the lock.
 *
 * Returns: (transfer full) (nullable): the reference that the graph owned, or NULL */
static GCancellable *
release_locked (PrioSignalNode *node)
{
  if (!node->pinned)
    return NULL;

  node->pinned = FALSE;
  g_queue_unlink (&pinned_signals, &node->handle->pin_link);
  return node->signal;
}

/* Unpins the signal if no reason to pin it is left.  The caller holds a reference to the signal. */
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

/* Returns whether the signal of @handle, whose weak reference the caller has found cleared, is pinned.  If not, the
 * signal is finalized, or is being disposed: in the latter case, dispose () does the work of @visit. */
static gboolean
is_pinned (PrioHandle *handle, PrioVisit visit)
{
  PrioSignalNode *node;
  gboolean pinned;

  prio_lock_lock (&prio_signal_lock);
  node = handle->node;
  pinned = node != NULL && node->pinned;
  if (node != NULL && !pinned && visit == PRIO_VISIT_CHANGE)
    node->missed_change = TRUE;
  else if (node != NULL && !pinned && visit == PRIO_VISIT_EMIT && node->pending_cancelled == PRIO_CANCELLED_PENDING)
    node->pending_cancelled = PRIO_CANCELLED_IN_DISPOSE;
  prio_lock_unlock (&prio_signal_lock);

  return pinned;
}

/* Gets the signal of @handle for @visit.  Looks twice, because dispose () may pin the signal after the first look.  If
 * the weak reference of a pinned signal is still cleared then, g_object_run_dispose () was called for the signal, and
 * the caller gets the graph's reference.
 *
 * Returns: (transfer full) (nullable): the signal, or NULL if it is finalized or is being disposed */
GCancellable *
prio_handle_get (PrioHandle *handle, PrioVisit visit)
{
  GCancellable *signal = g_weak_ref_get (&handle->signal);

  if (signal != NULL || !is_pinned (handle, visit))
    return signal;
  signal = g_weak_ref_get (&handle->signal);
  if (signal != NULL)
    return signal;

  prio_lock_lock (&prio_signal_lock);
  if (handle->node != NULL)
    signal = release_locked (handle->node);
  prio_lock_unlock (&prio_signal_lock);
  return signal;
}

/* Unpins the signal of @handle if no reason to pin it is left, unless its dispose () is running, which then decides. */
void
prio_handle_reevaluate (PrioHandle *handle)
{
  GCancellable *signal = prio_handle_get (handle, PRIO_VISIT_LOOK);

  if (signal == NULL)
    return;

  prio_signal_node_reevaluate (prio_signal_node_find (signal));
  prio_object_unref (signal);
}

/* The number of pinned signals that one call of prio_signal_node_reevaluate_some () checks. */
#define REEVALUATED_AT_ONCE 2

/* Unpins some pinned signals that have no reason to be pinned any more.  Called whenever a dependent or a timeout is
 * created: GObject does not report that a handler was disconnected, so such signals would otherwise accumulate. */
void
prio_signal_node_reevaluate_some (void)
{
  for (guint i = 0; i < REEVALUATED_AT_ONCE; i++)
    {
      PrioHandle *handle = NULL;
      GList *link;

      prio_lock_lock (&prio_signal_lock);
      link = g_queue_pop_head_link (&pinned_signals);
      if (link != NULL)
        {
          g_queue_push_tail_link (&pinned_signals, link);
          handle = prio_handle_ref (link->data);
        }
      prio_lock_unlock (&prio_signal_lock);

      if (handle == NULL)
        return;

      prio_handle_reevaluate (handle);
      prio_handle_unref (handle);
    }
}

typedef enum
{
  PRIO_VERDICT_NOT_PINNED,
  PRIO_VERDICT_PINNED,
  PRIO_VERDICT_EMIT /* the caller makes the signal emit `cancelled`, and calls decide () again */
} PrioVerdict;

/* Decides whether to pin the signal.  If so and if @has_reference, pins the signal: the graph takes over the caller's
 * reference.  Without a reference, a caller that gets PRIO_VERDICT_PINNED takes one, and calls this function again. */
static PrioVerdict
decide (PrioSignalNode *node, PrioListeners listeners, gboolean has_reference)
{
  PrioVerdict verdict = PRIO_VERDICT_NOT_PINNED;

  prio_lock_lock (&prio_signal_lock);
  if (node->pending_cancelled == PRIO_CANCELLED_IN_DISPOSE)
    {
      node->pending_cancelled = PRIO_CANCELLED_NOT_PENDING;
      verdict = PRIO_VERDICT_EMIT;
    }
  else if (!node->pinned && should_be_pinned (node, listeners))
    {
      if (has_reference)
        {
          node->pinned = TRUE;
          node->handle->pin_link.data = node->handle;
          g_queue_push_tail_link (&pinned_signals, &node->handle->pin_link);
        }
      verdict = PRIO_VERDICT_PINNED;
    }
  prio_lock_unlock (&prio_signal_lock);

  return verdict;
}

/* Sets the weak reference again, then pins the signal if there is still a reason.  Returns the verdict of decide (). */
static PrioVerdict
pin (PrioSignalNode *node, PrioListeners listeners)
{
  GCancellable *signal = g_object_ref (node->signal);
  PrioVerdict verdict;

  __atomic_store_n (&node->handle->pinned_by, g_thread_self (), __ATOMIC_RELEASE);
  g_weak_ref_set (&node->handle->signal, signal);
  verdict = decide (node, listeners, TRUE);
  if (verdict != PRIO_VERDICT_PINNED)
    prio_object_unref (signal);
  return verdict;
}

/* Pins the signal if should_be_pinned ().  The signal is being disposed, or the caller holds a reference to it.
 *
 * Returns: whether this call has pinned the signal; if so, the caller repeats a change of priority that the signal
 * missed */
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
      if (verdict == PRIO_VERDICT_EMIT)
        {
          g_cancellable_cancel (node->signal);
          prio_signal_node_get_funcs ()->notify_abort (node, PRIO_NOTICE_IN_DISPOSE);
        }
    }
  while (verdict == PRIO_VERDICT_EMIT);

  return verdict == PRIO_VERDICT_PINNED;
}
