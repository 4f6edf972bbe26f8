/* prio-hub.c: what the library knows of a cancellable, and the graph of signals
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-hub-private.h"

#include <glib/gi18n-lib.h>

PrioLock prio_hub_lock = PRIO_LOCK_INIT;

/* Of PrioHandle: of the kept signals, those that have not been looked at for the longest time
 * first. */
static GQueue kept_signals = G_QUEUE_INIT;

static G_DEFINE_QUARK (prio-sched-hub, hub)

/* Returns: (transfer full): why, if nobody said why */
GError *
prio_reason_default (void)
{
  return g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, _("Operation was cancelled"));
}

PrioReason *
prio_reason_new (const GError *error)
{
  PrioReason *reason = g_atomic_rc_box_new (PrioReason);

  reason->error = error != NULL ? g_error_copy (error) : prio_reason_default ();
  return reason;
}

static void
reason_clear (gpointer reason)
{
  g_clear_error (&((PrioReason *) reason)->error);
}

void
prio_reason_unref (PrioReason *reason)
{
  g_atomic_rc_box_release_full (reason, reason_clear);
}

void
prio_hub_init (PrioHub *hub, GCancellable *signal, PrioTaskPriority priority)
{
  *hub = (PrioHub) {
    .signal = signal,
    .is_task_signal = PRIO_IS_TASK_SIGNAL (signal),
    .priority = priority,
  };
}

static void
edge_free (PrioEdge *edge)
{
  PrioHub *source = edge->source, *dependent = edge->dependent;

  if (edge->prev_dependent != NULL)
    edge->prev_dependent->next_dependent = edge->next_dependent;
  else
    source->dependents = edge->next_dependent;
  if (edge->next_dependent != NULL)
    edge->next_dependent->prev_dependent = edge->prev_dependent;
  else
    source->last_dependent = edge->prev_dependent;

  if (edge->prev_source != NULL)
    edge->prev_source->next_source = edge->next_source;
  else
    dependent->sources = edge->next_source;
  if (edge->next_source != NULL)
    edge->next_source->prev_source = edge->prev_source;
  else
    dependent->last_source = edge->prev_source;

  for (guint kind = 0; kind < 2; kind++)
    dependent->n_sources[kind] -= prio_edge_is (edge, kind);
  g_free (edge);
}

/* Who keeps a signal that nobody else holds, and who says that it is cancelled.
 *
 * A dependent or a timeout that has handlers lives as long as it can be made to say
 * something (§3.3.1 of the draft).  Its last holder may drop it on one thread while another
 * aborts it, or finalizes its source.  All is decided under the lock:
 *
 * - `kept`: one reference of the signal belongs to the graph.  Who sets it has taken that
 *   reference before.  Who clears it owns the reference, and drops it outside the lock.
 * - `owes`: who aborts the signal marks it first, and comes later to have it say
 *   `cancelled`.  Until then it owes that, and this is a reason to keep it.
 *
 * The question is asked in dispose (), when the handlers are still there: prio_hub_keep ().
 * By then GLib has cleared the weak references, and one reference is left.  For an abort on
 * another thread this leaves three moments, since both sides take the lock:
 *
 * - It marks the signal before the question.  The signal owes, and is kept.
 * - It marks the signal after the question.  The signal has been kept for its source, or
 *   nobody listens.  If it is kept, its weak reference is back before `kept` is set.
 * - It comes before the question, finds the weak reference cleared, and nothing kept.  It
 *   leaves the matter to dispose (): the signal owes *now*, and says it there.
 *
 * A change of priority that comes in the third moment is made up for, if it is kept. */

typedef struct
{
  gboolean abort, change;
} PrioListeners;

/* Not under the lock: GLib has one for the handlers. */
static PrioListeners
get_listeners (PrioHub *hub)
{
  PrioTaskSignal *signal = PRIO_TASK_SIGNAL (hub->signal);

  return (PrioListeners) {
    .abort = prio_task_signal_has_handlers (signal, PRIO_EDGE_ABORT),
    .change = prio_task_signal_has_handlers (signal, PRIO_EDGE_PRIORITY),
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
GCancellable *
prio_hub_release_locked (PrioHub *hub)
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
    released = prio_hub_release_locked (hub);
  prio_lock_unlock (&prio_hub_lock);

  if (released != NULL)
    prio_handle_drop (hub->handle, released);
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
 * disposed, or its caller holds it.  Returns whether it is kept from now on. */
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
          prio_task_signal_notify_reason_in_dispose (PRIO_TASK_SIGNAL (hub->signal));
        }
    }
  while (verdict == PRIO_VERDICT_SAYS);

  if (verdict == PRIO_VERDICT_KEPT)
    prio_hub_make_up_for_change (hub);
  return verdict == PRIO_VERDICT_KEPT;
}

