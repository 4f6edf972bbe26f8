/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduling-state-private.h: captured states, for the library */

#pragma once

#include "prio-scheduling-state.h"
#include "loop/prio-run-queue-private.h"

/* Returns (transfer full) a copy of @state, whose run queue and group the caller holds.  Any thread. */
PrioSchedulingState *prio_scheduling_state_make (const PrioState *state);

/* Returns the captured state, which is valid as long as the caller holds @state.  Any thread, which may read its
 * fields, and the signal of its group. */
const PrioState *prio_scheduling_state_peek (PrioSchedulingState *state);

/* Returns the captured state, or NULL if this is not the owner thread. */
const PrioState *prio_scheduling_state_peek_here (PrioSchedulingState *state);

/* Copies the captured state to @held, and holds it, for use in @loop.  If @loop is not the loop of @state, the run
 * queue of @held is NULL.  Any thread. */
void prio_scheduling_state_hold_for (PrioSchedulingState *state, PrioLoop *loop, PrioState *held);
