/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-edge.c: edges, by which signals depend on others
 *
 * The caller of each function holds prio_signal_lock. */

#include "config.h"

#include "signal/prio-edge-private.h"

/* The number of the current generation; a generation is the edges that are added to a dependent at one time. */
static guint64 generation = 0;

void
prio_edge_free (PrioEdge *edge)
{
  g_queue_unlink (&edge->source->dependents, &edge->of_source);
  g_queue_unlink (&edge->dependent->sources, &edge->of_dependent);
  if (prio_edge_is (edge, PRIO_EDGE_PRIORITY))
    edge->dependent->follows = FALSE;
  g_free (edge);
}

static PrioEdge *
edge_new (PrioSignalNode *source, PrioSignalNode *dependent)
{
  PrioEdge *edge = g_new (PrioEdge, 1);

  *edge = (PrioEdge) {
    .generation = generation,
    .source = source,
    .dependent = dependent,
    .of_source.data = edge,
    .of_dependent.data = edge,
  };
  g_queue_push_tail_link (&source->dependents, &edge->of_source);
  g_queue_push_tail_link (&dependent->sources, &edge->of_dependent);
  return edge;
}

static PrioEdge *
find_edge (PrioSignalNode *source, PrioSignalNode *dependent)
{
  for (GList *link = dependent->sources.head; link != NULL; link = link->next)
    {
      if (((PrioEdge *) link->data)->source == source)
        return link->data;
    }
  return NULL;
}

/* Makes @dependent depend on @source, at most once per generation.  A dependent follows the priority of at most one
 * signal; if that signal can also abort it, the edge has both kinds. */
static void
add_edge (PrioSignalNode *source, PrioSignalNode *dependent, PrioEdgeKind kind)
{
  PrioEdge *edge = NULL;

  if (source->generation == generation)
    return;

  source->generation = generation;
  if (kind == PRIO_EDGE_PRIORITY)
    edge = find_edge (source, dependent);
  if (edge == NULL)
    edge = edge_new (source, dependent);
  edge->kinds |= 1u << kind;
  dependent->follows |= kind == PRIO_EDGE_PRIORITY;
}

/* Makes the dependents of @node, which is being finalized, depend on the sources of @node that are dependents
 * themselves, because g_cancellable_cancel () can abort such a source alone.  Edges to its roots exist already. */
void
prio_edges_bridge (PrioSignalNode *node)
{
  for (GList *outer = node->dependents.head; outer != NULL; outer = outer->next)
    {
      PrioEdge *to = outer->data;

      generation++;
      for (GList *link = node->sources.head; link != NULL && prio_edge_is (to, PRIO_EDGE_ABORT); link = link->next)
        {
          PrioEdge *from = link->data;

          if (prio_edge_is (from, PRIO_EDGE_ABORT) && from->source->is_dependent)
            add_edge (from->source, to->dependent, PRIO_EDGE_ABORT);
        }
    }
}

/* Makes @dependent depend on @sources and, for each source that is a dependent, on the roots of that source.  For an
 * abort, @dependent also needs the edge to the source, which g_cancellable_cancel () can abort without its roots. */
void
prio_edges_add (PrioSignalNode *dependent, PrioSignalNode **sources, gsize n_sources, PrioEdgeKind kind)
{
  generation++;

  for (gsize i = 0; i < n_sources; i++)
    {
      if (kind == PRIO_EDGE_ABORT || !sources[i]->is_dependent)
        add_edge (sources[i], dependent, kind);

      for (GList *link = sources[i]->sources.head; link != NULL; link = link->next)
        {
          PrioEdge *edge = link->data;

          if (prio_edge_is (edge, kind) && !edge->source->is_dependent)
            add_edge (edge->source, dependent, kind);
        }
    }
}
