/* test-continue.c: how a task ends that goes on with another function, and how it is counted
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <prio-sched-watch.h>
#include "counted-fixture.h"

static void
expect_counts (Fixture *f, guint64 run, guint64 continued, guint64 aborted)
{
  g_autoptr (PrioStatistics) statistics = prio_scheduler_get_statistics (f->scheduler);

  g_assert_cmpuint (prio_statistics_get_n_run (statistics, USER_VISIBLE), ==, run);
  g_assert_cmpuint (prio_statistics_get_n_continued (statistics, USER_VISIBLE), ==, continued);
  g_assert_cmpuint (prio_statistics_get_n_aborted (statistics, USER_VISIBLE), ==, aborted);
  g_assert_cmpuint (prio_statistics_get_n_queued (statistics, USER_VISIBLE), ==, 0);
}

static void
cancel_posted (Step *step)
{
  prio_task_cancel (posted);
}

static void
abort_controller (Step *step)
{
  g_autoptr (GError) reason = g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "enough");

  prio_task_controller_abort (controller, reason);
}

/* Goes on with 'b', and has what is in its data done before that. */
static void
go_on (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_task_continue_with (task, step_run_task, step_new (step->f, 'b', NULL, NULL), step_free);
  if (step->then != NULL)
    post_step (step->f, USER_BLOCKING, 'x', step->then, NULL);
}

static PrioTask *
post (Fixture *f, PrioTaskFunc func, void (*then) (Step *step))
{
  return posted = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, func,
                                            step_new (f, 'a', then, NULL), step_free);
}

static void
test_counts (Fixture *f, gconstpointer data)
{
  post (f, go_on, NULL);
  assert_ran (f, "ab");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_FULFILLED);
  expect_counts (f, 2, 1, 0);
  g_assert_cmpuint (step_n_freed, ==, 2);
}

/* While it waits, cancelled or aborted by its signal, it is what any other task is that waits. */
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
test_aborted_while_it_waits (Fixture *f, gconstpointer data)
{
  post (f, go_on, abort_controller);
  assert_ran (f, "ax");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_true (g_error_matches (prio_task_get_error (posted), G_IO_ERROR, G_IO_ERROR_TIMED_OUT));
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

/* In its function. */
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
  prio_task_continue_with (task, go_on_and_cancel, step_new (step->f, 'b', NULL, NULL), step_free);
}

/* In one that it goes on with. */
static void
test_cancelled_in_another_function (Fixture *f, gconstpointer data)
{
  post (f, go_on_until_aborted, NULL);
  assert_ran (f, "ab");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  expect_counts (f, 2, 1, 0);
  g_assert_cmpuint (step_n_freed, ==, 3);
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

/* Goes on with 'c' in turn, and another thread ends it before this returns. */
static void
go_on_ended_elsewhere (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_task_continue_with (task, step_run_task, step_new (step->f, 'c', NULL, NULL), step_free);
  g_thread_join (g_thread_new ("another", step->data, task));
}

static void
go_on_to_be_ended (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_task_continue_with (task, go_on_ended_elsewhere, step_new (step->f, 'b', NULL, step->data), step_free);
}

static void
post_to_be_ended (Fixture *f, GThreadFunc by)
{
  posted = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, go_on_to_be_ended,
                                     step_new (f, 'a', NULL, by), step_free);
}

/* The call arrives while the library queues the next function. */
static void
test_cancelled_as_it_goes_on (Fixture *f, gconstpointer data)
{
  post_to_be_ended (f, cancel_elsewhere);
  assert_ran (f, "ab");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_true (g_error_matches (prio_task_get_error (posted), G_IO_ERROR, G_IO_ERROR_CANCELLED));
  g_assert_cmpuint (step_n_freed, ==, 3);
  g_assert_cmpuint (prio_scheduler_get_n_pending (f->scheduler), ==, 0);
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
  g_assert_cmpuint (prio_scheduler_get_n_pending (f->scheduler), ==, 0);
}

static void
return_posted (Step *step)
{
  prio_task_return_int (posted, 7);
}

/* The result may come from elsewhere meanwhile, as it is deferred. */
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
  post (f, go_on, NULL);
  other = prio_scheduler_post_task (f->scheduler, NULL, step_run_task, step_new (f, 'y', NULL, NULL), step_free);
  while (f->log->len == 0)
    g_main_context_iteration (f->context, FALSE);
  fixture_drop_context (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  g_assert_cmpint (prio_task_get_state (other), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_true (g_error_matches (prio_task_get_error (other), PRIO_ERROR, PRIO_ERROR_CLOSED));
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_true (g_error_matches (prio_task_get_error (posted), PRIO_ERROR, PRIO_ERROR_CLOSED));
  g_assert_cmpuint (step_n_freed, ==, 3);
}

static void
drop_scheduler (PrioTask *task, gpointer data)
{
  g_clear_object (&((Step *) data)->f->scheduler);
  go_on (task, data);
}

/* As what is queued does when the scheduler goes, it runs. */
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
  assert_told ("prio_task_continue_with: *has deferred its result*", prio_task_continue_with (task, step_run_task, data, step_free));
  prio_task_return_int (task, 1);
}

