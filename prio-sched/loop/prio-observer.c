/* prio-observer.c: who is told what the loops do
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-observer-private.h"

#include "loop/prio-id-queue-private.h"
#include "loop/prio-idle-private.h"
#include "loop/prio-lending-private.h"
#include "loop/prio-observer-list-private.h"

static guint64 last_id; /* atomic */

static PrioObservedTask *
task_of (PrioEntry *entry)
{
  return (gpointer) ((gchar *) entry->funcs - G_STRUCT_OFFSET (PrioObservedTask, funcs));
}

static void
task_free (PrioObservedTask *task)
{
  g_free (task->name);
  prio_slab_free (&task->loop->observed, task);
}

/* @entry is no longer observed: its functions are its own again.  @task remains. */
void
prio_observed_leaves (PrioObservedTask *task, PrioEntry *entry)
{
  if (prio_entry_is_aborted (entry) && !task->was_aborted)
    {
      task->was_aborted = TRUE;
      PRIO_TELL (aborted, prio_clock_now (), task->loop, &task->told, TRUE);
    }
  if (task->original->get_state != NULL)
    task->told.state = task->original->get_state (entry);
  else
    task->told.state = prio_entry_is_aborted (entry) ? PRIO_TASK_STATE_ABORTED : PRIO_TASK_STATE_FULFILLED;
  entry->funcs = task->original;
  entry->is_observed = FALSE;
}

static void
set_name (PrioObservedTask *task, char *name)
{
  if (name == NULL)
    return;
  g_free (task->name);
  task->told.name = task->name = name;
}

/* What may have changed since the post. */
static void
refresh (PrioObservedTask *task, PrioEntry *entry)
{
  task->told.priority = (gint8) prio_lending_get_own (entry);
  task->told.continuation = entry->continuation;
  task->told.group = entry->abort;
  if (task->original->get_name != NULL)
    set_name (task, task->original->get_name (entry));
}

/* It will not run. */
static void
observed_aborted (PrioEntry *entry)
{
  PrioObservedTask *task = task_of (entry);
  gint64 now = prio_clock_now ();

  refresh (task, entry);
  entry->funcs = task->original;
  entry->is_observed = FALSE;
  PRIO_TELL (aborted, now, task->loop, &task->told, FALSE);
  task_free (task);
  entry->funcs->aborted (entry);
}

/* Its result is the abort, and it goes on. */
static void
observed_rejected (PrioEntry *entry)
{
  PrioObservedTask *task = task_of (entry);

  task->was_aborted = TRUE;
  PRIO_TELL (aborted, prio_clock_now (), task->loop, &task->told, TRUE);
  if (task->original->rejected != NULL)
    task->original->rejected (entry);
}

/* It has been taken out by its maker, or its own function has ended it, and goes on: prio_observed_ended () tells that. */
static void
observed_released (PrioEntry *entry)
{
  PrioObservedTask *task = task_of (entry);

  entry->funcs = task->original;
  entry->is_observed = FALSE;
  if (!task->runs)
    {
      PRIO_TELL (aborted, prio_clock_now (), task->loop, &task->told, FALSE);
      task_free (task);
    }
  if (entry->funcs->released != NULL)
    entry->funcs->released (entry);
}

static PrioObservedTask *
task_new (PrioRunQueue *run_queue, PrioObservedKind kind, gint64 posted)
{
  PrioLoop *loop = run_queue->loop;
  PrioObservedTask *task;

  if (G_UNLIKELY (loop->observed.record_size == 0))
    prio_slab_init (&loop->observed, sizeof *task);
  task = prio_slab_alloc (&loop->observed);
  *task = (PrioObservedTask) {
    .loop = loop,
    .told = {
      .id = __atomic_add_fetch (&last_id, 1, __ATOMIC_RELAXED),
      .poster = posted != 0 && prio_thread.observed != NULL ? prio_thread.observed->told.id : 0,
      .kind = kind,
      .priority = PRIO_TASK_PRIORITY_BACKGROUND,
      .state = PRIO_TASK_STATE_FULFILLED,
      .scheduler = run_queue,
      .posted = posted,
    },
  };
  return task;
}

