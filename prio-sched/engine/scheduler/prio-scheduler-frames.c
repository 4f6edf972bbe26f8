/* prio-scheduler-frames.c: when the next frame is due
 *
 * Each clock that is followed holds a closure of this file.  The closure ends with the clock, when the clock is
 * unfollowed, or at the first frame after the scheduler has been finalized.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-frame-clock-private.h"
#include "loop/prio-frame-hook-private.h"
#include "loop/prio-frames-private.h"

typedef struct
{
  GClosure closure;
  PrioFrameClock clock;
  GWeakRef *scheduler;  /* that of its run queue: a GAtomicRcBox */
  GHashTable *followed; /* that of the scheduler, and so the same even after that has been finalized */
  GObject *frame_clock; /* as long as it is followed; only compared */
  gulong id;
  guint n; /* how often it is followed */
} PrioFrameClosure;

static void
notify_next_frame (PrioScheduler *self, gint64 next_frame)
{
  if (__atomic_exchange_n (&self->next_frame, next_frame, __ATOMIC_RELAXED) != next_frame)
    g_object_notify (G_OBJECT (self), "next-frame");
}

static gint64
nearest_frame (PrioScheduler *self)
{
  return prio_loop_peek_next_frame (self->run_queue->loop);
}

/* Its clock may be followed by another closure from now on. */
static void
unlink_closure (PrioFrameClosure *self)
{
  if (g_hash_table_lookup (self->followed, self->frame_clock) == self)
    g_hash_table_remove (self->followed, self->frame_clock);
  self->frame_clock = NULL;
}

/* A clock has been unfollowed or finalized.  If that happens during its emission, this runs after the emission. */
static void
closure_finalized (gpointer data G_GNUC_UNUSED, GClosure *closure)
{
  PrioFrameClosure *self = (PrioFrameClosure *) closure;
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (self->scheduler);

  if (self->frame_clock != NULL)
    unlink_closure (self);
  prio_frame_clock_clear (&self->clock);
  if (scheduler != NULL)
    notify_next_frame (scheduler, nearest_frame (scheduler));
  g_hash_table_unref (self->followed);
  g_atomic_rc_box_release_full (self->scheduler, (GDestroyNotify) g_weak_ref_clear);
}

static void
before_paint (GClosure *closure, GValue *result G_GNUC_UNUSED, guint n_values, const GValue *values,
              gpointer hint G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  PrioFrameClosure *self = (PrioFrameClosure *) closure;
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (self->scheduler);

  if (scheduler == NULL)
    {
      g_closure_invalidate (closure);
      return;
    }

  prio_frame_clock_tick (&self->clock, n_values, values);
  notify_next_frame (scheduler, nearest_frame (scheduler));
}

static void
connect_closure (PrioScheduler *scheduler, GObject *frame_clock)
{
  GClosure *closure = g_closure_new_simple (sizeof (PrioFrameClosure), NULL);
  PrioFrameClosure *self = (PrioFrameClosure *) closure;

  prio_frame_clock_init (&self->clock, scheduler->run_queue->loop);
  self->scheduler = g_atomic_rc_box_acquire (scheduler->run_queue->scheduler);
  self->followed = g_hash_table_ref (scheduler->followed);
  self->frame_clock = frame_clock;
  self->n = 1;
  g_hash_table_insert (self->followed, frame_clock, self);
  g_closure_add_finalize_notifier (closure, NULL, closure_finalized);
  g_closure_set_marshal (closure, before_paint);
  self->id = g_signal_connect_closure (frame_clock, "before-paint", closure, FALSE);
}

/**
 * prio_scheduler_follow_frame_clock:
 * @self: a scheduler
 * @frame_clock: a `GdkFrameClock`, or another object that emits `before-paint`
 *
 * Lets the scheduler learn when the next frame is due.  Tasks then stop in time for the
 * frame to be drawn, idle periods end before it, and slices last no longer than half a
 * frame unless a time slice is set.
 *
 * Frame clocks of GTK and the stage of GNOME Shell are followed without a call, from their first frame after the
 * toolkit has been loaded on, unless `PRIO_SCHED_FOLLOW_FRAMES=0` is in the environment.  Call it for another object
 * that emits `before-paint`, or for the property [property@PrioSched.Scheduler:next-frame] to tell of @frame_clock.
 * A scheduler can follow any number of clocks; the nearest of their frames counts.  The scheduler does not
 * wait for a clock that has stopped, and unfollows one that is finalized.  Neither holds a
 * reference to the other.
 *
 * Several users of a scheduler may follow one clock: the scheduler counts
 * them, and follows the clock until each has called [method@PrioSched.Scheduler.unfollow_frame_clock].  Each frame is
 * heard of once.
 *
 * This library does not depend on GTK.  Call it on the thread that runs the
 * scheduler's main context; the clock must emit its frames there too.
 *
 * Since: 1.0
 */
