/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-observe.h: observers, and functions of the engine for watch/
 *
 * Promises: while there is an observer, each task of the program is reported from its post to its end: queued, begins,
 * then yielded (and queued again), ended or aborted.  If the observation begins later, waiting tasks are reported, and
 * a running task only if it is queued again.  `id` in PrioObserved identifies the task.
 *
 * Without observers, a task costs at most a few comparisons more.  An observed task is always an entry, and not a job
 * (prio-queue-private.h): its table of functions belongs to prio-observer, which calls the entry's original functions.
 * So waiting jobs become entries when the observation begins, and later jobs when they are posted.
 *
 * Threads: an observer is called on the owner thread of each loop, so several threads may call it at the same time.
 * `delayed`, `queued`, `aborted`, `priority_changed`, `paused` and `frame` may be called when the thread has entered
 * the loop (prio-loop-private.h): they must not call user code or enter the library, and take only locks under which no
 * other lock is taken.  `begins` and `yielded` are called while a task runs, and no loop is entered: they must not do
 * the operations of other threads, which may abort the task.  Observers are static, because a thread may still call an
 * observer that has just been removed.  Any function of an observer may be NULL.
 *
 * Times are µs of g_get_monotonic_time (). */

#pragma once

#include "base/prio-clock-private.h"
#include "base/prio-slots-private.h"
#include "prio-types.h"

typedef struct _PrioLoop PrioLoop;         /* the library's record of a main context */
typedef struct _PrioRunQueue PrioRunQueue; /* the queues of a scheduler's tasks */

/* A lane is the set of tasks that one GSource dispatches.  The priority of the GSource decides which other sources run
 * after the tasks (prio-loop-source.c). */
typedef enum
{
  PRIO_LANE_NONE = -1,
  PRIO_LANE_IDLE,         /* idle callbacks */
  PRIO_LANE_BACKGROUND,   /* effective priorities 0 and 1 */
  PRIO_LANE_USER_VISIBLE, /* effective priority 2 */
  PRIO_LANE_URGENT,       /* effective priorities 3 to 6, microtasks, and deferred destroy notifies */
  PRIO_N_LANES
} PrioLane;

typedef enum
{
  PRIO_OBSERVED_CLOSURE, /* the function of a task without a result */
  PRIO_OBSERVED_TASK,    /* a PrioTask, or a yield in C */
  PRIO_OBSERVED_ID,      /* a task of a PrioRunner, or a continuation of one */
  PRIO_OBSERVED_IDLE     /* an idle callback */
} PrioObservedKind;

/* A task, as reported to observers. */
typedef struct
{
  guint64 id;            /* unique in the process, from 1 */
  guint64 poster;        /* the id of the task that posted this task, or 0 */
  char *name;            /* or NULL; may become known only when the task begins */
  gconstpointer func;    /* the program's function, which identifies a task without a name; or NULL */
  gconstpointer group;   /* identifies the signal that may abort the task, or NULL */
  PrioRunQueue *scheduler; /* identifies the scheduler */
  gint64 due;            /* when a delayed task will be queued; otherwise 0 */
  gint64 queued;         /* when the task last entered its queue; 0 if that was before the observation, or has not
                          * happened yet */
  gint64 begun;          /* when the task's function was last called, or 0 */
  guint64 run;           /* the number of this run in its loop, from 1; later runs have larger numbers */
  guint8 kind;           /* PrioObservedKind */
  gint8 priority;        /* PrioTaskPriority, without borrowed priorities; may change while the task waits */
  guint8 state;          /* PrioTaskState in `ended`: FULFILLED, FAILED or ABORTED; RUNNING if its result is deferred */
  guint8 continuation;   /* whether the task is the continuation of a yield */
} PrioObserved;

/* Returns when @task began to wait.  A delayed task begins to wait when it is due, even if the main loop is busy. */
static inline gint64
prio_observed_waits_since (const PrioObserved *task)
{
  return task->due != 0 && !task->continuation ? task->due : task->queued;
}

typedef struct _PrioObserver PrioObserver;

