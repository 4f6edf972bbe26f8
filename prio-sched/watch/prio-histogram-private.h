/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-histogram-private.h: a histogram of times
 *
 * Promises: there are four buckets for each power of two, so a quantile is at most a fifth too small.  The number of
 * times, their sum and the longest time are exact.  The caller chooses the unit. */

#pragma once

#include <glib.h>

#define PRIO_N_BUCKETS 160 /* the last bucket also counts all times above 2^41 */

typedef struct
{
  guint64 count, total, longest;
  guint64 buckets[PRIO_N_BUCKETS];
} PrioHistogram;

static inline guint
prio_histogram_bucket (gint64 time)
{
  guint power;

  if (time < 4)
    return (guint) MAX (time, 0);
  power = 63 - (guint) __builtin_clzll ((guint64) time);
  return MIN (4 * (power - 1) + (guint) (time >> (power - 2) & 3), PRIO_N_BUCKETS - 1);
}

static inline gint64
prio_histogram_bucket_start (guint bucket)
{
  return bucket < 4 ? (gint64) bucket : (gint64) (4 + bucket % 4) << (bucket / 4 - 1);
}

static inline void
prio_histogram_add (PrioHistogram *self, gint64 time)
{
  guint64 length = (guint64) MAX (time, 0);

  self->count++;
  self->total += length;
  self->buckets[prio_histogram_bucket (time)]++;
  self->longest = MAX (self->longest, length);
}

/* Returns the @share quantile (0 to 1) of the times, rounded down to the start of its bucket. */
static inline gint64
prio_histogram_time_at (const PrioHistogram *self, double share)
{
  /* The rank is rounded up. 1e-6 allows for the rounding error of the multiplication. */
  guint64 wanted = self->count - (guint64) ((1 - share) * (double) self->count + 1e-6);
  guint64 seen = self->buckets[0];
  guint bucket = 0;

  while (seen < wanted)
    seen += self->buckets[++bucket];
  return (gint64) MIN ((guint64) prio_histogram_bucket_start (bucket), self->longest);
}
