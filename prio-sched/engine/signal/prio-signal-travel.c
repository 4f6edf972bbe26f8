/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-signal-travel.c: carries an abort or a change of priority to tasks, handlers and dependent signals
 *
 * A change of priority reaches the loops where the signal has tasks, then the signal's handlers, and then the signals
 * that follow it.  An abort reaches the loops of all dependents before the first handler. */

#include "config.h"

#include "signal/prio-signal-travel-private.h"

#include "signal/prio-registration-private.h"
#include "prio-error.h"
#include "signal/prio-pin-private.h"

#include <glib/gi18n-lib.h>

/* A signal that an abort or a change has reached; used without the lock. */
typedef struct
{
  GCancellable *signal;     /* owned; NULL before it is needed, or if the signal is gone */
  PrioHandle *handle;       /* owned, or NULL if the signal has no handle */
  GPtrArray *registrations; /* each referenced, or NULL */
  PrioReason *past_reason;  /* the reason of an earlier abort, which g_cancellable_reset () has undone */
  gboolean is_new;          /* whether this abort was the first to mark the signal, and so makes it emit */
} PrioTarget;

/* The number of aborts that have marked signals but not reached all loops yet.  Atomic; incremented under the lock. */
static guint n_on_the_way = 0;

static void
target_clear (gpointer data)
{
  PrioTarget *target = data;

  g_clear_pointer (&target->registrations, g_ptr_array_unref);
  g_clear_pointer (&target->handle, prio_handle_unref);
  g_clear_pointer (&target->past_reason, prio_reason_unref);
  g_clear_pointer (&target->signal, prio_object_unref);
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
  for (guint i = 0; target->registrations != NULL && i < target->registrations->len; i++)
    prio_registration_send (target->registrations->pdata[i], apply, quietly);
}

/* Returns whether an abort has to reach @node: @node is not aborted yet, or there are aborts that have not reached all
 * loops, one of which may have marked @node.  The caller holds the lock. */
static gboolean
is_to_reach (PrioSignalNode *node)
{
  return !node->aborted || __atomic_load_n (&n_on_the_way, __ATOMIC_ACQUIRE) > 0;
}

/* Marks @node aborted, and adds it to @targets.  If `is_new` is set in the target, the caller makes the signal emit
 * `cancelled` afterwards.  The caller holds the lock. */
static void
reach (PrioSignalNode *node, PrioReason *reason, GArray *targets)
{
  PrioTarget target = {
    .handle = node->handle != NULL ? prio_handle_ref (node->handle) : NULL,
    .registrations = prio_registrations_list (node),
    .is_new = !node->aborted,
  };

  node->reached = TRUE;
  if (target.is_new)
    {
      node->aborted = TRUE;
      node->pending_cancelled = node->handle != NULL ? PRIO_CANCELLED_PENDING : PRIO_CANCELLED_NOT_PENDING;
      target.past_reason = g_steal_pointer (&node->reason);
      node->reason = g_atomic_rc_box_acquire (reason);
    }
  g_array_append_val (targets, target);
}

/* Marks the dependents of @node aborted.  The caller holds the lock. */
static void
reach_dependents (PrioSignalNode *node, PrioReason *reason, GArray *targets)
{
  for (GList *link = node->dependents.head; link != NULL; link = link->next)
    {
      PrioEdge *edge = link->data;

      if (prio_edge_is (edge, PRIO_EDGE_ABORT) && !edge->dependent->reached && is_to_reach (edge->dependent))
        reach (edge->dependent, reason, targets);
    }
}

/* Marks @node and all its dependents aborted, before any handler runs: the part of "signal abort" (DOM standard)
 * that needs the lock.  If @node is NULL, uses the node of @handle.  The first `for` also follows the edges of
 * dependents, because an indirect dependent of @node may have no edge to @node.
 *
 * Another abort may have marked some of the nodes, but not have reached their loops yet.  This abort reaches these
 * loops too, and does not wait: when it returns, none of the tasks begins any more.
 *
 * Returns: the signals that the abort has reached, @node first, for send_abort (); NULL if there are none */
static GArray *
begin_abort (PrioSignalNode *node, PrioHandle *handle, const GError *error)
{
  PrioReason *reason = prio_reason_new (error != NULL ? g_error_copy (error) : NULL);
  GArray *targets = NULL;

  prio_lock_lock (&prio_signal_lock);

  if (node == NULL)
    node = handle->node;

  if (node != NULL && is_to_reach (node))
    {
      targets = target_array_new ();
      reach (node, reason, targets);

      reach_dependents (node, reason, targets);
      for (guint i = 1; i < targets->len; i++)
        reach_dependents (g_array_index (targets, PrioTarget, i).handle->node, reason, targets);

      node->reached = FALSE;
      for (guint i = 1; i < targets->len; i++)
        g_array_index (targets, PrioTarget, i).handle->node->reached = FALSE;
      __atomic_add_fetch (&n_on_the_way, 1, __ATOMIC_RELAXED);
    }

  prio_lock_unlock (&prio_signal_lock);

  prio_reason_unref (reason);
  return targets;
}

