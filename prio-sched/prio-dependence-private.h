/* prio-dependence-private.h: signals come, depend on others, and go
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-hub-private.h"

PrioHub *prio_hub_for (GCancellable *signal);
void prio_hub_depend (PrioHub *hub, GCancellable **sources, gsize n_sources, PrioHub *follow);
void prio_hub_clear (PrioHub *hub);
