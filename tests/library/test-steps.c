/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-steps.c: a function that a task calls in steps */

#include <prio-sched-watch.h>
#include "counted-fixture.h"

/* The steps of a task: its letter in each step, and an action after some steps. */
typedef struct
{
  Fixture *f;
  char letter;
  guint n, end;           /* steps made, and their total */
  guint at;               /* the step that calls then () */
  void (*then) (PrioTask *task);
  gint64 takes;           /* ms */
} Made;

static guint n_released;

static void
set_up (Fixture *f, gconstpointer data)
{
  counted_set_up (f, data);
  n_released = 0;
}

static Made *
made_new (Fixture *f, char letter, guint end, gint64 takes)
{
  Made *made = g_new (Made, 1);

  *made = (Made) { .f = f, .letter = letter, .end = end, .takes = takes };
  return made;
}

static void
made_free (gpointer data)
{
  /* The data are not released while a step uses them. */
  g_assert_cmpuint (((Made *) data)->n, <, G_MAXUINT);
  n_released++;
  g_free (data);
}

static gboolean
make (PrioTask *task, gpointer data)
{
  Made *made = data;
  guint n = ++made->n;

  g_string_append_c (made->f->log, made->letter);
  pass (made->takes);
  made->n = G_MAXUINT;
  if (made->then != NULL && made->at == n)
    made->then (task);
  made->n = n;
  return n < made->end;
}

static PrioTask *
post (Fixture *f, Made *made)
{
  return posted = prio_scheduler_post_steps (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, make, made,
                                             made_free);
}

static void
post_with (Fixture *f, guint end, gint64 takes, guint at, void (*then) (PrioTask *task))
{
  Made *made = made_new (f, 'a', end, takes);

  made->at = at;
  made->then = then;
  post (f, made);
}

static void
expect (Fixture *f, PrioTaskPriority priority, guint64 run, guint64 continued, guint64 aborted)
{
  PrioTaskStatistics statistics = statistics_of (f->scheduler, priority);

  g_assert_cmpuint (statistics.n_run, ==, run);
  g_assert_cmpuint (statistics.n_continued, ==, continued);
  g_assert_cmpuint (statistics.n_aborted, ==, aborted);
}

static void
expect_end (PrioTaskState state, GQuark domain, gint code)
{
  g_assert_cmpint (prio_task_get_state (posted), ==, state);
  if (domain != 0)
    g_assert_true (g_error_matches (prio_task_get_error (posted), domain, code));
  else
    g_assert_null (prio_task_get_error (posted));
  g_assert_cmpuint (n_released, ==, 1);
}

static gboolean
log_other (gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, '.');
  return G_SOURCE_REMOVE;
}

static void
run_first_slice (Fixture *f)
{
  while (f->log->len == 0)
    g_main_context_iteration (f->context, FALSE);
}

/* Steps run as long as the slice of 5 ms lasts; then other sources have their turn, and the task continues before new tasks
 * of its priority. */
static void
test_slices (Fixture *f, gconstpointer data)
{
  post (f, made_new (f, 'a', 12, 1));
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_PENDING);
  post_letter (f, USER_VISIBLE, 'x');
  run_first_slice (f);
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_RUNNING);
  attach_source (f->context, G_PRIORITY_DEFAULT, log_other, f);
  assert_ran (f, "aaaaa.aaaaaaax");
  expect_end (PRIO_TASK_STATE_FULFILLED, 0, 0);
  expect (f, USER_VISIBLE, 4, 2, 0);
}

static void
post_urgent (PrioTask *task)
{
  PrioScheduler *scheduler = prio_scheduler_ref_thread_default ();
  Fixture *f = g_object_get_data (G_OBJECT (scheduler), "fixture");

  post_letter (f, USER_BLOCKING, 'u');
  post_letter (f, BACKGROUND, 'b');
  g_object_unref (scheduler);
}

/* A more urgent task runs between two steps; other tasks wait. */
static void
test_urgent (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_ref_thread_default ();

  g_object_set_data (G_OBJECT (scheduler), "fixture", f);
  post_with (f, 4, 0, 2, post_urgent);
  assert_ran (f, "aauaab");
  expect (f, USER_VISIBLE, 2, 1, 0);
}

static void
return_five (PrioTask *task)
{
  prio_task_return_int (task, 5);
}

static void
return_error (PrioTask *task)
{
  prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "damaged");
}

/* A result, or an error, ends the task, whatever the step returns; in the first slice, in a later one, and with the last
 * step. */
