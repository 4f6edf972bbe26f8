/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-edge-private.h: edges, by which signals depend on others
 *
 * Promises: an edge leads from one signal, the source, to another, the dependent.  Neither holds a reference to the
 * other.  If a source S is itself a dependent, its dependents have edges from the roots of S: its sources that depend
 * on nothing.  For aborts they also have an edge from S, because g_cancellable_cancel () can abort S without its roots.
 *
 * The caller of each function holds prio_signal_lock. */

#pragma once

#include "signal/prio-signal-node-private.h"

void prio_edges_add (PrioSignalNode *dependent, PrioSignalNode **sources, gsize n_sources, PrioEdgeKind kind);
void prio_edges_bridge (PrioSignalNode *node);
void prio_edge_free (PrioEdge *edge);
