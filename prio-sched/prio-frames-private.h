/* prio-frames-private.h: when the next frame is due
 *
 * Promises: several clocks may announce frames, each for itself, and none replaces what
 * another has announced.  PrioLoop's next_frame is the nearest frame that was in the future
 * at the last announcement, and frame_interval the shortest interval.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-inbox-private.h"

/* What one clock has announced: a frame clock that is followed, or prio_scheduler_set_next_frame ().
 * All zero means nothing. */
typedef struct _PrioFrame PrioFrame;

struct _PrioFrame
{
  PrioFrame *next;
  gboolean linked; /* in the loop's list */
  gint64 due;      /* µs */
  gint64 interval; /* between two frames, µs, or 0 if it is not known */
};

void prio_frames_put (PrioLoop *loop, PrioFrame *frame, gint64 due, gint64 interval);
void prio_frames_remove (PrioLoop *loop, PrioFrame *frame);
void prio_frames_update (PrioLoop *loop, gint64 now);
