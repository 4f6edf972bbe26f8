/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-follow.c: makes a scheduler follow frame clocks
 *
 * Each followed clock owns a PrioFrameClosure.  The closure is freed with the clock, when the clock is unfollowed, or
 * at the first frame after the scheduler was finalized. */

#include "config.h"

#include "above/prio-frame-clock-private.h"
#include "above/prio-frame-hook-private.h"
#include "base/prio-check-private.h"
#include "prio-engine.h"

/* The clocks that a scheduler follows.  The record is a GAtomicRcBox, which all closures of the scheduler share, and
 * which may outlive the scheduler.  All closures share one weak reference, because the finalization of an object takes
 * time for each weak reference to it. */
typedef struct
{
  GWeakRef scheduler;
  GHashTable *closures; /* by clock, not owned */
} Following;

typedef struct
{
  GClosure closure;
  PrioFrameClock clock;
  Following *following; /* owned */
  GObject *frame_clock; /* while the clock is followed, otherwise NULL; only compared */
  gulong id;
  guint n; /* how many calls of the program follow the clock */
} PrioFrameClosure;

static void
following_clear (gpointer data)
{
  Following *self = data;

  g_weak_ref_clear (&self->scheduler);
  g_hash_table_unref (self->closures);
}

static void
following_unref (gpointer self)
{
  g_atomic_rc_box_release_full (self, following_clear);
}

static Following *
following_of (PrioScheduler *scheduler)
{
  static const char key[] = "prio-sched-following";
  Following *self = g_object_get_data (G_OBJECT (scheduler), key);

  if (self == NULL)
    {
      self = g_atomic_rc_box_new (Following);
      g_weak_ref_init (&self->scheduler, scheduler);
      self->closures = g_hash_table_new (NULL, NULL);
      g_object_set_data_full (G_OBJECT (scheduler), key, self, following_unref);
    }
  return self;
}

/* Removes @self from the table, so that a new closure can follow the clock. */
static void
unlink_closure (PrioFrameClosure *self)
{
  GHashTable *closures = self->following->closures;

  if (g_hash_table_lookup (closures, self->frame_clock) == self)
    g_hash_table_remove (closures, self->frame_clock);
  self->frame_clock = NULL;
}

/* Cleans up when the clock was unfollowed or finalized; if an emission of the clock is running, after the emission. */
static void
closure_finalized (gpointer data G_GNUC_UNUSED, GClosure *closure)
{
  PrioFrameClosure *self = (PrioFrameClosure *) closure;
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&self->following->scheduler);

  if (self->frame_clock != NULL)
    unlink_closure (self);
  prio_frame_clock_clear (&self->clock);
  if (scheduler != NULL)
    prio_scheduler_tell_next_frame (scheduler);
  following_unref (self->following);
}

static void
before_paint (GClosure *closure, GValue *result G_GNUC_UNUSED, guint n_values, const GValue *values,
              gpointer hint G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  PrioFrameClosure *self = (PrioFrameClosure *) closure;
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&self->following->scheduler);

  if (scheduler == NULL)
    {
      g_closure_invalidate (closure);
      return;
    }

  prio_frame_clock_tick (&self->clock, n_values, values);
  prio_scheduler_tell_next_frame (scheduler);
}

static void
connect_closure (PrioScheduler *scheduler, GObject *frame_clock)
{
  GClosure *closure = g_closure_new_simple (sizeof (PrioFrameClosure), NULL);
  PrioFrameClosure *self = (PrioFrameClosure *) closure;

  self->clock.loop = prio_loop_ref (prio_scheduler_get_loop (scheduler));
  self->following = g_atomic_rc_box_acquire (following_of (scheduler));
  self->frame_clock = frame_clock;
  self->n = 1;
  g_hash_table_insert (self->following->closures, frame_clock, self);
  g_closure_add_finalize_notifier (closure, NULL, closure_finalized);
  g_closure_set_marshal (closure, before_paint);
  self->id = g_signal_connect_closure (frame_clock, "before-paint", closure, FALSE);
}

/**
 * prio_scheduler_follow_frame_clock:
 * @self: a scheduler
 * @frame_clock: a `GdkFrameClock`, or another object that emits `before-paint`
 *
 * Makes the scheduler follow a frame clock, which tells when the next frame is due.  Tasks then stop in time for the
 * frame to be drawn, idle periods end before it, and slices last at most half a frame unless a time slice is set.
 *
 * Frame clocks of GTK and the stage of GNOME Shell are followed without a call, from their first frame after the
 * toolkit has been loaded, unless `PRIO_SCHED_FOLLOW_FRAMES=0` is in the environment.  Call this for another object
 * that emits `before-paint`, or to include @frame_clock in [property@PrioSched.Scheduler:next-frame].  A scheduler can
 * follow any number of clocks; the earliest of their frames counts.  The scheduler does not wait for a clock that has
 * stopped, and unfollows a clock that is finalized.  The scheduler and the clock do not keep each other alive.
 *
 * Several users of a scheduler may follow one clock: the scheduler counts them, and follows the clock until each has
 * called [method@PrioSched.Scheduler.unfollow_frame_clock].  A frame counts once, however many users follow the clock.
 *
 * Call this function on the thread that runs the scheduler's main context.  The clock must emit its signal on the same
 * thread.  The library does not depend on GTK.
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

  closure = g_hash_table_lookup (following_of (self)->closures, frame_clock);
  if (closure == NULL)
    connect_closure (self, frame_clock);
  else
    closure->n++;
}

/**
 * prio_scheduler_unfollow_frame_clock:
 * @self: a scheduler
 * @frame_clock: the clock
 *
 * Undoes one call of [method@PrioSched.Scheduler.follow_frame_clock].  The last such call makes the scheduler stop
 * following the clock, and forget its frames.  After that, frame clocks of GTK and the stage of GNOME Shell are
 * followed automatically.
 *
 * If there is no such call to undo, this function stops the automatic following of the clock for good, for all
 * schedulers.  So call it no more often than [method@PrioSched.Scheduler.follow_frame_clock].  Call this function on
 * the thread that runs the scheduler's main context.
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

  closure = g_hash_table_lookup (following_of (self)->closures, frame_clock);
  if (closure == NULL)
    prio_frame_hook_leave_alone (frame_clock);
  if (closure == NULL || --closure->n > 0)
    return;

  g_object_ref (self);
  unlink_closure (closure);
  g_signal_handler_disconnect (frame_clock, closure->id);
  g_object_unref (self);
}
