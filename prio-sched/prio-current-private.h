/* prio-current-private.h: the scheduling state that is current, and what holds one
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-core-private.h"

/* The state that is current on this thread, or NULL. */
const PrioState *prio_state_of_thread (void);

/* The state that is current on this thread for the tasks of @core, or NULL. */
const PrioState *prio_state_current (PrioCore *core);

/* The state that is current on this thread for the loop of @core, whichever of
 * its schedulers it belongs to, or NULL.  The caller is at home there. */
const PrioState *prio_state_capture (PrioCore *core);

/* Whether any is. */
gboolean prio_state_is_current (PrioLoop *loop);

/* Keep what @state points to alive, or no longer.  The caller is at home. */
void prio_state_hold (const PrioState *state);
void prio_state_release (const PrioState *state);
