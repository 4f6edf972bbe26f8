/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-run-queue.c: the run queue: the part of a scheduler that its tasks need */

#include "config.h"

#include "loop/prio-run-queue-private.h"

#include "base/prio-list-private.h"
#include "loop/prio-lending-private.h"

#include <string.h>

static void
op_add_run_queue (PrioLoop *loop, const PrioOp *op)
{
  PrioRunQueue *run_queue = op->target;

  PRIO_LIST_PREPEND (loop->run_queues.first, run_queue, next, prev);
}

static PrioRunQueue *
run_queue_alloc (PrioLoop *loop)
{
  PrioRunQueue *run_queue = g_new0 (PrioRunQueue, 1);

  run_queue->loop = loop;
  run_queue->slice = PRIO_ADAPTIVE_SLICE;
  run_queue->starvation_limit = PRIO_DEFAULT_STARVATION_LIMIT;
  run_queue->users = 1;
  prio_ready_group_init (&run_queue->ready);
  run_queue->scheduler = g_atomic_rc_box_new (GWeakRef);
  g_weak_ref_init (run_queue->scheduler, NULL);
  for (guint i = 0; i < PRIO_N_EFFECTIVE; i++)
    {
      prio_queue_init (&run_queue->jobs[i], run_queue, i, PRIO_QUEUE_JOBS);
      prio_queue_init (&run_queue->entries[i], run_queue, i, PRIO_QUEUE_ENTRIES);
    }
  prio_queue_init (&run_queue->expired, run_queue, PRIO_EFFECTIVE_EXPIRED, PRIO_QUEUE_ENTRIES);
  return run_queue;
}

/* Creates a run queue, which takes over the caller's use of @loop (prio_loop_acquire ()). */
PrioRunQueue *
prio_run_queue_new (PrioLoop *loop)
{
  PrioRunQueue *run_queue = run_queue_alloc (loop);

  prio_loop_submit (run_queue->loop, &(PrioOp) { .apply = op_add_run_queue, .target = run_queue });
  return run_queue;
}

/* Returns the run queue for the library's own tasks.  It has no scheduler, so it cannot be paused.  It does not keep
 * @loop alive, and is freed with the loop. */
PrioRunQueue *
prio_run_queue_own (PrioLoop *loop)
{
  if (loop->run_queues.own == NULL)
    loop->run_queues.own = run_queue_alloc (loop);
  return loop->run_queues.own;
}

static void
release_scheduler (GWeakRef *scheduler)
{
  g_atomic_rc_box_release_full (scheduler, (GDestroyNotify) g_weak_ref_clear);
}

static void
run_queue_clear (PrioRunQueue *run_queue)
{
  prio_ready_group_clear (&run_queue->ready);
  prio_heap_clear (&run_queue->late);
  release_scheduler (run_queue->scheduler);
  g_clear_pointer (&run_queue->record, g_atomic_rc_box_release);
  g_free (run_queue);
}

void
prio_run_queue_free_own (PrioLoop *loop)
{
  g_clear_pointer (&loop->run_queues.own, run_queue_clear);
}

static void
run_queue_free (gpointer data)
{
  PrioRunQueue *run_queue = data;

  prio_loop_release (run_queue->loop);
  run_queue_clear (run_queue);
}

/* Sets the loop's task share to the largest share of its schedulers, after a share has changed. */
void
prio_run_queues_update_task_share (PrioLoop *loop, const PrioOp *op G_GNUC_UNUSED)
{
  guint share = 0;

  for (PrioRunQueue *run_queue = loop->run_queues.first; run_queue != NULL; run_queue = run_queue->next)
    share = MAX (share, __atomic_load_n (&run_queue->task_share, __ATOMIC_RELAXED));

  prio_turn_set_task_share (&loop->turn, share);
}

