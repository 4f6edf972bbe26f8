/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-holding-private.h: which task or source holds the loop, and for how long
 *
 * Promises: while a loop is watched, whatever holds it for the threshold or longer is reported: a task; another source,
 * by its name or its callback's (prio-others); or an unknown holder, which may also be code of the program between two
 * iterations.
 *
 * The other sources that are dispatched in one iteration and are shorter are reported together if their sum is as long:
 * how many, and of which functions (prio-flood).  No input is handled between them.
 *
 * A holder that runs a main loop does not hold the loop meanwhile: time counts from the last iteration.  The handlers
 * of reports do not hold it either: however slow they are, they cause no report.
 *
 * Reports come in the order of time: of a source when its dispatch has ended, of a task at the end of its batch.  An
 * idle source reports floods and unknown holders, unless another report comes before: so reports delay no other source.
 *
 * Threads: the owner thread.
 */

#pragma once

#include "watch/sources/prio-others-private.h"

typedef struct
{
  char *name;     /* or NULL */
  gint priority;  /* of a task; PRIO_TASK_PRIORITY_UNSET for anything else */
  gboolean is_source;
  gboolean is_flood; /* many short callbacks, which @name describes */
  gint64 duration; /* µs */
} PrioHeld;

/* Called outside, in the main context of @loop, which was held.  Frees @held. */
typedef void (*PrioHeldFunc) (PrioLoop *loop, PrioHeld *held);

void prio_holding_set (PrioLoop *loop, gint64 threshold, PrioHeldFunc report);
void prio_holding_observe (gboolean on);
void prio_held_free (PrioHeld *held);
