/* prio-loop-private.h: the record of a GMainContext, and who may touch it
 *
 * Promises: one record per context, found from any thread, made with the first
 * scheduler and gone after the last.  It has the order in which tasks enter
 * queues, and the queues of every scheduler of the context.
 *
 * Threads: what is marked "home" belongs to whoever is inside, of whom there is
 * one: the home thread between prio_loop_enter () and prio_loop_leave (), or
 * throughout a dispatch; after the context has gone, whoever holds the inbox's
 * lock.  Every other thread sends an operation (PrioOp) with prio_loop_submit ().
 *
 * Nothing of the user's runs inside: what is to be released is handed to
 * prio_loop_bury (), and prio_loop_collect () releases it outside.  The one lock
 * taken inside, besides GLib's own, is that of the signals (prio-hub), a leaf.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-bias-private.h"
#include "prio-frames-private.h"
#include "prio-idle-private.h"
#include "prio-inbox-private.h"
#include "prio-microtasks-private.h"
#include "prio-ready-private.h"
#include "prio-slab-private.h"
#include "prio-stopwatch-private.h"
#include "prio-task.h"
#include "prio-turn-private.h"

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

/* Tasks that run in a row.  A nested main loop has one of its own. */
typedef struct _PrioBatch PrioBatch;

struct _PrioBatch
{
  PrioBatch *outer; /* of the thread */
  PrioLoop *loop;
  PrioLane lane;    /* what is next belongs to it, or to one above */
  gint depth;       /* of g_main_depth () */
  gboolean begun;   /* a task has run */
  guint effective;  /* the priority of the last, as it was */
  gboolean over;    /* its time is */
  gint64 entered;   /* when it began, µs */
  gint64 start;     /* from when its time counts, µs */
  gint64 now;       /* as of the last look at the clock, µs */
  gint64 raw;       /* the time slice of the scheduler whose tasks run, as it was set, µs */
  gint64 shortest;  /* of those of the schedulers whose tasks have run, as they are, µs */
  gint64 allowance; /* how long one of them may go on, µs */
  gint64 look;      /* after how long the others are looked for, µs */
  PrioStopwatch watch;

  /* While a runner's function is in: */
  PrioRunner *runner;
  gboolean running; /* a token, whose state and entry, if it has one, follow */
  PrioState state;
  PrioEntry *entry;
  const PrioState *outer_state;
};

/* Something to be released outside. */
typedef struct
{
  GDestroyNotify func;
  gpointer data;
} PrioGrave;

struct _PrioLoop
{
  gint refs;             /* atomic: of each source, core and bond */
  GMainContext *context; /* not owned: valid until the inbox is closed */
  PrioBias bias;
  PrioInbox inbox PRIO_CACHE_ALIGNED;
  GWeakRef thread_default; /* the scheduler that the context's threads share; any thread */

  guint n_users; /* cores, and handles of signals; under the lock of prio-loop.c */
  gint unused;   /* whether there is none; atomic, set under that lock */

  /* All the rest is home, and of no interest to the processors of other threads. */
  guint64 next_order PRIO_CACHE_ALIGNED;
  PrioSlab jobs, entries, bonds;
  PrioReady ready;
  PrioHeap delays; /* by when they are due, in µs */
  guint64 next_delay;
  PrioMicrotasks microtasks;
  PrioCore *cores;
  PrioCore *own; /* of no scheduler: of the library's own tasks, which nobody pauses; or NULL */
  PrioIdles idles;
  PrioTask *pool; /* finished tasks to be used again, linked by their entries */
  guint n_pool;
  PrioCore *source_core; /* whose scheduler @source is */
  GObject *source;       /* owned: what callbacks are given, until the batch ends */

  gboolean attention; /* there may be microtasks, or something to release */
  PrioGrave *graves;
  gsize first_grave, n_graves, allocated_graves;
  PrioBond *condemned, *last_condemned; /* aborted signals whose entries are still to be released, in that order */

