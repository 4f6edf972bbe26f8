/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-observer.c: reports events of loops to observers */

#include "config.h"

#include "loop/prio-observer-private.h"

#include "loop/prio-idle-private.h"
#include "loop/prio-lending-private.h"
#include "loop/prio-number-private.h"

/* Guards changes of the three variables below. */
static PrioLock lock = PRIO_LOCK_INIT;
static PrioObserver *observers; /* all observers that were ever added; atomic */
static gint n_told;             /* the number of observers with users; atomic */
static guint64 last_number;     /* the number of the last observer; atomic */

/* The number of an observer without users. */
#define NOT_TOLD G_MAXUINT64

static guint64 last_id; /* the last id of a task; atomic */

/* Calls @function of each observer that implements it, and to which @of_loop reports.  All get the same time. */
#define TELL(function, now, of_loop, ...)                                                                             \
  do                                                                                                                  \
    {                                                                                                                 \
      gint64 told_at = now;                                                                                           \
      PrioLoop *told_of = of_loop;                                                                                    \
                                                                                                                      \
      for (PrioObserver *o = __atomic_load_n (&observers, __ATOMIC_ACQUIRE); o != NULL; o = o->next)                  \
        {                                                                                                             \
          if (o->function != NULL && __atomic_load_n (&o->number, __ATOMIC_RELAXED) <= told_of->watched.last_observer) \
            o->function (o, told_of, ##__VA_ARGS__, told_at);                                                         \
        }                                                                                                             \
    }                                                                                                                 \
  while (0)

static PrioObservedTask *
task_of (PrioEntry *entry)
{
  return (gpointer) ((gchar *) entry->funcs - G_STRUCT_OFFSET (PrioObservedTask, funcs));
}

static inline PrioLoop *
loop_of (PrioObservedTask *task)
{
  return task->told.scheduler->loop;
}

static void
task_free (PrioObservedTask *task)
{
  g_free (task->told.name);
  prio_slab_free (&loop_of (task)->watched.records, task);
}

/* Ends the observation of @entry, and restores its original functions.  Reports an abort that has not been reported
 * yet.  Keeps the last state of @entry in @task, which prio_observed_ended () frees. */
void
prio_observed_leaves (PrioObservedTask *task, PrioEntry *entry)
{
  if (prio_entry_is_aborted (entry) && !task->was_aborted)
    {
      task->was_aborted = TRUE;
      TELL (aborted, prio_clock_now (), loop_of (task), &task->told, TRUE);
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
  g_free (task->told.name);
  task->told.name = name;
}

/* Updates fields of @task that may have changed since the post. */
static void
refresh (PrioObservedTask *task, PrioEntry *entry)
{
  task->told.priority = (gint8) prio_lending_get_own (entry);
  task->told.continuation = (guint8) prio_entry_is_continuation (entry);
  task->told.group = entry->abort;
  if (task->told.kind == PRIO_OBSERVED_CLOSURE)
    task->told.func = (gconstpointer) entry->job.func;
  else if (task->original->get_func != NULL)
    task->told.func = task->original->get_func (entry);
  if (task->original->get_name != NULL)
    set_name (task, task->original->get_name (entry));
}

static void
observed_aborted (PrioEntry *entry)
{
  PrioObservedTask *task = task_of (entry);
  gint64 now = prio_clock_now ();

  refresh (task, entry);
  entry->funcs = task->original;
  entry->is_observed = FALSE;
  TELL (aborted, now, loop_of (task), &task->told, FALSE);
  task_free (task);
  entry->funcs->aborted (entry);
}

static void
observed_rejected (PrioEntry *entry)
{
  PrioObservedTask *task = task_of (entry);

  task->was_aborted = TRUE;
  TELL (aborted, prio_clock_now (), loop_of (task), &task->told, TRUE);
  if (task->original->rejected != NULL)
    task->original->rejected (entry);
}

/* Ends the observation of @entry, which was removed or has ended.  Reports an abort if the function of @entry does not
 * run; otherwise prio_observed_ended () reports the end. */
static void
observed_released (PrioEntry *entry)
{
  PrioObservedTask *task = task_of (entry);

  entry->funcs = task->original;
  entry->is_observed = FALSE;
  if (!task->runs)
    {
      TELL (aborted, prio_clock_now (), loop_of (task), &task->told, FALSE);
      task_free (task);
    }
  if (entry->funcs->released != NULL)
    entry->funcs->released (entry);
}

/* Creates the record of a task.  @is_new says whether the task is being posted now. */
static PrioObservedTask *
task_new (PrioRunQueue *run_queue, PrioObservedKind kind, gboolean is_new)
{
  PrioSlab *records = &run_queue->loop->watched.records;
  PrioObservedTask *task;

  if (G_UNLIKELY (records->record_size == 0))
    prio_slab_init (records, sizeof *task);
  task = prio_slab_alloc (records);
  task->told = (PrioObserved) {
    .id = __atomic_add_fetch (&last_id, 1, __ATOMIC_RELAXED),
    .poster = is_new && prio_thread.observed != NULL ? prio_thread.observed->told.id : 0,
    .scheduler = run_queue,
    .kind = (guint8) kind,
    .priority = PRIO_TASK_PRIORITY_BACKGROUND,
    .state = PRIO_TASK_STATE_FULFILLED,
  };
  task->was_job = task->runs = task->was_aborted = FALSE;
  return task;
}

/* Begins the observation of @entry, and returns its record.  @due is the end of its delay, or 0.  @is_new says whether
 * the entry is being posted now, with the name in prio_thread.posting_name. */
static PrioObservedTask *
observe (PrioEntry *entry, gboolean is_new, gint64 due)
{
  PrioObservedKind kind = entry->job.func == prio_number_func   ? PRIO_OBSERVED_ID
                          : entry->funcs == &prio_closure_funcs ? PRIO_OBSERVED_CLOSURE
                                                                : PRIO_OBSERVED_TASK;
  PrioObservedTask *task = task_new (entry->run_queue, kind, is_new);

  task->told.due = due;
  task->original = entry->funcs;
  task->funcs = (PrioEntryFuncs) {
    .get_name = entry->funcs->get_name,
    .get_func = entry->funcs->get_func,
    .run = entry->funcs->run,
    .ran = entry->funcs->ran,
    .aborted = observed_aborted,
    .rejected = observed_rejected,
    .released = observed_released,
  };
  entry->funcs = &task->funcs;
  entry->is_observed = TRUE;
  refresh (task, entry);
  if (is_new)
    set_name (task, g_strdup (g_steal_pointer (&prio_thread.posting_name)));
  return task;
}

static gboolean
is_to_be_told (PrioEntry *entry)
{
  return entry->use != PRIO_ENTRY_OF_LIBRARY && !prio_run_queue_is_own (entry->run_queue);
}

static void
tell_queued (PrioObservedTask *task, gint64 now)
{
  task->told.queued = now;
  TELL (queued, now, loop_of (task), &task->told);
}

void
prio_observed_queued (PrioEntry *entry)
{
  refresh (task_of (entry), entry);
  tell_queued (task_of (entry), prio_clock_now ());
}

static void
added (PrioEntry *entry, gint64 due)
{
  PrioObservedTask *task;
  gint64 now;

  if (!is_to_be_told (entry))
    return;

  now = prio_clock_now ();
  task = observe (entry, TRUE, due);
  if (due != 0)
    TELL (delayed, now, loop_of (task), &task->told);
  else
    tell_queued (task, now);
}

/* Turns the first job of @queue into an observed entry, which is not in a queue yet. */
static PrioEntry *
take_entry (PrioQueue *queue, gboolean is_new)
{
  PrioRunQueue *run_queue = queue->run_queue;
  PrioJob *job = prio_queue_pop_job (queue);
  PrioRunner *numbers = prio_numbers_of (job);
  PrioEntry *entry;

  /* The entry replaces the job as a user of the run queue. */
  if (numbers == NULL)
    {
      entry = prio_run_queue_new_entry (run_queue, job->func, job->data, job->notify);
    }
  else
    {
      entry = prio_numbers_new_entry (numbers, job->id);
      prio_numbers_release (numbers);
    }
  entry->job.order = job->order;
  entry->priority = (guint8) prio_effective_priority (queue->effective);
  entry->turn = queue->effective & PRIO_ENTRY_GOES_ON;
  prio_loop_free_job (run_queue->loop, job);
  prio_entry_move (entry, PRIO_ENTRY_QUEUED);
  observe (entry, is_new, 0)->was_job = TRUE;
  return entry;
}

/* Turns the only job of @queue, which is not in the ready group, into an observed entry, and reports the entry.
 * Returns FALSE, and does nothing, if the job is the library's own. */
static gboolean
take_job (PrioQueue *queue)
{
  PrioRunQueue *run_queue = queue->run_queue;
  PrioQueue *to = &run_queue->entries[queue->effective];
  PrioEntry *entry;

  if (run_queue == run_queue->loop->run_queues.own)
    return FALSE;

  entry = take_entry (queue, TRUE);
  if (prio_queue_append_entry (to, entry))
    prio_run_queue_make_ready (run_queue, to);
  tell_queued (task_of (entry), prio_clock_now ());
  return TRUE;
}

/* Turns the jobs of @from into entries, and merges them by age into @to, which has the same effective priority. */
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
        entries = (PrioEntry *) entries->job.next;
      else
        entry = take_entry (from, FALSE);
      prio_queue_append_entry (to, entry);
    }
  prio_run_queue_make_ready (run_queue, to);
}

