/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* monitor-longest.h: the longest runs, by name
 *
 * Promises: a table of N records keeps the N names with the longest runs.  If a name that was dropped comes again, its
 * counts start from 0.
 */

#pragma once

#include <glib.h>

#define PRIO_LONGEST_NAME 128 /* bytes, including the zero */

typedef struct
{
  gint32 priority;
  gint64 longest; /* µs; 0 if the record is not used */
  gint64 ended;   /* when the longest run ended, µs of g_get_monotonic_time () */
  gint64 total;   /* of all runs, µs */
  guint64 n_runs;
  char name[PRIO_LONGEST_NAME];
} PrioLongest;

void prio_longest_note (PrioLongest *table, guint n, const char *name, gint priority, gint64 time, gint64 now,
                        gboolean goes_on);
