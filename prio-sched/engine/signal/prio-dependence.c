/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dependence.c: creates and clears nodes of signals, and makes signals depend on others */

#include "config.h"

#include "signal/prio-dependence-private.h"

#include "loop/prio-loop-private.h"
#include "signal/prio-edge-private.h"
#include "signal/prio-pin-private.h"
#include "signal/prio-signal-travel-private.h"

/* Adds the handle of @node to @pinned, for a later re-evaluation, if @node is pinned.  The caller holds the lock. */
static void
add_pinned (GSList **pinned, PrioSignalNode *node)
{
  if (node->pinned)
    *pinned = g_slist_prepend (*pinned, prio_handle_ref (node->handle));
}

/* Clears @node, whose signal is being finalized.  Unpins dependents and timeouts that were pinned only because of this
 * signal. */
void
prio_signal_node_clear (PrioSignalNode *node)
{
  GSList *pinned = NULL;

  prio_in_finalize (node->signal);
  prio_lock_lock (&prio_signal_lock);

  g_assert (!node->pinned);
  if (node->handle != NULL)
    node->handle->node = NULL;

  prio_edges_bridge (node);
  while (node->sources.head != NULL)
    {
      PrioEdge *edge = node->sources.head->data;
      PrioSignalNode *source = edge->source;

      prio_edge_free (edge);
      if (source->is_timeout && source->dependents.head == NULL)
        add_pinned (&pinned, source);
    }

  while (node->dependents.head != NULL)
    {
      PrioEdge *edge = node->dependents.head->data;

      add_pinned (&pinned, edge->dependent);
      prio_edge_free (edge);
    }

  prio_lock_unlock (&prio_signal_lock);

  g_clear_pointer (&node->handle, prio_handle_unref);
  g_clear_pointer (&node->reason, prio_reason_unref);

  g_slist_foreach (pinned, (GFunc) (gpointer) prio_handle_reevaluate, NULL);
  g_slist_free_full (pinned, (GDestroyNotify) prio_handle_unref);
}

static void
plain_node_free (gpointer data)
{
  prio_signal_node_clear (data);
  g_free (data);
}

static void
plain_cancelled (GCancellable *signal G_GNUC_UNUSED, gpointer data)
{
  prio_signal_node_cancelled (data);
}

/* Creates the node of @signal, a plain cancellable, unless another thread has done so. */
static G_GNUC_NO_INLINE PrioSignalNode *
make_plain_node (GCancellable *signal)
{
  static PrioLock lock = PRIO_LOCK_INIT;
  PrioSignalNode *made = g_new (PrioSignalNode, 1), *node;

  prio_signal_node_init (made, signal, FALSE);
  prio_loop_add_leaf_lock (&lock);
  prio_lock_lock (&lock);
  node = prio_signal_node_find (signal);
  if (node == NULL)
    {
      node = g_steal_pointer (&made);
      /* The handler for all tasks of the cancellable is connected before other threads find the node.  So an abort
       * right after they have checked the node calls the handler, too. */
      g_signal_connect (signal, "cancelled", G_CALLBACK (plain_cancelled), node);
      g_object_set_qdata_full (G_OBJECT (signal), prio_signal_node_quark (), node, plain_node_free);
    }
  prio_lock_unlock (&lock);
  g_free (made);
  return node;
}

/* Returns the node of @signal.  The first call creates the node of a plain cancellable. */
PrioSignalNode *
prio_signal_node_for (GCancellable *signal)
{
  PrioSignalNode *node = prio_signal_node_find (signal);

  return G_LIKELY (node != NULL) ? node : make_plain_node (signal);
}

/* Returns (transfer full) (nullable) the reason of the first aborted node of @nodes. */
static PrioReason *
first_reason (PrioSignalNode **nodes, gsize n_nodes)
{
  PrioReason *reason = NULL;

  for (gsize i = 0; reason == NULL && i < n_nodes; i++)
    reason = prio_signal_node_ref_reason (nodes[i]);
  return reason;
}

/* Makes the new @node depend on @sources.  Unless @follow is NULL, @node follows the priority of @follow.  This is the
 * WICG draft's "create a dependent task signal" (§4.3).
 *
 * No abort is missed: first_reason () finds a source that is aborted before the edges exist, and a later abort follows
 * the edges. */
void
prio_signal_node_depend (PrioSignalNode *node, GCancellable **sources, gsize n_sources, PrioSignalNode *follow)
{
  PrioReason *reason;
  g_autofree PrioSignalNode **nodes = g_new (PrioSignalNode *, n_sources);

  prio_signal_node_reevaluate_some ();

  for (gsize i = 0; i < n_sources; i++)
    {
      nodes[i] = prio_signal_node_for (sources[i]);
      prio_signal_node_undo_reset (nodes[i]);
    }

  node->handle = prio_handle_new (node, node->signal);

  prio_lock_lock (&prio_signal_lock);
  node->is_dependent = TRUE;
  prio_edges_add (node, nodes, n_sources, PRIO_EDGE_ABORT);
  if (follow != NULL)
    {
      node->priority = follow->priority;
      prio_edges_add (node, &follow, 1, PRIO_EDGE_PRIORITY);
    }
  prio_lock_unlock (&prio_signal_lock);

  reason = first_reason (nodes, n_sources);
  if (reason == NULL)
    return;
  prio_signal_node_abort (node, reason->error);
  prio_reason_unref (reason);
}