static void
test_results (Fixture *f, gconstpointer data)
{
  static const struct { guint end, at; } steps[] = { { 100, 3 }, { 100, 8 }, { 3, 3 }, { 8, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      post_with (f, steps[i].end, 1, steps[i].at, return_five);
      fixture_run (f);
      g_assert_cmpuint (f->log->len, ==, steps[i].at);
      g_assert_cmpint (prio_task_propagate_int (posted, NULL), ==, 5);
      g_assert_cmpuint (n_released, ==, 1);
      n_released = 0;
      g_clear_object (&posted);
      g_string_truncate (f->log, 0);

      post_with (f, steps[i].end, 1, steps[i].at, return_error);
      fixture_run (f);
      g_assert_cmpuint (f->log->len, ==, steps[i].at);
      expect_end (PRIO_TASK_STATE_FAILED, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
      n_released = 0;
      g_clear_object (&posted);
      g_string_truncate (f->log, 0);
    }
}

static void
defer (PrioTask *task)
{
  prio_task_defer (task);
  g_object_ref (task);
}

static void
test_deferred (Fixture *f, gconstpointer data)
{
  for (guint at = 3; at <= 8; at += 5)
    {
      post_with (f, 100, 1, at, defer);
      fixture_run (f);
      g_assert_cmpuint (f->log->len, ==, at);
      g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_RUNNING);
      prio_task_return_boolean (posted, TRUE);
      g_assert_true (prio_task_propagate_boolean (posted, NULL));
      g_object_unref (posted);
      g_clear_object (&posted);
      g_string_truncate (f->log, 0);
    }
}

static void
cancel (PrioTask *task)
{
  prio_task_cancel (task);
}

static gpointer
cancel_elsewhere (gpointer data)
{
  prio_task_cancel (data);
  return NULL;
}

static void
cancel_in_thread (PrioTask *task)
{
  g_thread_join (g_thread_new ("canceller", cancel_elsewhere, task));
}

static void
abort_signal (PrioTask *task)
{
  g_autoptr (GError) reason = g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "enough");

  prio_task_controller_abort (controller, reason);
}

static Fixture *fixture;

static void
run_nested (PrioTask *task)
{
  prio_task_cancel (task);
  fixture_run (fixture);
}

/* If a step of the first slice, or of a later one, ends the task, it is the last step. */
static void
test_ended_in_a_step (Fixture *f, gconstpointer data)
{
  static const struct { void (*then) (PrioTask *task); gint code; } ends[] = {
    { cancel, G_IO_ERROR_CANCELLED },
    { cancel_in_thread, G_IO_ERROR_CANCELLED },
    { run_nested, G_IO_ERROR_CANCELLED },
    { abort_signal, G_IO_ERROR_TIMED_OUT },
  };

  fixture = f;
  for (guint i = 0; i < 2 * G_N_ELEMENTS (ends); i++)
    {
      guint at = i < G_N_ELEMENTS (ends) ? 3 : 8;

      post_with (f, 100, 1, at, ends[i % G_N_ELEMENTS (ends)].then);
      fixture_run (f);
      g_assert_cmpuint (f->log->len, ==, at);
      expect_end (PRIO_TASK_STATE_ABORTED, G_IO_ERROR, ends[i % G_N_ELEMENTS (ends)].code);
      n_released = 0;
      g_clear_object (&posted);
      g_string_truncate (f->log, 0);
      g_object_unref (controller);
      controller = prio_task_controller_new (USER_VISIBLE);
    }
}

/* If the task ends between two slices, no more steps are made. */
static void
test_ended_between (Fixture *f, gconstpointer data)
{
  void (*ends[]) (PrioTask *task) = { cancel, cancel_in_thread, abort_signal, return_five };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      post (f, made_new (f, 'a', 100, 1));
      run_first_slice (f);
      ends[i] (posted);
      assert_ran (f, "aaaaa");
      g_assert_cmpint (prio_task_get_state (posted), ==, i < 3 ? PRIO_TASK_STATE_ABORTED : PRIO_TASK_STATE_FULFILLED);
      g_assert_cmpuint (n_released, ==, i + 1);
      g_clear_object (&posted);
      g_object_unref (controller);
      controller = prio_task_controller_new (USER_VISIBLE);
    }
  expect (f, USER_VISIBLE, 4, 0, 4);
}

static void
raise_priority (PrioTask *task)
{
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
}

static void
lower_priority (PrioTask *task)
{
  prio_task_controller_set_priority (controller, BACKGROUND, NULL);
}

/* The task follows its signal's priority between its steps. */
static void
test_priority (Fixture *f, gconstpointer data)
{
  post_with (f, 9, 1, 2, lower_priority);
  post_letter (f, USER_VISIBLE, 'x');
  assert_ran (f, "aaxaaaaaaa");
  g_clear_object (&posted);
  g_object_unref (controller);
  controller = prio_task_controller_new (USER_VISIBLE);

  post_with (f, 9, 1, 2, raise_priority);
  post_letter (f, USER_VISIBLE, 'x');
  assert_ran (f, "aaaaaaaaax");
}

