/* prio-scheduling-state-private.h: what a running task was posted with
 *
 * Promises: the draft's "scheduling state", small enough to lie on the stack of
 * the dispatch.  It is current on a thread as long as `prio_thread.state` points
 * to it, and only at the depth of g_main_depth () at which it was set: what a
 * nested main loop runs meanwhile does not inherit it.  It is set by the thread that owns
 * the context, in a dispatch or by prio_scheduling_state_run (), so that who finds one is
 * at home in its loop.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "prio-options.h"

typedef struct _PrioBond PrioBond;
typedef struct _PrioCore PrioCore;
typedef struct _PrioLoop PrioLoop;

typedef struct
{
  PrioCore *core;  /* the scheduler it belongs to */
  PrioBond *bond;  /* the signal that may abort it, or NULL */
  gint8 priority;  /* fixed, or PRIO_PRIORITY_UNSET: that of @bond's signal */
  gint depth;      /* of g_main_depth () */
} PrioState;

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

/* What @state has captured.  It is held as long as the caller holds @state; on any thread its
 * fields may be read, and the signal of its bond. */
const PrioState *prio_scheduling_state_peek (PrioSchedulingState *state);

/* On any thread: the same in @held, and held, for use in @loop; its core is NULL if that is not
 * the loop of @state. */
void prio_scheduling_state_hold_for (PrioSchedulingState *state, PrioLoop *loop, PrioState *held);
