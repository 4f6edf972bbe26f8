/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This clock replaces the C library's, so the library and GLib agree about the time, and a coarse clock is late only if
 * a test makes it so. */

#pragma once

#include <glib.h>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The time, µs; 0 if the real clock is used. */
static gint64 frozen_time;

/* Resolution of the coarse clock, µs; 0 if it is never late. */
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

/* Replaces the C library's function, for GLib and for the library. */
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

/* A function for g_main_context_set_poll */
static inline gint
pass_instead_of_sleeping (GPollFD *fds, guint n_fds, gint timeout)
{
  gint n_ready = g_poll (fds, n_fds, timeout < 0 ? timeout : 0);

  if (n_ready == 0 && timeout > 0)
    frozen_time += (gint64) timeout * 1000;
  return n_ready;
}
