/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-others-private.h: finds out which other source holds the loop
 *
 * GLib does not say which source it dispatches.  But it takes the source's callback before the dispatch, and returns it
 * afterwards (GSourceCallbackFuncs). prio_others_look () replaces these functions in each other source: ours note the
 * time, and call the source's.  The source keeps its callback and its user data, and its dispatch is unchanged.
 * Nothing else in the library reads the callback functions of foreign sources.
 *
 * Sources are found by their ids, which GLib assigns in order: new ones in each check of the governor, and older ones a
 * few at a time.  A source that is not found yet, or has another callback since, is reported without a name.
 *
 * Promises: only loops that are looked at have such sources.  Sources keep our functions until they are destroyed.
 *
 * A source without a name, or with the default name of its GLib type, is named after its callback's function
 * (prio-symbol); where GDK 2 or 3 wraps a callback, after the function behind the wrapper.  An interpreter's functions
 * have no name.
 *
 * Threads: the owner thread, in a dispatch or in the governor's check.  GLib has a reference to a source that is in its context; as with
 * g_source_remove (), another thread that destroys a source just while it is looked up here for the first time must leave it
 * to the thread that runs the context to drop the last reference.
 */

#pragma once

#include "prio-observe.h"

/* A source of the context that does not belong to the library. */
typedef struct _PrioOther PrioOther;

/* A source whose name is this pointer is not looked at. */
extern const char prio_others_ignored[] G_GNUC_INTERNAL;

/* The sources of a loop that have been looked at, and the functions to call as long as it lives; at first all 0. */
typedef struct
{
  guint last;  /* the id of the last source looked at */
  guint older; /* the next id of the sources that existed before the first call; 0 if there is none left */
  void (*begins) (PrioLoop *loop, PrioOther *other); /* GLib is about to dispatch @other, and the context is locked */
  void (*ended) (PrioLoop *loop, PrioOther *other);  /* it has been dispatched, and nothing is locked */
} PrioOthersSeen;

void prio_others_look (PrioLoop *loop, PrioOthersSeen *seen);
const char *prio_other_get_name (PrioOther *other);