  /* Owned, and under the lock of prio-loop-source.c; but for the governor, may be NULL. */
  GSource *sources[PRIO_N_SOURCES];
  guint n_sources;
  guint idle_passes[PRIO_N_SOURCES]; /* how often each was not needed */
  gboolean awake;        /* our check, or a dispatch of ours, has come since our prepare */
  PrioLane lane;         /* which lane is next: what its prepare answers */
  guint64 iteration;     /* counts those that begin */
  guint lingers;         /* how often to look again before sleeping */
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

PrioLoop *prio_loop_join (GMainContext *context);
void prio_loop_part (PrioLoop *loop);
gboolean prio_loop_retire (PrioLoop *loop);
PrioLoop *prio_loop_ref (PrioLoop *loop);
void prio_loop_unref (PrioLoop *loop);

void prio_loop_submit (PrioLoop *loop, const PrioOp *op);
void prio_loop_submit_quietly (PrioLoop *loop, const PrioOp *op);
void prio_loop_bury (PrioLoop *loop, GDestroyNotify func, gpointer data);
void prio_loop_collect (PrioLoop *loop);
void prio_loop_catch_up (PrioLoop *loop);
gboolean prio_loop_has_gone (PrioLoop *loop);
gboolean prio_loop_is_owner (PrioLoop *loop);
gboolean prio_loop_is_large (PrioLoop *loop);
void prio_loop_trim (PrioLoop *loop);
void prio_loop_tear_down (PrioLoop *loop);

/* prio-bond.c */
void prio_bonds_init (PrioSlab *bonds);

/* prio-core.c */
void prio_core_free_own (PrioCore *core);

/* prio-loop-source.c */
extern PrioLock prio_sources_lock G_GNUC_INTERNAL;
void prio_loop_attach (PrioLoop *loop);

/* prio-input.c */
gboolean prio_loop_input_waits (PrioLoop *loop, gint priority);

/* prio-yield.c */
gboolean prio_loop_should_yield (PrioLoop *loop, PrioCore *core, const PrioState *state);

/* prio-dispatch.c */
gint64 prio_loop_get_slice (PrioLoop *loop, PrioCore *core, gboolean *is_set);
gboolean prio_batch_end_token (PrioBatch *batch);
guint prio_batch_next_token (PrioBatch *batch);
void prio_loop_run_batch (PrioLoop *loop, PrioLane lane, gint64 now);
void prio_loop_checkpoint (PrioLoop *loop);
GObject *prio_loop_get_source (PrioLoop *loop, PrioCore *core);
void prio_loop_forget_source (PrioLoop *loop);
void prio_loop_expire_delays (PrioLoop *loop, gint64 now);

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

/* When the next frame is due, as of @now; 0 if that is not known, µs. */
static inline gint64
prio_loop_next_frame (PrioLoop *loop, gint64 now)
{
  if (loop->next_frame != 0 && loop->next_frame <= now)
    prio_frames_update (loop, now);
  return loop->next_frame;
}

/* When @length from @start is over, or the first frame is due that comes after it, µs. */
static inline gint64
prio_loop_end_of_time (PrioLoop *loop, gint64 start, gint64 length)
{
  gint64 end = prio_time_after (start, length);
  gint64 frame = prio_loop_next_frame (loop, start);

  return frame > start ? MIN (end, frame) : end;
}

static inline gboolean
prio_loop_has_garbage (PrioLoop *loop)
{
  return loop->n_graves > 0 || loop->condemned != NULL;
}

/* The home thread comes in.  What other threads have sent comes first, since they
 * may have told this one of it. */
static inline gboolean
prio_loop_enter (PrioLoop *loop)
{
  if (!prio_bias_enter (&loop->bias))
    return FALSE;

  if (G_UNLIKELY (prio_inbox_state (&loop->inbox) != PRIO_INBOX_EMPTY))
    prio_loop_catch_up (loop);
  return TRUE;
}

static inline void
prio_loop_leave (PrioLoop *loop)
{
  prio_bias_leave (&loop->bias);
}

/* Has @microtask called before the next task. */
static inline void
prio_loop_queue_microtask (PrioLoop *loop, const PrioMicrotask *microtask)
{
  prio_microtasks_push (&loop->microtasks, microtask);
  loop->attention = TRUE;
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
  return loop->inbox.closed;
}