/* Removes the tasks of all @targets from their queues, or sends an operation that does so to other owner threads. */
static void
send_abort (GArray *targets)
{
  for (guint i = 0; i < targets->len; i++)
    target_send (&g_array_index (targets, PrioTarget, i), prio_registration_abort, TRUE);
  __atomic_sub_fetch (&n_on_the_way, 1, __ATOMIC_RELEASE);
}

/* Notes that the emission of `cancelled` has begun, and is no longer pending.  Returns whether the signal is pinned. */
static gboolean
clear_pending_cancelled (PrioSignalNode *node)
{
  gboolean pinned;

  prio_lock_lock (&prio_signal_lock);
  node->pending_cancelled = PRIO_CANCELLED_NOT_PENDING;
  pinned = node->pinned;
  prio_lock_unlock (&prio_signal_lock);

  return pinned;
}

/* Notifies `aborted` and `reason` of a task signal, during or after the emission of `cancelled`. */
static void
notify_abort (PrioSignalNode *node, PrioNotice when)
{
  if (node->is_task_signal)
    prio_signal_node_get_funcs ()->notify_abort (node, when);
}

/* Cancels @signal, and notifies its properties.  The caller holds a reference to @signal. */
static void
cancel (GCancellable *signal)
{
  g_cancellable_cancel (signal);
  notify_abort (prio_signal_node_find (signal), PRIO_NOTICE_NOW);
}

/* Makes the aborted signal of @handle emit `cancelled`.  If the signal is in dispose (), dispose () emits instead. */
static void
emit (PrioHandle *handle)
{
  g_autoptr (GCancellable) signal = prio_handle_get (handle, PRIO_VISIT_EMIT);

  if (signal == NULL)
    return;

  cancel (signal);
  if (clear_pending_cancelled (prio_signal_node_find (signal)))
    prio_signal_node_reevaluate (prio_signal_node_find (signal));
}

static gboolean
emit_now (gpointer handle)
{
  emit (handle);
  prio_handle_unref (handle);
  return G_SOURCE_REMOVE;
}

/* Carries out the abort of all targets.  First removes the tasks of all targets from their queues, so that no user code
 * finds one in a queue.  Then, for each target in the order of the WICG draft, releases the data of its tasks, and makes
 * its signal emit `cancelled`.  The references taken at the start keep the signals alive until then. */
static void
carry_out_abort (GArray *targets)
{
  for (guint i = 0; i < targets->len; i++)
    {
      PrioTarget *target = &g_array_index (targets, PrioTarget, i);

      if (target->is_new && target->signal == NULL)
        target->signal = prio_handle_get (target->handle, PRIO_VISIT_LOOK);
    }

  send_abort (targets);

  for (guint i = 0; i < targets->len; i++)
    {
      PrioTarget *target = &g_array_index (targets, PrioTarget, i);

      for (guint j = 0; target->registrations != NULL && j < target->registrations->len; j++)
        prio_loop_flush_releases (((PrioRegistration *) target->registrations->pdata[j])->loop);
      if (target->is_new && target->handle != NULL)
        emit (target->handle);
      else if (target->is_new)
        cancel (target->signal);
    }

  g_array_unref (targets);
}

/* Aborts the signal of @node and its dependents.  The caller holds a reference to the signal. */
void
prio_signal_node_abort (PrioSignalNode *node, const GError *reason)
{
  GArray *targets = begin_abort (node, NULL, reason);

  if (targets == NULL)
    return;

  g_array_index (targets, PrioTarget, 0).signal = g_object_ref (node->signal);
  carry_out_abort (targets);
}

/* Aborts the signal of @handle, if it still exists, and its dependents.  The caller needs no reference to the signal. */
void
prio_signal_node_abort_by_handle (PrioHandle *handle, const GError *reason)
{
  GArray *targets = begin_abort (NULL, handle, reason);

  if (targets != NULL)
    carry_out_abort (targets);
}

/* Carries out an abort that the program began with g_cancellable_cancel (), when the signal of @node emits `cancelled`.
 * GLib may hold the lock of the cancellable, so no user code may run here.  The tasks leave their queues now, and the
 * next dispatch releases their data.  The dependents are aborted now, and emit `cancelled` later.  In an abort that the
 * library began, there is nothing left to do. */
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

  send_abort (targets);
  if (g_array_index (targets, PrioTarget, 0).is_new)
    notify_abort (node, PRIO_NOTICE_LATER);
  for (guint i = 0; i < targets->len; i++)
    {
      PrioTarget *target = &g_array_index (targets, PrioTarget, i);

      if (target->is_new && (i > 0 || clear_pending_cancelled (node)))
        prio_call_later (target->handle->loop, emit_now, prio_handle_ref (target->handle));
    }

  g_array_unref (targets);
}