/* An observer that is being added, to which waiting tasks are reported. */
typedef struct
{
  PrioObserver *observer;
  PrioLoop *loop;
  gint64 now;
} Telling;

/* Reports @entry, which is delayed until @due or, if @due is 0, queued.  Skips the library's own entries. */
static void
tell_of_entry (const Telling *telling, PrioEntry *entry, gint64 due)
{
  PrioObserver *o = telling->observer;
  void (*tell) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now) = due != 0 ? o->delayed : o->queued;

  if (!is_to_be_told (entry))
    return;
  if (!entry->is_observed)
    observe (entry, FALSE, due);
  if (tell != NULL)
    tell (o, telling->loop, &task_of (entry)->told, telling->now);
}

static void
tell_of_delayed (PrioHeapItem *item, gpointer telling)
{
  tell_of_entry (telling, prio_entry_from_delay (item->node), MAX ((gint64) item->key, 1));
}

static void
tell_of_expired (PrioHeapItem *item, gpointer telling)
{
  tell_of_entry (telling, prio_entry_from_delay (item->node), 0);
}

static void
tell_of_queue (PrioHeapItem *item, gpointer telling)
{
  for (PrioJob *job = prio_queue_from_ready (item->node)->head; job != NULL; job = job->next)
    tell_of_entry (telling, (PrioEntry *) job, 0);
}

