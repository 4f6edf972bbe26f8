/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-frame-clock-private.h: predicts the frames of an object that draws them
 *
 * Promises: each frame of a view announces the next frame of that view, one usual frame interval later.
 *
 * prio_frame_clock_tick () is called on the thread on which the object emits its signal. */

#pragma once

#include "prio-frame.h"

typedef struct _PrioFrameView PrioFrameView;

/* A frame clock of GTK, which has one view, or a ClutterStage, which emits the same signal for all its views. */
typedef struct
{
  PrioLoop *loop; /* owned */
  PrioFrameView *views; /* NULL until the first tick */
} PrioFrameClock;

void prio_frame_clock_tick (PrioFrameClock *clock, guint n_values, const GValue *values);
void prio_frame_clock_clear (PrioFrameClock *self);
