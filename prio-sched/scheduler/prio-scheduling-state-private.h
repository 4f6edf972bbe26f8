/* prio-scheduling-state-private.h: what a captured state has captured
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-scheduling-state.h"
#include "loop/prio-run-queue-private.h"

/* What @state has captured.  It is held as long as the caller holds @state; on any thread its
 * fields may be read, and the signal of its group. */
const PrioState *prio_scheduling_state_peek (PrioSchedulingState *state);

/* On any thread: the same in @held, and held, for use in @loop; its run queue is NULL if that is not
 * the loop of @state. */
void prio_scheduling_state_hold_for (PrioSchedulingState *state, PrioLoop *loop, PrioState *held);