static void
go_on_twice (PrioTask *task, gpointer data)
{
  Step *step = data;

  go_on (task, data);
  assert_told ("prio_task_continue_with: *goes on with another function already*",
               prio_task_continue_with (task, step_run_task, step, step_free));
  assert_told ("prio_task_defer: *goes on with another function*", prio_task_defer (task));
}

static void
go_on_with_two (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_task_continue_with (task, go_on_twice, step_new (step->f, 'm', NULL, NULL), step_free);
}

/* A task goes on with one function at a time, and one that has deferred its result with none. */
static void
test_misused (Fixture *f, gconstpointer data)
{
  post (f, defer_and_go_on, NULL);
  assert_ran (f, "");
  g_assert_cmpint (prio_task_propagate_int (posted, NULL), ==, 1);
  g_assert_cmpuint (step_n_freed, ==, 1);
  g_clear_object (&posted);

  post (f, go_on_twice, NULL);
  assert_ran (f, "ab");
  g_assert_cmpuint (step_n_freed, ==, 3);
  g_clear_object (&posted);
  post (f, go_on_with_two, NULL);
  assert_ran (f, "amb");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpuint (step_n_freed, ==, 6);
}

static void
run_nested (PrioTask *task, gpointer data)
{
  Step *step = data;

  go_on (task, data);
  fixture_run (step->f);
  g_string_append_c (step->f->log, ')');
}

/* The next function waits until this one has returned, also where that runs a main loop. */
static void
test_nested_loop (Fixture *f, gconstpointer data)
{
  post (f, run_nested, NULL);
  post_letter (f, BACKGROUND, 'y');
  assert_ran (f, "ay)b");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_FULFILLED);
}

/* One of a group gives its place free. */
/* What the function uses is there until it returns. */
static void
go_on_and_cancel_twice (PrioTask *task, gpointer data)
{
  Step *step = data;

  prio_task_continue_with (task, step_run_task, step_new (step->f, 'b', NULL, NULL), step_free);
  g_cancellable_cancel (signal_of (controller));
  prio_task_cancel (task);
  g_assert_cmpuint (step_n_freed, ==, 0);
  g_string_append_c (step->f->log, step->letter);
}

static void
test_aborted_and_cancelled_while_it_runs (Fixture *f, gconstpointer data)
{
  post (f, go_on_and_cancel_twice, NULL);
  assert_ran (f, "a");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
  expect_counts (f, 1, 0, 0);
  g_assert_cmpuint (step_n_freed, ==, 2);
}

static void
test_group (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);

  for (guint i = 0; i < 2; i++)
    {
      posted = prio_task_group_post_task (group, NULL, go_on, step_new (f, 'a', cancel_posted, NULL), step_free);
      g_object_unref (prio_task_group_post_task (group, NULL, step_run_task, step_new (f, 'z', NULL, NULL), step_free));
      assert_ran (f, "axz");
      g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_ABORTED);
      g_assert_cmpuint (prio_task_group_get_n_pending (group), ==, 0);
      g_clear_object (&posted);
    }
  posted = prio_task_group_post_task (group, NULL, go_on, step_new (f, 'a', NULL, NULL), step_free);
  assert_ran (f, "ab");
  g_assert_cmpint (prio_task_get_state (posted), ==, PRIO_TASK_STATE_FULFILLED);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add ("/continue/" path, Fixture, NULL, counted_set_up, func, counted_tear_down)
  add ("counts", test_counts);
  add ("cancelled-while-it-waits", test_cancelled_while_it_waits);
  add ("aborted-while-it-waits", test_aborted_while_it_waits);
  add ("cancelled-while-it-runs", test_cancelled_while_it_runs);
  add ("aborted-and-cancelled-while-it-runs", test_aborted_and_cancelled_while_it_runs);
  add ("cancelled-in-another-function", test_cancelled_in_another_function);
  add ("cancelled-elsewhere", test_cancelled_elsewhere);
  add ("cancelled-as-it-goes-on", test_cancelled_as_it_goes_on);
  add ("given-its-result-as-it-goes-on", test_given_its_result_as_it_goes_on);
  add ("given-its-result-while-it-waits", test_given_its_result_while_it_waits);
  add ("context-goes", test_context_goes);
  add ("scheduler-goes", test_scheduler_goes);
  add ("misused", test_misused);
  add ("nested-loop", test_nested_loop);
  add ("group", test_group);
  return g_test_run ();
}
