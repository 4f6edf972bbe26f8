/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-loop-end.c: ends a loop, and releases its tasks */

#include "config.h"

#include "loop/prio-loop-end-private.h"

#include "base/prio-debug-private.h"
#include "loop/prio-count-private.h"
#include "loop/prio-current-private.h"
#include "loop/prio-idle-private.h"
#include "loop/prio-lending-private.h"
#include "loop/prio-number-private.h"

/* How many tasks and callbacks prio_loop_release_some () releases at most. */
#define RELEASED_AT_ONCE 64

static void
release_job (PrioLoop *loop, PrioQueue *queue)
{
  PrioJob *job = prio_queue_pop_job (queue);
  PrioRunner *numbers = prio_numbers_of (job);

  prio_run_queue_head_gone (queue->run_queue, queue);
  if (numbers != NULL)
    {
      prio_numbers_reject (numbers, job->id);
      prio_numbers_release (numbers);
    }
  else
    {
      prio_loop_defer_release (loop, job->notify, job->data);
    }
  prio_run_queue_release (queue->run_queue);
  prio_loop_free_job (loop, job);
}

/* Makes the schedulers that still exist, such as a worker's, stop using their runners, so that the runners close.
 * Returns whether there was a runner. */
static gboolean
close_runners (PrioLoop *loop)
{
  gboolean any = FALSE;

  for (PrioRunQueue *run_queue = loop->run_queues.first; run_queue != NULL; run_queue = run_queue->next)
    for (; run_queue->runners.length > 0; any = TRUE)
      prio_numbers_release (g_queue_pop_head (&run_queue->runners));
  return any;
}

/* Defers the release of some tasks or callbacks.  Returns FALSE if none is left.  The caller has entered the loop. */
gboolean
prio_loop_release_some (PrioLoop *loop)
{
  PrioMicrotask microtask;
  gsize n = 0;

  while (n < RELEASED_AT_ONCE && prio_microtasks_pop (&loop->between.microtasks, &microtask))
    {
      prio_loop_defer_release (loop, microtask.notify, microtask.data);
      prio_state_release (&microtask.state);
      n++;
    }

  while (n < RELEASED_AT_ONCE && prio_idle_release_one (loop))
    n++;

  while (n < RELEASED_AT_ONCE && prio_due_has_delays (&loop->due))
    {
      prio_run_queue_abort_entry (prio_due_first_delayed (&loop->due));
      n++;
    }

  while (n < RELEASED_AT_ONCE && prio_ready_first (&loop->ready) != NULL)
    {
      PrioQueue *queue = prio_ready_first (&loop->ready);

      if (queue->kind == PRIO_QUEUE_ENTRIES)
        prio_run_queue_abort_entry ((PrioEntry *) queue->head);
      else
        release_job (loop, queue);
      n++;
    }

  return n > 0 || prio_lending_drop_all (loop) || close_runners (loop);
}

/* Ends the loop, in prio_loop_close () or with its context.  When a context ends, no scheduler is left, because each
 * refers to its context, but task groups may be.  This thread releases the remaining tasks, even paused ones. */
void
prio_loop_tear_down (PrioLoop *loop)
{
  guint n = 0;

  prio_in_finalize (loop);
  prio_loop_leave_table (loop);

  prio_owner_lock_acquire (&loop->lock);
  loop->releases.destroyer = &prio_thread;

  /* After the mailbox is closed, there is no owner thread, and a thread enters the loop with the mailbox's lock. */
  do
    {
      prio_mailbox_carry_out (&loop->mailbox, loop);
      prio_run_queues_resume (loop);
    }
  while (!prio_mailbox_close (&loop->mailbox));
  for (PrioRunQueue *run_queue = prio_is_debugging () ? loop->run_queues.first : NULL; run_queue != NULL; run_queue = run_queue->next)
    n += run_queue->outer == NULL ? prio_run_queue_count (run_queue) : 0;
  prio_owner_lock_set_owner (&loop->lock, PRIO_NO_THREAD);

  if (n > 0)
    prio_debug ("A main context has gone with %u tasks that have not run", n);
  prio_slots_end (loop->slots, PRIO_N_SLOTS, loop);
  prio_loop_flush_releases (loop);
}