/* @entry is observed from now on.  @posted is 0 if it has been posted before. */
static void
observe (PrioEntry *entry, gint64 posted, gint64 due)
{
  PrioObservedKind kind = entry->use == PRIO_ENTRY_OF_ID         ? PRIO_OBSERVED_ID
                          : entry->funcs == &prio_closure_funcs ? PRIO_OBSERVED_CLOSURE
                                                                : PRIO_OBSERVED_TASK;
  PrioObservedTask *task = task_new (entry->run_queue, kind, posted);

  task->told.due = due;
  task->original = entry->funcs;
  task->funcs = (PrioEntryFuncs) {
    .run = entry->funcs->run,
    .ran = entry->funcs->ran,
    .aborted = observed_aborted,
    .rejected = observed_rejected,
    .released = observed_released,
  };
  entry->funcs = &task->funcs;
  entry->is_observed = TRUE;
  refresh (task, entry);
}

static gboolean
is_to_be_told (PrioEntry *entry)
{
  return entry->use != PRIO_ENTRY_OF_LIBRARY && entry->run_queue != entry->run_queue->loop->own;
}

void
prio_observed_queued (PrioEntry *entry)
{
  PrioObservedTask *task = task_of (entry);

  refresh (task, entry);
  task->told.queued = prio_clock_now ();
  PRIO_TELL (queued, task->told.queued, task->loop, &task->told);
}

static void
added (PrioEntry *entry, gint64 due)
{
  gint64 now;

  if (!is_to_be_told (entry))
    return;

  now = prio_clock_now ();
  observe (entry, now, due);
  set_name (task_of (entry), g_strdup (g_steal_pointer (&prio_thread.posting_name)));
  if (due != 0)
    {
      PRIO_TELL (delayed, now, entry->run_queue->loop, &task_of (entry)->told);
    }
  else
    {
      task_of (entry)->told.queued = now;
      PRIO_TELL (queued, now, entry->run_queue->loop, &task_of (entry)->told);
    }
}

/* Makes an entry of @job, which was in @queue.  The entry is in no queue yet. */
static PrioEntry *
entry_of_job (PrioQueue *queue, PrioJob *job)
{
  PrioRunQueue *run_queue = queue->run_queue;
  PrioEntry *entry;

  if (queue->kind == PRIO_QUEUE_IDS)
    {
      PrioIdQueue *ids = prio_id_queue_from_queue (queue);

      entry = prio_id_queue_new_entry (ids, GPOINTER_TO_UINT (job->data), FALSE);
      prio_id_queue_release (ids);
      prio_run_queue_hold (run_queue);
    }
  else
    {
      /* It takes over the job's use of the run queue. */
      entry = prio_run_queue_new_entry (run_queue, job->func, job->data, job->notify);
    }
  entry->job.order = job->order;
  entry->priority = (guint8) prio_effective_priority (queue->effective);
  entry->continuation = queue->effective & 1;
  prio_slab_free (&run_queue->loop->jobs, job);
  return entry;
}

static void
set_queued (PrioEntry *entry, gint64 now)
{
  PrioObservedTask *task = task_of (entry);

  task->was_job = task->original == &prio_closure_funcs;
  task->told.queued = now;
}

/* The only job of @queue, which is not in the ready group. */
static gboolean
take_job (PrioQueue *queue)
{
  PrioRunQueue *run_queue = queue->run_queue;
  PrioLoop *loop = run_queue->loop;
  PrioQueue *to = &run_queue->entries[queue->effective];
  gint64 now = prio_clock_now ();
  PrioEntry *entry;

  if (run_queue == loop->own)
    return FALSE;

  entry = entry_of_job (queue, prio_queue_pop_job (queue));
  prio_entry_move (entry, PRIO_ENTRY_QUEUED);
  observe (entry, now, 0);
  set_queued (entry, now);
  set_name (task_of (entry), g_strdup (g_steal_pointer (&prio_thread.posting_name)));
  if (prio_queue_append_entry (to, entry))
    prio_run_queue_make_ready (run_queue, to);
  PRIO_TELL (queued, now, loop, &task_of (entry)->told);
  return TRUE;
}

