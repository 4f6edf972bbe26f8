/* prio-scheduler-frames.c: when the next frame is due
 *
 * Each clock that is followed holds a closure of this file.  The closure ends with the clock, when the clock is
 * unfollowed, or at the first frame after the scheduler has been finalized.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

/* A gap between two frames counts as the length of a frame only up to the maximum (µs): in a longer one, nothing was
 * animated.  No display is faster than the minimum. */
#define MAX_INTERVAL 50000
#define MIN_INTERVAL 1000
#define USUAL_INTERVAL 16667

#define N_GAPS 3

/* How many views of a clock are told apart. */
#define MAX_VIEWS 8

typedef struct _PrioFrameClosure PrioFrameClosure;

/* The scheduler that closures belong to.  Closures keep the record alive, so that its address identifies the scheduler
 * even after that has been finalized. */
typedef struct
{
  GWeakRef scheduler;
  PrioFrameClosure *closures; /* of the clocks that are followed */
} PrioFollower;

/* A source of frames: a frame clock, or one view of a stage, which emits the same signal for all its views. */
typedef struct _PrioClock PrioClock;

struct _PrioClock
{
  PrioClock *next;    /* of the same closure */
  PrioFrame frame;    /* used on the owner thread */
  gconstpointer view; /* only compared, never dereferenced; NULL if there is none */
  gint64 last;        /* when the last frame began, µs */
  gint64 interval;    /* between frames, µs */
  gint64 gaps[N_GAPS];
  guint n_gaps; /* in a row */
};

struct _PrioFrameClosure
{
  GClosure closure; /* the data is a PrioFollower */
  PrioLoop *loop;
  PrioClock *clocks;
  PrioFrameClosure *next; /* of the same follower */
  GObject *frame_clock;   /* as long as it is followed; only compared */
  gulong id;
  guint n; /* how often it is followed */
};

static void
follower_clear (gpointer data)
{
  g_weak_ref_clear (&((PrioFollower *) data)->scheduler);
}

static void
follower_unref (gpointer follower)
{
  g_atomic_rc_box_release_full (follower, follower_clear);
}

/* Returns: (transfer none) */
static PrioFollower *
get_follower (PrioScheduler *self)
{
  if (g_once_init_enter (&self->follower))
    {
      PrioFollower *follower = g_atomic_rc_box_new0 (PrioFollower);

      g_weak_ref_init (&follower->scheduler, self);
      g_once_init_leave (&self->follower, follower);
    }
  return self->follower;
}

/* The scheduler is being finalized. */
void
prio_scheduler_clear_follower (PrioScheduler *self)
{
  g_clear_pointer (&self->follower, follower_unref);
}

static void
op_clock_ticked (PrioLoop *loop, const PrioOp *op)
{
  PrioClock *clock = op->target;

  prio_frames_put (loop, &clock->frame, op->due, (gint64) GPOINTER_TO_SIZE (op->data));
}

static void
op_remove_clock (PrioLoop *loop, const PrioOp *op)
{
  PrioClock *clock = op->target;

  prio_frames_remove (loop, &clock->frame);
  g_free (clock);
}

/* The signal's first argument need not be a view: it may be another object each time.  All beyond MAX_VIEWS are
 * therefore treated as one. */
static PrioClock *
find_clock (PrioFrameClosure *self, gconstpointer view)
{
  PrioClock *clock = self->clocks;
  guint n = 0;

  while (clock != NULL && clock->view != view)
    {
      clock = clock->next;
      n++;
    }
  if (clock != NULL)
    return clock;
  if (n == MAX_VIEWS)
    return self->clocks;

  clock = g_new0 (PrioClock, 1);
  clock->view = view;
  clock->interval = USUAL_INTERVAL;
  clock->next = self->clocks;
  self->clocks = clock;
  return clock;
}

/* A late frame makes one gap longer and the next one shorter, and so does the first frame after a pause.  The median
 * of three gaps leaves both out.  A shorter median is adopted at once, a longer one only gradually. */
static void
learn_interval (PrioClock *clock, gint64 gap)
{
  const gint64 *gaps = clock->gaps;
  gint64 middle;

  if (gap <= 0 || gap >= MAX_INTERVAL)
    {
      clock->n_gaps = 0;
      return;
    }

  clock->gaps[clock->n_gaps++ % N_GAPS] = gap;
  if (clock->n_gaps < N_GAPS)
    return;

  middle = MAX (MIN (gaps[0], gaps[1]), MIN (MAX (gaps[0], gaps[1]), gaps[2]));
  if (middle < clock->interval)
    clock->interval = MAX (middle, MIN_INTERVAL);
  else
    clock->interval += (middle - clock->interval) / 16;
}

static void
notify_next_frame (PrioScheduler *self, gint64 next_frame)
{
  if (__atomic_exchange_n (&self->next_frame, next_frame, __ATOMIC_RELAXED) != next_frame)
    prio_scheduler_notify_next_frame (self);
}

/* The nearest frame of the loop.  On other threads the value may be out of date. */
static gint64
nearest_frame (PrioScheduler *self)
{
  return __atomic_load_n (&self->run_queue->loop->next_frame, __ATOMIC_RELAXED);
}

/* Where the closure of a clock is linked, or the end of the list. */
static PrioFrameClosure **
find_closure (PrioFollower *follower, GObject *frame_clock)
{
  PrioFrameClosure **link = &follower->closures;

  while (*link != NULL && (*link)->frame_clock != frame_clock)
    link = &(*link)->next;
  return link;
}

