/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-testing.c: the clock of a test, and lists of tasks that wait */

#include <prio-sched-threads.h>

#include "clock-fixture.h"
#include "tsan-suppressions.h"

#define YEAR (365 * 24 * 3600 * 1000.0) /* ms */

static void
post_delayed (Fixture *f, guint64 delay, char letter)
{
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.delay = delay, .name = (char[]) { letter, '\0' }), step_run,
                            step_new (f, letter, NULL, NULL), step_free);
}

static gboolean
log_time (gpointer data)
{
  Fixture *f = data;

  g_string_append_printf (f->log, "%g ", prio_testing_get_elapsed ());
  return G_SOURCE_REMOVE;
}

static void
expect_log (Fixture *f, const char *expected)
{
  g_assert_cmpstr (f->log->str, ==, expected);
  g_string_truncate (f->log, 0);
}

/* Each task runs at the time when it is due, and the delay of a task that it posts begins then. */
static gboolean
post_again (gpointer data)
{
  Fixture *f = data;

  log_time (f);
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.delay = 15), log_time, f, NULL);
  return G_SOURCE_REMOVE;
}

static void
test_delays (Fixture *f, gconstpointer data)
{
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.delay = 30), log_time, f, NULL);
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.delay = 10), post_again, f, NULL);
  prio_testing_run_until_idle ();
  expect_log (f, "");
  prio_testing_advance (9.999);
  expect_log (f, "");
  prio_testing_advance (0.001);
  expect_log (f, "10 ");
  prio_testing_advance (40);
  expect_log (f, "25 30 ");
  g_assert_cmpfloat (prio_testing_get_elapsed (), ==, 50);
}

/* The time advances by years, and to its end, where a task that is delayed for ever stays delayed. */
static void
test_years (Fixture *f, gconstpointer data)
{
  post_delayed (f, G_MAXUINT64, 'z');
  post_delayed (f, (guint64) YEAR, 'a');
  prio_testing_advance (YEAR - 1);
  expect_log (f, "");
  prio_testing_advance (1);
  expect_log (f, "a");
  for (guint i = 0; i < 3; i++)
    prio_testing_advance (G_MAXDOUBLE);
  expect_log (f, "");
  prio_scheduler_post (f->scheduler, BACKGROUND, step_run, step_new (f, 'b', NULL, NULL), step_free);
  prio_testing_run_until_idle ();
  expect_log (f, "b");
}

static gboolean
spend_three (gpointer data)
{
  prio_testing_spend (3);
  return step_run (data);
}

/* A slice of 5 ms ends after two tasks of 3 ms, and a source has its turn. */
static void
test_slices (Fixture *f, gconstpointer data)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  for (const char *letter = "abc"; *letter != '\0'; letter++)
    prio_scheduler_post (f->scheduler, USER_VISIBLE, spend_three, step_new (f, *letter, NULL, NULL), step_free);
  prio_scheduler_set_time_slice (f->scheduler, 5);
  g_source_set_callback (source, step_run, step_new (f, '-', NULL, NULL), step_free);
  g_source_attach (source, f->context);
  prio_testing_run_until_idle ();
  expect_log (f, "ab-c");
}

static gboolean
work_until_told (gpointer data)
{
  Fixture *f = data;

  for (guint spent = 0; !prio_scheduler_should_yield (f->scheduler); spent++)
    {
      g_assert_cmpuint (spent, <, 100);
      prio_testing_spend (0.5);
    }
  return log_time (f);
}

/* should_yield () answers by the slice, or by a frame that the test announces. */
static void
test_should_yield (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_time_slice (f->scheduler, 7);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, work_until_told, f, NULL);
  prio_testing_run_until_idle ();
  expect_log (f, "7 ");
  prio_scheduler_set_next_frame (f->scheduler, prio_testing_get_time () + 2000);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, work_until_told, f, NULL);
  prio_testing_run_until_idle ();
  expect_log (f, "9 ");
}

/* A background task whose timeout passes runs before more urgent tasks. */
static void
test_timeouts (Fixture *f, gconstpointer data)
{
  prio_scheduler_pause (f->scheduler);
  prio_scheduler_post (f->scheduler, USER_BLOCKING, step_run, step_new (f, 'b', NULL, NULL), step_free);
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.priority = BACKGROUND, .timeout = 20), step_run,
                            step_new (f, 'a', NULL, NULL), step_free);
  prio_testing_advance (20);
  prio_scheduler_resume (f->scheduler);
  prio_testing_run_until_idle ();
  expect_log (f, "ab");
}

