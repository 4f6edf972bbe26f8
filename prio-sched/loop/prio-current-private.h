/* prio-current-private.h: finds the current scheduling state, and holds what a state points to
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

/* The state that is current on this thread, or NULL. */
const PrioState *prio_state_of_thread (void);

/* The state that is current on this thread for the tasks of @run_queue, or of a part of it, or NULL. */
const PrioState *prio_state_current (PrioRunQueue *run_queue);

/* The state that is current on this thread for the loop of @run_queue, whichever of
 * the loop's schedulers it belongs to, or NULL.  Owner thread. */
const PrioState *prio_state_capture (PrioRunQueue *run_queue);

/* Whether a state is current on this thread for @loop. */
gboolean prio_state_is_current (PrioLoop *loop);

/* Hold and release the run queue and the group of @state.  Owner thread. */
void prio_state_hold (const PrioState *state);
void prio_state_release (const PrioState *state);