/* The task's delay comes before the first step, and a timeout that has passed counts for all later steps. */
static void
test_delay_and_timeout (Fixture *f, gconstpointer data)
{
  PrioTaskOptions options = { .priority = BACKGROUND, .delay = 10, .timeout = 7 };

  posted = prio_scheduler_post_steps (f->scheduler, &options, make, made_new (f, 'a', 12, 1), made_free);
  assert_ran (f, "");
  pass (10);
  assert_ran (f, "aaaaaaaaaaaa");
  g_clear_object (&posted);

  posted = prio_scheduler_post_steps (f->scheduler, &options, make, made_new (f, 'a', 12, 1), made_free);
  pass (10);
  run_first_slice (f);
  g_assert_cmpstr (f->log->str, ==, "aaaaa");
  pass (7);
  post_letter (f, USER_BLOCKING, 'u');
  assert_ran (f, "aaaaaaaaaaaau");
}

/* While its scheduler is paused, a task of steps does not continue. */
static void
test_paused (Fixture *f, gconstpointer data)
{
  post (f, made_new (f, 'a', 7, 1));
  run_first_slice (f);
  prio_scheduler_pause (f->scheduler);
  assert_ran (f, "aaaaa");
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 1);
  prio_scheduler_resume (f->scheduler);
  assert_ran (f, "aa");
  expect_end (PRIO_TASK_STATE_FULFILLED, 0, 0);
}

/* A task of a group keeps its place to its end. */
static void
test_group (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);

  for (guint i = 0; i < 2; i++)
    g_object_unref (prio_task_group_post_steps (group, NULL, make, made_new (f, (char) ('a' + i), 7, 1), made_free));
  assert_ran (f, "aaaaaaabbbbbbb");
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
  g_assert_cmpuint (n_released, ==, 2);

  posted = prio_task_group_post_steps (group, NULL, make, made_new (f, 'a', 100, 1), made_free);
  g_object_unref (prio_task_group_post_steps (group, NULL, make, made_new (f, 'b', 2, 1), made_free));
  run_first_slice (f);
  prio_task_cancel (posted);
  assert_ran (f, "aaaaabb");
  g_clear_object (&posted);

  posted = prio_task_group_post_steps (group, NULL, make, made_new (f, 'a', 100, 1), made_free);
  run_first_slice (f);
  prio_task_group_abort (group, NULL);
  assert_ran (f, "aaaaa");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpuint (n_released, ==, 5);
}

static void
test_context_goes (Fixture *f, gconstpointer data)
{
  post (f, made_new (f, 'a', 100, 1));
  run_first_slice (f);
  fixture_drop_context (f);
  g_assert_cmpstr (f->log->str, ==, "aaaaa");
  expect_end (PRIO_TASK_STATE_ABORTED, PRIO_ERROR, PRIO_ERROR_CLOSED);
}

static gboolean
make_and_tell (PrioTask *task, gpointer data)
{
  gboolean more = make (task, data);

  prio_task_set_progress (task, ((Made *) data)->n / 12.0);
  return more;
}

static void
progressed (PrioTask *task, GParamSpec *pspec, gpointer data)
{
  g_assert_true (g_main_context_is_owner (((Fixture *) data)->context));
  g_string_append_printf (((Fixture *) data)->log, "%d%%", (gint) (prio_task_get_progress (task) * 100));
}

static void
ready (GObject *source, GAsyncResult *result, gpointer data)
{
  g_string_append_c (data, '!');
}

static gpointer
progress_elsewhere (gpointer task)
{
  prio_task_set_progress (task, 0.25);
  g_assert_cmpfloat (prio_task_get_progress (task), ==, 0.25);
  return NULL;
}

/* The progress is notified in the loop, once for each slice, before the task has completed; from another thread,
 * too. */
static void
test_progress (Fixture *f, gconstpointer data)
{
  posted = prio_scheduler_post_steps (f->scheduler, NULL, make_and_tell, made_new (f, 'a', 12, 1), made_free);
  prio_task_then (posted, ready, f->log, NULL);
  g_signal_connect (posted, "notify::progress", G_CALLBACK (progressed), f);
  g_assert_cmpfloat (prio_task_get_progress (posted), ==, 0);
  assert_ran (f, "aaaaa41%aaaaa83%aa100%!");
  prio_task_set_progress (posted, 0.5);
  assert_ran (f, "");
  g_assert_cmpfloat (prio_task_get_progress (posted), ==, 1);
  g_clear_object (&posted);

  post (f, made_new (f, 'a', 7, 1));
  g_signal_connect (posted, "notify::progress", G_CALLBACK (progressed), f);
  run_first_slice (f);
  g_thread_join (g_thread_new ("worker", progress_elsewhere, posted));
  assert_ran (f, "aaaaa25%aa");
  if (HAS_CHECKS)
    assert_told ("*prio_task_set_progress: the progress is 1.5, and has to be from 0 to 1*", prio_task_set_progress (posted, 1.5));
}

