/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-current-private.h: finds the current scheduling state, and holds the objects of a state */

#pragma once

#include "loop/prio-run-queue-private.h"

/* Returns the state of the calling code, if it runs on its own stack, as a fiber; otherwise NULL.  It may be the
 * program's, and enter a loop, so the functions below that find the current state are called outside. */
typedef const PrioState *(*PrioStateFinder) (void);

/* The finder for code outside of tasks, or NULL; atomic, and set once. */
extern PrioStateFinder prio_state_finder G_GNUC_INTERNAL;

/* Returns whether a state may be current on this thread: a hint that costs two loads. */
static inline gboolean
prio_state_may_be_current (void)
{
  return prio_thread.state != NULL || G_UNLIKELY (__atomic_load_n (&prio_state_finder, __ATOMIC_RELAXED) != NULL);
}

/* Returns whether @state, which may be NULL, is for the tasks of @run_queue, or of a part. */
static inline gboolean
prio_state_is_of (const PrioState *state, PrioRunQueue *run_queue)
{
  return state != NULL && (state->run_queue == run_queue || state->run_queue->outer == run_queue);
}

/* Returns the state that is current on this thread, or NULL. */
const PrioState *prio_state_of_thread (void);

/* Hold and release the run queue and the group of @state.  Owner thread. */
void prio_state_hold (const PrioState *state);
void prio_state_release (const PrioState *state);

/* Owner thread. */
GObject *prio_loop_find_source (PrioLoop *loop, PrioRunQueue *run_queue);
void prio_loop_forget_source (PrioLoop *loop);
PrioCurrent prio_current_begin (PrioLoop *loop);
void prio_current_end (PrioLoop *loop, PrioCurrent outer);

/* Returns the scheduler of @run_queue, or NULL if it is gone.  A batch reads the weak reference once. */
static inline GObject *
prio_loop_get_source (PrioLoop *loop, PrioRunQueue *run_queue)
{
  return run_queue == loop->current.run_queue ? loop->current.source : prio_loop_find_source (loop, run_queue);
}
