/* prio-holding-private.h: what holds the loop, and for how long
 *
 * Promises: while a loop is watched, each task that runs in it, and each time for which something else holds it, is noted by name,
 * and what takes as long as the threshold is told of, whoever it is: a task; one of the other sources, by GLib's name for it
 * (prio-others); or nobody knows who, which may also be code of the program between two iterations.
 *
 * What runs a main loop itself does not hold it meanwhile: time counts from when the main loop went on last.  Who is told does not hold it
 * either: however slow his handler is, it leads to no other report.
 *
 * What is noted outside a batch is told by a source of the priority of the source that was long, or of an idle source: so
 * reports keep nothing from being dispatched that was dispatched without them.
 *
 * Threads: the owner thread, but for prio_holding_get ().
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "base/prio-longest-private.h"
#include "loop/prio-observer-private.h"

#define PRIO_N_HOLDERS 32

/* Who has held the loop. */
typedef struct
{
  PrioLoop *loop; /* a reference */
  char *name;     /* or NULL */
  gint priority;  /* of a task; PRIO_PRIORITY_UNSET for anything else */
  gboolean is_source;
  gint64 duration; /* µs */
} PrioHeld;

struct _PrioHolding
{
  gint64 threshold; /* µs; 0 while nobody watches */
  gboolean in_batch; /* tasks run: what is noted now is told at the end of their batch */
  guint n_reports;   /* sources that are to tell something */
  gint64 since;     /* from when on time is the holder's, µs; 0 while GLib may sleep */
  const PrioObserved *task; /* the holder: a task, */
  GSource *source;          /* or one of the other sources, in its dispatch; or both are NULL */
  gint64 unknown;   /* how long nobody knows who was it before the source that is dispatched, µs */
  guint seen;       /* prio-others: the id of the last source that is known, */
  guint older;      /* and of those that were there before that watched: the next to be looked at; 0 if there is none */
  PrioLongest longest[PRIO_N_HOLDERS]; /* under a leaf lock */
};

void prio_holding_set (PrioLoop *loop, gint64 threshold);
void prio_holding_observe (gboolean on);
guint prio_holding_get (PrioLoop *loop, PrioLongest *longest);
void prio_held_free (PrioHeld *held);

/* For prio-others. */
void prio_holding_source_begins (PrioLoop *loop, GSource *source);
void prio_holding_source_ended (PrioLoop *loop, GSource *source);
