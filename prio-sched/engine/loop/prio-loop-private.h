/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-loop-private.h: the loop, which is the library's record of a GMainContext, and the rules of access
 *
 * Promises: any thread can find the loop of a context.  A context has one loop at a time.  The first user, usually a
 * scheduler, creates the loop, which is freed after the last user has gone.  The loop numbers tasks when they enter
 * queues (their *age*), and contains the queues of all schedulers of the context.
 *
 * Threads: the *owner thread* is the thread that last ran the context, or at first the thread that created the loop.
 * Fields belong to it, unless their comments say otherwise.  It uses them in a dispatch, or between prio_loop_enter ()
 * and prio_loop_leave (): the thread has then *entered the loop*.  Other threads send operations (PrioOp) with
 * prio_loop_submit ().  After the end of the context, any thread can enter: see prio_loop_enter_or_lock ().
 *
 * A thread that has entered a loop runs no user code: prio_loop_defer_release () queues a call of a destroy notify, and
 * prio_loop_flush_releases () makes the call after the thread has left.  Apart from GLib's own locks and the mailbox's,
 * such a thread takes only leaf locks (prio_loop_add_leaf_lock ()).
 *
 * The loop calls the modules above it through the tables of functions below. */

#pragma once

#include "base/prio-owner-lock-private.h"
#include "base/prio-slab-private.h"
#include "base/prio-slots-private.h"
#include "policy/prio-stopwatch-private.h"
#include "policy/prio-turn-private.h"
#include "loop/prio-mailbox-private.h"
#include "open/prio-frame.h"
#include "open/prio-numbers.h"
#include "open/prio-observe.h"
#include "queue/prio-due-private.h"
#include "queue/prio-group-private.h"
#include "queue/prio-microtasks-private.h"
#include "queue/prio-ready-private.h"

/* The GSources of a loop: one for each PrioLane, then sources that observe and end turns (prio-turn-private.h). */
enum
{
  PRIO_SOURCE_AFTER_INPUT = PRIO_N_LANES, /* right after input */
  PRIO_SOURCE_BEFORE_FRAME,               /* between input and drawing */
  PRIO_SOURCE_BEFORE_LAYOUT,              /* right after drawing */
  PRIO_SOURCE_AFTER_FRAME,                /* after everything that GTK needs for a frame */
  PRIO_SOURCE_BOTTOM,                     /* after every other source */
  PRIO_SOURCE_GOVERNOR,                   /* before every other source */
  PRIO_N_SOURCES
};

typedef struct _PrioLending PrioLending;
typedef struct _PrioLendNode PrioLendNode;

/* Used by prio-idle.c: the idle callbacks, and the idle period. */
typedef struct
{
  GQueue pending;    /* of PrioIdle: for the next idle period */
  GQueue running;    /* of PrioIdle: for the idle period that has begun */
  GHashTable *by_id; /* guint → PrioIdle, not owned; NULL until needed */
  gint64 deadline;   /* the end of the last idle period, µs */
  guint64 asked;     /* the number of the iteration in which prio_idle_prepare () was last called */
  gint64 next;       /* when the next event is due, as of the last prio_idle_prepare (), µs */
  guint last_source; /* the last source id of the context; a higher id shows that the program has added a source */
} PrioIdles;

/* Functions of higher modules.  The caller of `process_aborted` and `release_some` has entered the loop. */
typedef struct
{
  void (*attach) (PrioLoop *loop);                     /* attaches the governor, if it is not in the context */
  void (*process_aborted) (PrioLoop *loop, guint max); /* processes up to @max entries of aborted groups */
  gboolean (*release_some) (PrioLoop *loop);           /* defers the release of some tasks; FALSE if none is left */
  void (*clear) (PrioLoop *loop);                      /* frees the modules' data in a loop that is being freed */
} PrioLoopFuncs;

/* The functions of prio-observer.  Their caller is in a dispatch, has entered the loop, or is creating the loop.  But
 * `is_wanted` is called on any thread, under the lock of prio-loop.c. */
typedef struct
{
  gboolean (*is_wanted) (void);                       /* whether there is an observer */
  void (*begins) (PrioLoop *loop);                    /* reports waiting tasks to observers that are new to the loop */
  void (*added) (PrioEntry *entry, gint64 due);       /* @entry has been posted, and is queued, or delayed until @due */
  gboolean (*take_job) (PrioQueue *queue);            /* turns the only job of @queue into an entry of another queue */
  void (*priority_changes) (PrioGroup *group, PrioTaskPriority priority);
  void (*paused) (PrioRunQueue *run_queue, gboolean is_paused);
  void (*frame_announced) (PrioLoop *loop, gint64 due, gint64 interval);
} PrioObservingFuncs;

