/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-current-private.h: finds the current scheduling state, and keeps the objects of a state alive */

#pragma once

#include "loop/prio-run-queue-private.h"

/* Returns the state of the calling code if it runs in a fiber, which has its own stack; otherwise NULL.  A finder
 * may run user code and enter a loop, so the caller of prio_state_of_thread () has entered no loop. */
typedef const PrioState *(*PrioStateFinder) (void);

/* The finder, or NULL.  Called when no task's state is current on the thread.  Atomic; set once. */
extern PrioStateFinder prio_state_finder G_GNUC_INTERNAL;

/* Returns whether @state, which may be NULL, belongs to a task of @run_queue or of one of its parts. */
static inline gboolean
prio_state_is_of (const PrioState *state, PrioRunQueue *run_queue)
{
  return state != NULL && (state->run_queue == run_queue || state->run_queue->outer == run_queue);
}

const PrioState *prio_state_of_thread (void);

/* Adds or removes a user of the run queue, group and PrioTraits of @state.  Does nothing if the run queue is NULL. */
void prio_state_hold (const PrioState *state);
void prio_state_release (const PrioState *state);

/* Only the owner thread calls these functions. */
GObject *prio_loop_get_source (PrioLoop *loop, PrioRunQueue *run_queue);
void prio_loop_forget_source (PrioLoop *loop);
PrioCurrent prio_current_begin (PrioLoop *loop);
void prio_current_end (PrioLoop *loop, PrioCurrent outer);
