/* prio-scheduling-state-private.h: the content of a captured state
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-scheduling-state.h"
#include "loop/prio-run-queue-private.h"

/* Any thread: returns (transfer full) a state like @state, whose run queue and group the caller holds in some way. */
PrioSchedulingState *prio_scheduling_state_make (const PrioState *state);

/* Any thread: returns what @state has captured, which is valid as long as the caller holds @state.  Any thread may read
 * its fields, and the signal of its group. */
const PrioState *prio_scheduling_state_peek (PrioSchedulingState *state);

/* The same, or NULL if this is not the owner thread. */
const PrioState *prio_scheduling_state_peek_here (PrioSchedulingState *state);

/* Any thread: copies what @state has captured to @held, and holds it, for use in @loop.  If @loop is not the loop of
 * @state, the run queue of @held is NULL. */
void prio_scheduling_state_hold_for (PrioSchedulingState *state, PrioLoop *loop, PrioState *held);
