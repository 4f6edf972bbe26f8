/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-thread-private.h: limits how many functions run in threads of the pool
 *
 * Promises: a *work* is a function for a thread, with its task.  A *place* is the permission to run one work, and
 * belongs to a group.  A waiting work gets a place from the group, on the owner thread, or from a work that ends and
 * passes its place on, in any thread.  The pool then runs the most urgent work of all.  Passing a place on changes no
 * count, and is not reported to the group.  Any thread can abort, cancel and re-prioritize a waiting work. */

#pragma once

#include "scheduler/prio-scheduler-private.h"

typedef struct _PrioPlaces PrioPlaces;

/* Functions of the group that owns the places.  They are called with the data of a work, on the owner thread or, after
 * the end of the context, on any thread, when the thread has entered no loop. */
typedef struct
{
  void (*begun) (gpointer data);       /* a thread has begun the work */
  void (*place_free) (gpointer data);  /* the work has ended, or will not run, and has not passed its place on */
  void (*place_kept) (gpointer data);  /* the function has returned, and its result is deferred */
} PrioPlacesFuncs;

PrioPlaces *prio_places_new (PrioLoop *loop, const PrioPlacesFuncs *funcs);
void prio_places_unref (PrioPlaces *places);
gboolean prio_places_peek (PrioPlaces *places, PrioTaskPriority *priority, guint64 *order);
gboolean prio_places_let_in (PrioPlaces *places);
void prio_places_set_passes (PrioPlaces *places, gboolean passes);

PrioTask *prio_task_run_in_thread (PrioTask *task, PrioPlaces *places, guint64 order, PrioTaskFunc func, gpointer data,
                                   GDestroyNotify notify);