void
prio_scheduler_follow_frame_clock (PrioScheduler *self, GObject *frame_clock)
{
  PrioFrameClosure *closure;

  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail (G_IS_OBJECT (frame_clock));
  g_return_if_fail (g_signal_lookup ("before-paint", G_OBJECT_TYPE (frame_clock)) != 0);

  closure = g_hash_table_lookup (self->followed, frame_clock);
  if (closure == NULL)
    connect_closure (self, frame_clock);
  else
    closure->n++;
}

/**
 * prio_scheduler_unfollow_frame_clock:
 * @self: a scheduler
 * @frame_clock: what [method@PrioSched.Scheduler.follow_frame_clock] was given
 *
 * Takes back one call of [method@PrioSched.Scheduler.follow_frame_clock].  With the last of them the scheduler
 * stops following the clock, and forgets what is known of its frames.  Frame clocks of GTK and the stage of GNOME Shell are then
 * followed as they are without a call.
 *
 * If nobody has called that, the clock is one that is followed without a call, and from now on it is not, by any scheduler.
 * So call it as often as you have followed the clock, and not more, where others use it too.  Call it on the
 * thread that runs the scheduler's main context.
 *
 * ```c
 * static void
 * my_window_realize (GtkWidget *widget)
 * {
 *   GTK_WIDGET_CLASS (my_window_parent_class)->realize (widget);
 *   prio_scheduler_follow_frame_clock (prio_scheduler_get_default (), G_OBJECT (gtk_widget_get_frame_clock (widget)));
 * }
 *
 * static void
 * my_window_unrealize (GtkWidget *widget)
 * {
 *   prio_scheduler_unfollow_frame_clock (prio_scheduler_get_default (), G_OBJECT (gtk_widget_get_frame_clock (widget)));
 *   GTK_WIDGET_CLASS (my_window_parent_class)->unrealize (widget);
 * }
 * ```
 *
 * Since: 1.0
 */
void
prio_scheduler_unfollow_frame_clock (PrioScheduler *self, GObject *frame_clock)
{
  PrioFrameClosure *closure;

  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail (G_IS_OBJECT (frame_clock));
  g_return_if_fail (g_signal_lookup ("before-paint", G_OBJECT_TYPE (frame_clock)) != 0);

  closure = g_hash_table_lookup (self->followed, frame_clock);
  if (closure == NULL)
    prio_frame_hook_leave_alone (frame_clock);
  if (closure == NULL || --closure->n > 0)
    return;

  g_object_ref (self);
  unlink_closure (closure);
  g_signal_handler_disconnect (frame_clock, closure->id);
  g_object_unref (self);
}

/**
 * prio_scheduler_get_next_frame: (get-property next-frame)
 * @self: a scheduler
 *
 * Gets when the next frame is due: what a followed clock, or
 * [method@PrioSched.Scheduler.set_next_frame], reported last.  A clock that is followed without a call is not among
 * them: call [method@PrioSched.Scheduler.follow_frame_clock] for it to tell.  Any thread may call it.
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

static void
op_set_frame (PrioLoop *loop, const PrioOp *op)
{
  PrioRunQueue *run_queue = op->target;
  gint64 due = ((const PrioTimedOp *) op)->due;

  if (due == 0)
    prio_frames_remove (loop, &run_queue->next_frame);
  else
    prio_frames_put (loop, &run_queue->next_frame, due, 0);
}

/**
 * prio_scheduler_set_next_frame: (set-property next-frame)
 * @self: a scheduler
 * @next_frame: microseconds of [func@GLib.get_monotonic_time], or 0 if there is none
 *
 * Sets when the next frame is due, for programs that draw frames by something else than
 * a `GdkFrameClock`.
 *
 * At that time slices of tasks end, other sources have their turn, and idle periods end.
 * A time that has passed has no effect, so set it for each frame.  Clocks that are
 * followed still count: the nearest frame of all is used.  Any thread may call it.
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
  PrioTimedOp set = { { .apply = op_set_frame, .size = sizeof set }, next_frame };

  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail (next_frame >= 0);

  set.op.target = self->run_queue;
  g_object_ref (self);
  prio_loop_submit (self->run_queue->loop, &set.op);
  notify_next_frame (self, next_frame);
  g_object_unref (self);
}
