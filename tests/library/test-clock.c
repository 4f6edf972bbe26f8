/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-clock.c: the limits of the clock, and numbers beyond 32 bits
 *
 * The clock starts with 0, ends with G_MAXINT64, and jumps when a machine resumes.
 */

#include "helpers.h"

/* The next two functions replace GLib's, for the library as well. */
static gint64 now;

gint64
g_get_monotonic_time (void)
{
  return now;
}

gint64
g_source_get_time (GSource *source)
{
  return now;
}

static void
step_idle (PrioIdleDeadline *deadline, gpointer data)
{
  g_assert_cmpfloat (prio_idle_deadline_get_time_remaining (deadline), >=, 0);
  g_assert_cmpfloat (prio_idle_deadline_get_time_remaining (deadline), <=, 50);
  step_run (data);
}

static gboolean
step_ask (gpointer data)
{
  prio_scheduler_should_yield (((Step *) data)->f->scheduler);
  now = now < G_MAXINT64 - 2000 ? now + 2000 : G_MAXINT64;
  return step_run (data);
}

static void
post_delayed (Fixture *f, guint64 delay, char letter)
{
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING, .delay = delay }, step_run,
                            step_new (f, letter, NULL, NULL), step_free);
}

/* Runs tasks of every kind, from @start on, in their order. */
static void
run_from (gint64 start, const char *expected)
{
  static const double slices[] = { 0, 0.001, 0.005, G_MAXUINT };

  for (guint i = 0; i < G_N_ELEMENTS (slices); i++)
    {
      Fixture f;

      now = start;
      fixture_set_up (&f, NULL);
      prio_scheduler_set_time_slice (f.scheduler, slices[i]);
      prio_scheduler_set_next_frame (f.scheduler, start);

      prio_scheduler_request_idle_callback (f.scheduler, 0, step_idle, step_new (&f, 'e', NULL, NULL), step_free);
      prio_scheduler_request_idle_callback (f.scheduler, G_MAXUINT, step_idle, step_new (&f, 'f', NULL, NULL), step_free);
      prio_scheduler_post (f.scheduler, BACKGROUND, step_ask, step_new (&f, 'd', NULL, NULL), step_free);
      prio_scheduler_post (f.scheduler, USER_VISIBLE, step_ask, step_new (&f, 'c', NULL, NULL), step_free);
      prio_scheduler_post (f.scheduler, USER_BLOCKING, step_ask, step_new (&f, 'a', NULL, NULL), step_free);
      prio_scheduler_post (f.scheduler, USER_BLOCKING, step_ask, step_new (&f, 'b', NULL, NULL), step_free);
      fixture_run (&f);
      g_assert_cmpstr (f.log->str, ==, expected);
      fixture_tear_down (&f, NULL);
    }
}

static void
test_from_the_beginning (void)
{
  run_from (0, "abcdef");
  run_from (1, "abcdef");
}

/* At the end of time there is no idle time, and every timeout has passed. */
static void
test_to_the_end (void)
{
  run_from (G_MAXINT64 - G_USEC_PER_SEC, "abcdef");
  run_from (G_MAXINT64 - 10000, "abcdef");
  run_from (G_MAXINT64, "fabcd");
}

static void
test_long_delays (Fixture *f, gconstpointer data)
{
  static const gint64 starts[] = { 0, 1, G_USEC_PER_SEC, G_MAXINT64 / 2, G_MAXINT64 - G_USEC_PER_SEC };

  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    {
      now = starts[i];
      g_string_truncate (f->log, 0);
      post_delayed (f, 1, 'a');
      post_delayed (f, 500, 'b');
      post_delayed (f, (guint64) G_MAXINT64 / 1000 + 1, '?');
      post_delayed (f, G_MAXINT64, '?');
      post_delayed (f, G_MAXUINT64 / 1000 + 1, '?');
      post_delayed (f, G_MAXUINT64, '?');
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "");

      now += 1000;
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "a");
      now = starts[i] + G_USEC_PER_SEC - 1;
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "ab");
    }
}

/* After a year of sleep, tasks that have become due run by age, after the idle callback whose timeout has passed. */
static void
test_leap (Fixture *f, gconstpointer data)
{
  const gint64 year = 365 * G_TIME_SPAN_DAY;

  now = G_USEC_PER_SEC;
  prio_scheduler_request_idle_callback (f->scheduler, 10, step_idle, step_new (f, 'd', NULL, NULL), step_free);
  for (guint i = 0; i < 3; i++)
    post_delayed (f, 1000 * (3 - i), "cba"[i]);
  now += year;
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "dabc");
}

