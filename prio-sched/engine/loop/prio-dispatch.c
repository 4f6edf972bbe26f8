/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dispatch.c: runs tasks */

#include "config.h"

#include "loop/prio-dispatch-private.h"

#include "loop/prio-current-private.h"
#include "loop/prio-idle-private.h"
#include "loop/prio-lending-private.h"
#include "loop/prio-observer-private.h"
#include "loop/prio-starvation-private.h"
#include "loop/prio-traits-private.h"

/* Queues the tasks whose delay has passed, and expires timeouts.  A task gets its age here, not when it is posted
 * (§2.4.2 of the WICG draft, steps 11 to 13). */
void
prio_loop_expire_delays_slow (PrioLoop *loop, gint64 now)
{
  PrioEntry *entry;

  while ((entry = prio_due_take (&loop->due.delays, now)) != NULL)
    {
      prio_run_queue_enqueue (entry);
      if (G_UNLIKELY (entry->is_observed))
        prio_observed_queued (entry);
    }
  prio_loop_expire_deadlines (loop, now);
}

/* Returns whether the head of @queue is still the next task of all schedulers, is not a task of a PrioRunner, and no
 * microtask or release comes before it.  Does not check the mailbox: choose () does so. */
static inline gboolean
is_still_next (PrioLoop *loop, PrioQueue *queue, PrioEffective effective)
{
  return prio_ready_is_alone (&loop->ready, queue, effective) && !loop->between.any && queue->head->func != prio_number_func;
}

/* Returns the state in which a task of @run_queue runs, or NULL for a task of the library. */
static inline const PrioState *
state_to_run_in (PrioRunQueue *run_queue, const PrioState *state)
{
  return !prio_run_queue_is_own (run_queue) ? state : NULL;
}

/* Runs jobs of @queue, at most `max`, while they are the next tasks and the stopwatch is not late.  Returns how many
 * have run.  Frees each record before the call of its function. */
static guint
run_jobs (PrioBatch *batch, PrioQueue *queue)
{
  PrioLoop *loop = batch->loop;
  PrioRunQueue *run_queue = queue->run_queue;
  PrioEffective effective = queue->effective;
  PrioState state = { .run_queue = run_queue, .priority = (gint8) prio_effective_priority (effective),
                      .depth = batch->depth };
  const PrioState *inner = state_to_run_in (run_queue, &state);
  const PrioState *outer = prio_thread.state;
  guint n = 0;

  prio_run_queue_hold (run_queue);
  prio_thread.state = inner;

  do
    {
      PrioJob *record = prio_queue_pop_job (queue);
      PrioJob job = *record;
      gboolean again;

      prio_ready_head_gone (&loop->ready, &run_queue->ready, queue);
      prio_loop_free_job (loop, record);
      n++;
      again = job.func (job.data);

      run_queue->users--;
      if (again)
        {
          prio_run_queue_append_job (run_queue, effective | 1, job.func, job.data, job.notify);
        }
      else if (job.notify != NULL)
        {
          prio_thread.state = outer;
          job.notify (job.data);
          prio_thread.state = inner;
        }
    }
  while (n < batch->max && is_still_next (loop, queue, effective) && !prio_stopwatch_is_late (&batch->watch));

  prio_thread.state = outer;
  prio_run_queue_release (run_queue);
  return n;
}

/* Carries out operations of other threads, so that an abort that was sent before a task's end still applies to it. */
static inline void
catch_up (PrioLoop *loop)
{
  if (G_UNLIKELY (prio_mailbox_state (&loop->mailbox) == PRIO_MAILBOX_FILLED))
    prio_loop_catch_up (loop);
}

/* How many deferred releases may wait until the end of the batch. */
#define MAX_LEFT_RELEASES 32

static void
process_pending_now (PrioLoop *loop)
{
  loop->between.any = FALSE;
  if (prio_loop_n_releases (loop) > MAX_LEFT_RELEASES || prio_loop_first_aborted (loop) != NULL)
    prio_loop_flush_releases (loop);
  prio_loop_checkpoint (loop);
}

