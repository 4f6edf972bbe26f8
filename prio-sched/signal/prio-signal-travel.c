/* prio-signal-travel.c: how an abort, or a change of priority, travels
 *
 * From the signal it is made on to the loops where that has tasks, then to those
 * who listen, then to the signals that depend on it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "signal/prio-signal-travel-private.h"

#include "signal/prio-registration-private.h"
#include "prio-error.h"
#include "signal/prio-pin-private.h"

#include <glib/gi18n-lib.h>

/* A signal that is being aborted, or told of a change, outside the lock. */
typedef struct
{
  GCancellable *signal;    /* owned, or NULL if nobody holds it any more */
  PrioHandle *handle;      /* owned, or NULL if it has none */
  GPtrArray *registrations;        /* referenced */
  PrioReason *past_reason; /* of a plain cancellable that has been reset */
} PrioTarget;

/* Under the lock: the registrations of @node, or NULL. */
static GPtrArray *
list_registrations (PrioSignalNode *node)
{
  GPtrArray *registrations = NULL;

  if (node->registrations != NULL)
    registrations = g_ptr_array_new_with_free_func ((GDestroyNotify) prio_registration_unref);
  for (PrioRegistration *registration = node->registrations; registration != NULL; registration = registration->node_next)
    g_ptr_array_add (registrations, prio_registration_ref (registration));

  return registrations;
}

static void
target_clear (gpointer data)
{
  PrioTarget *target = data;

  g_clear_pointer (&target->registrations, g_ptr_array_unref);
  g_clear_pointer (&target->handle, prio_handle_unref);
  g_clear_pointer (&target->past_reason, prio_reason_unref);
  g_clear_object (&target->signal);
}

static GArray *
target_array_new (void)
{
  GArray *targets = g_array_new (FALSE, FALSE, sizeof (PrioTarget));

  g_array_set_clear_func (targets, target_clear);
  return targets;
}

static void
target_send (PrioTarget *target, PrioOpFunc apply, gboolean quietly)
{
  if (target->registrations == NULL)
    return;

  for (guint i = 0; i < target->registrations->len; i++)
    prio_registration_send (target->registrations->pdata[i], apply, quietly);
}

/* Under the lock.  Who marks a signal has it say `cancelled` afterwards. */
static void
mark_aborted (PrioSignalNode *node, PrioReason *reason, GArray *targets)
{
  PrioTarget target = {
    .handle = node->handle != NULL ? prio_handle_ref (node->handle) : NULL,
    .registrations = list_registrations (node),
  };

  node->aborted = TRUE;
  node->pending_cancelled = node->handle != NULL ? PRIO_CANCELLED_PENDING : PRIO_CANCELLED_NOT_PENDING;
  target.past_reason = g_steal_pointer (&node->reason);
  node->reason = g_atomic_rc_box_acquire (reason);
  g_array_append_val (targets, target);
}

/* Under the lock. */
static void
mark_dependents_aborted (PrioSignalNode *node, PrioReason *reason, GArray *targets)
{
  for (PrioEdge *edge = node->dependents; edge != NULL; edge = edge->next_dependent)
    {
      if (prio_edge_is (edge, PRIO_EDGE_ABORT) && !edge->dependent->aborted)
        mark_aborted (edge->dependent, reason, targets);
    }
}

/* The draft's "signal abort" as far as the lock has to be held: @node, which is that of
 * @handle if it is NULL, and its dependents have their reason before anybody hears of it.
 * All that depends on a root knows that root; what depends on a dependent that is cancelled
 * by hand comes from one to the next.
 *
 * Returns: what is to be told, @node first, or NULL if it is aborted already, or gone */
