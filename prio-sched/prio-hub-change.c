/* prio-hub-change.c: how an abort, or a change of priority, travels
 *
 * From the signal it is made on to the loops where that has tasks, then to those
 * who listen, then to the signals that depend on it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-hub-change-private.h"

#include "prio-bond-private.h"
#include "prio-error.h"
#include "prio-pin-private.h"

#include <glib/gi18n-lib.h>

/* A signal that is being aborted, or told of a change, outside the lock. */
typedef struct
{
  GCancellable *signal;    /* owned, or NULL if nobody holds it any more */
  PrioHandle *handle;      /* owned, or NULL if it has none */
  GPtrArray *bonds;        /* referenced */
  PrioReason *past_reason; /* of a plain cancellable that has been reset */
} PrioTarget;

/* Under the lock: the bonds of @hub, or NULL. */
static GPtrArray *
collect_bonds (PrioHub *hub)
{
  GPtrArray *bonds = NULL;

  if (hub->bonds != NULL)
    bonds = g_ptr_array_new_with_free_func ((GDestroyNotify) prio_bond_unref);
  for (PrioBond *bond = hub->bonds; bond != NULL; bond = bond->hub_next)
    g_ptr_array_add (bonds, prio_bond_ref (bond));

  return bonds;
}

static void
target_clear (gpointer data)
{
  PrioTarget *target = data;

  g_clear_pointer (&target->bonds, g_ptr_array_unref);
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
  if (target->bonds == NULL)
    return;

  for (guint i = 0; i < target->bonds->len; i++)
    prio_bond_send (target->bonds->pdata[i], apply, quietly);
}

/* Under the lock.  Who marks a signal has it say `cancelled` afterwards. */
static void
mark_aborted (PrioHub *hub, PrioReason *reason, GArray *targets)
{
  PrioTarget target = {
    .handle = hub->handle != NULL ? prio_handle_ref (hub->handle) : NULL,
    .bonds = collect_bonds (hub),
  };

  hub->aborted = TRUE;
  hub->owes = hub->handle != NULL ? PRIO_OWES_SOON : PRIO_OWES_NOTHING;
  target.past_reason = g_steal_pointer (&hub->reason);
  hub->reason = g_atomic_rc_box_acquire (reason);
  g_array_append_val (targets, target);
}

/* Under the lock. */
static void
mark_dependents_aborted (PrioHub *hub, PrioReason *reason, GArray *targets)
{
  for (PrioEdge *edge = hub->dependents; edge != NULL; edge = edge->next_dependent)
    {
      if (prio_edge_is (edge, PRIO_EDGE_ABORT) && !edge->dependent->aborted)
        mark_aborted (edge->dependent, reason, targets);
    }
}

/* The draft's "signal abort" as far as the lock has to be held: @hub, which is that of
 * @handle if it is NULL, and its dependents have their reason before anybody hears of it.
 * All that depends on a root knows that root; what depends on a dependent that is cancelled
 * by hand comes from one to the next.
 *
 * Returns: what is to be told, @hub first, or NULL if it is aborted already, or gone */
static GArray *
begin_abort (PrioHub *hub, PrioHandle *handle, const GError *error)
{
  PrioReason *reason = prio_reason_new (error);
  GArray *targets = NULL;

  prio_lock_lock (&prio_hub_lock);

  if (hub == NULL)
    hub = handle->hub;

  if (hub != NULL && !hub->aborted)
    {
      targets = target_array_new ();
      mark_aborted (hub, reason, targets);

      mark_dependents_aborted (hub, reason, targets);
      for (guint i = 1; i < targets->len; i++)
        mark_dependents_aborted (g_array_index (targets, PrioTarget, i).handle->hub, reason, targets);
    }

  prio_lock_unlock (&prio_hub_lock);

  prio_reason_unref (reason);
  return targets;
}

/* The signal says, or has said, `cancelled`.  Returns whether the graph keeps it. */
static gboolean
owes_nothing (PrioHub *hub)
{
  gboolean kept;

  prio_lock_lock (&prio_hub_lock);
  hub->owes = PRIO_OWES_NOTHING;
  kept = hub->kept;
  prio_lock_unlock (&prio_hub_lock);

  return kept;
}

/* The signal of @hub has said `cancelled`, or is saying it. */
static void
notify_reason (PrioHub *hub, PrioNotice when)
{
  if (hub->is_task_signal)
    prio_hub_get_funcs ()->notify_reason (hub, when);
}

