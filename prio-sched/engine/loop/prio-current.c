/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-current.c: finds the current scheduling state, and keeps the objects of a state alive */

#include "config.h"

#include "loop/prio-current-private.h"

#include "loop/prio-traits-private.h"

PrioStateFinder prio_state_finder;

const PrioState *
prio_state_of_thread (void)
{
  const PrioState *state = prio_thread.state;
  PrioStateFinder find;

  if (state != NULL && state->depth == g_main_depth ())
    return state;

  find = __atomic_load_n (&prio_state_finder, __ATOMIC_ACQUIRE);
  return G_UNLIKELY (find != NULL) && state != &prio_state_none ? find () : NULL;
}

const PrioState *
prio_state_capture (PrioLoop *loop)
{
  const PrioState *state = prio_state_of_thread ();

  return state != NULL && state->run_queue->loop == loop ? state : NULL;
}

void
prio_state_hold (const PrioState *state)
{
  if (state->run_queue == NULL)
    return;

  prio_run_queue_hold (state->run_queue);
  if (state->group != NULL)
    prio_group_hold (state->group);
  if (G_UNLIKELY (state->traits != NULL))
    state->traits->users++;
}

void
prio_state_release (const PrioState *state)
{
  if (state->run_queue == NULL)
    return;

  prio_traits_end (state);
  if (state->group != NULL)
    prio_group_release (state->group);
  prio_run_queue_release (state->run_queue);
}

/* Returns the scheduler of @run_queue, or NULL if the scheduler was finalized.  The loop keeps the reference for
 * further calls in the same batch. */
GObject *
prio_loop_get_source (PrioLoop *loop, PrioRunQueue *run_queue)
{
  if (run_queue == loop->current.run_queue)
    return loop->current.source;

  prio_loop_forget_source (loop);
  loop->current.source = g_weak_ref_get (run_queue->scheduler);
  loop->current.run_queue = loop->current.source != NULL ? run_queue : NULL;
  return loop->current.source;
}

void
prio_loop_forget_source (PrioLoop *loop)
{
  loop->current.run_queue = NULL;
  g_clear_object (&loop->current.source);
}

/* Clears the source object for callbacks at the beginning of a batch.  Returns the source object of the outer batch,
 * which prio_current_end () restores. */
PrioCurrent
prio_current_begin (PrioLoop *loop)
{
  PrioCurrent outer = loop->current;

  loop->current = (PrioCurrent) { NULL };
  return outer;
}

void
prio_current_end (PrioLoop *loop, PrioCurrent outer)
{
  prio_loop_forget_source (loop);
  loop->current = outer;
}