/* Reports all queued tasks: most are in queues of the ready group, and some expired entries in the heap `late`. */
static void
tell_of_run_queue (PrioRunQueue *run_queue, Telling *telling)
{
  for (PrioEffective i = 0; i < PRIO_N_EFFECTIVE; i++)
    move_jobs (&run_queue->jobs[i], &run_queue->entries[i]);
  prio_ready_group_foreach (&run_queue->ready, tell_of_queue, telling);
  prio_heap_foreach (&run_queue->late, tell_of_expired, telling);
}

static void
tell_of_idles (const Telling *telling, GQueue *idles)
{
  for (GList *link = idles->head; link != NULL; link = link->next)
    {
      PrioIdle *idle = link->data;

      if (idle->observed == NULL)
        idle->observed = task_new (idle->run_queue, PRIO_OBSERVED_IDLE, FALSE);
      if (telling->observer->queued != NULL)
        telling->observer->queued (telling->observer, telling->loop, &idle->observed->told, telling->now);
    }
}

/* Reports waiting tasks to each observer that is new to @loop.  If another thread now removes an observer and adds it
 * again, the observer gets a number above @last, so the next call reports to it. */
static void
begins (PrioLoop *loop)
{
  guint64 known = loop->watched.last_observer, last = __atomic_load_n (&last_number, __ATOMIC_ACQUIRE);

  prio_ready_evict (&loop->ready);
  loop->watched.last_observer = last;
  for (PrioObserver *o = __atomic_load_n (&observers, __ATOMIC_ACQUIRE); o != NULL; o = o->next)
    {
      guint64 number = __atomic_load_n (&o->number, __ATOMIC_RELAXED);
      Telling telling = { o, loop, prio_clock_now () };

      if (number <= known || number > last)
        continue;
      for (PrioRunQueue *run_queue = loop->run_queues.first; run_queue != NULL; run_queue = run_queue->next)
        tell_of_run_queue (run_queue, &telling);
      prio_heap_foreach (&loop->due.delays, tell_of_delayed, &telling);
      tell_of_idles (&telling, &loop->idles.pending);
      tell_of_idles (&telling, &loop->idles.running);
    }
}

