/* prio-longest-private.h: the longest runs, by name
 *
 * Promises: a table of so many records keeps the names whose longest runs were the longest of all.  A name that has been left
 * out counts anew.  Each record has a count, `seq`, which is odd while the record changes, so that another process may read a
 * table in shared memory; in the same process the caller has a lock.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "base/prio-lock-private.h"

#define PRIO_LONGEST_NAME 64 /* bytes, with the zero */

typedef struct
{
  guint32 seq;
  gint32 priority;
  gint64 longest; /* µs; 0 if the record is not used */
  gint64 ended;   /* when the longest ended, µs of g_get_monotonic_time () */
  gint64 total;   /* µs */
  guint64 n_runs;
  char name[PRIO_LONGEST_NAME];
} PrioLongest;

gint64 prio_longest_note (PrioLongest *table, guint n, const char *name, gint priority, gint64 time, gint64 now,
                          gboolean goes_on);

/* What has been written comes before what is written next, for another process too.  ThreadSanitizer
 * knows no fences, and sees no other process. */
static inline void
prio_release_fence (void)
{
#ifdef PRIO_THREAD_SANITIZER
  __atomic_signal_fence (__ATOMIC_RELEASE);
#else
  __atomic_thread_fence (__ATOMIC_RELEASE);
#endif
}

static inline void
prio_seq_begin (guint32 *seq)
{
  __atomic_store_n (seq, *seq + 1, __ATOMIC_RELAXED);
  prio_release_fence ();
}

static inline void
prio_seq_end (guint32 *seq)
{
  __atomic_store_n (seq, *seq + 1, __ATOMIC_RELEASE);
}