static void
idle (PrioIdleDeadline *deadline, gpointer data)
{
  g_string_append_printf (((Fixture *) data)->log, "%s%g ", prio_idle_deadline_did_timeout (deadline) ? "!" : "",
                          prio_idle_deadline_get_time_remaining (deadline));
}

/* An idle callback runs when nothing else is ready, or after its timeout. */
static void
test_idle_callbacks (Fixture *f, gconstpointer data)
{
  prio_scheduler_request_idle_callback (f->scheduler, 0, idle, f, NULL);
  post_delayed (f, 20, 'a');
  prio_testing_run_until_idle ();
  expect_log (f, "20 ");
  prio_scheduler_request_idle_callback (f->scheduler, 30, idle, f, NULL);
  prio_scheduler_set_next_frame (f->scheduler, prio_testing_get_time () + 50);
  prio_testing_advance (40);
  g_assert_nonnull (strstr (f->log->str, " "));
}

/* prio_testing_step () runs one task, of any kind. */
static gboolean
twice (gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  return step->letter++ == 'm';
}

static void
return_in_task (PrioTask *task, gpointer data)
{
  step_run (data);
  prio_task_return_boolean (task, TRUE);
}

static void
test_steps (Fixture *f, gconstpointer data)
{
  static const char *const expected[] = { "c", "ca", "cam", "camn", "camnd", "camnde" };

  g_object_unref (prio_scheduler_post_task (f->scheduler, NULL, return_in_task, step_new (f, 'a', NULL, NULL), step_free));
  prio_scheduler_post (f->scheduler, USER_VISIBLE, twice, step_new (f, 'm', NULL, NULL), step_free);
  for (const char *letter = "de"; *letter != '\0'; letter++)
    prio_scheduler_post (f->scheduler, BACKGROUND, step_run, step_new (f, *letter, NULL, NULL), step_free);
  prio_scheduler_post (f->scheduler, USER_BLOCKING, step_run, step_new (f, 'c', NULL, NULL), step_free);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_assert_true (prio_testing_step ());
      g_assert_cmpstr (f->log->str, ==, expected[i]);
    }
  g_assert_false (prio_testing_step ());
  post_delayed (f, 10, 'f');
  g_assert_false (prio_testing_step ());
  g_assert_cmpfloat (prio_testing_get_elapsed (), ==, 0);
}

static void
assert_lists (const char *queued, const char *delayed)
{
  g_auto (GStrv) q = prio_testing_list_queued (), d = prio_testing_list_delayed ();
  g_autofree char *q_joined = g_strjoinv (" ", q), *d_joined = g_strjoinv (" ", d);

  g_assert_cmpstr (q_joined, ==, queued);
  g_assert_cmpstr (d_joined, ==, delayed);
}

/* Tasks that wait are listed by name, in the order of their posts, until they begin or are aborted. */
static void
test_lists (void)
{
  Fixture f;
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);

  fixture_set_up (&f, NULL);
  prio_scheduler_post (f.scheduler, BACKGROUND, step_run, step_new (&f, 'a', NULL, NULL), step_free);
  prio_testing_begin ();
  assert_lists ("unnamed", "");
  post_delayed (&f, 10, 'd');
  for (guint i = 0; i < 2; i++)
    prio_scheduler_post_full (f.scheduler,
                              &PRIO_TASK_OPTIONS (.signal = prio_task_controller_get_signal (controller), .name = i == 0 ? "x" : "y"),
                              step_run, step_new (&f, 'x', NULL, NULL), step_free);
  assert_lists ("unnamed x y", "d");
  prio_task_controller_abort (controller, NULL);
  assert_lists ("unnamed", "d");
  prio_scheduler_pause (f.scheduler);
  prio_testing_advance (10);
  assert_lists ("unnamed d", "");
  prio_scheduler_resume (f.scheduler);
  prio_testing_run_until_idle ();
  assert_lists ("", "");
  prio_testing_end ();
  fixture_tear_down (&f, NULL);
}

