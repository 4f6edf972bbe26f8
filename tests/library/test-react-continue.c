/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-react-continue.c: ends and statistics of tasks that continue with another function, as React's callbacks do */

#include <prio-sched-react.h>
#include "counted-fixture.h"

static void
expect_counts (Fixture *f, guint64 run, guint64 continued, guint64 aborted)
{
  PrioTaskStatistics statistics = statistics_of (f->scheduler, USER_VISIBLE);

  g_assert_cmpuint (statistics.n_run, ==, run);
  g_assert_cmpuint (statistics.n_continued, ==, continued);
  g_assert_cmpuint (statistics.n_aborted, ==, aborted);
  g_assert_cmpuint (statistics.n_queued, ==, 0);
}

static void
cancel_posted (Step *step)
{
  prio_task_cancel (posted);
}

/* Continues with 'b', after the action in its data. */
static void
go_on (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_react_continue_with (task, step_run_task, step_new (step->f, 'b', NULL, NULL), step_free);
  if (step->then != NULL)
    post_step (step->f, USER_BLOCKING, 'x', step->then, NULL);
}

static PrioTask *
post (Fixture *f, PrioTaskFunc func, void (*then) (Step *step))
{
  return posted = prio_react_schedule_callback (f->scheduler, PRIO_REACT_LEVEL_NORMAL, 0, func, step_new (f, 'a', then, NULL), step_free);
}

static void
do_nothing (Step *step)
{
}

/* The next function is called at once, or after more urgent tasks. */
static void
test_counts (Fixture *f, gconstpointer data)
{
  post (f, go_on, NULL);
  assert_ran (f, "ab");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_FULFILLED);
  expect_counts (f, 1, 0, 0);
  g_assert_cmpuint (step_n_freed, ==, 2);
  g_clear_object (&posted);

  post (f, go_on, do_nothing);
  assert_ran (f, "axb");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_FULFILLED);
  expect_counts (f, 3, 1, 0);
  g_assert_cmpuint (step_n_freed, ==, 5);
}

/* While the task waits, it can be cancelled, or aborted by its signal, like any waiting task. */
static void
test_cancelled_while_it_waits (Fixture *f, gconstpointer data)
{
  post (f, go_on, cancel_posted);
  assert_ran (f, "ax");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_true (g_error_matches (prio_task_get_error (posted), G_IO_ERROR, G_IO_ERROR_CANCELLED));
  expect_counts (f, 1, 0, 1);
  g_assert_cmpuint (step_n_freed, ==, 3);
}

static void
cancel_and_go_on (PrioTask *task, gpointer data)
{
  prio_task_cancel (task);
  go_on (task, data);
}

static void
go_on_and_cancel (PrioTask *task, gpointer data)
{
  go_on (task, data);
  prio_task_cancel (task);
}

/* The task is cancelled in its function. */
static void
test_cancelled_while_it_runs (Fixture *f, gconstpointer data)
{
  post (f, cancel_and_go_on, NULL);
  assert_ran (f, "a");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  expect_counts (f, 1, 0, 0);
  g_assert_cmpuint (step_n_freed, ==, 2);
  g_clear_object (&posted);

  post (f, go_on_and_cancel, NULL);
  assert_ran (f, "a");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  expect_counts (f, 2, 0, 0);
  g_assert_cmpuint (step_n_freed, ==, 4);
}

static void
go_on_until_aborted (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_react_continue_with (task, go_on_and_cancel, step_new (step->f, 'b', NULL, NULL), step_free);
  if (step->then != NULL)
    post_step (step->f, USER_BLOCKING, 'x', step->then, NULL);
}

/* The task is cancelled in a later function, which was called at once or after more urgent tasks. */
static void
test_cancelled_in_another_function (Fixture *f, gconstpointer data)
{
  post (f, go_on_until_aborted, NULL);
  assert_ran (f, "ab");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  expect_counts (f, 1, 0, 0);
  g_assert_cmpuint (step_n_freed, ==, 3);
  g_clear_object (&posted);

  post (f, go_on_until_aborted, do_nothing);
  assert_ran (f, "axb");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  expect_counts (f, 3, 1, 0);
  g_assert_cmpuint (step_n_freed, ==, 7);
}

static gpointer
cancel_elsewhere (gpointer data)
{
  prio_task_cancel (data);
  return NULL;
}

static void
step_cancel_elsewhere (Step *step)
{
  g_thread_join (g_thread_new ("canceller", cancel_elsewhere, posted));
}

static void
test_cancelled_elsewhere (Fixture *f, gconstpointer data)
{
  post (f, go_on, step_cancel_elsewhere);
  assert_ran (f, "ax");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  expect_counts (f, 1, 0, 1);
}

/* Continues with 'c'; another thread ends the task before this function returns. */
static void
go_on_ended_elsewhere (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_react_continue_with (task, step_run_task, step_new (step->f, 'c', NULL, NULL), step_free);
  g_thread_join (g_thread_new ("another", step->data, task));
}

