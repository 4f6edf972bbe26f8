/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-others-private.h: finds out which *other* source, not a source of the library, blocks the loop
 *
 * GLib does not report which source it dispatches, but it calls the ref () function of a source's GSourceCallbackFuncs
 * before the dispatch, and unref () afterwards.  prio_others_look () replaces these functions in each other source.
 * The replacements note the time, and call the original functions, so the source's dispatch does not change.
 *
 * Sources are found by their ids, which GLib assigns in order: new sources when GLib checks the governor, a
 * source of the library (prio-loop-source.c), and older sources a few at a time.  A source that was not found yet, or
 * has a new callback, is reported without a name.
 *
 * Promises: only sources of watched loops are changed.  They keep the replacements until they are destroyed.
 *
 * A source without a name, or with the default name of its GLib type, is named after its callback's function
 * (prio-symbol); if GDK 2 or 3 has wrapped the callback, after the wrapped function.  An interpreter's functions have
 * no name.
 *
 * Threads: called on the owner thread, in a dispatch or in the governor's check.  A source is looked up without a
 * reference, as in g_source_remove ().  So another thread that destroys a source at that moment must not drop the last
 * reference. */

#pragma once

#include "prio-observe.h"

/* Another source of the context, which does not belong to the library. */
typedef struct _PrioOther PrioOther;

/* A source whose name is this pointer is left alone. */
extern const char prio_others_ignored[] G_GNUC_INTERNAL;

/* The sources of a loop that were looked at, and the functions to call; zeroed at first.  Lives as long as the loop. */
typedef struct
{
  guint last;  /* the id of the newest source that was looked at */
  guint older; /* the next id of the sources that existed before the first call; 0 if none are left */
  void (*begins) (PrioLoop *loop, PrioOther *other); /* GLib is about to dispatch @other, with the context locked */
  void (*ended) (PrioLoop *loop, PrioOther *other);  /* @other has been dispatched; nothing is locked */
} PrioOthersSeen;

void prio_others_look (PrioLoop *loop, PrioOthersSeen *seen);
const char *prio_other_get_name (PrioOther *other);
