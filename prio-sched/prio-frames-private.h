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

#include "prio-inbox-private.h"

/* What somebody has said: a frame clock that is followed, or who sets the next frame by hand.
 * All zero is nobody. */
typedef struct _PrioFrame PrioFrame;

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
