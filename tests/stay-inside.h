/* stay-inside.h: a thread that is inside of a context's record for long
 *
 * For programs that are made of the library's own objects.  No public function takes
 * long inside without GLib's own locks too, of which a child of fork () may have one for ever.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-loop-private.h"

/* Comes in, if this thread was the last to run the context, and looks @n_times for a task that is
 * not there. */
static inline void
stay_inside (PrioLoop *loop, guint n_times)
{
  if (!prio_loop_enter (loop))
    return;

  for (guint i = 0; i < n_times; i++)
    g_assert_true (prio_ready_first (&loop->ready) == NULL);
  prio_loop_leave (loop);
}