static void
priority_changes (PrioGroup *group, PrioTaskPriority priority)
{
  TELL (priority_changed, prio_clock_now (), group->run_queue->loop, group, prio_group_get_priority (group),
        priority);
}

static void
paused (PrioRunQueue *run_queue, gboolean is_paused)
{
  TELL (paused, prio_clock_now (), run_queue->loop, run_queue, is_paused);
}

static void
frame_announced (PrioLoop *loop, gint64 due, gint64 interval)
{
  TELL (frame, prio_clock_now (), loop, due, interval);
}

gboolean
prio_observers_exist (void)
{
  return __atomic_load_n (&n_told, __ATOMIC_ACQUIRE) > 0;
}

/* Returns whether an observer, such as a trace, wants reports of posts.  Any thread may call this function. */
gboolean
prio_observers_hear_posts (void)
{
  for (PrioObserver *o = __atomic_load_n (&observers, __ATOMIC_ACQUIRE); o != NULL; o = o->next)
    {
      if (o->queued != NULL && __atomic_load_n (&o->number, __ATOMIC_RELAXED) != NOT_TOLD)
        return TRUE;
    }
  return FALSE;
}

static const PrioObservingFuncs funcs = {
  .is_wanted = prio_observers_exist,
  .begins = begins,
  .added = added,
  .take_job = take_job,
  .priority_changes = priority_changes,
  .paused = paused,
  .frame_announced = frame_announced,
};

static void
begin (PrioObservedTask *task, gint64 now)
{
  PrioLoop *loop = loop_of (task);

  task->runs = TRUE;
  task->outer = prio_thread.observed;
  prio_thread.observed = task;
  task->told.begun = now;
  task->told.run = ++loop->watched.n_runs;
  TELL (begins, now, loop, &task->told);
}

/* Reports that the function of @entry is about to be called, and returns its record.  Called in a dispatch. */
PrioObservedTask *
prio_observed_begins (PrioEntry *entry)
{
  PrioObservedTask *task = task_of (entry);
  gint64 last = loop_of (task)->watched.end;

  refresh (task, entry);
  /* Asks the binding for a name that is missing, or that may be new because the task is a continuation. */
  if (task->told.kind == PRIO_OBSERVED_ID && (task->told.name == NULL || prio_entry_is_continuation (entry)))
    {
      PrioRunner *runner = entry->job.data;

      if (runner->name_func != NULL)
        set_name (task, runner->name_func (entry->job.id, runner->name_data));
    }
  begin (task, last != 0 ? last : prio_clock_now ());
  return task;
}

/* Ends a run of @task.  Returns the time. */
static gint64
end (PrioObservedTask *task)
{
  prio_thread.observed = task->outer;
  task->runs = FALSE;
  return loop_of (task)->watched.end = prio_clock_now ();
}

/* Reports that the function of @entry has returned and will be called again.  @step is a copy of the task's data from
 * before it was queued again.  Called in a dispatch. */
void
prio_observed_yielded (PrioEntry *entry, const PrioObserved *step)
{
  gint64 now = end (task_of (entry));

  TELL (yielded, now, entry->run_queue->loop, step);
  refresh (task_of (entry), entry);
  tell_queued (task_of (entry), now);
}

