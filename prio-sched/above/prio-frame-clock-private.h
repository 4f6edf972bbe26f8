/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-frame-clock-private.h: the frames of one object that draws them
 *
 * Promises: the loop expects the next frame of each view one interval between two of its frames later.
 *
 * Ticks on the thread on which the object emits them.
 */

#pragma once

#include "prio-frame.h"

typedef struct _PrioFrameView PrioFrameView;

/* A frame clock of GTK's, which has one view, or a stage, which emits the same signal for all its views. */
typedef struct
{
  PrioLoop *loop; /* owned */
  PrioFrameView *views; /* NULL until the first tick */
} PrioFrameClock;

void prio_frame_clock_tick (PrioFrameClock *clock, guint n_values, const GValue *values);
void prio_frame_clock_clear (PrioFrameClock *self);