/* Moves the jobs of @from to @to, which has entries of the same effective priority, each to its place by age. */
static void
move_jobs (PrioQueue *from, PrioQueue *to)
{
  PrioRunQueue *run_queue = from->run_queue;
  PrioReady *ready = &run_queue->loop->ready;
  PrioEntry *entries = (PrioEntry *) to->head;

  if (from->head == NULL)
    return;

  if (prio_ready_contains (from))
    prio_ready_remove (ready, &run_queue->ready, from);
  if (prio_ready_contains (to))
    prio_ready_remove (ready, &run_queue->ready, to);

  to->head = to->tail = NULL;
  while (entries != NULL || from->head != NULL)
    {
      PrioEntry *entry = entries;

      if (entries != NULL && (from->head == NULL || entries->job.order < from->head->order))
        {
          entries = (PrioEntry *) entries->job.next;
        }
      else
        {
          entry = entry_of_job (from, prio_queue_pop_job (from));
          prio_entry_move (entry, PRIO_ENTRY_QUEUED);
          observe (entry, 0, 0);
          set_queued (entry, 0);
        }
      prio_queue_append_entry (to, entry);
    }
  prio_run_queue_make_ready (run_queue, to);
}

/* Tells @observer alone of @entry, which waits.  Here and below, it is NULL if it has been told. */
static void
tell_of_waiting (PrioObserver *observer, PrioLoop *loop, PrioEntry *entry, gint64 due, gint64 now)
{
  PrioObserved *told;

  if (!is_to_be_told (entry))
    return;
  if (!entry->is_observed)
    observe (entry, 0, due);
  if (observer == NULL)
    return;

  told = &task_of (entry)->told;
  if (due != 0)
    {
      if (observer->delayed != NULL)
        observer->delayed (observer, loop, told, now);
    }
  else if (observer->queued != NULL)
    {
      observer->queued (observer, loop, told, now);
    }
}

/* What tell_of_delayed () needs. */
typedef struct
{
  PrioObserver *observer;
  PrioLoop *loop;
  gint64 now;
} Telling;

static void
tell_of_delayed (PrioHeapItem *item, gpointer data)
{
  Telling *telling = data;

  tell_of_waiting (telling->observer, telling->loop, prio_entry_from_delay (item->node), MAX ((gint64) item->key, 1),
                   telling->now);
}

static void
tell_of_expired (PrioHeapItem *item, gpointer data)
{
  Telling *telling = data;

  tell_of_waiting (telling->observer, telling->loop, prio_entry_from_delay (item->node), 0, telling->now);
}

static void
tell_of_queue (PrioObserver *observer, PrioLoop *loop, PrioQueue *queue, gint64 now)
{
  for (PrioJob *job = queue->head; job != NULL; job = job->next)
    tell_of_waiting (observer, loop, (PrioEntry *) job, 0, now);
}

static void
tell_of_run_queue (PrioObserver *observer, PrioRunQueue *run_queue, gint64 now)
{
  PrioLoop *loop = run_queue->loop;

  for (PrioEffective i = 0; i < PRIO_N_EFFECTIVE; i++)
    {
      move_jobs (&run_queue->jobs[i], &run_queue->entries[i]);
      for (PrioIdQueue *ids = run_queue->id_queues; ids != NULL; ids = ids->next)
        move_jobs (&ids->queues[i], &run_queue->entries[i]);
      tell_of_queue (observer, loop, &run_queue->entries[i], now);
    }
  tell_of_queue (observer, loop, &run_queue->expired, now);
  prio_heap_foreach (&run_queue->late, tell_of_expired, &(Telling) { observer, loop, now });
  for (PrioGroup *group = run_queue->groups; group != NULL; group = group->next)
    {
      tell_of_queue (observer, loop, &group->queues[0], now);
      tell_of_queue (observer, loop, &group->queues[1], now);
    }
}

static void
tell_of_idles (PrioObserver *observer, PrioLoop *loop, GQueue *idles, gint64 now)
{
  for (GList *link = idles->head; link != NULL; link = link->next)
    {
      PrioIdle *idle = link->data;

      if (idle->observed == NULL)
        idle->observed = task_new (idle->run_queue, PRIO_OBSERVED_IDLE, 0);
      if (observer != NULL && observer->queued != NULL)
        observer->queued (observer, loop, &idle->observed->told, now);
    }
}

static void
begins (PrioLoop *loop, gpointer data)
{
  PrioObserver *observer = prio_observer_introduce (data, loop) ? data : NULL;
  gint64 now = prio_clock_now ();

  prio_ready_evict (&loop->ready);
  for (PrioRunQueue *run_queue = loop->run_queues; run_queue != NULL; run_queue = run_queue->next)
    tell_of_run_queue (observer, run_queue, now);
  prio_heap_foreach (&loop->delays, tell_of_delayed, &(Telling) { observer, loop, now });
  tell_of_idles (observer, loop, &loop->idles.pending, now);
  tell_of_idles (observer, loop, &loop->idles.running, now);
}

