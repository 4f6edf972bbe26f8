/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-run-queue-private.h: the run queue: the part of a scheduler that its tasks need
 *
 * Promises: a run queue lives as long as anything uses it: its PrioScheduler, its queued tasks, and the objects and
 * captured states that belong to it.  Any thread may create run queues, drop parts (see @outer) and access atomic
 * fields.  All else belongs to the owner thread. */

#pragma once

#include "loop/prio-frames-private.h"
#include "loop/prio-loop-private.h"

#define PRIO_ADAPTIVE_SLICE -1000 /* µs; -1 ms in the public interface */
#define PRIO_MAX_SLICE 5000 /* µs */
#define PRIO_DEFAULT_STARVATION_LIMIT 1000 /* ms */

struct _PrioRunQueue
{
  PrioLoop *loop;
  /* A weak reference to the scheduler, used on any thread.  Parts share it with the outer run queue, because many weak
   * references to an object slow down its finalization.  Allocated with g_atomic_rc_box_new (). */
  GWeakRef *scheduler;
  gint64 slice; /* µs, or PRIO_ADAPTIVE_SLICE; atomic */

  PrioQueue jobs[PRIO_N_EFFECTIVE];
  PrioQueue entries[PRIO_N_EFFECTIVE];
  PrioQueue expired; /* contains only the first of the expired entries */
  PrioHeap late;     /* the other expired entries, by expiry time, then age */
  PrioGroup *groups;
  PrioReadyGroup ready; /* the non-empty queues, of the run queue and of its groups */
  PrioFrame next_frame; /* announced by prio_scheduler_set_next_frame () */
  guint task_share; /* the share of time for tasks, in millionths, or 0; atomic */
  gboolean lends; /* whether waiting tasks lend their priority */
  gint wants_lending, wants_pause; /* whether the program wants lending and a pause, as set last; atomic */
  guint starvation_limit; /* how long new tasks wait behind continuations, ms; 0 for no limit; atomic */
  gboolean starvation_told; /* whether the program has been warned of a task that waited too long */
  gpointer record; /* statistics, shared by parts: a GAtomicRcBox (prio-observe.h), or NULL; set atomically, once */
  GQueue runners; /* PrioRunner: the runners that the scheduler uses */
  gsize users;
  PrioRunQueue *next, *prev; /* links in the loop's list of run queues */

  /* A part is a run queue whose tasks count as tasks of @outer, but can be held back separately. */
  PrioRunQueue *outer; /* the run queue of which this is a part, kept alive; or NULL */
  PrioRunQueue *parts;
  PrioRunQueue *next_part, *prev_part; /* links in @parts of @outer */
  gboolean paused;     /* whether the program has paused the tasks */
  gboolean full;       /* whether the tasks are held back because their group runs as many as it may */
};

PrioRunQueue *prio_run_queue_new (PrioLoop *loop);
PrioRunQueue *prio_run_queue_own (PrioLoop *loop);
void prio_run_queue_free_own (PrioLoop *loop);
void prio_run_queue_end (PrioRunQueue *run_queue);
void prio_run_queues_update_task_share (PrioLoop *loop, const PrioOp *op);
void prio_run_queue_tell_paused (PrioRunQueue *run_queue, gboolean paused);
void prio_run_queue_set_paused (PrioRunQueue *run_queue, gboolean paused);
void prio_run_queue_set_full (PrioRunQueue *run_queue, gboolean full);
PrioRunQueue *prio_run_queue_new_part (PrioRunQueue *outer);
void prio_run_queue_drop_part (PrioRunQueue *part);
void prio_run_queues_resume (PrioLoop *loop);

/* Functions of prio-run-queue-expiry.c, for tasks with a timeout. */
void prio_run_queue_enqueue_timed (PrioEntry *entry);
void prio_run_queue_dequeue_timed (PrioEntry *entry);
void prio_run_queue_next_expired (PrioRunQueue *run_queue);
void prio_run_queue_begin_timed (PrioEntry *entry);
void prio_loop_expire_deadlines (PrioLoop *loop, gint64 now);