/* Returns the dependents that follow the priority of @node and whose edges are newer than *@generation, or NULL if there
 * are none.  Sets *@generation to the generation of the newest edge. */
static GArray *
followers (PrioSignalNode *node, guint64 *generation)
{
  GArray *targets = NULL;
  GList *first = NULL;

  prio_lock_lock (&prio_signal_lock);

  for (GList *link = node->dependents.tail; link != NULL && ((PrioEdge *) link->data)->generation > *generation;
       link = link->prev)
    first = link;

  for (GList *link = first; link != NULL; link = link->next)
    {
      PrioEdge *edge = link->data;
      PrioTarget target = { NULL };

      *generation = edge->generation;
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

/* Changes the priority of all followers of @node.  A handler may create more followers, which may still have the old
 * priority, so the search is repeated until it finds no new followers. */
static void
change_followers (PrioSignalNode *node, PrioTaskPriority priority)
{
  GArray *targets;
  guint64 generation = 0;

  while ((targets = followers (node, &generation)) != NULL)
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

/* Changes the priority of @node, and announces the change.  The caller holds the lock, which is released meanwhile. */
static void
carry_out_change (PrioSignalNode *node, PrioTaskPriority priority, PrioNotice when)
{
  PrioTaskPriority previous = node->priority;
  PrioTarget self = { .registrations = prio_registrations_list (node) };

  __atomic_store_n (&node->priority, priority, __ATOMIC_RELAXED);
  prio_lock_unlock (&prio_signal_lock);

  target_send (&self, prio_registration_follow, FALSE);
  target_clear (&self);
  prio_signal_node_get_funcs ()->emit_change (node, previous, when);
  change_followers (node, priority);

  prio_lock_lock (&prio_signal_lock);
}

/* Changes the priority of @node, unless another change is being announced.  If this thread announces the other change,
 * only sets *@is_recursive.  If another thread announces it, that thread makes this change afterwards.  The caller holds
 * the lock, which is released while the change is announced. */
static void
change_locked (PrioSignalNode *node, PrioTaskPriority priority, PrioNotice when, gboolean *is_recursive)
{
  PrioChange change = { .changer = g_thread_self (), .next = priority };

  *is_recursive = node->change != NULL && node->change->changer == change.changer;
  if (node->change != NULL)
    {
      if (!*is_recursive)
        node->change->next = priority;
      return;
    }

  node->change = &change;
  while (node->priority != change.next)
    carry_out_change (node, change.next, when);
  node->change = NULL;
}

/* Changes the priority: the WICG draft's "signal priority change" (§3.3).  Any thread may call this function, with a
 * reference to the signal.
 *
 * One thread at a time changes a signal.  While that thread announces the change, another change on the same thread is
 * an error.  A change by another thread is left to the announcing thread, which makes the last of these changes after
 * the announcement.  So no thread waits for handlers, and the queues, the followers and the property agree in the
 * end. */
gboolean
prio_signal_node_set_priority (PrioSignalNode *node, PrioTaskPriority priority, GError **error)
{
  gboolean is_recursive;

  prio_lock_lock (&prio_signal_lock);
  change_locked (node, priority, PRIO_NOTICE_NOW, &is_recursive);
  prio_lock_unlock (&prio_signal_lock);

  if (is_recursive)
    g_set_error_literal (error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED,
                         _("The priority of a signal cannot be changed while its change is being announced"));
  return !is_recursive;
}

/* Makes a change of priority that the signal missed while dispose () pinned it. */
static void
catch_up (PrioSignalNode *node)
{
  PrioSignalNode *followed = NULL;
  gboolean is_recursive;

  prio_lock_lock (&prio_signal_lock);
  for (GList *link = node->missed_change ? node->sources.head : NULL; link != NULL; link = link->next)
    {
      PrioEdge *edge = link->data;

      if (prio_edge_is (edge, PRIO_EDGE_PRIORITY))
        followed = edge->source;
    }
  node->missed_change = FALSE;
  if (followed != NULL)
    change_locked (node, followed->priority, PRIO_NOTICE_IN_DISPOSE, &is_recursive);
  prio_lock_unlock (&prio_signal_lock);
}

/* Pins the signal if needed, and emits the pending GObject signals.  Returns whether this call has pinned the signal.
 * The caller has entered no loop. */
gboolean
prio_signal_node_keep (PrioSignalNode *node)
{
  gboolean pinned = prio_signal_node_pin (node);

  if (pinned)
    catch_up (node);
  return pinned;
}
