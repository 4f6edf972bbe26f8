/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-react-frame.c: sets and ends the time slice, under the names of React's Scheduler */

#include "prio-sched-react.h"

#include <prio-sched-bindings.h>

/* The highest rate that React's Scheduler accepts. */
#define MAX_FRAME_RATE 125

/**
 * prio_react_force_frame_rate:
 * @scheduler: a scheduler
 * @fps: frames per second, from 1 to 125, or 0 to reset the rate
 *
 * Sets the time slice to the length of a frame: React's `unstable_forceFrameRate()`.
 *
 * The call sets [property@PrioSched.Scheduler:time-slice] to the length of a frame in whole milliseconds, such as 33 ms
 * for a rate of 30.  A rate of 0 sets the property back to -1, the default.  If the scheduler follows a frame clock
 * ([method@PrioSched.Scheduler.follow_frame_clock]), each of its frames ends the slice in any case.
 *
 * ```c
 * prio_react_force_frame_rate (scheduler, 30);
 * ```
 *
 * A rate that is out of range is refused with a critical message.  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_react_force_frame_rate (PrioScheduler *scheduler, gint fps)
{
  g_return_if_fail (PRIO_IS_SCHEDULER (scheduler));

  if (fps >= 0 && fps <= MAX_FRAME_RATE)
    prio_scheduler_set_time_slice (scheduler, fps == 0 ? -1 : 1000 / fps);
  else
    g_critical ("%s(): %d is not a rate that can be forced, which is from 0 to %d frames per second", G_STRFUNC, fps, MAX_FRAME_RATE);
}

/**
 * prio_react_request_paint:
 * @scheduler: a scheduler
 *
 * Asks running tasks to yield to the main loop, so that changes are drawn: React's `unstable_requestPaint()`.
 *
 * [method@PrioSched.Scheduler.should_yield] returns %TRUE from now on, until every other source of the main
 * context has had its turn; this applies to the other schedulers of the context, too.
 *
 * ```c
 * gtk_label_set_text (label, "Almost done");
 * prio_react_request_paint (scheduler);
 * return G_SOURCE_CONTINUE;
 * ```
 *
 * Call it on the thread that runs the scheduler's main context; on other threads, and outside of a main loop, it does
 * nothing.
 *
 * Since: 1.0
 */
void
prio_react_request_paint (PrioScheduler *scheduler)
{
  g_return_if_fail (PRIO_IS_SCHEDULER (scheduler));

  prio_scheduler_end_slice (scheduler);
}
