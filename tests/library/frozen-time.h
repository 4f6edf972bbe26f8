/* frozen-time.h: a clock that a test can stop, so that no machine is too slow for a batch
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include <time.h>

/* What the time is, µs; 0 if it passes. */
static gint64 frozen_time;

/* This stands before GLib's, for the library as for us. */
gint64
g_get_monotonic_time (void)
{
  struct timespec now;

  if (frozen_time != 0)
    return frozen_time;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64) now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}