/* Has the signal of @handle, which is aborted, say `cancelled`, here or where it is being
 * disposed. */
static void
say (PrioHandle *handle)
{
  g_autoptr (GCancellable) signal = prio_handle_get (handle, PRIO_VISIT_SAY);

  if (signal == NULL)
    return;

  g_cancellable_cancel (signal);
  notify_reason (prio_hub_find (signal), PRIO_NOTICE_NOW);
  if (owes_nothing (prio_hub_find (signal)))
    prio_hub_reconsider (prio_hub_find (signal));
}

static gboolean
say_now (gpointer handle)
{
  say (handle);
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
static void
say_later (PrioHandle *handle)
{
  PrioOp op = { .apply = say_arrived, .target = prio_handle_ref (handle) };

  prio_loop_submit_quietly (handle->loop, &op);
}

/* Releases what the abort of @target has ended, where that can be done here. */
static void
target_release (PrioTarget *target)
{
  if (target->bonds == NULL)
    return;

  for (guint i = 0; i < target->bonds->len; i++)
    prio_loop_collect (((PrioBond *) target->bonds->pdata[i])->loop);
}

/* The signal depends on nothing, and its caller holds it. */
static void
say_as_root (GCancellable *signal)
{
  g_cancellable_cancel (signal);
  notify_reason (prio_hub_find (signal), PRIO_NOTICE_NOW);
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
    target_send (&g_array_index (targets, PrioTarget, i), prio_bond_abort, TRUE);

  for (guint i = 0; i < targets->len; i++)
    {
      PrioTarget *target = &g_array_index (targets, PrioTarget, i);

      target_release (target);
      if (target->handle != NULL)
        say (target->handle);
      else
        say_as_root (target->signal);
    }

  g_array_unref (targets);
}

/* Aborts the signal of @hub and what depends on it; its caller holds it. */
void
prio_hub_abort (PrioHub *hub, const GError *reason)
{
  GArray *targets = begin_abort (hub, NULL, reason);

  if (targets == NULL)
    return;

  g_array_index (targets, PrioTarget, 0).signal = g_object_ref (hub->signal);
  carry_out_abort (targets);
}

/* The same, if the signal is still there; its caller may not hold it. */
void
prio_hub_abort_by_handle (PrioHandle *handle, const GError *reason)
{
  GArray *targets = begin_abort (NULL, handle, reason);

  if (targets != NULL)
    carry_out_abort (targets);
}

/* The signal of @hub is saying `cancelled`.  If that was not prio_hub_abort (),
 * somebody called g_cancellable_cancel ().  GLib may hold the cancellable's lock,
 * so that nothing of the user's may run: tasks leave their queues now, and are
 * released by the next dispatch; dependents are aborted now, and say so later. */
void
prio_hub_cancelled (PrioHub *hub)
{
  g_autoptr (GError) reason = NULL;
  GArray *targets;

  g_cancellable_set_error_if_cancelled (hub->signal, &reason);
  if (reason == NULL)
    return;

  __atomic_store_n (&hub->said, hub->is_task_signal, __ATOMIC_RELEASE);
  targets = begin_abort (hub, NULL, reason);
  if (targets == NULL)
    return;

  notify_reason (hub, PRIO_NOTICE_LATER);
  for (guint i = 0; i < targets->len; i++)
    {
      PrioTarget *target = &g_array_index (targets, PrioTarget, i);

      target_send (target, prio_bond_abort, TRUE);
      if (i > 0 || owes_nothing (hub))
        say_later (target->handle);
    }

  g_array_unref (targets);
}

/* The dependents made after @made whose priority follows @hub's, or NULL if there are
 * none; @made becomes the last. */
static GArray *
followers (PrioHub *hub, guint64 *made)
{
  GArray *targets = NULL;
  PrioEdge *first = NULL;

  prio_lock_lock (&prio_hub_lock);

  for (PrioEdge *edge = hub->last_dependent; edge != NULL && edge->gathering > *made; edge = edge->prev_dependent)
    first = edge;

  for (PrioEdge *edge = first; edge != NULL; edge = edge->next_dependent)
    {
      PrioTarget target = { NULL };

      *made = edge->gathering;
      if (!prio_edge_is (edge, PRIO_EDGE_PRIORITY))
        continue;

      if (targets == NULL)
        targets = target_array_new ();
      target.handle = prio_handle_ref (edge->dependent->handle);
      g_array_append_val (targets, target);
    }

  prio_lock_unlock (&prio_hub_lock);

  return targets;
}

/* Also of those that are made meanwhile, by a handler for one: they have the priority
 * that what they were made to follow had then. */
static void
change_followers (PrioHub *hub, PrioTaskPriority priority)
{
  GArray *targets;
  guint64 made = 0;

  while ((targets = followers (hub, &made)) != NULL)
    {
      for (guint i = 0; i < targets->len; i++)
        {
          PrioTarget *target = &g_array_index (targets, PrioTarget, i);

          target->signal = prio_handle_get (target->handle, PRIO_VISIT_CHANGE);
          if (target->signal != NULL)
            {
              prio_hub_set_priority (prio_hub_find (target->signal), priority, NULL);
              prio_hub_reconsider (prio_hub_find (target->signal));
            }
        }
      g_array_unref (targets);
    }
}

/* Under the lock: whether @hub is to change now, on this thread.  Otherwise the change is
 * nothing, is refused with @error, or is left to the thread that announces another. */
static gboolean
begin_change (PrioHub *hub, PrioTaskPriority priority, gboolean *refused)
{
  PrioChange *current = hub->change;

  *refused = current != NULL && current->changer == g_thread_self ();
  if (current != NULL && !*refused)
    {
      current->next = priority;
      current->has_next = TRUE;
    }
  return current == NULL && hub->priority != priority;
}

/* Under the lock: whether a change has been left to this thread meanwhile. */
static gboolean
next_change (PrioHub *hub, PrioTaskPriority *priority)
{
  PrioChange *change = hub->change;
  gboolean more = change->has_next && change->next != hub->priority;

  *priority = change->next;
  change->has_next = FALSE;
  if (!more)
    hub->change = NULL;
  return more;
}

/* Under the lock, which is released while the change is announced. */
static void
carry_out_change (PrioHub *hub, PrioTaskPriority priority)
{
  PrioTaskPriority previous = hub->priority;
  PrioTarget self = { NULL };

  __atomic_store_n (&hub->priority, priority, __ATOMIC_RELAXED);
  self.bonds = collect_bonds (hub);
  prio_lock_unlock (&prio_hub_lock);

  target_send (&self, prio_bond_follow, FALSE);
  target_clear (&self);
  prio_hub_get_funcs ()->emit_change (hub, previous);
  change_followers (hub, priority);

  prio_lock_lock (&prio_hub_lock);
}

/* Under the lock, which is released while the change is announced. */
static void
change_locked (PrioHub *hub, PrioTaskPriority priority, gboolean *refused)
{
  PrioChange change = { .changer = g_thread_self () };

  if (!begin_change (hub, priority, refused))
    return;

  hub->change = &change;
  do
    carry_out_change (hub, priority);
  while (next_change (hub, &priority));
}

/* The draft's "signal priority change" (§3.3), from any thread.  The caller
 * holds the signal.
 *
 * One thread at a time changes a signal: the changer.  Within its announcement, on its
 * own thread, a change is refused.  A change that another thread makes meanwhile is left
 * to the changer, which makes it when the announcement is over: nobody waits for
 * handlers, and the queues, the followers and the property agree in the end.  Of several
 * such changes the last is made. */
gboolean
prio_hub_set_priority (PrioHub *hub, PrioTaskPriority priority, GError **error)
{
  gboolean refused;

  prio_lock_lock (&prio_hub_lock);
  change_locked (hub, priority, &refused);
  prio_lock_unlock (&prio_hub_lock);

  if (refused)
    g_set_error_literal (error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED,
                         _("The priority of a signal cannot be changed while its change is being announced"));
  return !refused;
}

/* Under the lock: what the priority of @hub follows, or NULL. */
static PrioHub *
followed (PrioHub *hub)
{
  for (PrioEdge *edge = hub->sources; edge != NULL; edge = edge->next_source)
    {
      if (prio_edge_is (edge, PRIO_EDGE_PRIORITY))
        return edge->source;
    }
  return NULL;
}

/* The signal has been kept when it was disposed, and may have missed a change. */
void
prio_hub_make_up_for_change (PrioHub *hub)
{
  gboolean refused;
  PrioHub *source;

  prio_lock_lock (&prio_hub_lock);
  source = hub->missed_change ? followed (hub) : NULL;
  hub->missed_change = FALSE;
  if (source != NULL)
    change_locked (hub, source->priority, &refused);
  prio_lock_unlock (&prio_hub_lock);
}