/* Under the lock: the last making of edges. */
static guint64 gathering = 0;

/* Under the lock. */
static PrioEdge *
edge_new (PrioHub *source, PrioHub *dependent)
{
  PrioEdge *edge = g_new (PrioEdge, 1);

  *edge = (PrioEdge) {
    .gathering = gathering,
    .source = source,
    .dependent = dependent,
    .prev_dependent = source->last_dependent,
    .prev_source = dependent->last_source,
  };

  if (source->last_dependent != NULL)
    source->last_dependent->next_dependent = edge;
  else
    source->dependents = edge;
  source->last_dependent = edge;

  if (dependent->last_source != NULL)
    dependent->last_source->next_source = edge;
  else
    dependent->sources = edge;
  dependent->last_source = edge;

  return edge;
}

/* Under the lock: the edge from @source to @dependent, or NULL. */
static PrioEdge *
find_edge (PrioHub *source, PrioHub *dependent)
{
  for (PrioEdge *edge = dependent->sources; edge != NULL; edge = edge->next_source)
    {
      if (edge->source == source)
        return edge;
    }
  return NULL;
}

/* Under the lock: makes @dependent depend on @source, once.  Of signals whose priority it
 * follows there is one, which has an edge already if it may abort it. */
static void
add_edge (PrioHub *source, PrioHub *dependent, PrioEdgeKind kind)
{
  PrioEdge *edge = NULL;

  if (source->gathering == gathering)
    return;

  source->gathering = gathering;
  if (kind == PRIO_EDGE_PRIORITY)
    edge = find_edge (source, dependent);
  if (edge == NULL)
    edge = edge_new (source, dependent);
  edge->kinds |= 1u << kind;
  dependent->n_sources[kind]++;
}

/* Under the lock: @hub goes, and what depends on it goes on depending on those dependents
 * that it depends on, which can be cancelled by hand.  It knows the roots itself. */
static void
bridge_locked (PrioHub *hub)
{
  for (PrioEdge *to = hub->dependents; to != NULL; to = to->next_dependent)
    {
      gathering++;
      for (PrioEdge *from = hub->sources; from != NULL && prio_edge_is (to, PRIO_EDGE_ABORT); from = from->next_source)
        {
          if (prio_edge_is (from, PRIO_EDGE_ABORT) && from->source->is_dependent)
            add_edge (from->source, to->dependent, PRIO_EDGE_ABORT);
        }
    }
}

/* The signal is being finalized.  What it alone kept alive goes with it. */
void
prio_hub_clear (PrioHub *hub)
{
  GSList *let_go = NULL;

  prio_lock_lock (&prio_hub_lock);

  g_assert (!hub->kept);
  if (hub->handle != NULL)
    hub->handle->hub = NULL;

  bridge_locked (hub);
  while (hub->sources != NULL)
    edge_free (hub->sources);

  while (hub->dependents != NULL)
    {
      PrioHub *dependent = hub->dependents->dependent;

      if (dependent->kept)
        let_go = g_slist_prepend (let_go, prio_handle_ref (dependent->handle));
      edge_free (hub->dependents);
    }

  prio_lock_unlock (&prio_hub_lock);

  g_clear_pointer (&hub->handle, prio_handle_unref);
  g_clear_pointer (&hub->reason, prio_reason_unref);

  g_slist_foreach (let_go, (GFunc) (gpointer) prio_handle_reconsider, NULL);
  g_slist_free_full (let_go, (GDestroyNotify) prio_handle_unref);
}

static void
plain_hub_free (gpointer data)
{
  prio_hub_clear (data);
  g_free (data);
}

static void
plain_cancelled (GCancellable *signal G_GNUC_UNUSED, gpointer data)
{
  prio_hub_cancelled (data);
}

/* The hub of @signal, of which a plain cancellable gets one when first asked. */
PrioHub *
prio_hub_for (GCancellable *signal)
{
  PrioHub *hub;

  if (PRIO_IS_TASK_SIGNAL (signal))
    return prio_task_signal_get_hub (PRIO_TASK_SIGNAL (signal));

  hub = g_object_get_qdata (G_OBJECT (signal), hub_quark ());
  if (hub != NULL)
    return hub;

  hub = g_new (PrioHub, 1);
  prio_hub_init (hub, signal, PRIO_TASK_PRIORITY_USER_VISIBLE);
  if (!g_object_replace_qdata (G_OBJECT (signal), hub_quark (), NULL, hub, plain_hub_free, NULL))
    {
      g_free (hub);
      return g_object_get_qdata (G_OBJECT (signal), hub_quark ());
    }

  /* One handler, however many tasks share the cancellable. */
  g_signal_connect (signal, "cancelled", G_CALLBACK (plain_cancelled), hub);
  if (g_cancellable_is_cancelled (signal))
    prio_hub_cancelled (hub);

  return hub;
}