void
prio_observed_microtasks_ran (PrioLoop *loop, const PrioObserved *step)
{
  TELL (microtasks_ran, prio_clock_now (), loop, step);
}

/* Reports the end of @task, whose entry, if any, has been released.  Frees @task.  Called in a dispatch. */
void
prio_observed_ended (PrioObservedTask *task)
{
  gint64 now = end (task);

  TELL (ended, now, loop_of (task), &task->told);
  task_free (task);
}

/* Returns how many tasks have begun in @loop while it was observed.  The caller has entered the loop. */
guint64
prio_observed_count (PrioLoop *loop)
{
  return loop->watched.n_runs;
}

PrioObservedTask *
prio_observed_new_idle (PrioRunQueue *run_queue, gint64 now)
{
  PrioObservedTask *task = task_new (run_queue, PRIO_OBSERVED_IDLE, TRUE);

  tell_queued (task, now);
  return task;
}

void
prio_observed_idle_begins (PrioObservedTask *task, gconstpointer func)
{
  task->told.func = func;
  begin (task, prio_clock_now ());
}

void
prio_observed_idle_aborted (PrioObservedTask *task)
{
  TELL (aborted, prio_clock_now (), loop_of (task), &task->told, FALSE);
  task_free (task);
}

void
prio_observed_batch_begins (PrioLoop *loop, gint64 now)
{
  TELL (batch_begins, now, loop);
}

void
prio_observed_batch_ended (PrioLoop *loop, PrioLane lane, gint64 began, gboolean cut)
{
  TELL (batch_ended, prio_clock_now (), loop, lane, began, cut);
}

void
prio_observed_turn_ends (PrioLoop *loop, gint64 now)
{
  if (loop->turn.others)
    TELL (turn_ended, now, loop, loop->turn.began, loop->turn.whole);
}

void
prio_observed_prepares (PrioLoop *loop)
{
  TELL (prepares, prio_clock_now (), loop);
}

void
prio_observed_checks (PrioLoop *loop)
{
  TELL (checks, prio_clock_now (), loop);
}

/* Adds @more users of @observer, or removes users if @more is negative. */
static void
add_users (PrioObserver *observer, gint more)
{
  gboolean was_told, is_told;

  prio_loop_add_leaf_lock (&lock);
  prio_lock_lock (&lock);
  was_told = observer->users > 0;
  observer->users += more;
  is_told = observer->users > 0;
  if (is_told && !was_told)
    {
      gboolean is_new = observer->number == 0;

      /* The number is set before @last_number, so a loop that reads @last_number sees this number or a later one. */
      __atomic_store_n (&observer->number, last_number + 1, __ATOMIC_RELAXED);
      if (is_new)
        {
          observer->next = observers;
          __atomic_store_n (&observers, observer, __ATOMIC_RELEASE);
        }
      __atomic_store_n (&last_number, last_number + 1, __ATOMIC_RELEASE);
    }
  else if (was_told && !is_told)
    {
      __atomic_store_n (&observer->number, NOT_TOLD, __ATOMIC_RELAXED);
    }
  __atomic_store_n (&n_told, n_told + is_told - was_told, __ATOMIC_RELEASE);
  prio_lock_unlock (&lock);

  if (is_told != was_told && (is_told || !prio_observers_exist ()))
    prio_loops_observe (&funcs);
}

/* Adds a user of @observer, which is static.  While @observer has users, all loops report to it.  The number of users
 * may be negative, because a removal may come before its addition.  The call may run destroy notifies, so the caller
 * holds no lock, and has entered no loop.  Any thread may call this function. */
void
prio_observer_add (PrioObserver *observer)
{
  add_users (observer, 1);
}

/* Removes a user of @observer.  A function of the observer may still be running on another thread.  Any thread may call
 * this function, if it holds no lock and has entered no loop. */
void
prio_observer_remove (PrioObserver *observer)
{
  add_users (observer, -1);
}

/* Makes @loop, unless it has ended, report to all observers, including new ones.  The caller has entered the loop. */
void
prio_observers_ensure (PrioLoop *loop)
{
  if (prio_loop_is_dead (loop))
    return;
  loop->watched.funcs = &funcs;
  begins (loop);
}