/* Carries out operations of other threads.  Then makes releases if many wait, and runs microtasks.  Returns FALSE if
 * there were neither releases nor microtasks. */
static inline gboolean
process_pending (PrioLoop *loop)
{
  catch_up (loop);
  if (G_LIKELY (!loop->between.any))
    return FALSE;
  process_pending_now (loop);
  return TRUE;
}

/* Ends @entry, a task without a result, after its function.  If @again, queues @entry instead, unless aborted. */
static inline void
closure_ran (PrioEntry *entry, gboolean again)
{
  if (again && !prio_entry_is_aborted (entry))
    {
      prio_entry_go_on (entry);
      prio_run_queue_enqueue (entry);
      /* If observation began while the function ran, the observers do not know the entry yet. */
      if (G_UNLIKELY (prio_loop_is_observed (entry->run_queue->loop)))
        prio_loop_observing (entry->run_queue->loop)->added (entry, 0);
      return;
    }

  if (entry->job.notify != NULL)
    prio_loop_defer_release (entry->run_queue->loop, entry->job.notify, entry->job.data);
  prio_run_queue_release_entry (entry);
}

/* Returns the scheduling state for @entry, and makes the entry RUNNING. */
static G_ALWAYS_INLINE inline PrioState
begin_entry (PrioEntry *entry, gint depth)
{
  PrioState state = {
    .run_queue = entry->run_queue,
    .group = entry->abort,
    .priority = entry->follows != NULL ? PRIO_TASK_PRIORITY_UNSET : entry->priority,
    .takes_turns = (entry->turn & PRIO_ENTRY_TAKES_TURNS) != 0,
    .depth = depth,
  };

  prio_entry_begin (entry);
  return state;
}

/* Runs the microtasks that a call of an observed task's function has queued.  First queues the tasks whose delay has
 * passed, as a batch without observers does. */
static void
process_observed (PrioLoop *loop)
{
  if (!prio_loop_has_microtasks (loop))
    return;

  prio_loop_expire_delays (loop, prio_clock_now ());
  process_pending (loop);
}

/* Reports that the function of @entry, which is observed, has returned and will be called again.  Queues @entry. */
static void
yield_observed (PrioLoop *loop, PrioObservedTask *task, PrioEntry *entry)
{
  gboolean has_microtasks = prio_loop_has_microtasks (loop);
  g_autofree char *name = has_microtasks ? g_strdup (task->told.name) : NULL;
  PrioObserved step = task->told;

  if (has_microtasks)
    step.name = name;
  prio_entry_go_on (entry);
  prio_run_queue_enqueue (entry);
  prio_observed_yielded (entry, &step);
  if (has_microtasks)
    {
      process_observed (loop);
      prio_observed_microtasks_ran (loop, &step);
      prio_observed_forget_end (loop);
    }
}

/* Runs @entry, which is observed.  The microtasks that its function queues count as part of the task. */
static G_GNUC_NO_INLINE void
run_observed (PrioLoop *loop, PrioEntry *entry, const PrioState *outer)
{
  PrioObservedTask *task = prio_observed_begins (entry);

  if (task->told.kind == PRIO_OBSERVED_CLOSURE)
    {
      gboolean again = entry->job.func (entry->job.data);

      prio_thread.state = outer;
      if (again && !prio_entry_is_aborted (entry))
        {
          yield_observed (loop, task, entry);
          return;
        }
      if (task->was_job && entry->job.notify != NULL)
        g_steal_pointer (&entry->job.notify) (entry->job.data);
      prio_observed_leaves (task, entry);
      closure_ran (entry, FALSE);
      process_observed (loop);
    }
  else
    {
      gboolean continues = prio_entry_is_continuation (entry);

      entry->funcs->run (entry);
      prio_thread.state = outer;
      catch_up (loop);
      if (prio_loop_has_microtasks (loop))
        prio_loop_checkpoint (loop);
      prio_observed_leaves (task, entry);
      entry->funcs->ran (entry);
      /* If the task is the continuation of a yield, `ran` has called a callback, which may have queued microtasks. */
      if (continues)
        process_observed (loop);
    }
  prio_observed_ended (task);
}

