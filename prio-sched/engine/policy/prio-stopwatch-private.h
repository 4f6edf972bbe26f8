/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-stopwatch-private.h: when to read the clock
 *
 * Reading the clock costs as much as two short tasks; comparing the coarse clock costs hardly anything.  Promises:
 * while tasks take longer than PRIO_CLOCK_GRAIN, the clock is read after each of them.  If a long task follows short
 * tasks, the clock is read at most one tick of the coarse clock and one task later.
 *
 * The number of tasks between two readings is estimated from the last interval: as many as take PRIO_CLOCK_GRAIN, but
 * at most twice as many as in the last interval.  After each task the coarse clock is compared, and the clock is read
 * as soon as the coarse clock has advanced.  A tick takes 1 to 10 ms, and may be a few milliseconds late.
 *
 * Without a cheap coarse clock a wrong estimate would not be noticed, so the clock is read after each task. */

#pragma once

#include "base/prio-clock-private.h"

#define PRIO_CLOCK_GRAIN 20 /* µs */
#define PRIO_MAX_STRIDE (PRIO_CLOCK_TICKS ? 64 : 1) /* tasks */

typedef struct
{
  gint64 read;  /* when the clock was last read, µs */
  glong coarse; /* the tick of the coarse clock at @read */
  guint stride; /* how many tasks run between two readings, if the coarse clock does not advance */
  guint left;   /* tasks of the stride that have not run yet */
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

/* Returns how many tasks may run before the next prio_stopwatch_lap (), which comes earlier if the watch is late. */
static inline guint
prio_stopwatch_allows (PrioStopwatch *watch)
{
  return watch->left;
}

/* Returns whether the coarse clock has advanced since the clock was read.  If so, the next lap reads the clock. */
static inline gboolean
prio_stopwatch_is_late (PrioStopwatch *watch)
{
  return G_UNLIKELY (prio_clock_tick () != watch->coarse);
}

/* Reads the clock, and estimates how many tasks run until the next reading.  Returns the time in µs. */
static inline gint64
prio_stopwatch_look (PrioStopwatch *watch)
{
  guint ran = watch->stride - watch->left;
  gint64 now = prio_clock_now ();
  gint64 elapsed = now - watch->read;

  /* The limit is needed because a short task says little about the next tasks. */
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