/* A call of a destroy notify, to be made after the thread has left the loop. */
typedef struct
{
  GDestroyNotify func;
  gpointer data;
} PrioRelease;

/* Used by prio-loop.c: the deferred releases, oldest first. */
typedef struct
{
  PrioRelease *ring; /* @allocated elements; the calls from @first to @n - 1 have not been made yet */
  gsize first, n, allocated;
  gpointer destroyer; /* identifies the thread that ends the loop, until all releases are made: others make none */
} PrioReleases;

/* Used by the dispatch: work to do before the next task. */
typedef struct
{
  PrioMicrotasks microtasks;
  gboolean any; /* whether there may be microtasks or releases */
} PrioBetween;

/* Used by the functions below: memory for jobs and entries. */
typedef struct
{
  PrioSlab jobs, entries;
} PrioStore;

/* Used by prio-run-queue.c: the run queues of the context. */
typedef struct
{
  PrioRunQueue *first; /* the first of the schedulers' run queues */
  PrioRunQueue *own;   /* for the library's own tasks; has no scheduler, so it is never paused; or NULL */
} PrioRunQueues;

/* Used by prio-run-queue-group.c: the aborted groups that still have entries.  The list is a user of each group. */
typedef struct
{
  PrioGroup *first, *last;
} PrioAborted;

/* Used by prio-current.c: the scheduler that callbacks get as their source object, kept until the batch ends. */
typedef struct
{
  GObject *source;         /* owned */
  PrioRunQueue *run_queue; /* the run queue of @source */
} PrioCurrent;

/* Used by prio-observer.c: whether and how tasks are reported to observers. */
typedef struct
{
  const PrioObservingFuncs *funcs; /* NULL while there are no observers; other threads read it atomically */
  PrioSlab records;                /* of observed tasks; initialized before the first is allocated */
  guint64 n_runs;                  /* the number of runs of tasks */
  guint64 last_observer;           /* the number of the last observer to which this loop has begun to report */
  gint64 end;                      /* when the last task ended, µs; 0 if other code may have run since */
} PrioWatched;

/* Used by prio-loop-source.c: the GSources of the library, and the current iteration. */
typedef struct
{
  GSource *of[PRIO_N_SOURCES]; /* owned, under the lock of prio-loop-source.c; NULL while the source is not attached */
  guint n;                           /* the number of attached sources; atomic */
  guint idle_passes[PRIO_N_SOURCES]; /* for how many iterations in a row each source was not needed */
  gboolean is_away;                  /* whether the governor has left the context until the next post; atomic */
  gboolean awake;                    /* whether a check or a dispatch has followed the governor's last prepare */
  PrioLane lane;                     /* the lane that runs next, or PRIO_LANE_NONE */
  guint64 iteration, taskless;       /* the current iteration; the last in which a dispatch ran no task, or 0 */
  guint spins;                       /* how often to look again for work before the context sleeps */
  gint64 checked;                    /* when GLib last checked its sources, µs */
  glong checked_tick;                /* the tick of the coarse clock at @checked */
  gboolean told;                     /* whether should_yield () has returned TRUE outside of tasks since @checked */
} PrioSources;

/* Used by prio-yield.c: when prio_scheduler_should_yield () reads the clock, and when it polls for input. */
typedef struct
{
  PrioStopwatch asked; /* counts the calls until the clock is read; set anew before each task or run of tasks */
  gint64 next_probe;   /* when input may be polled for again, µs */
  gint64 wakeup_fd;    /* the file descriptor that wakes GLib out of poll (), or -1 while it is unknown */
} PrioAsked;

/* Used by prio-frames.c: when frames are due. */
typedef struct
{
  PrioHeap due, intervals; /* the announced frames, by due time and by interval, µs */
  gint64 next;             /* when the next frame is due, µs, or 0 if unknown; written atomically */
  gint64 interval;         /* the shortest announced interval, or 0, µs */
} PrioFrames;

