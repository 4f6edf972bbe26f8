/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-thread-private.h: places, which limit how many functions run in threads of the pool
 *
 * Promises: a work that waits for a place is let in by the owner of the places, on the owner thread, or by a function
 * that ends in a thread and passes its place to the most urgent work; its thread continues with the most urgent work of
 * all.  Passing a place changes no count, and is not reported.  Any thread can abort, cancel and re-prioritize a
 * waiting work.
 */

#pragma once

#include "scheduler/prio-scheduler-private.h"

typedef struct _PrioPlaces PrioPlaces;

/* Functions of the owner of the places, called with the data of a work.  Outside, on the owner thread or, after the
 * end of the context, on any. */
typedef struct
{
  void (*begun) (gpointer data);       /* a thread has taken it */
  void (*place_free) (gpointer data);  /* it has ended, or will not run, and has not passed its place on */
  void (*place_kept) (gpointer data);  /* its function has returned, and its result is deferred */
} PrioPlacesFuncs;

PrioPlaces *prio_places_new (PrioLoop *loop, const PrioPlacesFuncs *funcs);
void prio_places_unref (PrioPlaces *places);
gboolean prio_places_peek (PrioPlaces *places, PrioTaskPriority *priority, guint64 *order);
gboolean prio_places_let_in (PrioPlaces *places);
void prio_places_set_passes (PrioPlaces *places, gboolean passes);

PrioTask *prio_task_run_in_thread (PrioTask *task, PrioPlaces *places, guint64 order, PrioTaskFunc func, gpointer data,
                                   GDestroyNotify notify);
