/* prio-scheduler-frames.c: knowing when the next frame is due
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-scheduler-private.h"

/* What is between two frames is the time of one if it is no longer than this, µs;
 * otherwise nothing was animated in between. */
#define MAX_INTERVAL 50000
#define USUAL_INTERVAL 16667

/* A frame clock that a scheduler follows; goes with either. */
typedef struct
{
  GWeakRef scheduler;
  gint64 last;     /* when the last frame began, µs */
  gint64 interval; /* between frames, µs */
} PrioFrames;

static void
frames_free (gpointer data, GClosure *closure G_GNUC_UNUSED)
{
  PrioFrames *frames = data;

  g_weak_ref_clear (&frames->scheduler);
  g_free (frames);
}

/* A frame begins.  If another follows it will be an interval from now; the shorter
 * of those that have been seen of late counts, for a frame may have been late. */
static void
before_paint (GObject *frame_clock G_GNUC_UNUSED, gpointer data)
{
  PrioFrames *frames = data;
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&frames->scheduler);
  gint64 now = g_get_monotonic_time ();
  gint64 gap = now - frames->last;

  frames->last = now;
  if (scheduler == NULL)
    return;

  if (gap < frames->interval)
    frames->interval = MAX (gap, 1000);
  else if (gap < MAX_INTERVAL)
    frames->interval += (gap - frames->interval) / 16;

  prio_scheduler_set_next_frame (scheduler, prio_time_after (now, frames->interval));
}

/**
 * prio_scheduler_follow_frame_clock:
 * @self: a scheduler
 * @frame_clock: a `GdkFrameClock`, or another object that emits `before-paint`
 *
 * Has the scheduler know when the next frame is due, so that tasks let it be drawn
 * in time and idle periods end before it.
 *
 * With GTK 4, @frame_clock is what `gtk_widget_get_frame_clock()` returns for a
 * realized widget.  Several may be followed.  This library does not depend on GTK.
 * It may be called on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_scheduler_follow_frame_clock (PrioScheduler *self, GObject *frame_clock)
{
  PrioFrames *frames;

  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail (G_IS_OBJECT (frame_clock));
  g_return_if_fail (g_signal_lookup ("before-paint", G_OBJECT_TYPE (frame_clock)) != 0);

  frames = g_new0 (PrioFrames, 1);
  frames->interval = USUAL_INTERVAL;
  g_weak_ref_init (&frames->scheduler, self);
  g_signal_connect_data (frame_clock, "before-paint", G_CALLBACK (before_paint), frames, frames_free, 0);
}

/**
 * prio_scheduler_get_next_frame: (get-property next-frame)
 * @self: a scheduler
 *
 * Gets when the next frame is due.  Any thread may call it.
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

/* Several clocks may be followed: the nearest frame of all counts. */
static void
frame_came (PrioLoop *loop, const PrioOp *op)
{
  gint64 now = g_get_monotonic_time ();

  if (op->due == 0 || loop->next_frame <= now || op->due < loop->next_frame)
    loop->next_frame = op->due;
}

/**
 * prio_scheduler_set_next_frame: (set-property next-frame)
 * @self: a scheduler
 * @next_frame: microseconds of [func@GLib.get_monotonic_time], or 0 if there is none
 *
 * Says when the next frame is due, for whatever else than a `GdkFrameClock` draws
 * frames.
 *
 * Slices of tasks end then, other sources have their turn, and idle periods end.
 * A time that has passed counts no more, so this is to be set for each frame.  Any
 * thread may call it.
 *
 * Since: 1.0
 */
void
prio_scheduler_set_next_frame (PrioScheduler *self, gint64 next_frame)
{
  PrioOp op = { .apply = frame_came, .due = next_frame };

  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail (next_frame >= 0);

  if (__atomic_exchange_n (&self->next_frame, next_frame, __ATOMIC_RELAXED) == next_frame)
    return;

  g_object_ref (self);
  prio_loop_submit (self->core->loop, &op);
  prio_scheduler_notify_next_frame (self);
  g_object_unref (self);
}