void
prio_run_queue_end (PrioRunQueue *run_queue)
{
  PrioLoop *loop = run_queue->loop;

  PRIO_LIST_REMOVE (loop->run_queues.first, run_queue, next, prev);
  if (G_UNLIKELY (run_queue->task_share != 0))
    prio_run_queues_update_task_share (loop, NULL);
  prio_ready_evict (&loop->ready);
  prio_loop_defer_release (loop, run_queue_free, run_queue);
}

/* Holds back the tasks of @run_queue if it is paused or full, or a part of a paused one; otherwise lets them run.
 * Does nothing at the end of the context, so that the ready set finds all tasks.  Visits neither queues nor tasks. */
static void
update_paused (PrioRunQueue *run_queue)
{
  gboolean paused = run_queue->paused || run_queue->full || (run_queue->outer != NULL && run_queue->outer->paused);

  if (!prio_loop_is_dead (run_queue->loop))
    prio_ready_set_paused (&run_queue->loop->ready, &run_queue->ready, paused);
}

void
prio_run_queue_tell_paused (PrioRunQueue *run_queue, gboolean paused)
{
  if (G_UNLIKELY (prio_loop_is_observed (run_queue->loop)))
    prio_loop_observing (run_queue->loop)->paused (run_queue, paused);
}

void
prio_run_queue_set_paused (PrioRunQueue *run_queue, gboolean paused)
{
  run_queue->paused = paused;
  update_paused (run_queue);
  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    update_paused (part);
}

/* Holds back the tasks of @run_queue if @full, and otherwise lets them run unless the program has paused them.  Also
 * works after the scheduler has been finalized. */
void
prio_run_queue_set_full (PrioRunQueue *run_queue, gboolean full)
{
  run_queue->full = full;
  update_paused (run_queue);
}

gpointer
prio_run_queue_get_record (PrioRunQueue *run_queue)
{
  return __atomic_load_n (&run_queue->record, __ATOMIC_ACQUIRE);
}

