/* prio-holding-private.h: what holds the loop, and for how long
 *
 * Promises: while a loop is watched, each task that runs in it, and each time for which something else holds it, is noted by name,
 * and what takes as long as the threshold is reported: a task; one of the other sources, by its name or its
 * callback's (prio-others); or nobody knows who, which may also be code of the program between two iterations.
 *
 * What runs a main loop itself does not hold it meanwhile: time counts from when the main loop went on last.  The handlers of reports do
 * not hold it either: however slow they are, they lead to no other report.
 *
 * Reports come in the order of time: of a source when its dispatch has ended, of a task at the end of its batch.  Of what nobody
 * knows an idle source tells, unless another report comes before: so reports keep nothing from being dispatched that was
 * dispatched without them.
 *
 * Threads: the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "watch/sources/prio-others-private.h"

/* What has held the loop. */
typedef struct
{
  char *name;     /* or NULL */
  gint priority;  /* of a task; PRIO_PRIORITY_UNSET for anything else */
  gboolean is_source;
  gint64 duration; /* µs */
} PrioHeld;

/* Called outside, in the main context of @loop, which was held.  It frees @held. */
typedef void (*PrioHeldFunc) (PrioLoop *loop, PrioHeld *held);

void prio_holding_set (PrioLoop *loop, gint64 threshold, PrioHeldFunc report);
void prio_holding_observe (gboolean on);
void prio_held_free (PrioHeld *held);
