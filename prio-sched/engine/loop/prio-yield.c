/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-yield.c: decides whether the running code should yield */

#include "config.h"

#include "loop/prio-yield-private.h"

#include "policy/prio-input-private.h"
#include "loop/prio-dispatch-private.h"
#include "loop/prio-idle-private.h"
#include "loop/prio-lending-private.h"
#include "loop/prio-traits-private.h"

/* The shortest time between two polls for input, µs. */
#define PROBE_INTERVAL 1000

static gboolean
urgent_delay_is_due (PrioLoop *loop, guint level, gint64 now)
{
  PrioEntry *entry;

  if (prio_due_next (&loop->due) > now)
    return FALSE;

  entry = prio_due_first_delayed (&loop->due);
  if (entry->run_queue->ready.paused)
    return FALSE;
  if (entry->timed != PRIO_TIMED_NOT && entry->expiry <= now)
    return PRIO_EFFECTIVE_EXPIRED > level;
  return prio_effective (prio_entry_get_priority (entry), FALSE) > level;
}

/* Expires timeouts and returns whether a task above the effective priority @level waits; FALSE without timeouts. */
static gboolean
urgent_timeout_has_passed (PrioLoop *loop, guint level, gint64 now)
{
  if (!prio_due_has_deadlines (&loop->due) || !prio_loop_enter (loop))
    return FALSE;

  prio_loop_expire_deadlines (loop, now);
  prio_loop_leave (loop);
  return prio_ready_top (&loop->ready) > (int) level;
}

/* Returns whether a source of @priority or above has input; FALSE within PROBE_INTERVAL of the last poll. */
static gboolean
input_waits (PrioLoop *loop, gint64 now, gint priority)
{
  if (now < loop->input.next_probe)
    return FALSE;

  loop->input.next_probe = prio_time_after (now, PROBE_INTERVAL);
  return prio_input_waits (loop->context, &loop->input.wakeup_fd, priority);
}

/* Returns the batch of @loop that runs the calling code.  Returns NULL if there is none, or if another source of a
 * nested main loop runs the code. */
static PrioBatch *
running_batch (PrioLoop *loop)
{
  PrioBatch *batch = prio_thread.batch;

  return batch != NULL && batch->loop == loop && batch->depth == g_main_depth () ? batch : NULL;
}

/* Returns the time until which the running code may continue, µs.  The code is a task of @run_queue, an idle callback
 * or, if @batch is NULL, a callback of another source, whose time began when GLib last checked its sources. */
static gint64
end_of_time (PrioLoop *loop, PrioRunQueue *run_queue, PrioBatch *batch)
{
  gboolean is_set;
  gint64 slice = prio_loop_get_slice (loop, run_queue, &is_set);

  if (batch == NULL)
    return prio_loop_end_of_time (loop, prio_loop_last_check (loop), slice);
  if (batch->over)
    return 0;
  if (batch->lane == PRIO_LANE_IDLE && prio_thread.deadline != NULL)
    return prio_thread.deadline->time;
  slice = prio_turn_allowance (&loop->turn, slice, is_set);
  /* Where frames are drawn, code yields as often as the batch looks for other sources, because only an iteration finds
   * out whether a frame is due. */
  if (prio_loop_frame_interval (loop) != 0 && !is_set)
    slice = prio_turn_look (&loop->turn, slice);
  return prio_loop_end_of_time (loop, batch->start, slice);
}

/* Returns the effective priority of a continuation of the running code.  @state is its scheduling state, or NULL. */
static guint
running_level (const PrioState *state)
{
  gboolean goes_ahead;
  PrioLendNode *lend;

  if (state == NULL)
    return prio_effective (PRIO_TASK_PRIORITY_USER_VISIBLE, TRUE);
  if (state->timed == PRIO_TIMED_EXPIRED)
    return PRIO_EFFECTIVE_EXPIRED;
  goes_ahead = !state->takes_turns;
  lend = prio_traits_of (state).lend;
  if (G_UNLIKELY (lend != NULL))
    return prio_effective ((PrioTaskPriority) MAX (prio_lending_get_level (lend), PRIO_TASK_PRIORITY_BACKGROUND), goes_ahead);
  if (state->priority == PRIO_TASK_PRIORITY_UNSET)
    return prio_effective (prio_group_get_priority (state->group), goes_ahead);
  return prio_effective ((PrioTaskPriority) state->priority, goes_ahead);
}

