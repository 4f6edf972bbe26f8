/* prio-yield-private.h: whether what is running should let others go
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-core-private.h"

gboolean prio_loop_should_yield (PrioLoop *loop, PrioCore *core, const PrioState *state);
