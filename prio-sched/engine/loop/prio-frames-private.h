/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-frames-private.h: when the next frame is due
 *
 * Promises: several frame clocks may announce frames independently.  `next` of PrioFrames is the nearest frame that
 * was in the future at the last update, and `interval` the shortest interval.
 *
 * Only the loop's owner thread uses these functions and records, unless a comment says otherwise. */

#pragma once

#include "loop/prio-loop-private.h"

/* A frame announced by a frame clock, or by prio_scheduler_set_next_frame ().  A zeroed record announces no frame. */
struct _PrioFrame
{
  PrioHeapNode due;      /* the node in the loop's heap of due times */
  PrioHeapNode interval; /* the node in the loop's heap of intervals */
  gboolean is_due, has_interval; /* whether each node is in its heap */
};

void prio_frames_clear (PrioFrames *frames);
void prio_frames_remove (PrioLoop *loop, PrioFrame *frame);
void prio_frames_update (PrioLoop *loop, gint64 now);

/* Returns when the next frame is due, µs, or 0 if unknown.  The time may have passed.  Any thread may call this. */
static inline gint64
prio_loop_peek_next_frame (PrioLoop *loop)
{
  return __atomic_load_n (&loop->frames.next, __ATOMIC_RELAXED);
}

/* Returns the shortest announced time between two frames, µs; 0 if none is known. */
static inline gint64
prio_loop_frame_interval (PrioLoop *loop)
{
  return loop->frames.interval;
}

/* Returns when the next frame after @now is due, µs; 0 if that is not known. */
static inline gint64
prio_loop_next_frame (PrioLoop *loop, gint64 now)
{
  if (loop->frames.next != 0 && loop->frames.next <= now)
    prio_frames_update (loop, now);
  return loop->frames.next;
}

/* Returns the earlier of @start + @length and the time of the first frame after @start, µs. */
static inline gint64
prio_loop_end_of_time (PrioLoop *loop, gint64 start, gint64 length)
{
  gint64 end = prio_time_after (start, length);
  gint64 frame = prio_loop_next_frame (loop, start);

  return frame > start ? MIN (end, frame) : end;
}
