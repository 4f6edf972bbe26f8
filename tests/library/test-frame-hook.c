/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-frame-hook.c: frames of a toolkit are followed without a call
 *
 * The toolkit is one type with a signal, made after the scheduler.
 */

#include "frozen-fixture.h"

typedef GObject GdkFrameClock;
typedef GObjectClass GdkFrameClockClass;

GType gdk_frame_clock_get_type (void);
G_DEFINE_TYPE (GdkFrameClock, gdk_frame_clock, G_TYPE_OBJECT)

static void
gdk_frame_clock_class_init (GdkFrameClockClass *class)
{
  g_signal_new ("before-paint", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
gdk_frame_clock_init (GdkFrameClock *self)
{
}

/* Works for two slices, after which the library may look for a toolkit. */
static gboolean
work (gpointer data)
{
  pass (10);
  return step_run (data);
}

static void
run_long_task (Fixture *f)
{
  pass (1000);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, work, step_new (f, 'w', NULL, NULL), step_free);
  fixture_run (f);
}

static GObject *
new_clock (Fixture *f)
{
  GObject *clock = g_object_new (gdk_frame_clock_get_type (), NULL);

  run_long_task (f);
  return clock;
}

static void
paint (GObject *clock, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      pass (8);
      g_signal_emit_by_name (clock, "before-paint");
    }
}

static void
remember (PrioIdleDeadline *deadline, gpointer left)
{
  *(double *) left = prio_idle_deadline_get_time_remaining (deadline);
}

/* Returns how long an idle period lasts, ms: until the next frame, or 50. */
static double
idle_time (Fixture *f)
{
  double left = -1;

  prio_scheduler_request_idle_callback (f->scheduler, 0, remember, &left, NULL);
  fixture_run (f);
  return left;
}

static void
test_unasked (Fixture *f, gconstpointer data)
{
  g_autoptr (GObject) clock = new_clock (f), other = NULL;

  g_assert_cmpfloat (idle_time (f), ==, 50);
  paint (clock, 10);
  g_assert_cmpfloat (idle_time (f), ==, 8);

  /* The nearest frame of all windows counts. */
  other = new_clock (f);
  paint (clock, 1);
  pass (5);
  paint (other, 10);
  pass (-4);
  g_assert_cmpfloat (idle_time (f), <=, 12);
}

static void
test_unfollowed (Fixture *f, gconstpointer data)
{
  g_autoptr (GObject) clock = new_clock (f);

  paint (clock, 10);
  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  g_assert_cmpfloat (idle_time (f), ==, 50);
  paint (clock, 10);
  g_assert_cmpfloat (idle_time (f), ==, 50);

  /* A program may follow the clock explicitly, and unfollow it. */
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  paint (clock, 10);
  g_assert_cmpfloat (idle_time (f), ==, 8);
  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  paint (clock, 1);
  g_assert_cmpfloat (idle_time (f), ==, 50);
}

/* A program may unfollow a clock before the clock's first frame. */
static void
test_unfollowed_at_once (Fixture *f, gconstpointer data)
{
  g_autoptr (GObject) clock = new_clock (f);

  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  paint (clock, 10);
  g_assert_cmpfloat (idle_time (f), ==, 50);
}

/* Following and unfollowing changes nothing. */
static void
test_followed_and_unfollowed (Fixture *f, gconstpointer data)
{
  g_autoptr (GObject) clock = new_clock (f);

  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  paint (clock, 10);
  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  g_assert_cmpfloat (idle_time (f), ==, 8);
  paint (clock, 1);
  g_assert_cmpfloat (idle_time (f), ==, 8);
}

/* When a clock is freed, its frames are forgotten. */
static void
test_clock_goes (Fixture *f, gconstpointer data)
{
  GObject *clock = new_clock (f);

  paint (clock, 10);
  g_object_unref (clock);
  g_assert_cmpfloat (idle_time (f), ==, 50);
}

/* No scheduler holds the clock, nor the clock a scheduler; the next scheduler notices its frames. */
static void
test_scheduler_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (GObject) clock = new_clock (f);

  for (guint i = 0; i < 3; i++)
    {
      paint (clock, 10);
      g_clear_object (&f->scheduler);
      fixture_run (f);
      paint (clock, 10);
      f->scheduler = prio_scheduler_new (f->context);
      paint (clock, 10);
      g_assert_cmpfloat (idle_time (f), ==, 8);
    }
}

/* The window of another thread does not affect this one. */
static gpointer
paint_elsewhere (gpointer clock)
{
  g_autoptr (GMainContext) context = g_main_context_new ();

  g_main_context_push_thread_default (context);
  for (guint i = 0; i < 10; i++)
    g_signal_emit_by_name (clock, "before-paint");
  g_main_context_pop_thread_default (context);
  return NULL;
}

static void
test_another_context (Fixture *f, gconstpointer data)
{
  g_autoptr (GObject) clock = new_clock (f);

  g_thread_join (g_thread_new ("other", paint_elsewhere, clock));
  g_assert_cmpfloat (idle_time (f), ==, 50);
}

static void
test_turned_off (Fixture *f, gconstpointer data)
{
  g_autoptr (GObject) clock = NULL;

  if (!g_test_subprocess ())
    {
      g_setenv ("PRIO_SCHED_FOLLOW_FRAMES", "0", TRUE);
      g_test_trap_subprocess (NULL, 0, 0);
      g_unsetenv ("PRIO_SCHED_FOLLOW_FRAMES");
      g_test_trap_assert_passed ();
      return;
    }
  clock = new_clock (f);
  paint (clock, 10);
  g_assert_cmpfloat (idle_time (f), ==, 50);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  frozen_time = G_USEC_PER_SEC;

  add_test ("/frame-hook/turned-off", test_turned_off);
  add_test ("/frame-hook/unasked", test_unasked);
  add_test ("/frame-hook/unfollowed", test_unfollowed);
  add_test ("/frame-hook/unfollowed-at-once", test_unfollowed_at_once);
  add_test ("/frame-hook/followed-and-unfollowed", test_followed_and_unfollowed);
  add_test ("/frame-hook/clock-goes", test_clock_goes);
  add_test ("/frame-hook/scheduler-goes", test_scheduler_goes);
  add_test ("/frame-hook/another-context", test_another_context);
  return g_test_run ();
}