/* A monotonic clock does not run backwards; if it does, no task is lost. */
static void
test_backwards (Fixture *f, gconstpointer data)
{
  now = G_TIME_SPAN_DAY;
  post_delayed (f, 10, 'b');
  prio_scheduler_post (f->scheduler, BACKGROUND, step_ask, step_new (f, 'a', NULL, NULL), step_free);
  fixture_run (f);
  now = 1000;
  post_letter (f, BACKGROUND, 'c');
  prio_scheduler_post (f->scheduler, BACKGROUND, step_ask, step_new (f, 'd', NULL, NULL), step_free);
  fixture_run (f);
  now = G_TIME_SPAN_DAY + 10000;
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "acdb");
}

/* A stand-in for GdkFrameClock. */
typedef GObject FrameClock;
typedef GObjectClass FrameClockClass;

GType frame_clock_get_type (void);
G_DEFINE_TYPE (FrameClock, frame_clock, G_TYPE_OBJECT)

static void
frame_clock_class_init (FrameClockClass *class)
{
  g_signal_new ("before-paint", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
frame_clock_init (FrameClock *self)
{
}

/* A stand-in for the Shell's stage: its signal has the painted view, and details, as arguments. */
typedef GObject Stage;
typedef GObjectClass StageClass;

GType stage_get_type (void);
G_DEFINE_TYPE (Stage, stage, G_TYPE_OBJECT)

static void
stage_class_init (StageClass *class)
{
  g_signal_new ("before-paint", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
                G_TYPE_OBJECT, G_TYPE_STRING);
}

static void
stage_init (Stage *self)
{
}

static void
paint (GObject *clock, gint64 interval, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      now += interval;
      g_signal_emit_by_name (clock, "before-paint");
    }
}

static gint64
until_next_frame (Fixture *f)
{
  return prio_scheduler_get_next_frame (f->scheduler) - now;
}

/* The next frame is expected an interval after the last.  The interval shrinks as soon as short intervals are no longer
 * exceptional, and grows when long intervals continue; a pause is not an interval. */
static void
test_frame_clock (Fixture *f, gconstpointer data)
{
  GObject *clock = g_object_new (frame_clock_get_type (), NULL);

  now = G_USEC_PER_SEC;
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  paint (clock, 0, 1);
  g_assert_cmpint (until_next_frame (f), ==, 16667);
  paint (clock, 8000, 3);
  g_assert_cmpint (until_next_frame (f), ==, 8000);
  paint (clock, 40000, 200);
  g_assert_cmpint (until_next_frame (f), >, 39900);
  g_assert_cmpint (until_next_frame (f), <=, 40000);
  paint (clock, 16000, 3);
  paint (clock, G_USEC_PER_SEC, 1);
  g_assert_cmpint (until_next_frame (f), ==, 16000);
  paint (clock, 0, 5);
  g_assert_cmpint (until_next_frame (f), ==, 16000);
  paint (clock, 1, 5);
  g_assert_cmpint (until_next_frame (f), ==, 1000);

  /* The clock holds no scheduler. */
  g_clear_object (&f->scheduler);
  paint (clock, 16000, 1);
  g_object_unref (clock);
}

/* After a late frame the next one comes early; after a pause, at any time. */
static void
test_late_frames (Fixture *f, gconstpointer data)
{
  GObject *clock = g_object_new (frame_clock_get_type (), NULL);

  now = G_USEC_PER_SEC;
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  paint (clock, 16000, 10);
  for (guint i = 0; i < 10; i++)
    {
      paint (clock, 29000, 1);
      paint (clock, 3000, 1);
      paint (clock, 16000, 3);
      g_assert_cmpint (until_next_frame (f), >=, 15500);
      g_assert_cmpint (until_next_frame (f), <=, 16500);

      paint (clock, G_USEC_PER_SEC, 1);
      paint (clock, 2000, 1);
      paint (clock, 16000, 5);
      g_assert_cmpint (until_next_frame (f), >=, 15500);
    }
  g_object_unref (clock);
}

/* The data about a clock's frames is dropped when it is unfollowed, even in its own emission and at its end. */
static void
unfollow_it (GObject *clock, Fixture *f)
{
  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
}

static void
follow_anew (GObject *clock, Fixture *f)
{
  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
}

static void
test_forgotten_clock (Fixture *f, gconstpointer data)
{
  GObject *clock = g_object_new (frame_clock_get_type (), NULL);
  gulong id;

  now = G_USEC_PER_SEC;
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  id = g_signal_connect (clock, "before-paint", G_CALLBACK (unfollow_it), f);
  paint (clock, 16000, 1);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), ==, 0);

  g_signal_handler_disconnect (clock, id);
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  paint (clock, 16000, 1);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), >, now);
  g_object_unref (clock);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), ==, 0);
}

