/* prio-others-private.h: which of the other sources holds the loop
 *
 * GLib tells nobody which source it dispatches but the code that the source calls.  But it asks for the source's callback before the
 * dispatch, and gives it back afterwards (GSourceCallbackFuncs).  While somebody calls prio_others_look () for a loop, each of the other sources gets functions of ours
 * for that, which note when they are called, and pass the call on to the source's own: it has the same callback as
 * before, is found by the same user data, and its dispatch is not touched.
 * Nothing else in the library reads the callback functions of sources that are not its own.
 *
 * Sources are found by their ids, which GLib gives out one after another: those that are new whenever the governor is checked, and
 * those that were there before, so many at a time.  What is not known is reported without a name: a source that is younger, or
 * that has got another callback meanwhile.
 *
 * Promises: a loop that nobody has looked at has no such source.  Sources that have got our functions keep them.
 *
 * A source that has no name of its own, or only that of GLib's kind of source, has that of its callback's function, as the linker knows
 * it (prio-symbol).  Those of an interpreter have none.
 *
 * Threads: the owner thread, in a dispatch or in the governor's check.  GLib has a reference to a source that is in its context; as with
 * g_source_remove (), another thread that destroys a source just while it is looked up here for the first time must leave it
 * to the thread that runs the context to drop the last reference.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-observe.h"

/* A source of the context that is none of the library's. */
typedef struct _PrioOther PrioOther;

/* The name of a source that is not looked at: this pointer. */
extern const char prio_others_ignored[] G_GNUC_INTERNAL;

/* Which sources of a loop have been looked at, and who hears of them as long as the loop lives; the numbers are 0 at first. */
typedef struct
{
  guint last;  /* the id of the last one */
  guint older; /* of those that were there before the first call, the next id; 0 if there is none */
  void (*begins) (PrioLoop *loop, PrioOther *other); /* GLib is about to dispatch one of them, and the context is locked */
  void (*ended) (PrioLoop *loop, PrioOther *other);  /* it has been dispatched, and nothing is locked */
} PrioOthersSeen;

void prio_others_look (PrioLoop *loop, PrioOthersSeen *seen);
const char *prio_other_get_name (PrioOther *other);
