/* prio-dispatch-private.h: running tasks
 *
 * Promises: a batch runs the next task of all, its microtask checkpoint, and so on, until it
 * is time to look for other sources, or what is next belongs to a lower lane.
 *
 * The thread owns the context throughout, and so is on the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"
#include "loop/prio-id-queue-private.h"

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

  /* While numbered tasks run: */
  PrioIdQueue *ids;
  gboolean running; /* a task id, whose state and entry, if it has one, follow */
  PrioState state;
  PrioEntry *entry;
  const PrioState *outer_state;
};

gint64 prio_loop_get_slice (PrioLoop *loop, PrioRunQueue *run_queue, gboolean *is_set);
gboolean prio_batch_end_id (PrioBatch *batch);
guint prio_batch_next_id (PrioBatch *batch);
void prio_loop_run_batch (PrioLoop *loop, PrioLane lane, gint64 now);
void prio_loop_checkpoint (PrioLoop *loop);
GObject *prio_loop_get_source (PrioLoop *loop, PrioRunQueue *run_queue);
void prio_loop_forget_source (PrioLoop *loop);
void prio_loop_expire_delays (PrioLoop *loop, gint64 now);
gboolean prio_loop_is_owner (PrioLoop *loop);
