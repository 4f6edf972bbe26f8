/* prio-dispatch-counts.c: counts the tasks that a batch runs
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-dispatch-counts-private.h"

#include "loop/prio-lending-private.h"

/* What follows was queued at other times. */
static void
forget_ages (PrioLoop *loop)
{
  loop->ages->span = 0;
}

static gint64
read_clock (PrioLoop *loop)
{
  gint64 now = prio_clock_now ();

  prio_loop_note_time (loop, now);
  return now;
}

static void
begin (PrioBatch *batch, gint64 now)
{
  batch->effective = PRIO_COUNTING;
  *batch->lot = (PrioLot) { .since = now, .level = PRIO_NO_LEVEL };
  batch->loop->n_lots++;
  forget_ages (batch->loop);
}

/* @batch begins, and tasks of its loop may be counted. */
void
prio_batch_count_from (PrioBatch *batch, gint64 now)
{
  PrioLoop *loop = batch->loop;

  if (loop->n_collect == 0 && loop->n_lots == 0)
    {
      g_clear_pointer (&loop->ages, g_free);
      return;
    }
  prio_loop_note_time (loop, now);
  begin (batch, now);
}

static void
set_counts (PrioLot *lot, PrioCounts *counts)
{
  PrioCounts *before = lot->counts;

  lot->counts = counts != NULL ? prio_counts_ref (counts) : NULL;
  if (before != NULL)
    prio_counts_unref (before);
}

/* @batch has run its last task. */
void
prio_batch_count_to_end (PrioBatch *batch)
{
  PrioLot *lot = batch->lot;

  lot->running = FALSE;
  if (lot->n_begun != lot->n_timed)
    prio_lot_close (lot, lot->read != 0 && !lot->pending ? lot->read : read_clock (batch->loop));
  set_counts (lot, NULL);
  batch->effective = PRIO_NO_LEVEL;
  batch->loop->n_lots--;
  forget_ages (batch->loop);
}

/* The clock has been read after a task. */
void
prio_batch_count_reading (PrioBatch *batch, gint64 now)
{
  prio_loop_note_time (batch->loop, now);
  batch->lot->read = now;
  batch->lot->pending = batch->loop->has_pending;
}

/* The next task belongs to a lot of @counts. */
static void
enter_lot (PrioBatch *batch, PrioCounts *counts, PrioTaskPriority priority, gboolean continuation)
{
  PrioLot *lot = batch->lot;
  guint8 index = (guint8) prio_count_index (priority);

  if (lot->counts != counts || lot->priority != index || lot->continuation != continuation)
    {
      if (lot->n_begun != lot->n_timed)
        prio_lot_close (lot, read_clock (batch->loop));
      set_counts (lot, counts);
      lot->priority = index;
      lot->continuation = (guint8) continuation;
    }
  lot->running = TRUE;
}

/* The jobs of @queue are next, or its task ids. */
void
prio_batch_count_jobs (PrioBatch *batch, PrioQueue *queue)
{
  enter_lot (batch, queue->run_queue->counts, prio_effective_priority (queue->effective), queue->effective & 1);
}

/* A counted job yields: @job is what it was.  It is here so that the dispatch has no second copy of what this calls. */
void
prio_batch_append_again (PrioRunQueue *run_queue, PrioEffective effective, const PrioJob *job)
{
  prio_run_queue_append_job (run_queue, effective | 1, job->func, job->data, job->notify);
}

/* @entry is next.  One that is observed is timed by itself. */
void
prio_batch_count_entry (PrioBatch *batch, PrioEntry *entry)
{
  gboolean counts = !entry->is_observed && entry->use != PRIO_ENTRY_OF_LIBRARY;

  enter_lot (batch, counts ? entry->run_queue->counts : NULL, prio_lending_get_own (entry), entry->continuation);
  prio_lot_add (batch->lot, batch->loop->ages, entry->job.order);
}

/* The task id at the head of @queue is next. */
static void
count_id (PrioBatch *batch, PrioQueue *queue)
{
  if (queue->kind == PRIO_QUEUE_ENTRIES)
    {
      prio_batch_count_entry (batch, (PrioEntry *) queue->head);
      return;
    }
  prio_batch_count_jobs (batch, queue);
  prio_lot_add (batch->lot, batch->loop->ages, queue->head->order);
}

/* What was to be done after the last task has been done, and the next one is in @queue. */
void
prio_batch_count_next (PrioBatch *batch, PrioQueue *queue)
{
  PrioLot *lot = batch->lot;
  PrioIdQueue *ids = prio_id_queue_of_head (queue);

  lot->running = FALSE;
  if (lot->level != queue->effective)
    prio_stopwatch_hurry (&batch->watch);
  lot->level = queue->effective;
  if (lot->read != 0)
    prio_lot_close (lot, lot->pending ? read_clock (batch->loop) : lot->read);

  /* It begins, unless it is of another runner than the one whose function asks for its next. */
  if (ids != NULL && (batch->ids == NULL || batch->ids == ids))
    count_id (batch, queue);
}

