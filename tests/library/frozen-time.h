/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frozen-time.h: a time that a test can stop, so that no machine is too slow for a batch, and none too young
 *
 * It is the C library's clock that is replaced, so the library and GLib agree about the time, and neither the
 * uptime of the machine nor the lateness of its coarse clock shows.  A test may make that clock late.
 */

#pragma once

#include <glib.h>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What the time is, µs; 0 if it passes. */
static gint64 frozen_time;

/* The coarse clock advances only every so many µs, as a real one; 0 if it is never late. */
static gint64 frozen_tick;

static inline gboolean
is_coarse (clockid_t clock)
{
#ifdef CLOCK_MONOTONIC_COARSE
  return clock == CLOCK_MONOTONIC_COARSE;
#else
  return FALSE;
#endif
}

/* This stands before the C library's, for GLib as for us. */
int
clock_gettime (clockid_t clock, struct timespec *time)
{
  gint64 now = frozen_time;

  if (frozen_time == 0 || !(clock == CLOCK_MONOTONIC || is_coarse (clock)))
    return (int) syscall (SYS_clock_gettime, clock, time);

  if (frozen_tick != 0 && is_coarse (clock))
    now -= now % frozen_tick;
  time->tv_sec = (time_t) (now / G_USEC_PER_SEC);
  time->tv_nsec = (long) (now % G_USEC_PER_SEC) * 1000;
  return 0;
}

/* For g_main_context_set_poll_func () while the time is frozen: a context that would sleep until a timer does not, and
 * the time passes instead.  Without a timer it sleeps until another thread wakes it up. */
static inline gint
pass_instead_of_sleeping (GPollFD *fds, guint n_fds, gint timeout)
{
  gint n_ready = g_poll (fds, n_fds, timeout < 0 ? timeout : 0);

  if (n_ready == 0 && timeout > 0)
    frozen_time += (gint64) timeout * 1000;
  return n_ready;
}
