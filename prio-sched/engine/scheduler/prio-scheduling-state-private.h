/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduling-state-private.h: captured scheduling states */

#pragma once

#include "prio-scheduling-state.h"
#include "loop/prio-run-queue-private.h"

/* Returns (transfer full) a copy of @state.  The caller holds the run queue and the group of @state.  Any thread may
 * call this function. */
PrioSchedulingState *prio_scheduling_state_make (const PrioState *state);

/* Returns the captured state, which is valid as long as the caller holds @state.  Any thread may call this function,
 * and read the fields and the signal of the state's group. */
const PrioState *prio_scheduling_state_peek (PrioSchedulingState *state);

/* Returns the captured state, or NULL if this thread does not own the main context. */
const PrioState *prio_scheduling_state_peek_here (PrioSchedulingState *state);

/* Copies the captured state to @held, and adds references for @held.  If @state belongs to a loop other than @loop,
 * sets @held->run_queue to NULL instead.  Any thread may call this function. */
void prio_scheduling_state_hold_for (PrioSchedulingState *state, PrioLoop *loop, PrioState *held);
