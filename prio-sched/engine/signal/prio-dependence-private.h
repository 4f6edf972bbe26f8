/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dependence-private.h: creates and clears nodes of signals, and makes signals depend on others */

#pragma once

#include "signal/prio-signal-node-private.h"

PrioSignalNode *prio_signal_node_for (GCancellable *signal);
void prio_signal_node_depend (PrioSignalNode *node, GCancellable **sources, gsize n_sources, PrioSignalNode *follow);
void prio_signal_node_clear (PrioSignalNode *node);
