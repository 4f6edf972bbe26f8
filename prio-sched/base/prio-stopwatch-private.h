/* prio-stopwatch-private.h: when to read the clock
 *
 * Reading the clock costs as much as two short tasks.  Promises: it is read about once in
 * PRIO_CLOCK_GRAIN.  The stopwatch estimates from the last interval how many tasks take that
 * long, and at the most doubles their number.  The coarse clock costs little, and shows when tasks have
 * become longer meanwhile.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "base/prio-clock-private.h"

#define PRIO_CLOCK_GRAIN 20   /* µs */
#define PRIO_MAX_STRIDE 64    /* tasks */
#define PRIO_COARSE_STRIDE 16 /* tasks */

typedef struct
{
  gint64 read;       /* when the clock was last read, µs */
  glong coarse;      /* the time of the coarse clock then, ns of its second */
  guint stride;      /* tasks between two readings of the clock */
  guint left;        /* tasks until the next reading */
  guint coarse_left; /* tasks until the coarse clock is read */
} PrioStopwatch;

static inline void
prio_stopwatch_start (PrioStopwatch *watch, gint64 now)
{
  watch->read = now;
  watch->coarse = prio_clock_tick ();
  watch->left = watch->stride = 1;
  watch->coarse_left = PRIO_COARSE_STRIDE;
}

/* Makes the next lap read the clock. */
static inline void
prio_stopwatch_hurry (PrioStopwatch *watch)
{
  watch->left = watch->stride = watch->coarse_left = 1;
}

/* How many tasks may run before the next lap. */
static inline guint
prio_stopwatch_allows (PrioStopwatch *watch)
{
  return MIN (watch->left, watch->coarse_left);
}

/* Reads the coarse clock; and the exact clock, if the coarse one has advanced or if its own reading is due.
 * Returns the time in µs if the exact clock has been read, and 0 otherwise. */
static inline gint64
prio_stopwatch_look (PrioStopwatch *watch)
{
  gint64 now, elapsed;
  guint ran;

  watch->coarse_left = PRIO_COARSE_STRIDE;
  if (watch->left > 0 && prio_clock_tick () == watch->coarse)
    return 0;

  ran = watch->stride - watch->left;
  now = prio_clock_now ();
  elapsed = now - watch->read;
  /* One short task says little about those that follow. */
  watch->stride = (guint) CLAMP (ran * PRIO_CLOCK_GRAIN / (elapsed + 1), 1, MIN (ran * 2, PRIO_MAX_STRIDE));
  watch->left = watch->stride;
  watch->read = now;
  watch->coarse = prio_clock_tick ();
  return now;
}

/* Counts @n tasks.  Returns the time in µs if the exact clock has been read, and 0 otherwise. */
static inline gint64
prio_stopwatch_lap (PrioStopwatch *watch, guint n)
{
  watch->left -= n;
  watch->coarse_left -= n;
  return G_LIKELY (watch->left > 0 && watch->coarse_left > 0) ? 0 : prio_stopwatch_look (watch);
}
