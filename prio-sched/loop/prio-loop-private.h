/* prio-loop-private.h: the record of a GMainContext, and who may touch it
 *
 * Promises: one record per context, found from any thread, made with the first
 * scheduler and gone after the last.  It has the order in which tasks enter
 * queues, and the queues of every scheduler of the context.
 *
 * Threads: what is marked "home" belongs to whoever is inside, of whom there is
 * one: the owner thread between prio_loop_enter () and prio_loop_leave (), or
 * throughout a dispatch; after the context has gone, whoever holds the mailbox's
 * lock.  Every other thread sends an operation (PrioOp) with prio_loop_submit ().
 *
 * Nothing of the user's runs inside: what is to be released is handed to
 * prio_loop_defer_release (), and prio_loop_flush_releases () releases it outside.  The only locks
 * taken inside, besides GLib's own, are leaves (prio_loop_add_leaf_lock ()).
 *
 * What the loop has done by those above it, it calls by the tables of functions below.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "base/prio-biased-lock-private.h"
#include "queue/prio-group-private.h"
#include "loop/prio-mailbox-private.h"
#include "queue/prio-microtasks-private.h"
#include "queue/prio-ready-private.h"
#include "base/prio-slab-private.h"
#include "base/prio-stopwatch-private.h"
#include "base/prio-turn-private.h"

/* What other sources a task goes before: the lane's source says, prio-loop-source.c. */
typedef enum
{
  PRIO_LANE_NONE = -1,
  PRIO_LANE_IDLE,         /* idle callbacks */
  PRIO_LANE_BACKGROUND,   /* effective priorities 0 and 1 */
  PRIO_LANE_USER_VISIBLE, /* 2 */
  PRIO_LANE_URGENT,       /* 3 to 5, microtasks, and releases */
  PRIO_N_LANES
} PrioLane;

/* The sources of a loop: one per lane, and those that say whose turn it is. */
enum
{
  PRIO_SOURCE_GOVERNOR = PRIO_N_LANES, /* before every other source */
  PRIO_SOURCE_BEFORE_FRAME,            /* between input and drawing */
  PRIO_SOURCE_BEFORE_LAYOUT,           /* right after drawing */
  PRIO_SOURCE_AFTER_FRAME,             /* after all that GTK needs for a frame */
  PRIO_SOURCE_BOTTOM,                  /* after every other source */
  PRIO_N_SOURCES
};

typedef struct _PrioFrame PrioFrame;
typedef struct _PrioIdQueue PrioIdQueue;

/* Its idle callbacks: see prio-idle-private.h. */
typedef struct
{
  GQueue pending;   /* of PrioIdle: for the next period */
  GQueue running;   /* of PrioIdle: for the one that has begun */
  GHashTable *by_id; /* guint → PrioIdle, both owned by nobody; NULL until needed */
  gint64 deadline;  /* of the last period, µs */
  guint64 asked;    /* in which iteration of the loop, */
  gint64 next;      /* and when something else is due by that */
} PrioIdles;

/* What is done for a loop by the modules above this one. */
typedef struct
{
  void (*attach) (PrioLoop *loop);          /* it is new: puts it into its context */
  void (*process_aborted) (PrioLoop *loop, guint max); /* home: refuses up to @max entries of the condemned groups */
  void (*clear) (PrioLoop *loop);           /* it goes */
} PrioLoopFuncs;

/* What keeps records for the next burst in the loop's pool.  Called in a dispatch or, the last,
 * when the context has gone. */
typedef struct
{
  gboolean (*is_large) (PrioLoop *loop); /* whether there is more than is kept */
  void (*trim) (PrioLoop *loop);         /* gives some of that back */
  void (*clear) (PrioLoop *loop);        /* gives all of it back */
} PrioPoolFuncs;

/* Something to be released outside. */
typedef struct
{
  GDestroyNotify func;
  gpointer data;
} PrioRelease;

struct _PrioLoop
{
  gint refs;             /* atomic: of each source, run queue and whoever else knows it */
  const PrioLoopFuncs *funcs;
  GMainContext *context; /* not owned: valid until the mailbox is closed */
  PrioBiasedLock lock;
  PrioMailbox mailbox PRIO_CACHE_ALIGNED;
  GWeakRef thread_default; /* the scheduler that the context's threads share; any thread */

  guint n_users; /* run queues, and whoever else has joined; under the lock of prio-loop.c */
  gint unused;   /* whether there is none; atomic, set under that lock */

  /* All the rest belongs to the owner thread, and of no interest to the processors of other threads. */
  guint64 next_order PRIO_CACHE_ALIGNED;
  PrioSlab jobs, entries;
  PrioSlab groups; /* of records that embed a PrioGroup: who makes the first sets it up */
  PrioReady ready;
  PrioHeap delays; /* by when they are due, in µs */
  guint64 next_delay;
  PrioMicrotasks microtasks;
  PrioRunQueue *run_queues;
  PrioRunQueue *own; /* of no scheduler: of the library's own tasks, which nobody pauses; or NULL */
  PrioIdles idles;
  PrioEntry *pool; /* entries, with what they are part of, that can be used again, linked */
  guint n_pool;
  const PrioPoolFuncs *pool_funcs; /* set by who gives the first, and NULL before */
  PrioRunQueue *source_run_queue; /* whose scheduler @source is */
  GObject *source;       /* owned: what callbacks are given, until the batch ends */

