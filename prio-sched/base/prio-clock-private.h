/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-clock-private.h: reads the clocks
 *
 * Promises: no other file of the library reads a clock.  Times are in µs, as from g_get_monotonic_time ().
 *
 * Because a test can replace the clock (prio-testing.h), the clock is read through a function pointer.  This costs no
 * more than a call into another library. */

#pragma once

#include "base/prio-lock-private.h"

#include <time.h>

/* The due time of a task that is in no queue, and waits until it has a result or is aborted. */
#define PRIO_NEVER G_MAXINT64

extern gint64 (*prio_clock_read) (void); /* reads the clock; accessed atomically */
extern glong prio_clock_sets;            /* the number of calls of prio_clock_set (); accessed atomically */

void prio_clock_set (gint64 time);

static inline gint64
prio_clock_now (void)
{
  return __atomic_load_n (&prio_clock_read, __ATOMIC_RELAXED) ();
}

/* Waits for @cond, with @lock locked, until the time @until, in µs.  Returns FALSE on timeout.  If a test has replaced
 * the clock, waits in real time for as long as @until is ahead of the test's time. */
static inline gboolean
prio_cond_wait_until (PrioCond *cond, PrioLock *lock, gint64 until)
{
  gint64 span = until - prio_clock_now ();
#ifdef PRIO_THREAD_SANITIZER
  gint64 real = g_get_real_time () + span;
  struct timespec time = { real / G_USEC_PER_SEC, real % G_USEC_PER_SEC * 1000 };

  return pthread_cond_timedwait (cond, lock, &time) == 0;
#else
  return g_cond_wait_until (cond, lock, g_get_monotonic_time () + span);
#endif
}

/* Returns @time + @span, in µs, or G_MAXINT64 on overflow.  Both arguments must be 0 or positive. */
static inline gint64
prio_time_after (gint64 time, gint64 span)
{
  return span > G_MAXINT64 - time ? G_MAXINT64 : time + span;
}

/* Returns the time @delay ms from now, in µs, or G_MAXINT64 if that would overflow.  Returns 0 if @delay is 0. */
static inline gint64
prio_due_after (guint64 delay)
{
  if (delay == 0)
    return 0;
  return prio_time_after (prio_clock_now (), delay > G_MAXINT64 / 1000 ? G_MAXINT64 : (gint64) delay * 1000);
}

#ifdef CLOCK_MONOTONIC_COARSE
#define PRIO_CLOCK_TICKS TRUE
#else
#define PRIO_CLOCK_TICKS FALSE
#endif

/* Returns a number that changes at each tick of the coarse clock and prio_clock_set (); 0 without a coarse clock. */
static inline glong
prio_clock_tick (void)
{
#ifdef CLOCK_MONOTONIC_COARSE
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC_COARSE, &now);
  /* Includes the seconds, because two ticks may have the same tv_nsec. */
  return (now.tv_nsec ^ (glong) ((gulong) now.tv_sec << 30)) + __atomic_load_n (&prio_clock_sets, __ATOMIC_RELAXED);
#else
  return 0;
#endif
}
