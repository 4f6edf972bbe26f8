/* prio-counts-private.h: what the tasks of a scheduler have done, and how long it took
 *
 * Promises: every task that runs, or is aborted while it waits, is counted once for each time that it was queued.  What
 * waits is not counted here, but when somebody asks (prio-count).  Nothing is counted, and the clock read no more
 * often, for schedulers that do not collect.
 *
 * Times are taken where the loop reads the clock anyway.  The tasks that have run between two readings are a *lot*
 * (PrioLot): they are of one scheduler and one effective priority, and share the time.  How long they have waited their
 * orders tell (prio-ages).
 *
 * Everything here belongs to the owner thread, but references.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "base/prio-ages-private.h"
#include "base/prio-histogram-private.h"
#include "loop/prio-run-queue-private.h"

#define PRIO_N_PRIORITIES (PRIO_N_EFFECTIVE / 2)

/* Of one priority. */
typedef struct
{
  guint64 n_run, n_continued, n_aborted;
  PrioHistogram waits, runs; /* ns */
} PrioCount;

struct _PrioCounts
{
  PrioCount of[PRIO_N_PRIORITIES]; /* from background */
};

/* Tasks that have run since the clock was read, in a batch. */
typedef struct
{
  PrioCounts *counts;       /* held; NULL: they are not counted */
  guint8 priority;          /* index into counts->of */
  guint8 continuation;
  guint8 level;             /* the effective priority of the queue that was chosen last */
  gboolean pending;         /* there was something to be done after the reading */
  gboolean running;         /* the last of them may still run */
  guint n_begun;            /* counts on and on; */
  guint n_waited, n_timed;  /* up to which of them it has been counted how long they waited and ran */
  gint64 queued;            /* when those that have begun and are not among `n_waited` were queued, µs */
  gint64 since;             /* the reading before the first, µs */
  gint64 read;              /* the reading after the last, µs; or 0 */
} PrioLot;

PrioCounts *prio_counts_new (void);
PrioCounts *prio_counts_ref (PrioCounts *self);
void prio_counts_unref (PrioCounts *self);
void prio_counts_share (PrioRunQueue *run_queue, PrioCounts *counts);
void prio_counts_aborted (PrioEntry *entry);
void prio_counts_job_aborted (PrioQueue *queue);
void prio_counts_ran (PrioCounts *self, guint priority, gboolean continuation, gint64 waited, gint64 ran);

void prio_lot_find (PrioLot *lot, PrioAges *ages, guint64 order);
void prio_lot_count_ended (PrioLot *lot, guint n_running);
void prio_lot_close (PrioLot *lot, gint64 now);
void prio_loop_note_post (PrioLoop *loop, guint64 order);

/* Every count goes through this.  An entry that follows a group, and stands apart from it, has no priority in its own field. */
static inline guint
prio_count_index (PrioTaskPriority priority)
{
  guint index = (guint) (priority - PRIO_TASK_PRIORITY_BACKGROUND);

  g_assert (index < PRIO_N_PRIORITIES);
  return index;
}

/* Notes that the time is @now. */
static inline void
prio_loop_note_time (PrioLoop *loop, gint64 now)
{
  if (G_UNLIKELY (loop->ages != NULL))
    prio_ages_note (loop->ages, loop->next_order, now);
}

/* A task with @order begins. */
static inline void
prio_lot_add (PrioLot *lot, PrioAges *ages, guint64 order)
{
  if (G_UNLIKELY (!prio_ages_is_found (ages, order)))
    prio_lot_find (lot, ages, order);
  lot->n_begun++;
}