static GArray *
begin_abort (PrioSignalNode *node, PrioHandle *handle, const GError *error)
{
  PrioReason *reason = prio_reason_new (error);
  GArray *targets = NULL;

  prio_lock_lock (&prio_signal_lock);

  if (node == NULL)
    node = handle->node;

  if (node != NULL && !node->aborted)
    {
      targets = target_array_new ();
      mark_aborted (node, reason, targets);

      mark_dependents_aborted (node, reason, targets);
      for (guint i = 1; i < targets->len; i++)
        mark_dependents_aborted (g_array_index (targets, PrioTarget, i).handle->node, reason, targets);
    }

  prio_lock_unlock (&prio_signal_lock);

  prio_reason_unref (reason);
  return targets;
}

/* The signal says, or has said, `cancelled`.  Returns whether the graph keeps it. */
static gboolean
has_nothing_pending (PrioSignalNode *node)
{
  gboolean pinned;

  prio_lock_lock (&prio_signal_lock);
  node->pending_cancelled = PRIO_CANCELLED_NOT_PENDING;
  pinned = node->pinned;
  prio_lock_unlock (&prio_signal_lock);

  return pinned;
}

/* The signal of @node has said `cancelled`, or is saying it. */
static void
notify_reason (PrioSignalNode *node, PrioNotice when)
{
  if (node->is_task_signal)
    prio_signal_node_get_funcs ()->notify_reason (node, when);
}

/* Has the signal of @handle, which is aborted, say `cancelled`, here or where it is being
 * disposed. */
static void
emit (PrioHandle *handle)
{
  g_autoptr (GCancellable) signal = prio_handle_get (handle, PRIO_VISIT_EMIT);

  if (signal == NULL)
    return;

  g_cancellable_cancel (signal);
  notify_reason (prio_signal_node_find (signal), PRIO_NOTICE_NOW);
  if (has_nothing_pending (prio_signal_node_find (signal)))
    prio_signal_node_reevaluate (prio_signal_node_find (signal));
}

static gboolean
emit_now (gpointer handle)
{
  emit (handle);
  return G_SOURCE_REMOVE;
}

/* Nothing of the user's may run here.  Takes the reference of @handle. */
static void
emit_from_default_context (PrioHandle *handle)
{
  prio_call_from_default_context (emit_now, handle, (GDestroyNotify) prio_handle_unref);
}

/* The signal has said it, or the context has gone before. */
static void
emitted_or_gone (gpointer data)
{
  PrioHandle *handle = data;
  gboolean pending_cancelled;

  prio_lock_lock (&prio_signal_lock);
  pending_cancelled = handle->node != NULL && handle->node->pending_cancelled == PRIO_CANCELLED_PENDING;
  prio_lock_unlock (&prio_signal_lock);

  if (pending_cancelled)
    emit_from_default_context (handle);
  else
    prio_handle_unref (handle);
}

static void
op_emit_cancelled (PrioLoop *loop, const PrioOp *op)
{
  if (prio_loop_is_dead (loop))
    emit_from_default_context (op->target);
  else
    prio_run_queue_append_job (prio_run_queue_own (loop), prio_effective (PRIO_TASK_PRIORITY_USER_BLOCKING, FALSE),
                               emit_now, op->target, emitted_or_gone);
}

/* Has the signal, which owes it, say `cancelled` from its main context. */
static void
emit_later (PrioHandle *handle)
{
  PrioOp op = { .apply = op_emit_cancelled, .target = prio_handle_ref (handle) };

  prio_loop_submit_quietly (handle->loop, &op);
}

/* Releases what the abort of @target has ended, where that can be done here. */
static void
target_release (PrioTarget *target)
{
  if (target->registrations == NULL)
    return;

  for (guint i = 0; i < target->registrations->len; i++)
    prio_loop_flush_releases (((PrioRegistration *) target->registrations->pdata[i])->loop);
}

/* The signal depends on nothing, and its caller holds it. */
static void
emit_as_root (GCancellable *signal)
{
  g_cancellable_cancel (signal);
  notify_reason (prio_signal_node_find (signal), PRIO_NOTICE_NOW);
}

/* Runs the abort steps of all targets, so that whatever is called from here on finds no
 * task of theirs in a queue; then each releases what it had and says so, as the draft
 * orders.  Those that are there now live until then. */
