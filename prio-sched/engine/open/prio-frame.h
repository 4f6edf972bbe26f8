/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-frame.h: announces to a loop when the next frame is due
 *
 * Any thread may call these functions, unless a comment says otherwise. */

#pragma once

#include "prio-observe.h"

/* The announcements of one frame clock. */
typedef struct _PrioFrame PrioFrame;

PrioFrame *prio_frame_new (void);
/* Announces the next frame at @due, in µs, or no frame if @due is 0.  @interval is the time between two frames, in µs,
 * or 0 if it is unknown. */
void prio_frame_announce (PrioLoop *loop, PrioFrame *frame, gint64 due, gint64 interval);
/* Frees @frame, on the owner thread.  Runs no user code. */
void prio_frame_free (PrioLoop *loop, PrioFrame *frame);

/* Returns (transfer full) (nullable) the loop of @context, if there is one. */
PrioLoop *prio_loop_find (GMainContext *context);

/* Returns when the next frame may begin, in µs: when a frame is due, but at least one frame interval after @now.
 * Called on the owner thread, or after entering the loop. */
gint64 prio_frame_after (PrioLoop *loop, gint64 now);

/* Looks for toolkits that draw frames; may be NULL.  Called with the time, in µs, when a scheduler is created, and
 * after long batches.  Set when the library is loaded. */
extern void (*prio_frames_look) (gint64 now) G_GNUC_INTERNAL;