gpointer
prio_run_queue_set_record (PrioRunQueue *run_queue, gpointer record)
{
  gpointer other = NULL;

  if (__atomic_compare_exchange_n (&run_queue->record, &other, record, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return record;
  g_atomic_rc_box_release (record);
  return other;
}

/* Shares the statistics' record of @run_queue with @part, which keeps the record even after leaving @run_queue. */
static void
share_record (PrioRunQueue *run_queue, PrioRunQueue *part)
{
  gpointer record = prio_run_queue_get_record (run_queue);

  if (record != NULL && part->record == NULL)
    part->record = g_atomic_rc_box_acquire (record);
}

void
prio_run_queue_share_record (PrioRunQueue *run_queue)
{
  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    share_record (run_queue, part);
}

static void
op_add_part (PrioLoop *loop, const PrioOp *op)
{
  PrioRunQueue *part = op->target, *outer = part->outer;

  op_add_run_queue (loop, op);
  prio_run_queue_hold (outer);
  __atomic_store_n (&part->slice, prio_run_queue_get_slice (outer), __ATOMIC_RELAXED);
  part->lends = outer->lends;
  share_record (outer, part);
  PRIO_LIST_PREPEND (outer->parts, part, next_part, prev_part);
  update_paused (part);
}

/* Creates a part of @outer: its tasks count as tasks of @outer, and are paused with it, but can be held back alone. */
PrioRunQueue *
prio_run_queue_new_part (PrioRunQueue *outer)
{
  /* Uses the loop of @outer, even if this loop has ended and the context has a new one. */
  PrioRunQueue *part = run_queue_alloc (prio_loop_ref (outer->loop));

  __atomic_add_fetch (&part->loop->n_users, 1, __ATOMIC_RELAXED);
  release_scheduler (part->scheduler);
  part->scheduler = g_atomic_rc_box_acquire (outer->scheduler);
  part->outer = outer;
  prio_loop_submit (part->loop, &(PrioOp) { .apply = op_add_part, .target = part });
  return part;
}

static void
op_drop_part (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  PrioRunQueue *part = op->target, *outer = g_steal_pointer (&part->outer);

  PRIO_LIST_REMOVE (outer->parts, part, next_part, prev_part);
  prio_run_queue_release (outer);
  prio_run_queue_release (part);
}

/* Detaches @part, which has no tasks, from its outer run queue, and drops the creator's reference to @part.  Any
 * thread may call this function. */
void
prio_run_queue_drop_part (PrioRunQueue *part)
{
  prio_loop_submit (part->loop, &(PrioOp) { .apply = op_drop_part, .target = part });
}

/* Resumes all run queues at the end of the context, so that the ready set finds all queued tasks. */
void
prio_run_queues_resume (PrioLoop *loop)
{
  for (PrioRunQueue *run_queue = loop->run_queues.first; run_queue != NULL; run_queue = run_queue->next)
    prio_ready_set_paused (&loop->ready, &run_queue->ready, FALSE);
}

static void
closure_aborted (PrioEntry *entry)
{
  prio_loop_defer_release (entry->run_queue->loop, entry->job.notify, entry->job.data);
  prio_run_queue_release_entry (entry);
}

static void
closure_released (PrioEntry *entry)
{
  prio_loop_free_entry (entry->run_queue->loop, entry);
}

/* The functions of closures: tasks without a result.  The dispatch calls their GSourceFunc, so `run` is NULL. */
const PrioEntryFuncs prio_closure_funcs = {
  .aborted = closure_aborted,
  .released = closure_released,
};

/* Returns an entry for a task without a result, a closure.  The caller sets its priority and groups. */
PrioEntry *
prio_run_queue_new_entry (PrioRunQueue *run_queue, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  PrioEntry *entry = prio_loop_alloc_entry (run_queue->loop);

  /* Compilers generate better code if the job is set separately. */
  entry->job = (PrioJob) { .func = func, .data = data, .notify = notify };
  memset (&entry->job + 1, 0, sizeof *entry - sizeof entry->job);
  entry->run_queue = run_queue;
  entry->funcs = &prio_closure_funcs;
  return entry;
}

/* Returns the queue in which @entry is or would be, unless its timeout has passed. */
static inline PrioQueue *
queue_of (PrioEntry *entry)
{
  if (G_UNLIKELY (entry->boosted))
    return prio_lending_get_queue (entry);
  if (entry->follows != NULL)
    return &entry->follows->queues[entry->turn & PRIO_ENTRY_GOES_ON];
  return &entry->run_queue->entries[prio_effective (entry->priority, entry->turn & PRIO_ENTRY_GOES_ON)];
}

static inline void
append (PrioEntry *entry)
{
  PrioRunQueue *run_queue = entry->run_queue;
  PrioQueue *queue = queue_of (entry);

  entry->job.order = prio_loop_next_order (run_queue->loop);
  if (prio_queue_append_entry (queue, entry))
    prio_run_queue_make_ready (run_queue, queue);
}

/* Appends @entry, which is QUEUED and has a timeout, to the queue of its priority. */
void
prio_entry_append (PrioEntry *entry)
{
  if (G_UNLIKELY (entry->lends))
    prio_lending_prepare (entry);
  append (entry);
}

/* Adds @entry to its queue, and makes the entry QUEUED (§2.4.1 of the WICG draft). */
void
prio_run_queue_enqueue (PrioEntry *entry)
{
  if (G_UNLIKELY (entry->timed != PRIO_TIMED_NOT))
    {
      prio_entry_move (entry, PRIO_ENTRY_QUEUED);
      prio_run_queue_enqueue_timed (entry);
      return;
    }
  if (G_UNLIKELY (entry->lends))
    prio_lending_prepare (entry);
  prio_entry_move (entry, PRIO_ENTRY_QUEUED);
  append (entry);
}

/* Adds @entry, which takes over the caller's use of its groups.  Enqueues it, or delays it until @due if not 0. */
void
prio_run_queue_add (PrioEntry *entry, gint64 due)
{
  PrioLoop *loop = entry->run_queue->loop;

  prio_run_queue_hold (entry->run_queue);
  if (entry->abort != NULL)
    {
      g_assert (!entry->abort->aborted);
      prio_group_add (entry->abort, entry);
    }
  if (entry->follows != NULL && entry->follows != entry->abort)
    entry->follows->n_foreign++;

  if (due == 0)
    {
      prio_run_queue_enqueue (entry);
    }
  else
    {
      prio_entry_move (entry, PRIO_ENTRY_DELAYED);
      prio_due_add_delayed (&loop->due, entry, due);
    }
  if (G_UNLIKELY (prio_loop_is_observed (loop)))
    prio_loop_observing (loop)->added (entry, due);
}

void
prio_run_queue_unlink (PrioEntry *entry)
{
  PrioQueue *queue = queue_of (entry);
  gboolean was_head = queue->head == &entry->job;

  prio_queue_unlink (queue, entry);
  if (was_head && prio_ready_contains (queue))
    prio_run_queue_head_gone (entry->run_queue, queue);
}

/* Removes @entry from its queue or from the heap of delays, and makes it DROPPED.  Does nothing if it is DROPPED. */
void
prio_run_queue_dequeue (PrioEntry *entry)
{
  switch (prio_entry_get_state (entry))
    {
    case PRIO_ENTRY_DROPPED:
      return;

    case PRIO_ENTRY_DELAYED:
      prio_due_remove (&entry->run_queue->loop->due.delays, entry);
      break;

    case PRIO_ENTRY_QUEUED:
      if (G_UNLIKELY (entry->timed != PRIO_TIMED_NOT))
        prio_run_queue_dequeue_timed (entry);
      else
        prio_run_queue_unlink (entry);
      break;

    default:
      g_assert_not_reached ();
    }
  prio_entry_move (entry, PRIO_ENTRY_DROPPED);
  if (G_UNLIKELY (entry->boosted))
    prio_lending_rejoin (entry);
}

/* Ends @entry, which has run or is DROPPED.  Releases its groups and its run queue, and lets the module that created
 * the entry free the record. */
void
prio_run_queue_release_entry (PrioEntry *entry)
{
  gboolean is_listed = prio_entry_get_state (entry) != PRIO_ENTRY_REJECTED;
  PrioRunQueue *run_queue = entry->run_queue;
  PrioGroup *abort, *follows;

  prio_entry_move (entry, PRIO_ENTRY_DONE);
  abort = g_steal_pointer (&entry->abort);
  follows = g_steal_pointer (&entry->follows);

  if (abort != NULL)
    {
      if (is_listed)
        prio_group_remove (abort, entry);
      prio_group_release (abort);
    }
  if (follows != NULL)
    {
      if (follows != abort)
        follows->n_foreign--;
      prio_group_release (follows);
    }

  /* Most entries are closures, so the function of closures is inlined here and in prio_run_queue_abort_entry (). */
  if (entry->funcs == &prio_closure_funcs)
    closure_released (entry);
  else if (entry->funcs->released != NULL)
    entry->funcs->released (entry);
  prio_run_queue_release (run_queue);
}

/* Aborts @entry, because its group was aborted, the task was cancelled, or the context is gone.  If the task is
 * running, its result is the abort, but its function continues, in the same scheduling state. */
void
prio_run_queue_abort_entry (PrioEntry *entry)
{
  if (prio_entry_is_running (entry))
    {
      prio_entry_move (entry, PRIO_ENTRY_REJECTED);
      if (entry->abort != NULL)
        prio_group_remove (entry->abort, entry);
      if (entry->funcs->rejected != NULL)
        entry->funcs->rejected (entry);
      return;
    }

  if (prio_entry_get_state (entry) != PRIO_ENTRY_DROPPED)
    prio_run_queue_dequeue (entry);

  if (entry->funcs == &prio_closure_funcs)
    closure_aborted (entry);
  else
    entry->funcs->aborted (entry);
}