struct _PrioObserver
{
  /* A task was posted with a delay; `queued` follows when it is due. */
  void (*delayed) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* A task has entered a queue: it was posted, is due, or has yielded. */
  void (*queued) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* The task's function is about to be called. */
  void (*begins) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* The task's function has returned G_SOURCE_CONTINUE; `queued` follows. */
  void (*yielded) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* The microtasks that the task had queued when it yielded have run.  The task may have begun again, or ended, before
   * this.  @task is the record that `yielded` was called with, and is freed after this call. */
  void (*microtasks_ran) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* The task's function, checkpoint and callbacks have run.  Also called after `aborted` if the task was running when
   * it was aborted. */
  void (*ended) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* The task was aborted, or its context was destroyed.  If @runs is FALSE, the task has ended. */
  void (*aborted) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gboolean runs, gint64 now);
  /* The priority of @group, and of the tasks that follow it, has changed. */
  void (*priority_changed) (PrioObserver *self, PrioLoop *loop, gconstpointer group, PrioTaskPriority from,
                            PrioTaskPriority to, gint64 now);
  /* The tasks of @scheduler do not run any more if @is_paused, and otherwise run again. */
  void (*paused) (PrioObserver *self, PrioLoop *loop, gconstpointer scheduler, gboolean is_paused, gint64 now);
  /* A batch of tasks begins, or has ended.  If @cut, its time was over, and other sources have their turn now. */
  void (*batch_begins) (PrioObserver *self, PrioLoop *loop, gint64 now);
  void (*batch_ended) (PrioObserver *self, PrioLoop *loop, PrioLane lane, gint64 began, gboolean cut, gint64 now);
  /* The other sources have had their turn, from @began to @now; if @whole, down to the lowest priorities. */
  void (*turn_ended) (PrioObserver *self, PrioLoop *loop, gint64 began, gboolean whole, gint64 now);
  /* GLib begins an iteration, and later checks its sources, possibly after it has slept. */
  void (*prepares) (PrioObserver *self, PrioLoop *loop, gint64 now);
  void (*checks) (PrioObserver *self, PrioLoop *loop, gint64 now);
  /* The next frame has been announced for @due. */
  void (*frame) (PrioObserver *self, PrioLoop *loop, gint64 due, gint64 interval, gint64 now);

  /* The following fields belong to prio-observer. */
  PrioObserver *next;
  gint users;     /* the number of prio_observer_add () calls without a remove */
  guint64 number; /* larger than the numbers of observers that were added before; a loop calls this observer only after
                   * the loop's `last_observer` has reached this number; atomic */
};

/* Any thread that has entered no loop (prio-loop-private.h) may call the first two functions.  The caller of the others
 * has entered @loop. */
void prio_observer_add (PrioObserver *observer);
void prio_observer_remove (PrioObserver *observer);
void prio_observers_ensure (PrioLoop *loop);
guint64 prio_observed_count (PrioLoop *loop);

/* Functions of loops. */
PrioLoop *prio_loop_ref (PrioLoop *loop);
void prio_loop_unref (PrioLoop *loop);
void prio_loop_add_leaf_lock (PrioLock *lock);
void prio_loop_defer_release (PrioLoop *loop, GDestroyNotify func, gpointer data);
void prio_groups_finish_aborted (PrioLoop *loop);
gboolean prio_loop_has_source (PrioLoop *loop, const GSource *source);
guint prio_idle_next_source (PrioLoop *loop);

/* Calls @func on the owner thread, which has entered the loop: at once if this is the owner thread, otherwise later. */
void prio_observed_call (PrioLoop *loop, void (*func) (PrioLoop *loop, gpointer data), gpointer data);
/* Returns the main context, which exists at least while a thread runs it. */
GMainContext *prio_observed_context (PrioLoop *loop);
/* Returns whether microtasks are queued.  Called only on the owner thread. */
gboolean prio_observed_has_microtasks (PrioLoop *loop);
/* Calls @func by the end of the batch, with no lock held.  The caller is the owner thread, and has entered no loop. */
void prio_observed_call_later (PrioLoop *loop, GDestroyNotify func, gpointer data);
/* Returns whether this thread is the owner thread. */
gboolean prio_observed_is_here (PrioLoop *loop);
/* Returns the id of the owner thread, as from prio_thread_get_id (). */
gsize prio_observed_owner (PrioLoop *loop);
/* Returns the number of the current iteration of the main loop.  Called only on the owner thread. */
guint64 prio_observed_iteration (PrioLoop *loop);
/* Calls @notify in a microtask, on the thread that runs the context.  If the loop has ended, calls @notify at once or,
 * if @quietly, in a later prio_loop_flush_releases (). */