/* @task, whose entry is @entry, has begun. */
void
prio_observed_begin_run (PrioObservedTask *task, PrioEntry *entry)
{
  PrioLoop *loop = entry->run_queue->loop;

  task->counts = entry->run_queue->counts;
  if (task->counts != NULL && task->told.queued == 0)
    {
      prio_ages_find (loop->ages, entry->job.order);
      task->waited_since = loop->ages->time;
      forget_ages (loop);
    }
  else
    {
      task->waited_since = task->told.queued;
    }
}

/* A run of @task, of which this was told, has ended at @now.  Its run queue is held by who runs it. */
static void
count_observed (const PrioObservedTask *task, gint64 now)
{
  const PrioObserved *told = &task->told;

  if (task->counts != NULL && task->counts == ((const PrioRunQueue *) told->scheduler)->counts)
    prio_counts_ran (task->counts, prio_count_index ((PrioTaskPriority) told->priority), told->continuation,
                     told->begun - task->waited_since, now - told->begun);
}

/* Tells that it yields: @step is this run, as it is told of. */
void
prio_observed_yield_run (PrioObservedTask *task, const PrioObserved *step)
{
  count_observed (task, prio_observed_yields (task, step));
}

/* Tells that it has ended. */
void
prio_observed_end_run (PrioObservedTask *task)
{
  PrioObservedTask run = *task;

  count_observed (&run, prio_observed_ended (task));
}

/* The next batch from @batch on, of those that this thread is in, which counts tasks in @counts; or NULL. */
static PrioBatch *
find_batch (PrioBatch *batch, const PrioCounts *counts)
{
  while (batch != NULL && (batch->effective != PRIO_COUNTING || batch->lot->counts != counts))
    batch = batch->outer;
  return batch;
}

/* How many tasks of the lot of @batch run: 0 or 1. */
static guint
count_running (const PrioBatch *batch)
{
  return batch->lot->running && (batch->ids == NULL || batch->running);
}

static void
share_counts (PrioRunQueue *run_queue, PrioCounts *counts)
{
  prio_counts_share (run_queue, counts);
  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    prio_counts_share (part, counts);
}

/* From now on what runs is counted, in the batches that have begun too. */
static void
begin_counting (PrioLoop *loop)
{
  gint64 now = prio_clock_now ();

  if (loop->ages == NULL)
    loop->ages = prio_ages_new (loop->next_order, now);
  loop->n_collect++;
  for (PrioBatch *batch = prio_thread.batch; batch != NULL; batch = batch->outer)
    {
      if (batch->loop == loop && batch->effective != PRIO_COUNTING)
        begin (batch, now);
    }
}

/* Begins to count the tasks of @run_queue and of its parts, from 0, or ends that. */
void
prio_run_queue_set_collects (PrioRunQueue *run_queue, gboolean collects)
{
  PrioLoop *loop = run_queue->loop;
  PrioCounts *before = run_queue->counts;

  if (collects == (before != NULL) || prio_loop_is_dead (loop))
    return;

  if (collects)
    {
      PrioCounts *counts = prio_counts_new ();

      begin_counting (loop);
      share_counts (run_queue, counts);
      g_clear_pointer (&run_queue->counted, prio_counts_unref);
      run_queue->counted = counts;
    }
  else
    {
      for (PrioBatch *batch = prio_thread.batch; (batch = find_batch (batch, before)) != NULL; batch = batch->outer)
        {
          prio_lot_count_ended (batch->lot, count_running (batch));
          set_counts (batch->lot, NULL);
        }
      share_counts (run_queue, NULL);
      loop->n_collect--;
    }

  /* Those that run now are not followed by others before these batches have looked again. */
  for (PrioBatch *batch = prio_thread.batch; batch != NULL; batch = batch->outer)
    batch->max = 0;
}

void
prio_run_queue_reset_counts (PrioRunQueue *run_queue)
{
  PrioCounts *counts = run_queue->counted;
  gint64 now = prio_clock_now ();

  if (counts == NULL)
    return;

  for (PrioBatch *batch = prio_thread.batch; (batch = find_batch (batch, counts)) != NULL; batch = batch->outer)
    {
      PrioLot *lot = batch->lot;

      lot->n_timed = lot->n_begun - count_running (batch);
      lot->n_waited = lot->n_begun;
      lot->since = now;
    }
  *counts = (PrioCounts) { 0 };
}

/* What has been counted, with those that have ended since the clock was read, but without their times. */
void
prio_run_queue_copy_counts (PrioRunQueue *run_queue, PrioCounts *copy)
{
  if (run_queue->counted == NULL)
    {
      *copy = (PrioCounts) { 0 };
      return;
    }

  *copy = *run_queue->counted;
  for (PrioBatch *batch = prio_thread.batch; (batch = find_batch (batch, run_queue->counted)) != NULL;
       batch = batch->outer)
    {
      PrioLot lot = *batch->lot;

      lot.counts = copy;
      prio_lot_count_ended (&lot, count_running (batch));
    }
}
