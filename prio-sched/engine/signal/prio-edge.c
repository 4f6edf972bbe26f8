/* prio-edge.c: which signal depends on which
 *
 * Everything here is under prio_signal_lock.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "signal/prio-edge-private.h"

/* The number of the current call that adds edges to a dependent. */
static guint64 generation = 0;

void
prio_edge_free (PrioEdge *edge)
{
  PrioSignalNode *source = edge->source, *dependent = edge->dependent;

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

  if (prio_edge_is (edge, PRIO_EDGE_PRIORITY))
    dependent->follows = FALSE;
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

/* The edge from @source to @dependent, or NULL. */
static PrioEdge *
find_edge (PrioSignalNode *source, PrioSignalNode *dependent)
{
  for (PrioEdge *edge = dependent->sources; edge != NULL; edge = edge->next_source)
    {
      if (edge->source == source)
        return edge;
    }
  return NULL;
}

/* Makes @dependent depend on @source, once per generation.  A dependent follows the priority of
 * one signal at most; if that can also abort it, both kinds share one edge. */
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

/* Before @node goes: makes its dependents depend on those sources of @node that are dependents
 * themselves, since g_cancellable_cancel () can abort these alone.  The dependents have edges to
 * the roots already. */
void
prio_edges_bridge (PrioSignalNode *node)
{
  for (PrioEdge *to = node->dependents; to != NULL; to = to->next_dependent)
    {
      generation++;
      for (PrioEdge *from = node->sources; from != NULL && prio_edge_is (to, PRIO_EDGE_ABORT); from = from->next_source)
        {
          if (prio_edge_is (from, PRIO_EDGE_ABORT) && from->source->is_dependent)
            add_edge (from->source, to->dependent, PRIO_EDGE_ABORT);
        }
    }
}

/* Makes @dependent depend on @sources and, for each source that is a dependent itself, on the
 * roots of that.  For an abort it also depends on such a source itself, which
 * g_cancellable_cancel () can abort alone; for the priority the roots suffice. */
void
prio_edges_add (PrioSignalNode *dependent, PrioSignalNode **sources, gsize n_sources, PrioEdgeKind kind)
{
  generation++;

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