static void
go_on_to_be_ended (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_react_continue_with (task, go_on_ended_elsewhere, step_new (step->f, 'b', NULL, step->data), step_free);
}

static void
post_to_be_ended (Fixture *f, GThreadFunc by)
{
  posted = prio_react_schedule_callback (f->scheduler, PRIO_REACT_LEVEL_NORMAL, 0, go_on_to_be_ended, step_new (f, 'a', NULL, by),
                                         step_free);
}

/* The cancel arrives while the library queues the next function. */
static void
test_cancelled_as_it_goes_on (Fixture *f, gconstpointer data)
{
  post_to_be_ended (f, cancel_elsewhere);
  assert_ran (f, "ab");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_true (g_error_matches (prio_task_get_error (posted), G_IO_ERROR, G_IO_ERROR_CANCELLED));
  g_assert_cmpuint (step_n_freed, ==, 3);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 0);
}

static gpointer
return_elsewhere (gpointer data)
{
  prio_task_return_int (data, 7);
  return NULL;
}

static void
test_given_its_result_as_it_goes_on (Fixture *f, gconstpointer data)
{
  post_to_be_ended (f, return_elsewhere);
  assert_ran (f, "ab");
  g_assert_cmpint (prio_task_propagate_int (posted, NULL), ==, 7);
  g_assert_cmpuint (step_n_freed, ==, 3);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 0);
}

static void
return_posted (Step *step)
{
  prio_task_return_int (posted, 7);
}

/* Other code may return the deferred result while the task waits. */
static void
test_given_its_result_while_it_waits (Fixture *f, gconstpointer data)
{
  post (f, go_on, return_posted);
  assert_ran (f, "ax");
  g_assert_cmpint (prio_task_propagate_int (posted, NULL), ==, 7);
  expect_counts (f, 1, 0, 1);
  g_assert_cmpuint (step_n_freed, ==, 3);
}

static void
test_context_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) other = NULL;

  prio_scheduler_set_time_slice (f->scheduler, 0);
  post (f, go_on, do_nothing);
  other = prio_scheduler_post_task (f->scheduler, NULL, step_run_task, step_new (f, 'y', NULL, NULL), step_free);
  while (f->log->len == 0)
    g_main_context_iteration (f->context, FALSE);
  fixture_drop_context (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  g_assert_cmpint (prio_task_get_state (other), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_true (g_error_matches (prio_task_get_error (other), PRIO_ERROR, PRIO_ERROR_CLOSED));
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_true (g_error_matches (prio_task_get_error (posted), PRIO_ERROR, PRIO_ERROR_CLOSED));
  g_assert_cmpuint (step_n_freed, ==, 4);
}

static void
drop_scheduler (PrioTask *task, gpointer data)
{
  g_clear_object (&((Step *) data)->f->scheduler);
  go_on (task, data);
}

/* When the scheduler is dropped, a continued task runs like other queued tasks. */
static void
test_scheduler_goes (Fixture *f, gconstpointer data)
{
  post (f, drop_scheduler, NULL);
  assert_ran (f, "ab");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_FULFILLED);
}

static void
defer_and_go_on (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
  go_on (task, data);
  g_object_ref (task);
}

/* A task that has deferred its result, or has one, does not continue. */
static void
test_result_before (Fixture *f, gconstpointer data)
{
  post (f, defer_and_go_on, NULL);
  assert_ran (f, "a");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_RUNNING);
  prio_task_return_int (posted, 1);
  g_object_unref (posted);
  fixture_run (f);
  g_assert_cmpint (prio_task_propagate_int (posted, NULL), ==, 1);
  g_assert_cmpuint (step_n_freed, ==, 2);
}

static void
go_on_twice (PrioTask *task, gpointer data)
{
  go_on (task, data);
  assert_told ("prio_react_continue_with(): *goes on with another function already*",
               prio_react_continue_with (task, step_run_task, data, step_free));
}

static void
go_on_within (gpointer data)
{
  prio_react_continue_with (posted, step_run_task, data, step_free);
}

static void
go_on_with_level (PrioTask *task, gpointer data)
{
  Step *step = data;

  prio_react_run_with_level (step->f->scheduler, PRIO_REACT_LEVEL_IDLE, go_on_within, step_new (step->f, 'b', NULL, NULL));
}

/* A function that the callback calls may make the task continue, at any level. */
static void
test_within_another_level (Fixture *f, gconstpointer data)
{
  post (f, go_on_with_level, NULL);
  assert_ran (f, "b");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpuint (step_n_freed, ==, 2);
}

static void
go_on_as_another (PrioTask *task, gpointer data)
{
  assert_told ("prio_react_continue_with(): *is not one of prio_react_schedule_callback() that is in its function*",
               prio_react_continue_with (task, step_run_task, data, step_free));
}

