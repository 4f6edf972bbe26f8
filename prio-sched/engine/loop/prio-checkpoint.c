/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-checkpoint.c: runs microtasks, and checks whether this thread owns the context */

#include "config.h"

#include "loop/prio-dispatch-private.h"

#include "loop/prio-current-private.h"

/* Runs all microtasks, including microtasks that these queue (§4.1.4 of the WICG draft). */
void
prio_loop_checkpoint (PrioLoop *loop)
{
  const PrioState *outer = prio_thread.state;
  PrioMicrotask microtask;

  while (prio_microtasks_pop (&loop->between.microtasks, &microtask))
    {
      PrioState *state = microtask.state.run_queue != NULL ? &microtask.state : NULL;

      if (state != NULL)
        state->depth = g_main_depth ();
      prio_thread.state = state;
      prio_thread.runs_jobs = FALSE;
      if (microtask.func != NULL)
        microtask.func (microtask.data);
      prio_thread.state = outer;

      if (microtask.notify != NULL)
        microtask.notify (microtask.data);
      prio_state_release (&microtask.state);
    }
}

/* Returns whether the calling thread owns the context.  If so, records this thread as the owner thread, because the
 * thread that is recorded so far may have released the context. */
gboolean
prio_loop_is_owner (PrioLoop *loop)
{
  gboolean is_owner;

  /* A thread that runs a batch of the loop owns the context. */
  for (PrioBatch *batch = prio_thread.batch; batch != NULL; batch = batch->outer)
    {
      if (batch->loop == loop)
        return TRUE;
    }

  if (prio_loop_enter (loop))
    {
      is_owner = g_main_context_is_owner (loop->context);
      prio_loop_leave (loop);
      return is_owner;
    }

  prio_lock_lock (&loop->mailbox.lock);
  is_owner = !loop->mailbox.closed && g_main_context_is_owner (loop->context);
  prio_lock_unlock (&loop->mailbox.lock);
  if (is_owner)
    prio_owner_lock_acquire (&loop->lock);
  return is_owner;
}

static void
look_at_delayed (PrioHeapItem *item, gpointer is_busy)
{
  PrioEntry *entry = prio_entry_from_delay (item->node);

  if (entry->use != PRIO_ENTRY_OF_LIBRARY && !entry->run_queue->ready.paused)
    *(gboolean *) is_busy = TRUE;
}

gboolean
prio_loop_is_busy (PrioLoop *loop)
{
  gboolean is_busy;

  /* If this thread owns the context, but is not recorded as the owner yet, prio_loop_is_owner () records it. */
  if (!prio_loop_enter (loop) && !(prio_loop_is_owner (loop) && prio_loop_enter (loop)))
    return FALSE;

  is_busy = loop->ready.mask != 0 || prio_loop_has_microtasks (loop);
  if (!is_busy)
    prio_heap_foreach (&loop->due.delays, look_at_delayed, &is_busy);
  prio_loop_leave (loop);
  return is_busy;
}