/* The signal's argument is not a view, but a new object each time, such as a frame or an event. */
static void
test_many_views (Fixture *f, gconstpointer data)
{
  GObject *stage = g_object_new (stage_get_type (), NULL);
  GObject *views[100];

  now = G_USEC_PER_SEC;
  prio_scheduler_follow_frame_clock (f->scheduler, stage);
  for (guint i = 0; i < G_N_ELEMENTS (views); i++)
    {
      views[i] = g_object_new (G_TYPE_OBJECT, NULL);
      now += 8000;
      g_signal_emit_by_name (stage, "before-paint", views[i], "");
    }
  g_assert_cmpint (until_next_frame (f), ==, 8000);

  for (guint i = 0; i < G_N_ELEMENTS (views); i++)
    g_object_unref (views[i]);
  g_object_unref (stage);
}

/* The clock stops, runs backwards, and is freed. */
static void
test_bad_clock (Fixture *f, gconstpointer data)
{
  GObject *clock = g_object_new (frame_clock_get_type (), NULL);

  now = G_USEC_PER_SEC;
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  paint (clock, 16000, 5);
  now -= G_USEC_PER_SEC / 2;
  paint (clock, 0, 1);
  g_assert_cmpint (until_next_frame (f), ==, 16000);
  paint (clock, -1000, 10);
  g_assert_cmpint (until_next_frame (f), ==, 16000);
  paint (clock, 16000, 1);
  g_assert_cmpint (until_next_frame (f), ==, 16000);

  now += G_TIME_SPAN_DAY;
  prio_scheduler_request_idle_callback (f->scheduler, 0, step_idle, step_new (f, 'a', NULL, NULL), step_free);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");

  paint (clock, 16000, 1);
  g_object_unref (clock);
  prio_scheduler_request_idle_callback (f->scheduler, 0, step_idle, step_new (f, 'b', NULL, NULL), step_free);
  now += G_TIME_SPAN_DAY;
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
}

static void
count (guint *n)
{
  (*n)++;
}

/* A clock that is followed twice counts each frame once, until it has been unfollowed twice. */
static void
test_follow_twice (Fixture *f, gconstpointer data)
{
  GObject *clock = g_object_new (frame_clock_get_type (), NULL);
  GObject *other = g_object_new (frame_clock_get_type (), NULL);
  guint n = 0;

  now = G_USEC_PER_SEC;
  g_signal_connect_swapped (f->scheduler, "notify::next-frame", G_CALLBACK (count), &n);
  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  paint (clock, 16000, 1);
  g_assert_cmpuint (n, ==, 1);
  prio_scheduler_unfollow_frame_clock (f->scheduler, other);
  paint (clock, 16000, 1);
  g_assert_cmpuint (n, ==, 2);

  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  g_assert_cmpint (until_next_frame (f), ==, 16667);
  paint (clock, 16000, 1);
  g_assert_cmpuint (n, ==, 3);
  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), ==, 0);
  g_assert_cmpuint (n, ==, 4);
  paint (clock, 16000, 1);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), ==, 0);
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  paint (clock, 16000, 1);
  g_assert_cmpint (until_next_frame (f), ==, 16667);

  g_object_unref (clock);
  g_object_unref (other);
}

/* Users who share a scheduler follow and unfollow in any order, also during a frame, and never end another user's
 * following. */