static void
again_in_20_ms (PrioTask *task)
{
  prio_task_delay_step (task, 1000);
  prio_task_delay_step (task, 20);
}

static void
again_now (PrioTask *task)
{
  prio_task_delay_step (task, 0);
}

/* A delayed step comes later, and other sources have their turn meanwhile. */
static void
test_delayed_step (Fixture *f, gconstpointer data)
{
  post_with (f, 4, 0, 2, again_in_20_ms);
  post_letter (f, BACKGROUND, 'x');
  assert_ran (f, "aax");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_RUNNING);
  pass (19);
  assert_ran (f, "");
  pass (1);
  assert_ran (f, "aa");
  expect_end (PRIO_TASK_STATE_FULFILLED, 0, 0);
  if (HAS_CHECKS)
    assert_told ("*makes no step now*", prio_task_delay_step (posted, 1));
  g_clear_object (&posted);

  n_released = 0;
  post_with (f, 2, 0, 1, again_now);
  assert_ran (f, "aa");
  expect_end (PRIO_TASK_STATE_FULFILLED, 0, 0);
  g_clear_object (&posted);

  /* This is the last step. */
  n_released = 0;
  post_with (f, 2, 0, 2, again_in_20_ms);
  assert_ran (f, "aa");
  expect_end (PRIO_TASK_STATE_FULFILLED, 0, 0);
}

static gboolean
delay_and_defer (PrioTask *task, gpointer data G_GNUC_UNUSED)
{
  prio_task_delay_step (task, 20);
  prio_task_defer (task);
  return G_SOURCE_CONTINUE;
}

/* A delay without a next step logs a critical. */
static void
test_delayed_and_deferred (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_steps (f->scheduler, NULL, delay_and_defer, NULL, NULL);

  assert_told ("*is deferred*no step*", fixture_run (f));
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_RUNNING);
  prio_task_return_boolean (task, TRUE);
}

/* An abort, a cancel and a result from other code end the wait. */
static void
test_ended_while_delayed (Fixture *f, gconstpointer data)
{
  post_with (f, 4, 0, 2, again_in_20_ms);
  assert_ran (f, "aa");
  prio_task_cancel (posted);
  assert_ran (f, "");
  expect_end (PRIO_TASK_STATE_ABORTED, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_object (&posted);

  n_released = 0;
  post_with (f, 4, 0, 2, again_in_20_ms);
  assert_ran (f, "aa");
  prio_task_return_boolean (posted, TRUE);
  assert_ran (f, "");
  expect_end (PRIO_TASK_STATE_FULFILLED, 0, 0);
  g_clear_object (&posted);

  n_released = 0;
  post_with (f, 4, 0, 2, again_in_20_ms);
  assert_ran (f, "aa");
  prio_task_controller_abort (controller, NULL);
  assert_ran (f, "");
  expect_end (PRIO_TASK_STATE_ABORTED, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
finished (GObject *source, GAsyncResult *result, gpointer data)
{
  g_string_append_printf (data, "=%d", (gint) prio_task_propagate_int (PRIO_TASK (result), NULL));
}

/* The function in GIO's style handles bad input, too. */
static void
test_async (Fixture *f, gconstpointer data)
{
  Made *made = made_new (f, 'a', 100, 1);
  g_autoptr (PrioTask) task = NULL;

  made->at = 6;
  made->then = return_five;
  task = prio_scheduler_post_steps (f->scheduler, NULL, make, made, made_free);
  prio_task_wait_async (task, NULL, finished, f->log);
  assert_ran (f, "aaaaaa=5");
  if (!HAS_CHECKS)
    return;

  assert_told ("*prio_scheduler_post_steps(): *func is NULL*",
               g_assert_null (prio_scheduler_post_steps (f->scheduler, NULL, NULL, NULL, NULL)));
  assert_told ("*NULL is not a PrioScheduler*", g_assert_null (prio_scheduler_post_steps (NULL, NULL, make, NULL, NULL)));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add ("/steps/" path, Fixture, NULL, set_up, func, counted_tear_down)
  add ("slices", test_slices);
  add ("urgent", test_urgent);
  add ("results", test_results);
  add ("deferred", test_deferred);
  add ("ended-in-a-step", test_ended_in_a_step);
  add ("ended-between", test_ended_between);
  add ("priority", test_priority);
  add ("delay-and-timeout", test_delay_and_timeout);
  add ("paused", test_paused);
  add ("group", test_group);
  add ("context-goes", test_context_goes);
  add ("progress", test_progress);
  add ("delayed-step", test_delayed_step);
  add ("delayed-and-deferred", test_delayed_and_deferred);
  add ("ended-while-delayed", test_ended_while_delayed);
  add ("async", test_async);
  return g_test_run ();
}
