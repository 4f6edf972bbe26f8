/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-edge-private.h: edges, by which signals depend on others
 *
 * Promises: sources and dependents have edges to each other, but no references.  A dependent of another dependent has
 * edges to its roots, which are the sources that depend on nothing.  It also has an edge to the other dependent, which
 * g_cancellable_cancel () can abort without its roots.
 *
 * The caller of each function holds prio_signal_lock. */

#pragma once

#include "signal/prio-signal-node-private.h"

void prio_edges_add (PrioSignalNode *dependent, PrioSignalNode **sources, gsize n_sources, PrioEdgeKind kind);
void prio_edges_bridge (PrioSignalNode *node);
void prio_edge_free (PrioEdge *edge);
