/* prio-hub-change-private.h: how an abort, or a change of priority, travels
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-hub-private.h"

void prio_hub_abort (PrioHub *hub, const GError *reason);
void prio_hub_abort_by_handle (PrioHandle *handle, const GError *reason);
void prio_hub_make_up_for_change (PrioHub *hub);
void prio_hub_cancelled (PrioHub *hub);
gboolean prio_hub_set_priority (PrioHub *hub, PrioTaskPriority priority, GError **error);
