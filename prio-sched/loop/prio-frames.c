/* prio-frames.c: when the next frame is due
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-frames-private.h"

/* Computes `next_frame` and `frame_interval`.  A time that has passed does not count any more: a clock that is late
 * will announce another one, and a clock that has stopped will not.  Other threads may read `next_frame`. */
void
prio_frames_update (PrioLoop *loop, gint64 now)
{
  gint64 next = 0, interval = 0;

  for (const PrioFrame *frame = loop->frames; frame != NULL; frame = frame->next)
    {
      if (frame->due > now && (next == 0 || frame->due < next))
        next = frame->due;
      if (frame->interval != 0 && (interval == 0 || frame->interval < interval))
        interval = frame->interval;
    }
  __atomic_store_n (&loop->next_frame, next, __ATOMIC_RELAXED);
  loop->frame_interval = interval;
}

void
prio_frames_put (PrioLoop *loop, PrioFrame *frame, gint64 due, gint64 interval)
{
  frame->due = due;
  frame->interval = interval;
  if (!frame->linked)
    {
      frame->linked = TRUE;
      frame->next = loop->frames;
      loop->frames = frame;
    }
  prio_frames_update (loop, prio_clock_now ());
  if (G_UNLIKELY (loop->observing != NULL))
    loop->observing->frame_announced (loop, due, interval);
}

void
prio_frames_remove (PrioLoop *loop, PrioFrame *frame)
{
  PrioFrame **link = &loop->frames;

  if (!frame->linked)
    return;

  while (*link != frame)
    link = &(*link)->next;
  *link = frame->next;
  frame->linked = FALSE;
  prio_frames_update (loop, prio_clock_now ());
}
