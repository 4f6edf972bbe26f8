/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-thread-private.h: limits how many functions run in threads of the pool
 *
 * Promises: a PrioWork is a function for a thread, with its task.  A *place* is the permission to run a PrioWork, and
 * belongs to a group.  A PrioWork that waits gets a place from the group, on the owner thread, or from a PrioWork that
 * ends and passes its place on, in any thread, without a report to the group.  The pool then runs the most urgent
 * PrioWork of all.  Any thread can abort, cancel and re-prioritize a PrioWork that waits. */

#pragma once

#include "scheduler/prio-scheduler-private.h"

typedef struct _PrioPlaces PrioPlaces;

/* Functions of the group that owns the places, called with the data of a PrioWork, on the owner thread or, after
 * the end of the context, on any thread, when the thread has entered no loop. */
typedef struct
{
  void (*begun) (gpointer data);       /* a thread has begun the PrioWork */
  void (*place_free) (gpointer data);  /* the PrioWork has ended, or will not run, and has not passed its place on */
  void (*place_kept) (gpointer data);  /* the function has returned, and its result is deferred */
} PrioPlacesFuncs;

PrioPlaces *prio_places_new (PrioLoop *loop, const PrioPlacesFuncs *funcs);
void prio_places_unref (PrioPlaces *places);
gboolean prio_places_peek (PrioPlaces *places, PrioTaskPriority *priority, guint64 *order);
gboolean prio_places_let_in (PrioPlaces *places);
void prio_places_set_passes (PrioPlaces *places, gboolean passes);

PrioTask *prio_task_run_in_thread (PrioTask *task, PrioPlaces *places, guint64 order, PrioTaskFunc func, gpointer data,
                                   GDestroyNotify notify);
