/* prio-counts.c: what the tasks of a scheduler have done, and how long it took
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-counts-private.h"

#include "loop/prio-lending-private.h"

/* Up to here the time of a lot is that of all its tasks alike, ns. */
#define MAX_ALIKE (2 * PRIO_CLOCK_GRAIN * 1000)

PrioCounts *
prio_counts_new (void)
{
  return g_atomic_rc_box_new0 (PrioCounts);
}

PrioCounts *
prio_counts_ref (PrioCounts *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
prio_counts_unref (PrioCounts *self)
{
  g_atomic_rc_box_release (self);
}

/* The tasks of @run_queue are counted in @counts, or nowhere if that is NULL. */
void
prio_counts_share (PrioRunQueue *run_queue, PrioCounts *counts)
{
  PrioCounts *before = run_queue->counts;

  run_queue->counts = counts != NULL ? prio_counts_ref (counts) : NULL;
  if (before != NULL)
    prio_counts_unref (before);
}

/* @entry, of a scheduler that collects, has been aborted while it waited. */
void
prio_counts_aborted (PrioEntry *entry)
{
  PrioCounts *self = entry->run_queue->counts;

  if (entry->use != PRIO_ENTRY_OF_LIBRARY)
    self->of[prio_count_index (prio_lending_get_own (entry))].n_aborted++;
}

/* A task of @queue, which has jobs or task ids, and whose scheduler collects, has been taken out. */
void
prio_counts_job_aborted (PrioQueue *queue)
{
  queue->run_queue->counts->of[prio_count_index (prio_effective_priority (queue->effective))].n_aborted++;
}

static void
count_runs (PrioCount *count, gboolean continuation, guint n)
{
  count->n_run += n;
  if (continuation)
    count->n_continued += n;
}

/* A task whose times are known has run, µs. */
void
prio_counts_ran (PrioCounts *self, guint priority, gboolean continuation, gint64 waited, gint64 ran)
{
  PrioCount *count = &self->of[priority];

  count_runs (count, continuation, 1);
  prio_histogram_add (&count->waits, waited * 1000, 1);
  prio_histogram_add (&count->runs, ran * 1000, 1);
}

/* Counts how long those have waited that have begun since the last call. */
static void
count_waits (PrioLot *lot)
{
  guint n = lot->n_begun - lot->n_waited;

  lot->n_waited = lot->n_begun;
  if (lot->counts != NULL && n > 0)
    prio_histogram_add (&lot->counts->of[lot->priority].waits, (lot->since - lot->queued) * 1000, n);
}

/* The next task has @order, and was queued at another time than the last one. */
void
prio_lot_find (PrioLot *lot, PrioAges *ages, guint64 order)
{
  count_waits (lot);
  prio_ages_find (ages, order);
  lot->queued = ages->time;
}

/* Counts those that have ended, without their times. */
void
prio_lot_count_ended (PrioLot *lot, guint n_running)
{
  if (lot->counts != NULL)
    count_runs (&lot->counts->of[lot->priority], lot->continuation, lot->n_begun - lot->n_timed - n_running);
  lot->n_timed = lot->n_begun - n_running;
}

/* All tasks of the lot have ended, and the time is @now: they have shared it.  What is more than short tasks can have
 * taken was that of one of them: after a long task the clock is read each time. */
void
prio_lot_close (PrioLot *lot, gint64 now)
{
  guint n = lot->n_begun - lot->n_timed;
  gint64 all = (now - lot->since) * 1000;

  count_waits (lot);
  if (lot->counts != NULL && n > 0)
    {
      PrioHistogram *runs = &lot->counts->of[lot->priority].runs;
      guint n_short = n - (all > MAX_ALIKE);
      gint64 each = (all > MAX_ALIKE ? PRIO_CLOCK_GRAIN * 1000 : all) / n;

      prio_lot_count_ended (lot, 0);
      if (n_short > 0)
        prio_histogram_add (runs, each, n_short);
      if (n_short < n)
        prio_histogram_add (runs, all - each * n_short, 1);
      else
        runs->total += (guint64) MAX (all - each * n, 0);
    }
  lot->n_timed = lot->n_begun;
  lot->since = now;
  lot->read = 0;
}

/* A task has got @order, as the first of its queue.  In a dispatch the clock is read often enough. */
void
prio_loop_note_post (PrioLoop *loop, guint64 order)
{
  if (loop->n_lots == 0)
    prio_ages_note (loop->ages, order, prio_clock_now ());
}
