/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-observe.h: observers, and functions of the engine for watch/
 *
 * Promises: while there is an observer, each task of every loop is reported from its post, or from the beginning of the
 * observation if the task waited already, to its end: queued, then begins, then yielded (and queued again), ended or
 * aborted.  A task that runs when the observation begins is not reported, unless it is queued again.  The `id` in the
 * task's record (PrioObserved) identifies it.
 *
 * Without observers, this costs nothing where jobs are posted and run, and a test or two elsewhere: an observed task is
 * always an entry, whose table of functions belongs to prio-observer, which calls the entry's own.  Jobs become such
 * entries when they would be the first of their queue, and queues of jobs are empty while the loop is observed: waiting
 * jobs are moved when the observation begins.
 *
 * Threads: an observer is called on the owner thread of the loop, from several at once if there are several loops.
 * `queued`, `aborted`, `priority_changed` and `paused` may be called inside (prio-loop-private.h): they must call no
 * user code, not enter the library, and take only leaf locks.  `begins` and `yielded` are called outside, but in a
 * step: operations of other threads are not carried out there, because they may abort the task.  Observers are static,
 * because a thread may still call an observer that has just been removed.  Any function of an observer may be NULL.
 *
 * Times are µs of g_get_monotonic_time ().
 */

#pragma once

#include "base/prio-clock-private.h"
#include "base/prio-slots-private.h"
#include "prio-enums.h"

typedef struct _PrioLoop PrioLoop;         /* of a main context */
typedef struct _PrioRunQueue PrioRunQueue; /* of a scheduler */
typedef struct _PrioScheduler PrioScheduler;

/* Tasks that one GSource dispatches: its priority decides which other sources they precede (prio-loop-source.c). */
typedef enum
{
  PRIO_LANE_NONE = -1,
  PRIO_LANE_IDLE,         /* idle callbacks */
  PRIO_LANE_BACKGROUND,   /* effective priorities 0 and 1 */
  PRIO_LANE_USER_VISIBLE, /* 2 */
  PRIO_LANE_URGENT,       /* 3 to 6, microtasks, and releases */
  PRIO_N_LANES
} PrioLane;

typedef enum
{
  PRIO_OBSERVED_CLOSURE, /* a function of prio_scheduler_post () or prio_scheduler_post_full () */
  PRIO_OBSERVED_TASK,    /* a PrioTask, or a yield of the C interface */
  PRIO_OBSERVED_ID,      /* a task of a PrioRunner, which may be the continuation of a yield */
  PRIO_OBSERVED_IDLE     /* an idle callback */
} PrioObservedKind;

/* A task, as observers see it. */
typedef struct
{
  guint64 id;            /* unique in the process; from 1 */
  guint64 poster;        /* the id of the task that ran on this thread when this one was posted, or 0 */
  char *name;            /* or NULL; may be known only when the task begins */
  gconstpointer func;    /* the program's function, to name a task without a name; or NULL */
  gconstpointer group;   /* identifies the signal, at this scheduler, that may abort it, or NULL */
  PrioRunQueue *scheduler; /* identifies the scheduler */
  gint64 due;            /* when it is to be queued, for a delayed task; otherwise 0 */
  gint64 queued;         /* when it last entered its queue; 0 if before the observation, or not yet */
  gint64 begun;          /* when it last began to run, or 0; */
  guint64 run;           /* and the number of this run in its loop, from 1; earlier runs have smaller numbers */
  guint8 kind;           /* PrioObservedKind */
  gint8 priority;        /* PrioTaskPriority, without lent ones; may change while the task waits */
  guint8 state;          /* PrioTaskState in `ended`: FULFILLED, FAILED or ABORTED; RUNNING if its result is deferred */
  guint8 continuation;   /* whether it continues a task after a yield */
} PrioObserved;

/* Returns since when @task waits: a delayed task since it is due, even if the main loop was held then. */
static inline gint64
prio_observed_waits_since (const PrioObserved *task)
{
  return task->due != 0 && !task->continuation ? task->due : task->queued;
}

typedef struct _PrioObserver PrioObserver;

struct _PrioObserver
{
  /* A task has been posted with a delay; `queued` follows when it is due. */
  void (*delayed) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* A task has entered a queue: it was posted, is due, or has yielded. */
  void (*queued) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* Its function begins. */
  void (*begins) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* Its function has returned G_SOURCE_CONTINUE: `queued` follows. */
  void (*yielded) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* The microtasks that the task had queued when it yielded have run; it may have begun again, or ended, meanwhile.
   * @task is the record that `yielded` was called with, and is freed after this. */
  void (*microtasks_ran) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* Its function, its checkpoint and its callbacks are over.  Follows `aborted` if the task ran then. */
  void (*ended) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now);
  /* It was aborted, or its context is gone: if it did not run (`begun` is 0, or before `queued`), this is its end. */
  void (*aborted) (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gboolean runs, gint64 now);
  /* Tasks that follow the priority of @group have another priority. */
  void (*priority_changed) (PrioObserver *self, PrioLoop *loop, gconstpointer group, PrioTaskPriority from,
                            PrioTaskPriority to, gint64 now);
  /* The tasks of @scheduler are held back, or are not any more. */
  void (*paused) (PrioObserver *self, PrioLoop *loop, gconstpointer scheduler, gboolean is_paused, gint64 now);
  /* Tasks have run one after another since @began: @cut if their time is over (the turn of the other sources begins). */
  void (*batch_begins) (PrioObserver *self, PrioLoop *loop, gint64 now);
  void (*batch_ended) (PrioObserver *self, PrioLoop *loop, PrioLane lane, gint64 began, gboolean cut, gint64 now);
  /* The other sources have had their turn, from @began to @now; @whole if it went to the bottom. */
  void (*turn_ended) (PrioObserver *self, PrioLoop *loop, gint64 began, gboolean whole, gint64 now);
  /* GLib begins an iteration; then, after it may have slept, it checks its sources. */
  void (*prepares) (PrioObserver *self, PrioLoop *loop, gint64 now);
  void (*checks) (PrioObserver *self, PrioLoop *loop, gint64 now);
  /* The next frame has been announced for @due. */
  void (*frame) (PrioObserver *self, PrioLoop *loop, gint64 due, gint64 interval, gint64 now);

  /* For prio-observer: */
  PrioObserver *next;
  gint users;     /* how often it has been added */
  guint64 number; /* above all older observers': loops that have not begun with it do not call it; atomic */
};

