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
