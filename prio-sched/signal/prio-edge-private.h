/* prio-edge-private.h: which signal depends on which
 *
 * Promises: a dependent knows its sources, and a source its dependents, weakly.  What depends
 * on a dependent knows what that depends on, and, since it can be cancelled by hand, that too.
 *
 * Everything here is under prio_signal_lock.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "signal/prio-signal-node-private.h"

void prio_edges_add (PrioSignalNode *dependent, PrioSignalNode **sources, gsize n_sources, PrioEdgeKind kind);
void prio_edges_bridge (PrioSignalNode *node);
void prio_edge_free (PrioEdge *edge);