static void
work_in_thread (PrioTask *task, gpointer data)
{
  g_thread_yield ();
  prio_task_return_boolean (task, TRUE);
}

static void
has_worked (GObject *source, GAsyncResult *result, gpointer data)
{
  log_time (data);
}

/* prio_testing_advance () waits for functions in threads, which take no time of the test. */
static void
test_threads (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < times (100); i++)
    {
      g_autoptr (PrioTask) task = prio_scheduler_run_in_thread (f->scheduler, NULL, work_in_thread, NULL, NULL);

      prio_task_wait_async (task, NULL, has_worked, f);
      prio_testing_run_until_idle ();
      expect_log (f, "0 ");
    }
}

static gboolean
count (gpointer n)
{
  g_atomic_int_inc ((gint *) n);
  g_main_context_wakeup (NULL);
  return G_SOURCE_REMOVE;
}

/* The tasks of another thread's main loop follow the test's time, too. */
static void
test_two_threads (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioWorker) worker = prio_worker_new ("other");
  gint n = 0;

  prio_scheduler_post_full (prio_worker_get_scheduler (worker), &PRIO_TASK_OPTIONS (.delay = (guint64) YEAR), count, &n, NULL);
  prio_testing_advance (YEAR);
  while (g_atomic_int_get (&n) == 0)
    g_main_context_iteration (NULL, TRUE);
}

static gint has_waited;

static gpointer
wait_for_task (gpointer task)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (prio_task_wait (task, 3600 * 1000, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  g_atomic_int_set (&has_waited, TRUE);
  return NULL;
}

/* A thread that waits for an hour waits for an hour of the test's time. */
static void
test_waits (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_task_new (f->scheduler, NULL);
  GThread *thread = g_thread_new ("waits", wait_for_task, task);

  /* The wait begins at any time. */
  while (!g_atomic_int_get (&has_waited))
    {
      prio_testing_advance (3600 * 1000);
      g_thread_yield ();
    }
  g_thread_join (thread);
  prio_task_return_boolean (task, TRUE);
}

/* Two schedulers of a main context have one clock. */
static void
test_two_schedulers (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);

  post_delayed (f, 20, 'b');
  prio_scheduler_post_full (other, &PRIO_TASK_OPTIONS (.delay = 10), step_run, step_new (f, 'a', NULL, NULL), step_free);
  prio_testing_advance (20);
  expect_log (f, "ab");
}

typedef struct
{
  Fixture *f;
  GMainLoop *main_loop;
} Running;

static void
has_advanced (GObject *source, GAsyncResult *result, gpointer data)
{
  Running *running = data;
  g_autoptr (GError) error = NULL;

  g_assert_true (prio_testing_advance_finish (result, &error));
  g_assert_no_error (error);
  log_time (running->f);
  g_main_loop_quit (running->main_loop);
}

static gboolean
advance_by_thirty (gpointer data)
{
  prio_testing_advance_async (30, has_advanced, data);
  return G_SOURCE_REMOVE;
}

/* A running main loop advances the time as well, beside a timer of GLib's, which uses the system's time. */
static void
test_running_loop (Fixture *f, gconstpointer data)
{
  Running running = { f, g_main_loop_new (f->context, FALSE) };
  g_autoptr (GSource) timer = g_timeout_source_new_seconds (1000);
  g_autoptr (GSource) source = g_idle_source_new ();

  g_source_set_callback (timer, step_run, step_new (f, '?', NULL, NULL), step_free);
  g_source_attach (timer, f->context);
  g_source_set_callback (source, advance_by_thirty, &running, NULL);
  g_source_attach (source, f->context);
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.delay = 20), log_time, f, NULL);
  g_main_loop_run (running.main_loop);
  expect_log (f, "20 30 ");
  g_main_loop_unref (running.main_loop);
  g_source_destroy (timer);
}

static gboolean
advance_nested (gpointer data)
{
  prio_testing_advance (10);
  return log_time (data);
}

/* In a task, prio_testing_advance () runs a nested main loop. */
static void
test_nested (Fixture *f, gconstpointer data)
{
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.delay = 5), step_run, step_new (f, 'a', NULL, NULL), step_free);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, advance_nested, f, NULL);
  prio_testing_advance (20);
  expect_log (f, "a10 ");
  g_assert_cmpfloat (prio_testing_get_elapsed (), ==, 20);
}

