/* test-clock.c: the clock at its ends, and numbers beyond 32 bits
 *
 * The clock starts with 0, ends with G_MAXINT64, and leaps when a machine wakes up.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "helpers.h"

/* These two stand before GLib's, for the library as for us. */
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
  g_assert_cmpfloat (prio_idle_deadline_time_remaining (deadline), >=, 0);
  g_assert_cmpfloat (prio_idle_deadline_time_remaining (deadline), <=, 50);
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
  prio_scheduler_post_full (f->scheduler, USER_BLOCKING, NULL, delay, step_run, step_new (f, letter, NULL, NULL), step_free);
}

/* Tasks of every kind, from @start on, run in their order. */
static void
run_from (gint64 start, const char *expected)
{
  static const guint slices[] = { 0, 1, 5, G_MAXUINT };

  for (guint i = 0; i < G_N_ELEMENTS (slices); i++)
    {
      Fixture f;

      now = start;
      fixture_set_up (&f, NULL);
      prio_scheduler_set_time_slice (f.scheduler, slices[i]);
      prio_scheduler_set_next_frame (f.scheduler, start);

      prio_scheduler_request_idle_callback (f.scheduler, step_idle, 0, step_new (&f, 'e', NULL, NULL), step_free);
      prio_scheduler_request_idle_callback (f.scheduler, step_idle, G_MAXUINT, step_new (&f, 'f', NULL, NULL), step_free);
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

/* Where there is no time left, there is no idle time, and every timeout has come, before all. */
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

/* Asleep for a year: what has become due in the meantime runs by age, after the idle callback
 * whose time is over. */
static void
test_leap (Fixture *f, gconstpointer data)
{
  const gint64 year = 365 * G_TIME_SPAN_DAY;

  now = G_USEC_PER_SEC;
  prio_scheduler_request_idle_callback (f->scheduler, step_idle, 10, step_new (f, 'd', NULL, NULL), step_free);
  for (guint i = 0; i < 3; i++)
    post_delayed (f, 1000 * (3 - i), "cba"[i]);
  now += year;
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "dabc");
}

/* No monotonic clock does it; nothing is lost if one does. */
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

/* What a GdkFrameClock is to us. */
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

static void
paint (GObject *clock, gint64 interval, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      now += interval;
      g_signal_emit_by_name (clock, "before-paint");
    }
}

/* The next frame is expected an interval after the last: the shortest at once, longer ones
 * when they go on, and no pause is an interval. */
static void
test_frame_clock (Fixture *f, gconstpointer data)
{
  GObject *clock = g_object_new (frame_clock_get_type (), NULL);

  now = G_USEC_PER_SEC;
  prio_scheduler_follow_frame_clock (f->scheduler, clock);
  paint (clock, 0, 1);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler) - now, ==, 16667);
  paint (clock, 8000, 1);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler) - now, ==, 8000);
  paint (clock, 40000, 200);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler) - now, >, 39900);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler) - now, <=, 40000);
  paint (clock, 16000, 1);
  paint (clock, G_USEC_PER_SEC, 1);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler) - now, ==, 16000);
  paint (clock, 0, 1);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler) - now, ==, 1000);

  /* The clock holds no scheduler. */
  g_clear_object (&f->scheduler);
  paint (clock, 16000, 1);
  g_object_unref (clock);
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

  return g_test_run ();
}