/* Runs @entry, whose state is current already. */
static G_ALWAYS_INLINE inline void
run (PrioLoop *loop, PrioEntry *entry, const PrioState *outer)
{
  if (entry->funcs == &prio_closure_funcs)
    {
      gboolean again = entry->job.func (entry->job.data);

      prio_thread.state = outer;
      closure_ran (entry, again);
    }
  else
    {
      entry->funcs->run (entry);
      prio_thread.state = outer;
      catch_up (loop);
      /* After the checkpoint, `ran` settles the result and removes the abort steps (§2.4.2 of the WICG draft). */
      if (prio_loop_has_microtasks (loop))
        prio_loop_checkpoint (loop);
      entry->funcs->ran (entry);
    }
}

/* Runs an entry that is observed, lends its priority or has a timeout. */
static G_GNUC_NO_INLINE void
run_rare (PrioLoop *loop, PrioEntry *entry, PrioState *state, const PrioState *outer)
{
  if (entry->timed != PRIO_TIMED_NOT || state->run_queue->lends)
    prio_traits_begin (entry, state);
  if (entry->is_observed)
    run_observed (loop, entry, outer);
  else
    run (loop, entry, outer);
  prio_traits_end (state);
}

static G_ALWAYS_INLINE inline void
run_entry (PrioLoop *loop, PrioQueue *queue, gint depth)
{
  PrioEntry *entry = prio_queue_pop_entry (queue);
  const PrioState *outer = prio_thread.state;
  PrioState state;

  prio_run_queue_head_gone (queue->run_queue, queue);
  state = begin_entry (entry, depth);

  prio_thread.state = state_to_run_in (state.run_queue, &state);
  if (G_UNLIKELY (entry->timed != PRIO_TIMED_NOT || entry->is_observed || state.run_queue->lends))
    run_rare (loop, entry, &state, outer);
  else
    run (loop, entry, outer);
}

/* Runs entries of @queue, at most `max`, while they are next and the stopwatch is not late.  Returns their number. */
static guint
run_entries (PrioBatch *batch, PrioQueue *queue)
{
  PrioLoop *loop = batch->loop;
  PrioEffective effective = queue->effective;
  PrioRunQueue *run_queue = queue->run_queue;
  PrioGroup *group = ((PrioEntry *) queue->head)->follows;
  guint n = 0;

  /* A boosted entry (prio-lending) is alone in its queue, so only one entry runs.  The boost ends before it runs. */
  if (G_UNLIKELY (((PrioEntry *) queue->head)->boosted))
    {
      prio_lending_rejoin ((PrioEntry *) queue->head);
      batch->max = 1;
    }

  /* Keeps the queue valid: it is a field of the run queue or of the group. */
  prio_run_queue_hold (run_queue);
  if (group != NULL)
    prio_group_hold (group);

  do
    {
      run_entry (loop, queue, batch->depth);
      n++;
    }
  while (n < batch->max && queue->effective == effective && is_still_next (loop, queue, effective) &&
         !prio_stopwatch_is_late (&batch->watch));

  if (group != NULL)
    prio_group_release (group);
  prio_run_queue_release (run_queue);
  return n;
}

/* Adapts the batch's time to the slice of @run_queue, whose task is next. */
static void
adapt_slice (PrioBatch *batch, PrioRunQueue *run_queue)
{
  gint64 raw = prio_run_queue_get_slice (run_queue);
  gboolean is_set;

  if (batch->raw == raw)
    return;

  batch->raw = raw;
  batch->shortest = MIN (batch->shortest, prio_loop_get_slice (batch->loop, run_queue, &is_set));
  batch->allowance = prio_turn_allowance (&batch->loop->turn, batch->shortest, is_set);
  batch->look = prio_turn_look (&batch->loop->turn, batch->allowance);
}