/* After the test the time is the system's.  A delayed task waits for the rest of its delay. */
static void
test_end (void)
{
  Fixture f;
  gint n = 0;

  fixture_set_up (&f, NULL);
  prio_testing_begin ();
  prio_scheduler_pause (f.scheduler);
  prio_scheduler_post_full (f.scheduler, &PRIO_TASK_OPTIONS (.priority = BACKGROUND, .timeout = G_MAXINT), count, &n, NULL);
  prio_testing_advance (YEAR);
  prio_scheduler_resume (f.scheduler);
  prio_scheduler_post_full (f.scheduler, &PRIO_TASK_OPTIONS (.delay = (guint64) YEAR, .priority = BACKGROUND), count, &n, NULL);
  prio_scheduler_post_full (f.scheduler, &PRIO_TASK_OPTIONS (.delay = G_MAXUINT64), count, &n, NULL);
  prio_testing_advance (YEAR - 5);
  prio_testing_end ();

  g_assert_cmpint (ABS (prio_testing_get_time () - g_get_monotonic_time ()), <, G_TIME_SPAN_HOUR);
  fixture_run_until (&f, &n, 2);
  g_assert_cmpuint (prio_scheduler_count_pending (f.scheduler), ==, 1);
  fixture_tear_down (&f, NULL);
}

static gboolean
end_here (gpointer data)
{
  prio_testing_spend (YEAR);
  prio_testing_end ();
  return G_SOURCE_REMOVE;
}

/* A test can end in a task, and a main context can end before the test. */
static void
test_end_in_task (void)
{
  Fixture f;

  fixture_set_up (&f, NULL);
  prio_testing_begin ();
  prio_scheduler_post (f.scheduler, USER_VISIBLE, end_here, NULL, NULL);
  prio_scheduler_post (f.scheduler, BACKGROUND, step_run, step_new (&f, 'a', NULL, NULL), step_free);
  fixture_run (&f);
  expect_log (&f, "a");
  prio_testing_begin ();
  fixture_tear_down (&f, NULL);
  prio_testing_end ();
}

static gpointer
advance_elsewhere (gpointer data)
{
  prio_testing_advance (10);
  return NULL;
}

/* Wrong calls are refused, with a message. */
static void
test_misuse (void)
{
  assert_told ("*prio_testing_advance()*call prio_testing_begin() first", prio_testing_advance (1));
  assert_told ("*prio_testing_spend()*call prio_testing_begin() first", prio_testing_spend (1));
  assert_told ("*prio_testing_step()*call prio_testing_begin() first", g_assert_false (prio_testing_step ()));
  assert_told ("*prio_testing_end()*call prio_testing_begin() first", prio_testing_end ());
  prio_testing_begin ();
  assert_told ("*prio_testing_begin()*has begun already*", prio_testing_begin ());
  assert_told ("*prio_testing_advance(): -1 *does not go back", prio_testing_advance (-1));
  assert_told ("*prio_testing_spend(): -0.5 *does not go back", prio_testing_spend (-0.5));
  assert_told ("*prio_testing_advance(): nan *does not go back", prio_testing_advance (g_ascii_strtod ("nan", NULL)));
  assert_told ("*prio_testing_advance()*only the thread*", g_thread_join (g_thread_new ("other", advance_elsewhere, NULL)));
  g_assert_cmpfloat (prio_testing_get_elapsed (), ==, 0);
  prio_testing_end ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add ("/testing/" path, Fixture, NULL, clock_set_up, func, clock_tear_down)
  add ("delays", test_delays);
  add ("years", test_years);
  add ("slices", test_slices);
  add ("should-yield", test_should_yield);
  add ("timeouts", test_timeouts);
  add ("idle-callbacks", test_idle_callbacks);
  add ("steps", test_steps);
  g_test_add_func ("/testing/lists", test_lists);
  add ("threads", test_threads);
  add ("two-threads", test_two_threads);
  add ("waits", test_waits);
  add ("two-schedulers", test_two_schedulers);
  add ("running-loop", test_running_loop);
  add ("nested", test_nested);
  g_test_add_func ("/testing/end", test_end);
  g_test_add_func ("/testing/end-in-task", test_end_in_task);
  g_test_add_func ("/testing/misuse", test_misuse);

  return g_test_run ();
}