/* The record of a GMainContext.  The comment of each record type above names the code that mainly uses that type. */
struct _PrioLoop
{
  gint refs; /* atomic; sources, run queues and runners have references */
  const PrioLoopFuncs *funcs;
  GMainContext *context; /* not owned: valid until the mailbox is closed */
  PrioOwnerLock lock;
  PrioMailbox mailbox PRIO_CACHE_ALIGNED;
  PrioSlot slots[PRIO_N_SLOTS]; /* records that other modules keep with the loop */
  /* The number of users, which are run queues and other code that has acquired the loop.  Atomic; written under the
   * lock of prio-loop.c, except when a part of a run queue is created. */
  guint n_users;

  /* All fields from here on belong to the owner thread, and share no cache line with the fields above. */
  guint64 next_order PRIO_CACHE_ALIGNED;
  PrioStore store;
  PrioReady ready;
  PrioDue due;
  PrioRunQueues run_queues;
  PrioBetween between;
  PrioReleases releases;
  PrioAborted aborted;
  PrioCurrent current;
  PrioTurn turn;
  PrioAsked input;
  PrioFrames frames;
  PrioSources sources;
  PrioWatched watched;
  PrioIdles idles;
  PrioLending *lending;  /* NULL until a scheduler is set to lend priorities; set atomically */
  PrioCheckpointFunc checkpoint_func; /* calls functions of bindings between tasks, or NULL */
};

PrioLoop *prio_loop_acquire (GMainContext *context, const PrioLoopFuncs *funcs);
gboolean prio_loop_dispose (PrioLoop *loop);
void prio_loop_leave_table (PrioLoop *loop);

void prio_loops_observe (const PrioObservingFuncs *funcs);
void prio_loops_submit (const PrioOp *op, const PrioObservingFuncs *funcs);

void prio_loop_submit (PrioLoop *loop, const PrioOp *op);
void prio_loop_submit_post (PrioLoop *loop, const PrioOp *op);
void prio_loop_submit_quietly (PrioLoop *loop, const PrioOp *op);

/* The value of `prio_thread.state` while a destroy notify runs: it has no state, and no PrioStateFinder is called. */
extern const PrioState prio_state_none G_GNUC_INTERNAL;

void prio_loop_catch_up (PrioLoop *loop);
gboolean prio_loop_is_large (PrioLoop *loop);
void prio_loop_trim (PrioLoop *loop);

/* The expiry of a task without a timeout. */
#define PRIO_NO_EXPIRY 0

/* Returns when a timeout of @timeout ms passes, µs, counted from @due, or from now if @due is 0.  Returns
 * PRIO_NO_EXPIRY if @timeout is 0.  A negative @timeout has passed already. */
static inline gint64
prio_expiry_after (gint64 due, gint timeout)
{
  gint64 start;

  if (G_LIKELY (timeout == 0))
    return PRIO_NO_EXPIRY;
  start = due != 0 ? due : prio_clock_now ();
  return timeout >= 0 ? prio_time_after (start, (gint64) timeout * 1000) : MAX (start + (gint64) timeout * 1000, PRIO_NO_EXPIRY + 1);
}

/* Returns the milliseconds from @now until @due, at least 0, and rounded up, so that GLib does not wake too early. */
static inline gint
prio_timeout_until (gint64 due, gint64 now)
{
  if (due <= now)
    return 0;
  return (gint) MIN ((due - now - 1) / 1000 + 1, G_MAXINT);
}

/* Returns the record that another module keeps in slot @number of the loop, or NULL.  Any thread may call this. */
static inline gpointer
prio_loop_get_slot (PrioLoop *loop, PrioSlotNumber number)
{
  return __atomic_load_n (&loop->slots[number].record, __ATOMIC_ACQUIRE);
}

static inline PrioGroup *
prio_loop_first_aborted (PrioLoop *loop)
{
  return loop->aborted.first;
}

static inline gboolean
prio_loop_has_releases (PrioLoop *loop)
{
  return loop->releases.n > 0 || prio_loop_first_aborted (loop) != NULL;
}

/* Enters the loop if this is the owner thread, and then carries out the operations that other threads have sent,
 * because the caller may rely on their effects.  On other threads, returns FALSE. */
static inline gboolean
prio_loop_enter (PrioLoop *loop)
{
  if (!prio_owner_lock_enter (&loop->lock))
    return FALSE;

  if (G_UNLIKELY (prio_mailbox_state (&loop->mailbox) != PRIO_MAILBOX_EMPTY))
    prio_loop_catch_up (loop);
  return TRUE;
}

/* Enters the loop, but carries out no operations of other threads.  Returns FALSE if this is not the owner thread. */
static inline gboolean
prio_loop_enter_only (PrioLoop *loop)
{
  return prio_owner_lock_enter (&loop->lock);
}

