/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dispatch-private.h: runs tasks
 *
 * Promises: a batch runs the next task of all schedulers, its microtask checkpoint, and so on, until it
 * is time to look for other sources, or the next task belongs to a lower lane.
 *
 * The thread owns the context throughout, so it is the owner thread.
 */

#pragma once

#include "loop/prio-number-private.h"
#include "loop/prio-observer-private.h"

/* Tasks that run one after another in a dispatch.  A nested main loop has its own batches. */
typedef struct _PrioBatch PrioBatch;

#define PRIO_NO_LEVEL G_MAXUINT8 /* no task has run yet */

struct _PrioBatch
{
  PrioBatch *outer; /* the batch of this thread in whose dispatch this one runs, or NULL */
  PrioLoop *loop;
  PrioLane lane;    /* the lowest lane whose tasks it runs */
  gint depth;       /* g_main_depth () in its dispatch */
  gboolean begun;   /* a task has run */
  guint effective;  /* the effective priority of the last task */
  guint max;        /* how many tasks may run before it counts them for the stopwatch */
  gboolean over;    /* its time is over */
  gboolean within;  /* it is in a turn of other sources: only groups with places run tasks */
  gint64 entered;   /* when it began, µs */
  gint64 start;     /* the start of its time, µs */
  gint64 now;       /* the last reading of the clock, µs */
  gint64 raw;       /* the time slice set for the scheduler whose tasks run, µs */
  gint64 shortest;  /* the shortest prio_loop_get_slice () of the schedulers whose tasks have run, µs */
  gint64 allowance; /* how long tasks may run, µs */
  gint64 look;      /* how long they may run before the batch looks for other sources, µs */
  PrioStopwatch watch;

  /* While tasks of a PrioRunner run: */
  PrioRunner *numbers; /* their runner; NULL also where a task's function calls a runner's */
  gboolean running; /* whether such a task is running; its state and entry follow */
  PrioState state;
  PrioEntry *entry; /* or NULL */
  PrioObservedTask *observed; /* of @entry; NULL if it is not observed */
  const PrioState *outer_state;
};

void prio_loop_run_batch (PrioLoop *loop, PrioLane lane, gint64 now);
void prio_loop_checkpoint (PrioLoop *loop);
void prio_loop_expire_delays_slow (PrioLoop *loop, gint64 now);
gboolean prio_loop_is_owner (PrioLoop *loop);
gboolean prio_loop_is_busy (PrioLoop *loop);

static inline void
prio_loop_expire_delays (PrioLoop *loop, gint64 now)
{
  if (G_UNLIKELY (prio_due_is_used (&loop->due)))
    prio_loop_expire_delays_slow (loop, now);
}
