/* prio-clock-private.h: the time
 *
 * Promises: nothing else in the library reads a clock, so a test that replaces clock_gettime () decides
 * what time it is for all of it.  A time is in µs of CLOCK_MONOTONIC, as that of g_get_monotonic_time ().
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include <time.h>

static inline gint64
prio_clock_now (void)
{
  return g_get_monotonic_time ();
}

/* The time of the kernel's last tick: some milliseconds old where that is cheaper to read. */
static inline gint64
prio_clock_last_tick (void)
{
#ifdef CLOCK_MONOTONIC_COARSE
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC_COARSE, &now);
  return (gint64) now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
#else
  return g_get_monotonic_time ();
#endif
}

/* Changes with each tick, and is cheaper to read than the time of the tick; 0 where no clock is cheap. */
static inline glong
prio_clock_tick (void)
{
#ifdef CLOCK_MONOTONIC_COARSE
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_nsec;
#else
  return 0;
#endif
}
