/* prio-hub.c: what the library knows of a cancellable, and the graph of signals
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-hub-private.h"

#include "prio-loop-private.h"
#include "prio-pin-private.h"

#include <glib/gi18n-lib.h>

PrioLock prio_hub_lock = PRIO_LOCK_INIT;

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
  static gsize initialized = 0;

  if (g_once_init_enter (&initialized))
    {
      prio_loop_add_leaf_lock (&prio_hub_lock);
      g_once_init_leave (&initialized, 1);
    }

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
 * @follow, if given: the draft's "create a dependent task signal" (§4.3).
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
    hubs[i] = prio_hub_for (sources[i]);

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
