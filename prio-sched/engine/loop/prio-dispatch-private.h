/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dispatch-private.h: runs tasks
 *
 * Promises: a batch repeatedly runs the next task of all schedulers, and then the queued microtasks.  It ends when its
 * time is over, when it has to look for other sources, or when no task of its lanes (PrioLane) is next.
 *
 * The thread that runs a batch owns the context, so it is the owner thread. */

#pragma once

#include "loop/prio-number-private.h"
#include "loop/prio-observer-private.h"

/* Tasks that run one after another in a dispatch.  A nested main loop has its own batches. */
typedef struct _PrioBatch PrioBatch;

#define PRIO_NO_LEVEL G_MAXUINT8 /* the `effective` of a batch before its first task */

struct _PrioBatch
{
  PrioBatch *outer; /* the batch whose task runs the nested main loop in which this batch runs, or NULL */
  PrioLoop *loop;
  PrioLane lane;    /* the lowest lane whose tasks run in this batch */
  gint depth;       /* g_main_depth () in the dispatch */
  gboolean begun;   /* whether a task has run */
  guint effective;  /* the effective priority of the last task */
  guint max;        /* how many tasks may run before the stopwatch counts them */
  gboolean over;    /* whether the time for tasks is over */
  gboolean within;  /* whether the batch runs in the turn of other sources, when only tasks of limited groups run */
  gint64 entered;   /* when the batch began, µs */
  gint64 start;     /* when the slice began, which may be before @entered, µs */
  gint64 now;       /* the last reading of the clock, µs */
  gint64 raw;       /* the `slice` of the run queue of the last task */
  gint64 shortest;  /* the shortest prio_loop_get_slice () of the schedulers whose tasks have run, µs */
  gint64 allowance; /* how long tasks may run, µs */
  gint64 look;      /* how long tasks may run before the batch looks for other sources, µs */
  PrioStopwatch watch;

  /* Used while tasks of a PrioRunner (prio-numbers.h) run: */
  PrioRunner *numbers; /* the runner; NULL in prio_numbers_run_in () */
  gboolean running; /* whether a task of the runner is running, with @state and @entry */
  PrioState state;
  PrioEntry *entry; /* the task's entry, or NULL for a job */
  PrioObservedTask *observed; /* the record of @entry; NULL if the entry is not observed */
  const PrioState *outer_state;
};

void prio_loop_run_batch (PrioLoop *loop, PrioLane lane, gint64 now);
void prio_loop_checkpoint (PrioLoop *loop);
void prio_loop_expire_delays_slow (PrioLoop *loop, gint64 now);
gboolean prio_loop_is_owner (PrioLoop *loop);

static inline void
prio_loop_expire_delays (PrioLoop *loop, gint64 now)
{
  if (G_UNLIKELY (prio_due_is_used (&loop->due)))
    prio_loop_expire_delays_slow (loop, now);
}
