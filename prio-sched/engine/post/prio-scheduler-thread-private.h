/* prio-scheduler-thread-private.h: functions in threads of the pool, of which only so many run at a time
 *
 * Promises: a work that waits for a place is let in by the one whose places they are, on the owner thread, or by a function that
 * ends in a thread and gives its place to the most urgent one: that thread goes on with what is the most urgent of all.  Places
 * that are given in this way do not change their number, and nobody hears of it.  What waits can be aborted, cancelled and given
 * another priority by any thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "scheduler/prio-scheduler-private.h"

typedef struct _PrioPlaces PrioPlaces;

/* What the one whose places they are hears of a work, by its data.  They are called outside, on the owner thread or, if the context has
 * gone, on any. */
typedef struct
{
  void (*begun) (gpointer data);       /* a thread has taken it */
  void (*place_free) (gpointer data);  /* it has ended, or will not run, and has not given its place to another one */
  void (*place_kept) (gpointer data);  /* its function has returned, and its result is deferred */
} PrioPlacesFuncs;

PrioPlaces *prio_places_new (PrioLoop *loop, const PrioPlacesFuncs *funcs);
void prio_places_unref (PrioPlaces *places);
gboolean prio_places_peek (PrioPlaces *places, PrioTaskPriority *priority, guint64 *order);
gboolean prio_places_let_in (PrioPlaces *places);
void prio_places_set_passes (PrioPlaces *places, gboolean passes);

PrioTask *prio_task_run_in_thread (PrioTask *task, PrioPlaces *places, guint64 order, PrioTaskFunc func, gpointer data,
                                   GDestroyNotify notify);