static void
carry_out_abort (GArray *targets)
{
  for (guint i = 0; i < targets->len; i++)
    {
      PrioTarget *target = &g_array_index (targets, PrioTarget, i);

      if (target->signal == NULL)
        target->signal = prio_handle_get (target->handle, PRIO_VISIT_LOOK);
    }

  for (guint i = 0; i < targets->len; i++)
    target_send (&g_array_index (targets, PrioTarget, i), prio_registration_abort, TRUE);

  for (guint i = 0; i < targets->len; i++)
    {
      PrioTarget *target = &g_array_index (targets, PrioTarget, i);

      target_release (target);
      if (target->handle != NULL)
        emit (target->handle);
      else
        emit_as_root (target->signal);
    }

  g_array_unref (targets);
}

/* Aborts the signal of @node and what depends on it; its caller holds it. */
void
prio_signal_node_abort (PrioSignalNode *node, const GError *reason)
{
  GArray *targets = begin_abort (node, NULL, reason);

  if (targets == NULL)
    return;

  g_array_index (targets, PrioTarget, 0).signal = g_object_ref (node->signal);
  carry_out_abort (targets);
}

/* The same, if the signal is still there; its caller may not hold it. */
void
prio_signal_node_abort_by_handle (PrioHandle *handle, const GError *reason)
{
  GArray *targets = begin_abort (NULL, handle, reason);

  if (targets != NULL)
    carry_out_abort (targets);
}

/* The signal of @node is saying `cancelled`.  If that was not prio_signal_node_abort (),
 * somebody called g_cancellable_cancel ().  GLib may hold the cancellable's lock,
 * so that nothing of the user's may run: tasks leave their queues now, and are
 * released by the next dispatch; dependents are aborted now, and say so later. */
void
prio_signal_node_cancelled (PrioSignalNode *node)
{
  g_autoptr (GError) reason = NULL;
  GArray *targets;

  g_cancellable_set_error_if_cancelled (node->signal, &reason);
  if (reason == NULL)
    return;

  __atomic_store_n (&node->emitted, node->is_task_signal, __ATOMIC_RELEASE);
  targets = begin_abort (node, NULL, reason);
  if (targets == NULL)
    return;

  notify_reason (node, PRIO_NOTICE_LATER);
  for (guint i = 0; i < targets->len; i++)
    {
      PrioTarget *target = &g_array_index (targets, PrioTarget, i);

      target_send (target, prio_registration_abort, TRUE);
      if (i > 0 || has_nothing_pending (node))
        emit_later (target->handle);
    }

  g_array_unref (targets);
}

/* The dependents made after @made whose priority follows @node's, or NULL if there are
 * none; @made becomes the last. */
static GArray *
followers (PrioSignalNode *node, guint64 *made)
{
  GArray *targets = NULL;
  PrioEdge *first = NULL;

  prio_lock_lock (&prio_signal_lock);

  for (PrioEdge *edge = node->last_dependent; edge != NULL && edge->generation > *made; edge = edge->prev_dependent)
    first = edge;

  for (PrioEdge *edge = first; edge != NULL; edge = edge->next_dependent)
    {
      PrioTarget target = { NULL };

      *made = edge->generation;
      if (!prio_edge_is (edge, PRIO_EDGE_PRIORITY))
        continue;

      if (targets == NULL)
        targets = target_array_new ();
      target.handle = prio_handle_ref (edge->dependent->handle);
      g_array_append_val (targets, target);
    }

  prio_lock_unlock (&prio_signal_lock);

  return targets;
}

/* Also of those that are made meanwhile, by a handler for one: they have the priority
 * that what they were made to follow had then. */
static void
change_followers (PrioSignalNode *node, PrioTaskPriority priority)
{
  GArray *targets;
  guint64 made = 0;

  while ((targets = followers (node, &made)) != NULL)
    {
      for (guint i = 0; i < targets->len; i++)
        {
          PrioTarget *target = &g_array_index (targets, PrioTarget, i);

          target->signal = prio_handle_get (target->handle, PRIO_VISIT_CHANGE);
          if (target->signal != NULL)
            {
              prio_signal_node_set_priority (prio_signal_node_find (target->signal), priority, NULL);
              prio_signal_node_reevaluate (prio_signal_node_find (target->signal));
            }
        }
      g_array_unref (targets);
    }
}