/* Prepares for the next task, in @queue, which has another effective priority than the last task. */
static inline void
turn_to (PrioBatch *batch, PrioQueue *queue)
{
  if (prio_lane_of (queue->effective) == PRIO_LANE_BACKGROUND)
    batch->loop->turn.background_since = 0;
  /* Tasks of another priority may take longer. */
  prio_stopwatch_hurry (&batch->watch);
  batch->effective = queue->effective;
}

static G_ALWAYS_INLINE inline void
count (PrioBatch *batch, guint n)
{
  gint64 now = prio_stopwatch_lap (&batch->watch, n);

  batch->begun = TRUE;
  if (now == 0)
    return;

  batch->now = now;
  prio_loop_expire_delays (batch->loop, now);
  if (now >= prio_loop_end_of_time (batch->loop, batch->start, batch->look))
    batch->over = TRUE;
}

/* Counts the time that microtasks and releases took.  Before the first task, ends the batch if input goes first:
 * because they have taken long, or because a dispatch in a nested main loop has let input go first. */
static void
count_pending (PrioBatch *batch)
{
  if (batch->begun)
    count (batch, 0);
  else
    batch->over = batch->loop->turn.held || prio_turn_is_held (&batch->loop->turn, prio_clock_now () - batch->entered);
}

/* Does pending work: operations of other threads, microtasks and releases.  Then returns the queue of the next
 * task, or NULL if the batch ends: its time is over, or no task that it may run is next. */
static PrioQueue *
choose (PrioBatch *batch)
{
  PrioLoop *loop = batch->loop;
  PrioQueue *queue;

  prio_thread.runs_jobs = FALSE;
  /* Runs jobs of interpreters, such as JavaScript's promise jobs.  A PrioRunner runs them itself between its tasks. */
  if (G_UNLIKELY (loop->checkpoint_func != NULL) && batch->numbers == NULL)
    {
      process_pending (loop);
      loop->checkpoint_func (loop);
    }
  if (process_pending (loop))
    count_pending (batch);
  if (batch->over || (batch->begun && (batch->raw == 0 || loop->turn.others != batch->within)))
    return NULL;

  queue = prio_ready_first (&loop->ready);
  if (queue == NULL || prio_lane_of (queue->effective) < batch->lane)
    return NULL;
  /* If a new task waits behind a continuation of its priority, chooses the new task after it has waited too long. */
  if (G_UNLIKELY ((queue->effective & loop->ready.mask << 1 >> queue->effective & 1) != 0))
    queue = prio_starvation_relieve (&loop->ready, queue, batch->now);
  if (G_UNLIKELY (batch->within) && queue->run_queue->outer == NULL)
    return NULL;

  if (batch->effective != queue->effective)
    turn_to (batch, queue);
  adapt_slice (batch, queue->run_queue);
  loop->input.asked = (PrioStopwatch) { .read = batch->watch.read, .stride = 1, .left = 1 };
  prio_observed_forget_end (loop);
  return queue;
}

/* Sets how many tasks may run before the stopwatch counts them, or the jobs of an interpreter run.  Returns @batch. */
static inline PrioBatch *
limit (PrioBatch *batch)
{
  batch->max = batch->raw == 0 || batch->loop->checkpoint_func != NULL ? 1 : prio_stopwatch_allows (&batch->watch);
  return batch;
}

