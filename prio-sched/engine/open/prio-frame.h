/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-frame.h: announces to a loop when the next frame is due
 *
 * Any thread may call these.
 */

#pragma once

#include "prio-observe.h"

/* The announcement of one clock. */
typedef struct _PrioFrame PrioFrame;

PrioFrame *prio_frame_new (void);
/* Announces the next frame at @due, µs, or none if it is 0; @interval is between two frames, µs, or 0 if unknown. */
void prio_frame_announce (PrioLoop *loop, PrioFrame *frame, gint64 due, gint64 interval);
/* Runs no user code. */
void prio_frame_free (PrioLoop *loop, PrioFrame *frame);

/* Returns (transfer full) (nullable) the loop of @context. */
PrioLoop *prio_loop_find (GMainContext *context);

/* Returns when the next frame can have begun, µs: the time of a frame that is due, and at least the time between two
 * frames from @now.  Inside, or on the owner thread. */
gint64 prio_frame_after (PrioLoop *loop, gint64 now);

/* Looks for toolkits that draw frames.  Called with the time, µs, when a scheduler is made, and after long batches;
 * or NULL.  Set when the library is loaded. */
extern void (*prio_frames_look) (gint64 now) G_GNUC_INTERNAL;
