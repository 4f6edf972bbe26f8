/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-edge-private.h: edges, by which signals depend on others
 *
 * Promises: sources and dependents have edges to each other, and no references.  A signal that
 * depends on a dependent has edges to the roots of that dependent, and also to the dependent
 * itself, which g_cancellable_cancel () can abort alone.
 *
 * Everything here is under prio_signal_lock.
 */

#pragma once

#include "signal/prio-signal-node-private.h"

void prio_edges_add (PrioSignalNode *dependent, PrioSignalNode **sources, gsize n_sources, PrioEdgeKind kind);
void prio_edges_bridge (PrioSignalNode *node);
void prio_edge_free (PrioEdge *edge);