/* Ends the time of the running code: should_yield () returns TRUE until other sources have had their turn. */
static void
end_time (PrioLoop *loop, PrioBatch *batch)
{
  if (batch != NULL)
    batch->over = TRUE;
  else
    prio_loop_forget_check (loop);
}

/* Returns whether the running code should yield; FALSE on threads other than the owner thread.  @state is the
 * code's scheduling state, or NULL.  The caller has entered no loop.  A stopwatch decides when to read the clock. */
gboolean
prio_loop_should_yield (PrioLoop *loop, PrioRunQueue *run_queue, const PrioState *state)
{
  PrioStopwatch *watch = &loop->input.asked;
  guint level = running_level (state);
  PrioBatch *batch;
  gint64 now;

  /* Entering the loop also carries out the operations of other threads, such as posts of more urgent tasks. */
  if (!prio_loop_enter (loop))
    return FALSE;
  prio_loop_leave (loop);

  if (prio_ready_top (&loop->ready) > (int) level)
    return TRUE;

  now = prio_stopwatch_lap (watch, 1);
  if (now == 0)
    return FALSE;

  batch = running_batch (loop);
  if (now >= end_of_time (loop, run_queue, batch) || input_waits (loop, now, G_PRIORITY_DEFAULT))
    end_time (loop, batch);
  else if (!urgent_timeout_has_passed (loop, level, now) && !urgent_delay_is_due (loop, level, now))
    return FALSE;

  prio_stopwatch_hurry (watch);
  return TRUE;
}

/* Returns whether another source is ready, or a new source was attached; FALSE within PROBE_INTERVAL of a poll. */
static gboolean
others_came (PrioLoop *loop, gint64 now)
{
  guint next;

  if (now < loop->input.next_probe)
    return FALSE;

  /* The call changes `last_source`, so it comes before the comparison. */
  next = prio_idle_next_source (loop);
  return next != loop->idles.last_source || input_waits (loop, now, G_MAXINT);
}

/* Returns the time until which the idle callback with @deadline, which runs on this thread, may continue, µs.  If
 * this time has passed, or a task or a source is ready, ends the period for all its callbacks, and returns 0.  A source
 * that has just been attached counts as ready, because only an iteration can find out. */
gint64
prio_loop_end_of_idle (const PrioIdleDeadline *deadline, gint64 now)
{
  PrioLoop *loop = deadline->loop;
  PrioBatch *batch = running_batch (loop);
  gint64 end = MIN (deadline->time, loop->idles.next);

  /* Entering the loop also carries out the operations of other threads, such as posts. */
  if (batch == NULL || !prio_loop_enter (loop))
    return deadline->time;
  prio_loop_leave (loop);

  end = prio_loop_end_of_time (loop, batch->entered, end - batch->entered);
  end = MIN (end, prio_due_next (&loop->due));
  if (loop->ready.mask != 0 || end <= now || others_came (loop, now))
    end_time (loop, batch);
  if (batch->over)
    end = 0;
  loop->idles.deadline = MIN (loop->idles.deadline, MAX (end, now));
  return end;
}

void
prio_loop_end_slice (PrioLoop *loop)
{
  PrioBatch *batch = running_batch (loop);

  end_time (loop, batch);
  prio_stopwatch_hurry (&loop->input.asked);
  /* Makes the batch look for other sources before it runs another task. */
  if (batch != NULL)
    prio_loop_look_between_tasks (loop);
}
