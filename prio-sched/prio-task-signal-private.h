/* prio-task-signal-private.h: the hub of a PrioTaskSignal
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-hub-private.h"
#include "prio-task-signal.h"

PrioHub *prio_task_signal_get_hub (PrioTaskSignal *signal);