/* Functions of prio-run-queue.c. */
void prio_entry_append (PrioEntry *entry);
void prio_run_queue_enqueue (PrioEntry *entry);
void prio_run_queue_add (PrioEntry *entry, gint64 due);
void prio_run_queue_unlink (PrioEntry *entry);
void prio_run_queue_dequeue (PrioEntry *entry);
void prio_run_queue_release_entry (PrioEntry *entry);
void prio_run_queue_abort_entry (PrioEntry *entry);
PrioEntry *prio_run_queue_new_entry (PrioRunQueue *run_queue, GSourceFunc func, gpointer data, GDestroyNotify notify);

extern const PrioEntryFuncs prio_closure_funcs G_GNUC_INTERNAL;

static inline gint64
prio_run_queue_get_slice (PrioRunQueue *run_queue)
{
  return __atomic_load_n (&run_queue->slice, __ATOMIC_RELAXED);
}

/* Returns how long tasks of @run_queue may run at a time, µs.  An adaptive slice is half a frame, but at most
 * PRIO_MAX_SLICE.  If the program has set a slice of 0, one task runs per iteration, and the result limits the time of
 * several tasks in a row.  Sets @is_set to whether the program has set a slice above 0. */
static inline gint64
prio_loop_get_slice (PrioLoop *loop, PrioRunQueue *run_queue, gboolean *is_set)
{
  gint64 slice = prio_run_queue_get_slice (run_queue);

  *is_set = slice > 0;
  if (*is_set)
    return slice;
  return prio_loop_frame_interval (loop) == 0 ? PRIO_MAX_SLICE : MIN (PRIO_MAX_SLICE, prio_loop_frame_interval (loop) / 2);
}

static inline gboolean
prio_run_queue_is_own (PrioRunQueue *run_queue)
{
  return run_queue == run_queue->loop->run_queues.own;
}

static inline void
prio_run_queue_hold (PrioRunQueue *run_queue)
{
  run_queue->users++;
}

/* Removes a user, and ends the run queue after the last user. */
static inline void
prio_run_queue_release (PrioRunQueue *run_queue)
{
  if (G_UNLIKELY (--run_queue->users == 0))
    prio_run_queue_end (run_queue);
}

/* Adds @queue to the ready set.  @queue was empty until now, or has got another effective priority. */
static inline void
prio_run_queue_make_ready (PrioRunQueue *run_queue, PrioQueue *queue)
{
  prio_ready_add (&run_queue->loop->ready, &run_queue->ready, queue);
}

/* Updates the ready set after the head of @queue was removed. */
static inline void
prio_run_queue_head_gone (PrioRunQueue *run_queue, PrioQueue *queue)
{
  if (G_UNLIKELY (queue->head == NULL) && queue == &run_queue->expired)
    prio_run_queue_next_expired (run_queue);
  else
    prio_ready_head_gone (&run_queue->loop->ready, &run_queue->ready, queue);
}

/* Adds @queue, which has its first job now, to the ready set.  While the loop is observed, makes an observed entry of
 * the job instead, unless the job is the library's own. */
static inline void
prio_run_queue_job_begins_queue (PrioRunQueue *run_queue, PrioQueue *queue)
{
  PrioLoop *loop = run_queue->loop;

  if (G_LIKELY (loop->ready.only[queue->effective] == queue) || !prio_loop_is_observed (loop) ||
      !prio_loop_observing (loop)->take_job (queue))
    prio_run_queue_make_ready (run_queue, queue);
}

static inline void
prio_run_queue_fill_job (PrioRunQueue *run_queue, PrioJob *job, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  job->order = prio_loop_next_order (run_queue->loop);
  job->func = func;
  job->data = data;
  job->notify = notify;
  run_queue->users++;
}

static inline void
prio_run_queue_append_filled (PrioRunQueue *run_queue, PrioEffective effective, PrioJob *job)
{
  if (prio_queue_append (&run_queue->jobs[effective], job))
    prio_run_queue_job_begins_queue (run_queue, &run_queue->jobs[effective]);
}

static inline void
prio_run_queue_append_job (PrioRunQueue *run_queue, PrioEffective effective, GSourceFunc func, gpointer data,
                           GDestroyNotify notify)
{
  PrioJob *job = prio_loop_alloc_job (run_queue->loop);

  prio_run_queue_fill_job (run_queue, job, func, data, notify);
  prio_run_queue_append_filled (run_queue, effective, job);
}