static inline void
prio_loop_leave (PrioLoop *loop)
{
  prio_owner_lock_leave (&loop->lock);
}

static inline gboolean
prio_loop_is_owner_thread (PrioLoop *loop)
{
  return prio_owner_lock_is_owner (&loop->lock);
}

/* Returns whether prio_loop_catch_up () has work to do. */
static inline gboolean
prio_loop_is_behind (PrioLoop *loop)
{
  return prio_mailbox_state (&loop->mailbox) != PRIO_MAILBOX_EMPTY;
}

/* Returns the age of a task that enters a queue now. */
static inline guint64
prio_loop_next_order (PrioLoop *loop)
{
  return loop->next_order++;
}

/* Returns whether the loop reports to observers.  Any thread may call this function. */
static inline gboolean
prio_loop_is_observed (PrioLoop *loop)
{
  return __atomic_load_n (&loop->watched.funcs, __ATOMIC_RELAXED) != NULL;
}

/* Returns the functions that report to observers, or NULL while there are none. */
static inline const PrioObservingFuncs *
prio_loop_observing (PrioLoop *loop)
{
  return loop->watched.funcs;
}

static inline gboolean
prio_loop_has_microtasks (PrioLoop *loop)
{
  return loop->between.microtasks.length > 0;
}

/* Returns whether the loop has no users.  Any thread may call this function. */
static inline gboolean
prio_loop_is_unused (PrioLoop *loop)
{
  return __atomic_load_n (&loop->n_users, __ATOMIC_RELAXED) == 0;
}

static inline gsize
prio_loop_n_releases (PrioLoop *loop)
{
  return loop->releases.n;
}

static inline guint64
prio_loop_get_iteration (PrioLoop *loop)
{
  return loop->sources.iteration;
}

static inline void
prio_loop_ran_no_task (PrioLoop *loop)
{
  loop->sources.taskless = loop->sources.iteration;
}

/* Returns when the time slice of code outside of tasks began, µs: when GLib last checked its sources.  Returns 0 if
 * that slice is over. */
static inline gint64
prio_loop_last_check (PrioLoop *loop)
{
  return loop->sources.told ? 0 : loop->sources.checked;
}

static inline void
prio_loop_forget_check (PrioLoop *loop)
{
  loop->sources.told = TRUE;
}

/* Notes the end of an operation that a task of a PrioTaskGroup waited for.  The group's next task may then run during
 * the turn of the other sources. */
static inline void
prio_loop_answer (PrioLoop *loop)
{
  loop->turn.answered = loop->turn.others;
}

static inline PrioJob *
prio_loop_alloc_job (PrioLoop *loop)
{
  return prio_slab_alloc (&loop->store.jobs);
}

static inline void
prio_loop_free_job (PrioLoop *loop, PrioJob *job)
{
  prio_slab_free (&loop->store.jobs, job);
}

static inline PrioEntry *
prio_loop_alloc_entry (PrioLoop *loop)
{
  return prio_slab_alloc (&loop->store.entries);
}

static inline void
prio_loop_free_entry (PrioLoop *loop, PrioEntry *entry)
{
  prio_slab_free (&loop->store.entries, entry);
}

/* Returns a record for a job, or NULL if the slab's current chunk has no room. */
static inline PrioJob *
prio_loop_alloc_job_quickly (PrioLoop *loop)
{
  return prio_slab_alloc_quickly (&loop->store.jobs);
}

/* Makes the batch process microtasks and releases before the next task. */
static inline void
prio_loop_look_between_tasks (PrioLoop *loop)
{
  loop->between.any = TRUE;
}

static inline void
prio_loop_queue_microtask (PrioLoop *loop, const PrioMicrotask *microtask)
{
  prio_microtasks_push (&loop->between.microtasks, microtask);
  loop->between.any = TRUE;
}

static inline PrioLane
prio_lane_of (PrioEffective effective)
{
  return effective > 2 ? PRIO_LANE_URGENT : effective == 2 ? PRIO_LANE_USER_VISIBLE : PRIO_LANE_BACKGROUND;
}

static inline gboolean
prio_loop_has_background (PrioLoop *loop)
{
  return (loop->ready.mask & 3) != 0;
}

/* Returns whether the loop has ended, with its context or in prio_loop_close ().  The caller has entered the loop. */
static inline gboolean
prio_loop_is_dead (PrioLoop *loop)
{
  return loop->mailbox.closed;
}