static void
test_several_followers (Fixture *f, gconstpointer data)
{
  GObject *clock = g_object_new (frame_clock_get_type (), NULL);
  GObject *other = g_object_new (frame_clock_get_type (), NULL);
  gulong id;

  now = G_USEC_PER_SEC;
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  prio_scheduler_follow_frame_clock (f->scheduler, other);
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  prio_scheduler_unfollow_frame_clock (f->scheduler, other);
  /* One of two is unfollowed in an emission. */
  id = g_signal_connect (clock, "before-paint", G_CALLBACK (unfollow_it), f);
  paint (clock, 16000, 1);
  g_signal_handler_disconnect (clock, id);
  paint (clock, 16000, 1);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), >, now);

  /* An extra unfollow does not affect later followers. */
  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), ==, 0);
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  paint (clock, 16000, 1);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), >, now);

  /* Unfollows and follows in one emission, during which the former handler still exists. */
  id = g_signal_connect (clock, "before-paint", G_CALLBACK (follow_anew), f);
  paint (clock, 16000, 3);
  g_signal_handler_disconnect (clock, id);
  paint (clock, 16000, 1);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), >, now);
  prio_scheduler_unfollow_frame_clock (f->scheduler, clock);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), ==, 0);

  /* The end of a clock ends all following of it. */
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  g_object_unref (clock);
  g_object_unref (other);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), ==, 0);
}

/* Two windows at different rates: the nearest frame counts, and neither clock hides the other's frames. */
static void
test_two_clocks (Fixture *f, gconstpointer data)
{
  GObject *slow = g_object_new (frame_clock_get_type (), NULL);
  GObject *fast = g_object_new (frame_clock_get_type (), NULL);
  gint64 due;

  now = G_USEC_PER_SEC;
  prio_scheduler_follow_frame_clock (f->scheduler, slow);
  prio_scheduler_follow_frame_clock (f->scheduler, fast);
  paint (slow, 16000, 5);
  paint (fast, 7000, 5);
  paint (slow, 0, 1);
  due = now + 7000;
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), ==, due);
  paint (fast, 7000, 1);
  g_assert_cmpint (until_next_frame (f), ==, 7000);
  paint (fast, 7000, 1);
  g_assert_cmpint (until_next_frame (f), ==, 2000); /* the slow clock's */
  prio_scheduler_set_next_frame (f->scheduler, now + 20000);
  paint (fast, 0, 1);
  g_assert_cmpint (until_next_frame (f), ==, 2000);
  prio_scheduler_set_next_frame (f->scheduler, now + 1000);
  paint (fast, 0, 1);
  g_assert_cmpint (until_next_frame (f), ==, 1000);
  prio_scheduler_set_next_frame (f->scheduler, 0);
  paint (fast, 0, 1);
  g_assert_cmpint (until_next_frame (f), ==, 2000);

  g_object_unref (slow);
  paint (fast, 0, 1);
  g_assert_cmpint (until_next_frame (f), ==, 7000);
  prio_scheduler_unfollow_frame_clock (f->scheduler, fast);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), ==, 0);
  g_object_unref (fast);
}

/* The signal may have any arguments.  A stage with two views counts as two clocks. */
static void
test_arguments (Fixture *f, gconstpointer data)
{
  GObject *stage = g_object_new (stage_get_type (), NULL);
  GObject *views[] = { g_object_new (G_TYPE_OBJECT, NULL), g_object_new (G_TYPE_OBJECT, NULL) };

  now = G_USEC_PER_SEC;
  prio_scheduler_follow_frame_clock (f->scheduler, stage);
  for (guint i = 0; i < 10; i++)
    {
      g_signal_emit_by_name (stage, "before-paint", views[0], "a view");
      now += 3000;
      g_signal_emit_by_name (stage, "before-paint", views[1], "another");
      now += 13000;
    }
  g_signal_emit_by_name (stage, "before-paint", views[0], "a view");
  g_assert_cmpint (until_next_frame (f), ==, 3000);
  g_signal_emit_by_name (stage, "before-paint", NULL, NULL);
  g_assert_cmpint (until_next_frame (f), ==, 3000);

  g_object_unref (views[0]);
  g_object_unref (views[1]);
  g_object_unref (stage);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/clock/from-the-beginning", test_from_the_beginning);
  g_test_add_func ("/clock/to-the-end", test_to_the_end);
  add_test ("/clock/long-delays", test_long_delays);
  add_test ("/clock/leap", test_leap);
  add_test ("/clock/backwards", test_backwards);
  add_test ("/clock/frames", test_frame_clock);
  add_test ("/clock/late-frames", test_late_frames);
  add_test ("/clock/bad-frame-clock", test_bad_clock);
  add_test ("/clock/forgotten", test_forgotten_clock);
  add_test ("/clock/many-views", test_many_views);
  add_test ("/clock/followed-twice", test_follow_twice);
  add_test ("/clock/followed-by-several", test_several_followers);
  add_test ("/clock/two-frame-clocks", test_two_clocks);
  add_test ("/clock/arguments", test_arguments);

  return g_test_run ();
}
