/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-frames.c: gets and sets when the next frame is due */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "open/prio-engine.h"

static void
notify_next_frame (PrioScheduler *self, gint64 next_frame)
{
  if (__atomic_exchange_n (&self->next_frame, next_frame, __ATOMIC_RELAXED) != next_frame)
    g_object_notify (G_OBJECT (self), "next-frame");
}

void
prio_scheduler_tell_next_frame (PrioScheduler *self)
{
  notify_next_frame (self, prio_loop_peek_next_frame (self->run_queue->loop));
}

/**
 * prio_scheduler_get_next_frame: (get-property next-frame)
 * @self: a scheduler
 *
 * Gets when the next frame is due, as a followed frame clock or [method@PrioSched.Scheduler.set_next_frame] reported
 * last.  To include a frame clock, call [method@PrioSched.Scheduler.follow_frame_clock].  Any thread may call this.
 *
 * ```c
 * gint64 next_frame = prio_scheduler_get_next_frame (scheduler);
 *
 * if (next_frame != 0)
 *   g_print ("The next frame is due in %.1f ms\n", (next_frame - g_get_monotonic_time ()) / 1000.0);
 * ```
 *
 * Returns: microseconds of [func@GLib.get_monotonic_time], or 0 if that is not known
 *
 * Since: 1.0
 */
gint64
prio_scheduler_get_next_frame (PrioScheduler *self)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), 0);

  return __atomic_load_n (&self->next_frame, __ATOMIC_RELAXED);
}

/**
 * prio_scheduler_set_next_frame: (set-property next-frame)
 * @self: a scheduler
 * @next_frame: microseconds of [func@GLib.get_monotonic_time], or 0 if there is none
 *
 * Sets when the next frame is due, for programs that draw frames without a `GdkFrameClock`.
 *
 * At that time, slices of tasks and idle periods end, so that other sources have their turn.  A time in the past has no
 * effect, so call this for each frame.  Frame clocks that are followed still count: the earliest frame is used.  Any
 * thread may call this function.
 *
 * ```c
 * static gboolean
 * draw_frame (gpointer game) // of a timer of 60 Hz
 * {
 *   my_game_draw (game);
 *   prio_scheduler_set_next_frame (prio_scheduler_get_default (), g_get_monotonic_time () + G_USEC_PER_SEC / 60);
 *   return G_SOURCE_CONTINUE;
 * }
 * ```
 *
 * Since: 1.0
 */
void
prio_scheduler_set_next_frame (PrioScheduler *self, gint64 next_frame)
{
  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail (next_frame >= 0);

  g_object_ref (self);
  prio_frame_announce (self->run_queue->loop, &self->run_queue->next_frame, next_frame, 0);
  notify_next_frame (self, next_frame);
  g_object_unref (self);
}
