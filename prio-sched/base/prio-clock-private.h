/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-clock-private.h: the time
 *
 * Promises: nothing else in the library reads a clock, so a test that replaces clock_gettime () sets the time for all
 * of it.  Times are in µs of CLOCK_MONOTONIC, as in g_get_monotonic_time ().
 */

#pragma once

#include "base/prio-lock-private.h"

#include <time.h>

/* The due time of an entry that stays delayed until it is removed. */
#define PRIO_NEVER G_MAXINT64

static inline gint64
prio_clock_now (void)
{
  return g_get_monotonic_time ();
}

/* Waits for @cond, which @lock guards.  Returns FALSE if it is later than @until. */
static inline gboolean
prio_cond_wait_until (PrioCond *cond, PrioLock *lock, gint64 until)
{
#ifdef PRIO_THREAD_SANITIZER
  gint64 real = g_get_real_time () + until - prio_clock_now ();
  struct timespec time = { real / G_USEC_PER_SEC, real % G_USEC_PER_SEC * 1000 };

  return pthread_cond_timedwait (cond, lock, &time) == 0;
#else
  return g_cond_wait_until (cond, lock, until);
#endif
}

/* Returns @time + @span, µs, or G_MAXINT64 if that overflows.  Neither is negative. */
static inline gint64
prio_time_after (gint64 time, gint64 span)
{
  return span > G_MAXINT64 - time ? G_MAXINT64 : time + span;
}

#ifdef CLOCK_MONOTONIC_COARSE
#define PRIO_CLOCK_TICKS TRUE
#else
#define PRIO_CLOCK_TICKS FALSE
#endif

/* Returns a number that changes with each tick of the coarse clock, or 0 where the clock is not cheap to read. */
static inline glong
prio_clock_tick (void)
{
#ifdef CLOCK_MONOTONIC_COARSE
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC_COARSE, &now);
  /* Distinguishes ticks at the same part of two seconds. */
  return now.tv_nsec ^ (glong) ((gulong) now.tv_sec << 30);
#else
  return 0;
#endif
}