/* Its clock may be followed by another closure from now on. */
static void
unlink_closure (PrioFollower *follower, PrioFrameClosure *self)
{
  PrioFrameClosure **link = find_closure (follower, self->frame_clock);

  if (*link == self)
    *link = self->next;
  self->frame_clock = NULL;
}

/* A clock has been unfollowed or finalized.  If that happens during its emission, this runs after the emission. */
static void
closure_finalized (gpointer follower, GClosure *closure)
{
  PrioFrameClosure *self = (PrioFrameClosure *) closure;
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&((PrioFollower *) follower)->scheduler);
  PrioClock *clock;

  if (self->frame_clock != NULL)
    unlink_closure (follower, self);
  while ((clock = self->clocks) != NULL)
    {
      PrioOp op = { .apply = op_remove_clock, .target = clock };

      self->clocks = clock->next;
      prio_loop_submit_quietly (self->loop, &op);
    }
  if (scheduler != NULL)
    notify_next_frame (scheduler, nearest_frame (scheduler));
  prio_loop_unref (self->loop);
  follower_unref (follower);
}

/* A frame begins; the next one is expected an interval from now.  The arguments depend on the emitter: the first of
 * ClutterStage's is the view. */
static void
before_paint (GClosure *closure, GValue *result G_GNUC_UNUSED, guint n_values, const GValue *values,
              gpointer hint G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  PrioFrameClosure *self = (PrioFrameClosure *) closure;
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&((PrioFollower *) closure->data)->scheduler);
  PrioOp op = { .apply = op_clock_ticked };
  PrioClock *clock;
  gint64 now = prio_clock_now ();

  if (scheduler == NULL)
    {
      g_closure_invalidate (closure);
      return;
    }

  clock = find_clock (self, n_values > 1 && G_VALUE_HOLDS_OBJECT (&values[1]) ? g_value_get_object (&values[1]) : NULL);
  learn_interval (clock, now - clock->last);
  clock->last = now;

  op.target = clock;
  op.due = prio_time_after (now, clock->interval);
  op.data = GSIZE_TO_POINTER ((gsize) clock->interval);
  prio_loop_submit (self->loop, &op);
  notify_next_frame (scheduler, nearest_frame (scheduler));
}

static void
connect_closure (PrioScheduler *scheduler, PrioFollower *follower, GObject *frame_clock)
{
  GClosure *closure = g_closure_new_simple (sizeof (PrioFrameClosure), g_atomic_rc_box_acquire (follower));
  PrioFrameClosure *self = (PrioFrameClosure *) closure;

  self->loop = prio_loop_ref (scheduler->run_queue->loop);
  self->frame_clock = frame_clock;
  self->n = 1;
  self->next = follower->closures;
  follower->closures = self;
  g_closure_add_finalize_notifier (closure, follower, closure_finalized);
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
 * With GTK 4, @frame_clock is what `gtk_widget_get_frame_clock()` returns for a
 * realized widget; in GNOME Shell, it is the stage, `global.stage`.  A scheduler can
 * follow any number of clocks; the nearest of their frames counts.  The scheduler does not
 * wait for a clock that has stopped, and unfollows one that is finalized.  Neither holds a
 * reference to the other.
 *
 * Several users of a scheduler may follow one clock, as extensions of GNOME Shell do: the scheduler counts
 * them, and follows the clock until each has called [method@PrioSched.Scheduler.unfollow_frame_clock].  Each frame is
 * heard of once.  After a call too many the scheduler goes on following the clock, which makes tasks give way to frames that
 * nobody else cares for, and ends with the clock.
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

  closure = *find_closure (get_follower (self), frame_clock);
  if (closure == NULL)
    connect_closure (self, get_follower (self), frame_clock);
  else
    closure->n++;
}

/**
 * prio_scheduler_unfollow_frame_clock:
 * @self: a scheduler
 * @frame_clock: what [method@PrioSched.Scheduler.follow_frame_clock] was given
 *
 * Takes back one call of [method@PrioSched.Scheduler.follow_frame_clock].  With the last of them the scheduler
 * stops following the clock, and forgets what is known of its frames.
 *
 * Call it as often as you have followed the clock, and not more: another user may follow it too.  If the clock is not
 * followed, this does nothing.  Call it on the thread that runs
 * the scheduler's main context.
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

  closure = *find_closure (get_follower (self), frame_clock);
  if (closure == NULL || --closure->n > 0)
    return;

  g_object_ref (self);
  unlink_closure (get_follower (self), closure);
  g_signal_handler_disconnect (frame_clock, closure->id);
  g_object_unref (self);
}

/**
 * prio_scheduler_get_next_frame: (get-property next-frame)
 * @self: a scheduler
 *
 * Gets when the next frame is due: what a followed clock, or
 * [method@PrioSched.Scheduler.set_next_frame], reported last.  Any thread may call it.
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

  if (op->due == 0)
    prio_frames_remove (loop, &run_queue->next_frame);
  else
    prio_frames_put (loop, &run_queue->next_frame, op->due, 0);
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
  PrioOp op = { .apply = op_set_frame, .due = next_frame };

  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail (next_frame >= 0);

  op.target = self->run_queue;
  g_object_ref (self);
  prio_loop_submit (self->run_queue->loop, &op);
  notify_next_frame (self, next_frame);
  g_object_unref (self);
}