static guint
begin_number (PrioBatch *batch, PrioQueue *queue)
{
  PrioLoop *loop = batch->loop;
  guint id;

  batch->running = TRUE;
  if (queue->kind == PRIO_QUEUE_ENTRIES)
    {
      if (G_UNLIKELY (((PrioEntry *) queue->head)->boosted))
        prio_lending_rejoin ((PrioEntry *) queue->head);
      batch->entry = prio_queue_pop_entry (queue);
      batch->state = begin_entry (batch->entry, batch->depth);
      if (G_UNLIKELY (batch->entry->timed != PRIO_TIMED_NOT))
        prio_traits_begin (batch->entry, &batch->state);
      id = batch->entry->job.id;
      prio_numbers_forget (batch->numbers, id);
    }
  else
    {
      PrioJob *job = prio_queue_pop_job (queue);

      batch->entry = NULL;
      batch->state = (PrioState) { .run_queue = queue->run_queue,
                                   .priority = (gint8) prio_effective_priority (queue->effective),
                                   .depth = batch->depth };
      id = job->id;
      prio_loop_free_job (loop, job);
    }

  prio_run_queue_head_gone (queue->run_queue, queue);
  prio_thread.state = &batch->state;
  if (G_UNLIKELY (batch->entry != NULL && batch->entry->is_observed))
    batch->observed = prio_observed_begins (batch->entry);
  return id;
}

/* Runs microtasks, and ends the running task of a PrioRunner.  Returns whether it was aborted while it ran. */
static gboolean
end_number (PrioBatch *batch)
{
  PrioLoop *loop = batch->loop;
  gboolean aborted = FALSE;

  prio_thread.runs_jobs = FALSE;
  if (!batch->running)
    return FALSE;

  prio_thread.state = batch->outer_state;
  catch_up (loop);
  if (prio_loop_has_microtasks (loop))
    prio_loop_checkpoint (loop);

  batch->running = FALSE;
  if (batch->entry != NULL)
    {
      prio_traits_end (&batch->state);
      aborted = prio_entry_is_aborted (batch->entry);
      if (G_UNLIKELY (batch->observed != NULL))
        prio_observed_leaves (batch->observed, batch->entry);
      /* In prio_numbers_run_in (), keeps an aborted entry: it ends after the function of its task. */
      if (batch->numbers != NULL || !aborted)
        prio_run_queue_release_entry (batch->entry);
      if (G_UNLIKELY (batch->observed != NULL))
        prio_observed_ended (g_steal_pointer (&batch->observed));
    }
  else
    {
      prio_run_queue_release (batch->state.run_queue);
      prio_numbers_release (batch->numbers);
    }
  return aborted;
}

/* Ends the running task of a PrioRunner, unless it has ended already.  Returns whether it was aborted while it ran. */
gboolean
prio_numbers_end (void)
{
  PrioBatch *batch = prio_thread.batch;

  g_return_val_if_fail (batch != NULL && (batch->numbers != NULL || batch->entry != NULL), FALSE);

  return end_number (batch);
}

/* Ends the running task of a PrioRunner.  If the batch continues, and the next task belongs to the same runner, begins
 * that task and returns its number; otherwise returns 0. */
guint
prio_numbers_next (void)
{
  PrioBatch *batch = prio_thread.batch;
  PrioQueue *queue;

  prio_numbers_end ();
  if (batch == NULL || batch->numbers == NULL)
    return 0;
  count (batch, 1);
  queue = choose (batch);
  return queue != NULL && prio_numbers_of (queue->head) == batch->numbers ? begin_number (batch, queue) : 0;
}

/* Calls the runner's function with @id for the task of @entry.  In this call, prio_numbers_next () returns 0. */
void
prio_numbers_run_in (PrioRunner *self, guint id, PrioEntry *entry)
{
  PrioBatch *batch = prio_thread.batch;

  batch->running = TRUE;
  batch->entry = entry;
  batch->state.traits = NULL;
  batch->outer_state = NULL;
  self->func (id, self->data);
  batch->running = FALSE;
  batch->entry = NULL;
}

/* Runs the task at the head of @queue, which belongs to a PrioRunner, and the tasks of the runner that follow it. */
static void
run_numbers (PrioBatch *batch, PrioQueue *queue)
{
  PrioRunner *runner = batch->numbers = queue->head->data;

  /* Keeps the runner open while its function runs. */
  prio_numbers_hold (runner);
  batch->outer_state = prio_thread.state;
  runner->func (begin_number (batch, queue), runner->data);

  /* Ends the last task, unless prio_numbers_next () or prio_numbers_end () has done so. */
  if (batch->running)
    {
      end_number (batch);
      count (batch, 1);
    }
  batch->numbers = NULL;
  batch->entry = NULL;
  prio_numbers_release (runner);
}