void prio_loop_call (PrioLoop *loop, GDestroyNotify notify, gpointer data, gboolean quietly);
/* Returns whether a microtask or a task is queued, or a task of the program is delayed; tasks of paused schedulers do
 * not count.  Returns FALSE on threads other than the owner thread. */
gboolean prio_loop_is_busy (PrioLoop *loop);
/* Ends the loop before its context is destroyed, and aborts all queued and later tasks.  Called on the thread that runs
 * the context, which has entered no loop. */
void prio_loop_close (PrioLoop *loop);
/* The slots of a loop, for records of other folders.  Any thread may allocate and free a record.  The functions
 * `is_large` and `trim` are called on the owner thread; `ends`, at the end of the context, when no loop is entered. */
typedef enum
{
  PRIO_SLOT_SIGNAL,    /* the records of registrations */
  PRIO_SLOT_TASK,      /* the pool of tasks */
  PRIO_SLOT_SCHEDULER, /* the scheduler of prio_scheduler_ref_thread_default () */
  PRIO_SLOT_POST,      /* an empty record, whose `ends` aborts functions that wait for a thread */
  PRIO_SLOT_GROUP,     /* the members of groups, by number */
  PRIO_SLOT_WATCH,     /* the source that blocks the loop (prio-holding.c) */
  PRIO_SLOT_BINDINGS,  /* the functions of bindings to call between tasks */
  PRIO_SLOT_WAITS,     /* notifies waiting threads of the end of the loop */
  PRIO_N_SLOTS
} PrioSlotNumber;

/* Returns the record in a slot of @loop, and allocates it if there is none.  The record is freed with the loop. */
gpointer prio_loop_ensure_slot (PrioLoop *loop, PrioSlotNumber number, const PrioSlotFuncs *funcs);

/* Sets the time of all loops, for a test, to @time, in µs, which is not before the current time.  If @time is 0, sets
 * it to the system's time, and ends the running time slices; delayed tasks then wait for the rest of their delay.  Any
 * thread that has entered no loop may call this function. */
void prio_time_set (gint64 time);
/* Returns when @loop next has work, in µs: 0 for now, and G_MAXINT64 for never.  Called on the owner thread, which has
 * entered no loop. */
gint64 prio_loop_next_time (PrioLoop *loop);
/* Ends the time slice of the running code.  Called on the thread that runs the context. */
void prio_loop_end_slice (PrioLoop *loop);

#define PRIO_N_PRIORITIES 3

/* How many tasks wait, by priority, from background. */
typedef struct
{
  guint64 queued[PRIO_N_PRIORITIES], delayed[PRIO_N_PRIORITIES];
  guint64 dropped[PRIO_N_PRIORITIES]; /* aborted tasks that have not been removed yet */
} PrioWaiting;

static inline guint
prio_count_index (PrioTaskPriority priority)
{
  guint index = (guint) (priority - PRIO_TASK_PRIORITY_BACKGROUND);

  g_assert (index < PRIO_N_PRIORITIES);
  return index;
}

/* Counts the tasks of a run queue and of its parts.  The caller has entered the loop. */
void prio_run_queue_count_waiting (PrioRunQueue *run_queue, PrioWaiting *waiting);
/* Returns the record that watch/ keeps for a run queue, a box of g_atomic_rc_box_new (), or NULL.  The parts of the run
 * queue have the same record.  Any thread may call this function. */
gpointer prio_run_queue_get_record (PrioRunQueue *run_queue);
/* Sets the record to @record, unless there is one already, and takes ownership of @record.  Returns the queue's
 * record. */
gpointer prio_run_queue_set_record (PrioRunQueue *run_queue, gpointer record);
/* Sets the record in the existing parts of the run queue. */
void prio_run_queue_share_record (PrioRunQueue *run_queue);

/* Functions of prio-watch.c, called when a scheduler is created and when it is finalized. */
typedef struct
{
  void (*made) (PrioScheduler *self);
  void (*ends) (PrioScheduler *self);
} PrioSchedulerWatchFuncs;

void prio_scheduler_set_watch (const PrioSchedulerWatchFuncs *funcs);

/* Functions of schedulers. */
gboolean prio_scheduler_enter (PrioScheduler *self, const char *function, const char *what);
void prio_scheduler_leave (PrioScheduler *self);
PrioLoop *prio_scheduler_get_loop (PrioScheduler *self);
PrioRunQueue *prio_scheduler_get_run_queue (PrioScheduler *self);
