/* frozen-time.h: a time that a test can stop, so that no machine is too slow for a batch, and none too young
 *
 * It is the C library's clock that is replaced, so the library and GLib agree about the time, and neither the
 * uptime of the machine nor the lateness of its coarse clock shows.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What the time is, µs; 0 if it passes. */
static gint64 frozen_time;

static inline gboolean
is_monotonic (clockid_t clock)
{
#ifdef CLOCK_MONOTONIC_COARSE
  if (clock == CLOCK_MONOTONIC_COARSE)
    return TRUE;
#endif
  return clock == CLOCK_MONOTONIC;
}

/* This stands before the C library's, for GLib as for us. */
int
clock_gettime (clockid_t clock, struct timespec *time)
{
  if (frozen_time == 0 || !is_monotonic (clock))
    return (int) syscall (SYS_clock_gettime, clock, time);

  time->tv_sec = (time_t) (frozen_time / G_USEC_PER_SEC);
  time->tv_nsec = (long) (frozen_time % G_USEC_PER_SEC) * 1000;
  return 0;
}
