/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-clock.c: the system's clock, or a test's */

#include "config.h"

#include "base/prio-clock-private.h"

static gint64 test_time; /* µs; atomic */

gint64 (*prio_clock_read) (void) = g_get_monotonic_time;
glong prio_clock_sets;

static gint64
read_test_time (void)
{
  return __atomic_load_n (&test_time, __ATOMIC_RELAXED);
}

/* Sets the clock to @time, in µs, or back to the system's time if @time is 0.  Any thread may call this function. */
void
prio_clock_set (gint64 time)
{
  if (time != 0)
    __atomic_store_n (&test_time, time, __ATOMIC_RELAXED);
  __atomic_store_n (&prio_clock_read, time != 0 ? read_test_time : g_get_monotonic_time, __ATOMIC_RELAXED);
  __atomic_fetch_add (&prio_clock_sets, 1, __ATOMIC_RELAXED);
}