static void
priority_changes (PrioGroup *group, PrioTaskPriority priority)
{
  PRIO_TELL (priority_changed, prio_clock_now (), group->run_queue->loop, group, prio_group_get_priority (group),
        priority);
}

static void
paused (PrioRunQueue *run_queue, gboolean is_paused)
{
  PRIO_TELL (paused, prio_clock_now (), run_queue->loop, run_queue, is_paused);
}

static void
frame_announced (PrioLoop *loop, gint64 due, gint64 interval)
{
  PRIO_TELL (frame, prio_clock_now (), loop, due, interval);
}

const PrioObservingFuncs prio_observing_funcs = {
  .is_wanted = prio_observers_exist,
  .comes = prio_observer_comes,
  .is_new = prio_observers_new_loop,
  .begins = begins,
  .added = added,
  .take_job = take_job,
  .priority_changes = priority_changes,
  .paused = paused,
  .frame_announced = frame_announced,
};

static void
begin (PrioObservedTask *task)
{
  task->runs = TRUE;
  task->outer = prio_thread.observed;
  prio_thread.observed = task;
  task->told.begun = prio_clock_now ();
  task->told.run = ++task->loop->n_observed_runs;
  PRIO_TELL (begins, task->told.begun, task->loop, &task->told);
}

/* In a dispatch: the function of @entry is about to be called. */
PrioObservedTask *
prio_observed_begins (PrioEntry *entry)
{
  PrioObservedTask *task = task_of (entry);

  refresh (task, entry);
  /* A continuation has the name of the task that has posted it, for want of a better one. */
  if (task->told.kind == PRIO_OBSERVED_ID && (task->name == NULL || entry->continuation))
    {
      PrioIdQueue *ids = entry->job.data;

      set_name (task, ids->funcs->get_name != NULL ? ids->funcs->get_name (ids, entry->job.id) : NULL);
    }
  begin (task);
  return task;
}

/* In a dispatch: its function has returned, and it is about to be queued again.  @step is told, a copy of what is known of the task. */
void
prio_observed_yields (PrioObservedTask *task, const PrioObserved *step)
{
  prio_thread.observed = task->outer;
  task->runs = FALSE;
  PRIO_TELL (yielded, prio_clock_now (), task->loop, step);
}

void
prio_observed_microtasks_ran (PrioLoop *loop, const PrioObserved *step)
{
  PRIO_TELL (microtasks_ran, prio_clock_now (), loop, step);
}

/* In a dispatch: all of it is over, and its entry has gone. */
void
prio_observed_ended (PrioObservedTask *task)
{
  prio_thread.observed = task->outer;
  PRIO_TELL (ended, prio_clock_now (), task->loop, &task->told);
  task_free (task);
}

/* An idle callback has been requested. */
PrioObservedTask *
prio_observed_new_idle (PrioRunQueue *run_queue, gint64 now)
{
  PrioObservedTask *task = task_new (run_queue, PRIO_OBSERVED_IDLE, now);

  task->told.queued = now;
  PRIO_TELL (queued, now, task->loop, &task->told);
  return task;
}

void
prio_observed_idle_begins (PrioObservedTask *task)
{
  begin (task);
}

void
prio_observed_idle_aborted (PrioObservedTask *task)
{
  PRIO_TELL (aborted, prio_clock_now (), task->loop, &task->told, FALSE);
  task_free (task);
}

void
prio_observed_batch_begins (PrioLoop *loop, PrioLane lane, gint64 now)
{
  PRIO_TELL (batch_begins, now, loop, lane);
}

void
prio_observed_batch_ended (PrioLoop *loop, PrioLane lane, gboolean cut)
{
  PRIO_TELL (batch_ended, prio_clock_now (), loop, lane, cut);
}

/* The turn of the other sources, if it is theirs, ends. */
void
prio_observed_turn_ends (PrioLoop *loop, gint64 now)
{
  if (loop->turn.others)
    PRIO_TELL (turn_ended, now, loop, loop->turn.began, loop->turn.whole);
}

void
prio_observed_prepares (PrioLoop *loop)
{
  PRIO_TELL (prepares, prio_clock_now (), loop);
}

void
prio_observed_checks (PrioLoop *loop)
{
  PRIO_TELL (checks, prio_clock_now (), loop);
}
