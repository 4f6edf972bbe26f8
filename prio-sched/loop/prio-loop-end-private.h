/* prio-loop-end-private.h: the end of a loop, with its context
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-loop-private.h"

void prio_loop_tear_down (PrioLoop *loop);