/* A task continues with one function at a time, set within its function; and it must be a task of this library. */
static void
test_misused (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) other = NULL;

  post (f, go_on_twice, NULL);
  assert_ran (f, "ab");
  g_assert_cmpuint (step_n_freed, ==, 2);
  go_on_as_another (posted, NULL);
  other = prio_scheduler_post_task (f->scheduler, NULL, go_on_as_another, step_new (f, 'o', NULL, NULL), step_free);
  fixture_run (f);
  g_assert_cmpuint (step_n_freed, ==, 3);
}

static void
go_on_after_slice (PrioTask *task, gpointer data)
{
  go_on (task, data);
  frozen_time += 6 * MS;
}

static void
count_down (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  if (step->letter-- > 'a')
    prio_react_continue_with (task, count_down, step, NULL);
  else
    prio_task_return_int (task, 5);
}

static gboolean
log_source (gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, 's');
  return G_SOURCE_REMOVE;
}

/* The data of the first function live until the task has ended; other sources and more urgent tasks run in between, new tasks of the
 * level do not. */
static void
test_goes_on_with_itself (Fixture *f, gconstpointer data)
{
  posted = prio_react_schedule_callback (f->scheduler, PRIO_REACT_LEVEL_NORMAL, 0, count_down, step_new (f, 'c', NULL, NULL), step_free);
  post_letter (f, USER_VISIBLE, 'x');
  post_letter (f, BACKGROUND, 'y');
  assert_ran (f, "cbaxy");
  g_assert_cmpint (prio_task_propagate_int (posted, NULL), ==, 5);
  g_assert_cmpuint (step_n_freed, ==, 3);
  g_clear_object (&posted);

  posted = prio_react_schedule_callback (f->scheduler, PRIO_REACT_LEVEL_NORMAL, 0, go_on_after_slice, step_new (f, 'd', NULL, NULL), step_free);
  attach_source (f->context, G_PRIORITY_DEFAULT, log_source, f);
  post_letter (f, USER_VISIBLE, 'x');
  assert_ran (f, "dsbx");
}

static PrioTask *deferred;

static void
defer_later (PrioTask *task, gpointer data)
{
  step_run (data);
  prio_task_defer (task);
  deferred = g_object_ref (task);
}

static void
go_on_and_defer (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_react_continue_with (task, defer_later, step_new (step->f, 'b', NULL, NULL), step_free);
}

/* One of the continued functions defers the result. */
static void
test_defers (Fixture *f, gconstpointer data)
{
  post (f, go_on_and_defer, NULL);
  assert_ran (f, "ab");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_RUNNING);
  prio_task_return_boolean (deferred, TRUE);
  g_clear_object (&deferred);
  fixture_run (f);
  g_assert_true (prio_task_propagate_boolean (posted, NULL));
}

static void
run_nested (PrioTask *task, gpointer data)
{
  Step *step = data;

  go_on (task, data);
  fixture_run (step->f);
  g_string_append_c (step->f->log, ')');
}

/* The next function waits until the current function has returned, even if that one runs a main loop. */
static void
test_nested_loop (Fixture *f, gconstpointer data)
{
  post (f, run_nested, NULL);
  post_letter (f, BACKGROUND, 'y');
  assert_ran (f, "ay)b");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_FULFILLED);
}

/* The data of the function live until it returns. */
static void
go_on_and_cancel_twice (PrioTask *task, gpointer data)
{
  Step *step = data;

  prio_react_continue_with (task, step_run_task, step_new (step->f, 'b', NULL, NULL), step_free);
  prio_task_cancel (task);
  prio_task_cancel (task);
  g_assert_cmpuint (step_n_freed, ==, 0);
  g_string_append_c (step->f->log, step->letter);
}

static void
test_cancelled_twice_while_it_runs (Fixture *f, gconstpointer data)
{
  post (f, go_on_and_cancel_twice, NULL);
  assert_ran (f, "a");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  expect_counts (f, 1, 0, 0);
  g_assert_cmpuint (step_n_freed, ==, 2);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add ("/react/continuation/" path, Fixture, NULL, counted_set_up, func, counted_tear_down)
  add ("counts", test_counts);
  add ("cancelled-while-it-waits", test_cancelled_while_it_waits);
  add ("cancelled-while-it-runs", test_cancelled_while_it_runs);
  add ("cancelled-twice-while-it-runs", test_cancelled_twice_while_it_runs);
  add ("cancelled-in-another-function", test_cancelled_in_another_function);
  add ("cancelled-elsewhere", test_cancelled_elsewhere);
  add ("cancelled-as-it-goes-on", test_cancelled_as_it_goes_on);
  add ("given-its-result-as-it-goes-on", test_given_its_result_as_it_goes_on);
  add ("given-its-result-while-it-waits", test_given_its_result_while_it_waits);
  add ("context-goes", test_context_goes);
  add ("scheduler-goes", test_scheduler_goes);
  add ("result-before", test_result_before);
  add ("goes-on-with-itself", test_goes_on_with_itself);
  add ("defers", test_defers);
  add ("within-another-level", test_within_another_level);
  add ("misused", test_misused);
  add ("nested-loop", test_nested_loop);
  return g_test_run ();
}
