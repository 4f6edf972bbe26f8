/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-stopwatch-private.h: when to read the clock
 *
 * Reading the clock costs as much as two short tasks, and comparing the coarse clock hardly anything.  Promises: the
 * clock is read after each task that is longer than PRIO_CLOCK_GRAIN, unless it follows shorter tasks within one tick
 * of the coarse clock.  So long tasks are noticed within one tick and one task.
 *
 * How many tasks run between two readings is a guess from the last interval: as many as take PRIO_CLOCK_GRAIN, and at the
 * most twice as many as in that interval.  After each of them the coarse clock is compared, and once it has
 * advanced the clock is read.  A tick takes 1 to 10 ms, and may be a few milliseconds late.
 *
 * Where no coarse clock is cheap, a wrong guess would not be noticed, so the clock is read after each task.
 */

#pragma once

#include "base/prio-clock-private.h"

#define PRIO_CLOCK_GRAIN 20 /* µs */
#define PRIO_MAX_STRIDE (PRIO_CLOCK_TICKS ? 64 : 1) /* tasks */

typedef struct
{
  gint64 read;  /* when the clock was last read, µs */
  glong coarse; /* the tick of the coarse clock then */
  guint stride; /* tasks between two readings of the clock, if the coarse clock does not advance */
  guint left;   /* of these, how many have not run */
} PrioStopwatch;

/* Makes the next lap read the clock. */
static inline void
prio_stopwatch_hurry (PrioStopwatch *watch)
{
  watch->left = watch->stride = 1;
}

static inline void
prio_stopwatch_start (PrioStopwatch *watch, gint64 now)
{
  watch->read = now;
  watch->coarse = prio_clock_tick ();
  prio_stopwatch_hurry (watch);
}

/* Returns how many tasks may run before the next lap, unless one is late. */
static inline guint
prio_stopwatch_allows (PrioStopwatch *watch)
{
  return watch->left;
}

/* Returns whether the coarse clock has advanced since the clock was read: then the next lap reads it. */
static inline gboolean
prio_stopwatch_is_late (PrioStopwatch *watch)
{
  return G_UNLIKELY (prio_clock_tick () != watch->coarse);
}

/* Reads the clock.  Returns the time in µs. */
static inline gint64
prio_stopwatch_look (PrioStopwatch *watch)
{
  guint ran = watch->stride - watch->left;
  gint64 now = prio_clock_now ();
  gint64 elapsed = now - watch->read;

  /* A short task says little about the next tasks. */
  watch->stride = (guint) CLAMP (ran * PRIO_CLOCK_GRAIN / (elapsed + 1), 1, MIN (ran * 2, PRIO_MAX_STRIDE));
  watch->left = watch->stride;
  watch->read = now;
  watch->coarse = prio_clock_tick ();
  return now;
}

/* Counts @n tasks.  Returns the time in µs if the clock has been read, and 0 otherwise. */
static inline gint64
prio_stopwatch_lap (PrioStopwatch *watch, guint n)
{
  watch->left -= n;
  return G_LIKELY (watch->left > 0 && !prio_stopwatch_is_late (watch)) ? 0 : prio_stopwatch_look (watch);
}
