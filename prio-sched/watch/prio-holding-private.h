/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-holding-private.h: finds tasks and sources that block a main loop
 *
 * Promises: while a loop is watched, everything that blocks it for the threshold or longer is reported: a task; another
 * source, with its name or the name of its callback (prio-others); or unknown code, such as the program's own code
 * between two iterations.
 *
 * If the sources that are dispatched in one iteration together block the loop for the threshold or longer, they are
 * reported together, as a *flood* (prio-flood), because no input is handled between them.
 *
 * A task or source that runs a nested main loop does not block the loop, so its time counts from the last iteration of
 * the nested loop.  Handlers of reports are not reported, however slow they are.
 *
 * Reports are made in the order of time: for a source after its dispatch, for a task after its batch.  Floods and
 * unknown code are reported by an idle source, so that reports delay no other source, or with the next report.
 *
 * Only the owner thread, which runs the main context, calls these functions, except prio_holding_observe (). */

#pragma once

#include "watch/sources/prio-others-private.h"

typedef struct
{
  char *name;     /* or NULL */
  gint priority;  /* a task's priority; otherwise PRIO_TASK_PRIORITY_UNSET */
  gboolean is_source;
  gboolean is_flood; /* whether this stands for many short callbacks, which @name describes */
  gint64 duration; /* µs */
} PrioHeld;

/* Reports @held, the code that has blocked the main context of @loop, and frees @held.  Called in that context,
 * when this thread has entered no loop (prio-loop-private.h). */
typedef void (*PrioHeldFunc) (PrioLoop *loop, PrioHeld *held);

void prio_holding_set (PrioLoop *loop, gint64 threshold, PrioHeldFunc report);
void prio_holding_observe (gboolean on);
void prio_held_free (PrioHeld *held);