void
prio_loop_set_checkpoint_func (PrioLoop *loop, PrioCheckpointFunc func)
{
  loop->checkpoint_func = func;
}

static void
account (const PrioBatch *batch)
{
  PrioLoop *loop = batch->loop;

  prio_turn_announce_frame (&loop->turn, prio_loop_peek_next_frame (loop));
  if (batch->within && loop->turn.others)
    prio_turn_continued (&loop->turn, batch->now - batch->entered);
  else
    prio_turn_tasks_ran (&loop->turn, batch->now, batch->now - batch->entered, batch->shortest, batch->over);
}

static void
account_for_none (const PrioBatch *batch)
{
  PrioLoop *loop = batch->loop;

  loop->turn.granted = batch->over;
  prio_loop_ran_no_task (loop);
  if (batch->lane <= PRIO_LANE_BACKGROUND)
    loop->turn.background_since = 0;
}

/* Runs tasks of @lane or above, in order, until no such task is next or the time is over.  In the lane of idle
 * callbacks, then runs one of them if no task is ready. */
void
prio_loop_run_batch (PrioLoop *loop, PrioLane lane, gint64 now)
{
  PrioBatch batch = { .outer = prio_thread.batch, .loop = loop, .lane = lane, .depth = g_main_depth (),
                      .entered = now, .start = now - MIN (loop->turn.spent, now), .now = now,
                      .effective = PRIO_NO_LEVEL, .raw = G_MAXINT64, .shortest = G_MAXINT64,
                      .within = loop->turn.others };
  PrioCurrent outer_current = prio_current_begin (loop);
  /* A destroy notify may run this main loop.  Hides the call of prio_loop_flush_releases () that calls the notify, so
   * that this batch can make releases. */
  struct _PrioFlush *outer_flushes = g_steal_pointer (&prio_thread.flushes);
  PrioQueue *queue;
  const PrioOwnerLock *outer_lock = prio_thread.dispatches;

  prio_thread.dispatches = &loop->lock;
  prio_thread.batch = &batch;
  /* If this main loop is nested in a checkpoint, the remaining microtasks run in this batch. */
  if (prio_loop_has_microtasks (loop))
    loop->between.any = TRUE;
  prio_stopwatch_start (&batch.watch, now);
  if (G_UNLIKELY (prio_loop_is_observed (loop)))
    prio_observed_batch_begins (loop, now);
  loop->input.asked = batch.watch;

  while ((queue = choose (&batch)) != NULL)
    {
      if (queue->head->func == prio_number_func)
        run_numbers (&batch, queue);
      else if (queue->kind == PRIO_QUEUE_JOBS)
        count (&batch, run_jobs (limit (&batch), queue));
      else
        count (&batch, run_entries (limit (&batch), queue));
    }

  if (lane == PRIO_LANE_IDLE && loop->ready.mask == 0)
    prio_idle_run (loop, batch.now);

  process_pending (loop);
  if (G_UNLIKELY (loop->ready.starves != 0))
    prio_starvation_warn (&loop->ready);
  if (G_UNLIKELY (prio_loop_is_observed (loop)))
    prio_observed_batch_ended (loop, lane, batch.entered, batch.over);
  if (batch.begun)
    account (&batch);
  else
    account_for_none (&batch);
  prio_thread.batch = batch.outer;
  prio_thread.dispatches = outer_lock;
  prio_thread.runs_jobs = FALSE;
  prio_current_end (loop, outer_current);
  if (prio_loop_has_releases (loop))
    prio_loop_flush_releases (loop);
  if (loop->ready.mask == 0)
    prio_loop_trim (loop);
  prio_thread.flushes = outer_flushes;
  if (batch.over && prio_frames_look != NULL)
    prio_frames_look (batch.now);
}
