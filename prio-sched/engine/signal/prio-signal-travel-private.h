/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-signal-travel-private.h: carries an abort or a change of priority to tasks, handlers and dependent signals */

#pragma once

#include "signal/prio-signal-node-private.h"

void prio_signal_node_abort (PrioSignalNode *node, const GError *reason);
void prio_signal_node_abort_by_handle (PrioHandle *handle, const GError *reason);
gboolean prio_signal_node_keep (PrioSignalNode *node);
void prio_signal_node_cancelled (PrioSignalNode *node);
gboolean prio_signal_node_set_priority (PrioSignalNode *node, PrioTaskPriority priority, GError **error);