/* Any thread, outside. */
void prio_observer_add (PrioObserver *observer);
void prio_observer_remove (PrioObserver *observer);
void prio_observers_ensure (PrioLoop *loop);
guint64 prio_observed_count (PrioLoop *loop);

/* Of a loop. */
PrioLoop *prio_loop_ref (PrioLoop *loop);
void prio_loop_unref (PrioLoop *loop);
void prio_loop_add_leaf_lock (PrioLock *lock);
void prio_loop_defer_release (PrioLoop *loop, GDestroyNotify func, gpointer data);
void prio_groups_finish_aborted (PrioLoop *loop);
gboolean prio_loop_has_source (PrioLoop *loop, const GSource *source);
guint prio_idle_next_source (PrioLoop *loop);

/* Calls @func on the owner thread, inside: now if this is it, otherwise soon. */
void prio_observed_call (PrioLoop *loop, void (*func) (PrioLoop *loop, gpointer data), gpointer data);
/* The main context: valid as long as it runs. */
GMainContext *prio_observed_context (PrioLoop *loop);
/* Returns whether microtasks wait.  Owner thread. */
gboolean prio_observed_has_microtasks (PrioLoop *loop);
/* Calls @func at the end of the batch, outside of all locks.  On the owner thread, not inside. */
void prio_observed_call_later (PrioLoop *loop, GDestroyNotify func, gpointer data);
/* Returns whether this thread is the owner. */
gboolean prio_observed_is_here (PrioLoop *loop);
/* Returns the thread that is the owner, as prio_thread_get_id () numbers it. */
gsize prio_observed_owner (PrioLoop *loop);
/* Returns the number of GLib's iteration that runs.  On the owner thread. */
guint64 prio_observed_iteration (PrioLoop *loop);
/* Calls @notify on the owner thread, outside, soon; or here if the context is gone, unless @quietly. */
void prio_loop_call (PrioLoop *loop, GDestroyNotify notify, gpointer data, gboolean quietly);
/* The rooms above that keep a record with a loop.  Any thread makes and frees it; `is_large` and `trim` of its
 * functions are called on the owner thread, and `ends` outside, at the end of the context. */
typedef enum
{
  PRIO_SLOT_SIGNAL,    /* the records of registrations */
  PRIO_SLOT_TASK,      /* the pool of tasks */
  PRIO_SLOT_SCHEDULER, /* the scheduler that the context's threads share */
  PRIO_SLOT_POST,      /* no record: work that waits for a thread ends with the loop */
  PRIO_SLOT_GROUP,     /* the tasks of groups, by number */
  PRIO_SLOT_WATCH,     /* who holds the loop */
  PRIO_SLOT_BINDINGS,  /* the function to call before each task */
  PRIO_N_SLOTS
} PrioSlotNumber;

/* The record that a room keeps with @loop, which is made if there is none, and freed with the loop. */
gpointer prio_loop_ensure_record (PrioLoop *loop, PrioSlotNumber number, const PrioSlotFuncs *funcs);

#define PRIO_N_PRIORITIES 3

/* By priority, from background. */
typedef struct
{
  guint64 queued[PRIO_N_PRIORITIES], delayed[PRIO_N_PRIORITIES];
  guint64 dropped[PRIO_N_PRIORITIES]; /* dropped by an abort that is not carried out for each yet */
} PrioWaiting;

static inline guint
prio_count_index (PrioTaskPriority priority)
{
  guint index = (guint) (priority - PRIO_TASK_PRIORITY_BACKGROUND);

  g_assert (index < PRIO_N_PRIORITIES);
  return index;
}

/* Counts the tasks of a run queue, with its parts.  Owner thread, inside. */
void prio_run_queue_count_waiting (PrioRunQueue *run_queue, PrioWaiting *waiting);
/* Returns the record of watch/ for a run queue, a GAtomicRcBox, or NULL.  Its parts share it.  Any thread. */
gpointer prio_run_queue_get_record (PrioRunQueue *run_queue);
/* Takes over @record, unless there is one.  Returns the record. */
gpointer prio_run_queue_set_record (PrioRunQueue *run_queue, gpointer record);
/* Shares the record with the parts that exist already. */
void prio_run_queue_share_record (PrioRunQueue *run_queue);

/* Called when a scheduler is made, and when it ends; for prio-watch.c. */
typedef struct
{
  void (*made) (PrioScheduler *self);
  void (*ends) (PrioScheduler *self);
} PrioSchedulerWatchFuncs;

void prio_scheduler_set_watch (const PrioSchedulerWatchFuncs *funcs);

/* Of a scheduler. */
gboolean prio_scheduler_enter (PrioScheduler *self, const char *function, const char *what);
void prio_scheduler_leave (PrioScheduler *self);
PrioLoop *prio_scheduler_get_loop (PrioScheduler *self);
PrioRunQueue *prio_scheduler_get_run_queue (PrioScheduler *self);
