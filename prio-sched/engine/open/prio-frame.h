/* prio-frame.h: what draws frames tells a loop when the next one is due
 *
 * Any thread may call these.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-observe.h"

/* What one clock has announced. */
typedef struct _PrioFrame PrioFrame;

PrioFrame *prio_frame_new (void);
/* The next frame is due at @due, or none is if that is 0; and @interval is the time between two, or 0 if that is not known, µs. */
void prio_frame_announce (PrioLoop *loop, PrioFrame *frame, gint64 due, gint64 interval);
/* Releases nothing of the user's. */
void prio_frame_free (PrioLoop *loop, PrioFrame *frame);

/* Returns: (transfer full) (nullable): the loop of @context, if there is one */
PrioLoop *prio_loop_find (GMainContext *context);

/* Called with the time, µs, when a scheduler is made, and after long batches, to look for what draws frames; or NULL.  It is set when the
 * library is loaded. */
extern void (*prio_frames_look) (gint64 now) G_GNUC_INTERNAL;
