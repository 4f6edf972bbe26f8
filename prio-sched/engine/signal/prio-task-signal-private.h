/* prio-task-signal-private.h: the node of a PrioTaskSignal
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "signal/prio-signal-node-private.h"
#include "prio-task-signal.h"

PrioSignalNode *prio_task_signal_get_node (PrioTaskSignal *signal);
