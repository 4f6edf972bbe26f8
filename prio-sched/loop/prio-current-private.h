/* prio-current-private.h: the scheduling state that is current, and what holds one
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

/* The state that is current on this thread, or NULL. */
const PrioState *prio_state_of_thread (void);

/* The state that is current on this thread for the tasks of @run_queue, or NULL. */
const PrioState *prio_state_current (PrioRunQueue *run_queue);

/* The state that is current on this thread for the loop of @run_queue, whichever of
 * its schedulers it belongs to, or NULL.  The caller is on the owner thread there. */
const PrioState *prio_state_capture (PrioRunQueue *run_queue);

/* Whether any is. */
gboolean prio_state_is_current (PrioLoop *loop);

/* Keep what @state points to alive, or no longer.  The caller is on the owner thread. */
void prio_state_hold (const PrioState *state);
void prio_state_release (const PrioState *state);