/* Under the lock: whether @node is to change now, on this thread.  Otherwise the change is
 * nothing, is is_recursive with @error, or is left to the thread that announces another. */
static gboolean
begin_change (PrioSignalNode *node, PrioTaskPriority priority, gboolean *is_recursive)
{
  PrioChange *current = node->change;

  *is_recursive = current != NULL && current->changer == g_thread_self ();
  if (current != NULL && !*is_recursive)
    {
      current->next = priority;
      current->has_next = TRUE;
    }
  return current == NULL && node->priority != priority;
}

/* Under the lock: whether a change has been left to this thread meanwhile. */
static gboolean
next_change (PrioSignalNode *node, PrioTaskPriority *priority)
{
  PrioChange *change = node->change;
  gboolean more = change->has_next && change->next != node->priority;

  *priority = change->next;
  change->has_next = FALSE;
  if (!more)
    node->change = NULL;
  return more;
}

/* Under the lock, which is released while the change is announced. */
static void
carry_out_change (PrioSignalNode *node, PrioTaskPriority priority)
{
  PrioTaskPriority previous = node->priority;
  PrioTarget self = { NULL };

  __atomic_store_n (&node->priority, priority, __ATOMIC_RELAXED);
  self.registrations = list_registrations (node);
  prio_lock_unlock (&prio_signal_lock);

  target_send (&self, prio_registration_follow, FALSE);
  target_clear (&self);
  prio_signal_node_get_funcs ()->emit_change (node, previous);
  change_followers (node, priority);

  prio_lock_lock (&prio_signal_lock);
}

/* Under the lock, which is released while the change is announced. */
static void
change_locked (PrioSignalNode *node, PrioTaskPriority priority, gboolean *is_recursive)
{
  PrioChange change = { .changer = g_thread_self () };

  if (!begin_change (node, priority, is_recursive))
    return;

  node->change = &change;
  do
    carry_out_change (node, priority);
  while (next_change (node, &priority));
}

/* The draft's "signal priority change" (§3.3), from any thread.  The caller
 * holds the signal.
 *
 * One thread at a time changes a signal: the changer.  Within its announcement, on its
 * own thread, a change is is_recursive.  A change that another thread makes meanwhile is left
 * to the changer, which makes it when the announcement is over: nobody waits for
 * handlers, and the queues, the followers and the property agree in the end.  Of several
 * such changes the last is made. */
gboolean
prio_signal_node_set_priority (PrioSignalNode *node, PrioTaskPriority priority, GError **error)
{
  gboolean is_recursive;

  prio_lock_lock (&prio_signal_lock);
  change_locked (node, priority, &is_recursive);
  prio_lock_unlock (&prio_signal_lock);

  if (is_recursive)
    g_set_error_literal (error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED,
                         _("The priority of a signal cannot be changed while its change is being announced"));
  return !is_recursive;
}

/* Under the lock: what the priority of @node follows, or NULL. */
static PrioSignalNode *
followed (PrioSignalNode *node)
{
  for (PrioEdge *edge = node->sources; edge != NULL; edge = edge->next_source)
    {
      if (prio_edge_is (edge, PRIO_EDGE_PRIORITY))
        return edge->source;
    }
  return NULL;
}

/* The signal has been kept when it was disposed, and may have missed a change. */
void
prio_signal_node_catch_up (PrioSignalNode *node)
{
  gboolean is_recursive;
  PrioSignalNode *source;

  prio_lock_lock (&prio_signal_lock);
  source = node->missed_change ? followed (node) : NULL;
  node->missed_change = FALSE;
  if (source != NULL)
    change_locked (node, source->priority, &is_recursive);
  prio_lock_unlock (&prio_signal_lock);
}