/* Under the lock.  A plain cancellable is asked, since it may be used again after
 * g_cancellable_reset (). */
gboolean
prio_hub_is_aborted_locked (PrioHub *hub)
{
  if (!hub->is_task_signal)
    {
      gboolean cancelled = g_cancellable_is_cancelled (hub->signal);

      hub->aborted = hub->aborted && cancelled;
      return cancelled;
    }

  /* Handlers that are called before its own hear of a cancel by hand first. */
  return hub->aborted || g_cancellable_is_cancelled (hub->signal);
}

gboolean
prio_hub_is_aborted (PrioHub *hub)
{
  gboolean aborted;

  prio_lock_lock (&prio_hub_lock);
  aborted = prio_hub_is_aborted_locked (hub);
  prio_lock_unlock (&prio_hub_lock);

  return aborted;
}

/* Returns: (transfer full): why it was aborted, or would be if it were now */
GError *
prio_hub_dup_reason (PrioHub *hub)
{
  PrioReason *reason = NULL;
  GError *error;

  prio_lock_lock (&prio_hub_lock);
  if (hub->aborted)
    reason = g_atomic_rc_box_acquire (hub->reason);
  prio_lock_unlock (&prio_hub_lock);

  if (reason == NULL)
    return prio_reason_default ();

  error = g_error_copy (reason->error);
  prio_reason_unref (reason);
  return error;
}

PrioTaskPriority
prio_hub_get_priority (PrioHub *hub)
{
  return (PrioTaskPriority) __atomic_load_n (&hub->priority, __ATOMIC_RELAXED);
}

/* A dependent whose priority nothing can change. */
gboolean
prio_hub_has_fixed_priority (PrioHub *hub)
{
  gboolean fixed;

  prio_lock_lock (&prio_hub_lock);
  fixed = hub->is_dependent && hub->n_sources[PRIO_EDGE_PRIORITY] == 0;
  prio_lock_unlock (&prio_hub_lock);

  return fixed;
}

/* Under the lock: makes @dependent depend on @sources and, where one is a
 * dependent itself, on what is at the root of that.  By hand that one can be cancelled
 * alone, which is no change of its priority. */
static void
add_edges (PrioHub *dependent, PrioHub **sources, gsize n_sources, PrioEdgeKind kind)
{
  gathering++;

  for (gsize i = 0; i < n_sources; i++)
    {
      if (kind == PRIO_EDGE_ABORT || !sources[i]->is_dependent)
        add_edge (sources[i], dependent, kind);

      if (!sources[i]->is_dependent)
        continue;

      for (PrioEdge *edge = sources[i]->sources; edge != NULL; edge = edge->next_source)
        {
          if (prio_edge_is (edge, kind) && !edge->source->is_dependent)
            add_edge (edge->source, dependent, kind);
        }
    }
}

/* The reason of the first of @hubs that is aborted, or NULL. */
static GError *
first_reason (PrioHub **hubs, gsize n_hubs)
{
  for (gsize i = 0; i < n_hubs; i++)
    {
      if (prio_hub_is_aborted (hubs[i]))
        return prio_hub_dup_reason (hubs[i]);
    }
  return NULL;
}

/* Makes @hub, which is new, depend on @sources, and its priority follow that of
 * @follow, if given: the draft's "create a dependent task signal" (§3.3).
 *
 * Whatever is aborted before the edges are there is seen afterwards, and whatever
 * is aborted later comes along them. */
void
prio_hub_depend (PrioHub *hub, GCancellable **sources, gsize n_sources, PrioHub *follow)
{
  g_autoptr (GError) reason = NULL;
  g_autofree PrioHub **hubs = g_new (PrioHub *, n_sources);

  prio_hub_reconsider_some ();

  for (gsize i = 0; i < n_sources; i++)
    {
      hubs[i] = prio_hub_for (sources[i]);
      prio_hub_undo_reset (hubs[i]);
    }

  hub->handle = prio_handle_new (hub);

  prio_lock_lock (&prio_hub_lock);
  hub->is_dependent = TRUE;
  add_edges (hub, hubs, n_sources, PRIO_EDGE_ABORT);
  if (follow != NULL)
    {
      hub->priority = follow->priority;
      add_edges (hub, &follow, 1, PRIO_EDGE_PRIORITY);
    }
  prio_lock_unlock (&prio_hub_lock);

  reason = first_reason (hubs, n_sources);
  if (reason != NULL)
    prio_hub_abort (hub, reason);
}