  gboolean has_pending; /* there may be microtasks, or something to release */
  PrioRelease *releases;
  gsize first_release, n_releases, allocated_releases;
  PrioGroup *aborted_list, *last_aborted; /* aborted, their entries still to be released; a user of each */

  /* Owned, and under the lock of prio-loop-source.c; but for the governor, may be NULL. */
  GSource *sources[PRIO_N_SOURCES];
  guint n_sources;
  guint idle_passes[PRIO_N_SOURCES]; /* how often each was not needed */
  gboolean awake;        /* our check, or a dispatch of ours, has come since our prepare */
  PrioLane lane;         /* which lane is next: what its prepare answers */
  guint64 iteration;     /* counts those that begin */
  guint spins;         /* how often to look again before sleeping */
  PrioTurn turn;
  gint64 checked;        /* when GLib last looked at its sources, µs, */
  guint is_timed;        /* if it is not 0, and otherwise when the coarse clock ticked last before that */
  PrioStopwatch asked;   /* how often prio_scheduler_should_yield () has been, in this dispatch */
  gint64 next_probe;     /* when input may be asked for again, µs */
  gint64 wakeup_fd;      /* by which GLib is woken out of poll (), or -1 if not known yet */
  PrioFrame *frames;     /* what is known of frames, and of it: */
  gint64 next_frame;     /* when the next frame is due, or 0 if that is not known, µs; written atomically */
  gint64 frame_interval; /* the shortest of the frame clocks that are followed, or 0, µs */
};

PrioLoop *prio_loop_acquire (GMainContext *context, const PrioLoopFuncs *funcs);
void prio_loop_release (PrioLoop *loop);
gboolean prio_loop_dispose (PrioLoop *loop);
void prio_loop_leave_table (PrioLoop *loop);
PrioLoop *prio_loop_ref (PrioLoop *loop);
void prio_loop_unref (PrioLoop *loop);
void prio_loop_add_leaf_lock (PrioLock *lock);

void prio_loop_submit (PrioLoop *loop, const PrioOp *op);
void prio_loop_submit_quietly (PrioLoop *loop, const PrioOp *op);
void prio_loop_defer_release (PrioLoop *loop, GDestroyNotify func, gpointer data);
void prio_loop_flush_releases (PrioLoop *loop);
void prio_loop_catch_up (PrioLoop *loop);
void prio_loop_carry_out_inbox (PrioLoop *loop);
gboolean prio_loop_has_gone (PrioLoop *loop);
gboolean prio_loop_is_large (PrioLoop *loop);
void prio_loop_trim (PrioLoop *loop);

/* @span after @time, both in µs and none negative, or the end of time. */
static inline gint64
prio_time_after (gint64 time, gint64 span)
{
  return span > G_MAXINT64 - time ? G_MAXINT64 : time + span;
}

/* When @delay ms from now is over, µs; never in the past, however long it is.  0 if there is
 * none. */
static inline gint64
prio_due_after (guint64 delay)
{
  if (delay == 0)
    return 0;
  return prio_time_after (g_get_monotonic_time (), delay > G_MAXINT64 / 1000 ? G_MAXINT64 : (gint64) delay * 1000);
}

/* Milliseconds until @due, rounded up so as not to wake too early, or -1. */
static inline gint
prio_timeout_until (gint64 due, gint64 now)
{
  if (due <= now)
    return 0;
  return (gint) MIN ((due - now - 1) / 1000 + 1, G_MAXINT);
}

static inline gboolean
prio_loop_has_releases (PrioLoop *loop)
{
  return loop->n_releases > 0 || loop->aborted_list != NULL;
}

/* The owner thread comes in.  What other threads have sent comes first, since they
 * may have told this one of it. */
static inline gboolean
prio_loop_enter (PrioLoop *loop)
{
  if (!prio_biased_lock_enter (&loop->lock))
    return FALSE;

  if (G_UNLIKELY (prio_mailbox_state (&loop->mailbox) != PRIO_MAILBOX_EMPTY))
    prio_loop_catch_up (loop);
  return TRUE;
}

static inline void
prio_loop_leave (PrioLoop *loop)
{
  prio_biased_lock_leave (&loop->lock);
}

/* Has @microtask called before the next task. */
static inline void
prio_loop_queue_microtask (PrioLoop *loop, const PrioMicrotask *microtask)
{
  prio_microtasks_push (&loop->microtasks, microtask);
  loop->has_pending = TRUE;
}

static inline PrioLane
prio_lane_of (PrioEffective effective)
{
  return effective > 2 ? PRIO_LANE_URGENT : effective == 2 ? PRIO_LANE_USER_VISIBLE : PRIO_LANE_BACKGROUND;
}

/* The context has gone.  Asked inside. */
static inline gboolean
prio_loop_is_dead (PrioLoop *loop)
{
  return loop->mailbox.closed;
}
