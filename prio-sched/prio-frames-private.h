/* prio-frames-private.h: the nearest of the frames that are to come
 *
 * Promises: whoever knows when a frame is due says so for itself, and nobody's frame
 * makes another's be forgotten.  PrioLoop's next_frame is the nearest that was to come
 * when something was said last, and frame_interval the shortest there is.
 *
 * Everything here is home.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-loop-private.h"

/* What somebody has said: a frame clock that is followed, or who sets the next frame by hand.
 * All zero is nobody. */
struct _PrioFrame
{
  PrioFrame *next;
  gboolean linked; /* into the loop's */
  gint64 due;      /* µs */
  gint64 interval; /* between two frames, or 0 if that is not known, µs */
};

void prio_frames_put (PrioLoop *loop, PrioFrame *frame, gint64 due, gint64 interval);
void prio_frames_remove (PrioLoop *loop, PrioFrame *frame);
void prio_frames_update (PrioLoop *loop, gint64 now);

/* When the next frame is due, as of @now; 0 if that is not known, µs. */
static inline gint64
prio_loop_next_frame (PrioLoop *loop, gint64 now)
{
  if (loop->next_frame != 0 && loop->next_frame <= now)
    prio_frames_update (loop, now);
  return loop->next_frame;
}

/* When @length from @start is over, or the first frame is due that comes after it, µs. */
static inline gint64
prio_loop_end_of_time (PrioLoop *loop, gint64 start, gint64 length)
{
  gint64 end = prio_time_after (start, length);
  gint64 frame = prio_loop_next_frame (loop, start);

  return frame > start ? MIN (end, frame) : end;
}
