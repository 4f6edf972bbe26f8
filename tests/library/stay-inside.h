/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs with this header link the library's own objects.  No public function stays inside for long without taking
 * GLib's locks too, and such a lock may stay locked for ever in a child of fork (). */

#pragma once

#include "loop/prio-loop-private.h"

/* Enters the loop, if this thread was the last to run the context, and looks @n_times for a task that does not
 * exist. */
static inline void
stay_inside (PrioLoop *loop, guint n_times)
{
  if (!prio_loop_enter (loop))
    return;

  for (guint i = 0; i < n_times; i++)
    g_assert_true (prio_ready_first (&loop->ready) == NULL);
  prio_loop_leave (loop);
}
