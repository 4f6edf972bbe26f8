/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-runner-cancel.c: tasks with numbers, cancelled by their numbers */

#include <prio-sched-bindings.h>
#include "helpers.h"
#include "statistics.h"

/* A runner whose tasks log the letter of their number. */
typedef struct
{
  Fixture *f;
  PrioRunner *runner;
  GString *rejected;
  guint n_rejected, n_freed;
} Run;

static void
run_tasks (guint id, gpointer user_data)
{
  Run *run = user_data;

  if (id == 0)
    {
      gsize n;
      g_autofree guint *rejected = prio_runner_take_rejected (run->runner, &n);

      run->n_rejected += (guint) n;
      for (gsize i = 0; i < n; i++)
        g_string_append_c (run->rejected, (gchar) rejected[i]);
    }

  for (; id != 0; id = prio_runner_next ())
    {
      /* A running task is not cancelled. */
      g_assert_false (prio_runner_cancel (run->runner, id));
      g_string_append_c (run->f->log, (gchar) id);
    }
}

static void
run_freed (gpointer data)
{
  Run *run = data;

  run->n_freed++;
}

static void
set_up (Run *run, Fixture *f)
{
  *run = (Run) { .f = f, .rejected = g_string_new (NULL) };
  run->runner = prio_runner_new (f->scheduler, run_tasks, run, run_freed);
}

static void
tear_down (Run *run)
{
  g_clear_object (&run->f->scheduler);
  fixture_run (run->f);
  g_assert_cmpuint (run->n_freed, ==, 1);
  g_clear_pointer (&run->runner, prio_runner_unref);
  g_string_free (run->rejected, TRUE);
}

static void
post (Run *run, char id, gint priority, gpointer signal, guint64 delay)
{
  g_assert_cmpint (prio_runner_post_full (run->runner, (guint) id, priority, signal, delay, 0, FALSE), !=,
                   PRIO_POST_RESULT_REJECTED);
}

static gboolean
cancel (Run *run, char id)
{
  return prio_runner_cancel (run->runner, (guint) id);
}

static void
test_leaves_at_once (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
  Run run;

  set_up (&run, f);
  post (&run, 'a', USER_VISIBLE, NULL, 100000);
  post (&run, 'b', PRIO_TASK_PRIORITY_UNSET, signal, 0);
  post (&run, 'c', PRIO_TASK_PRIORITY_UNSET, signal, 100000);
  prio_runner_post_full (run.runner, 'd', USER_VISIBLE, NULL, 0, 100000, FALSE);
  prio_runner_post_full (run.runner, 'e', USER_BLOCKING, NULL, 0, -1, FALSE);
  prio_runner_yield (run.runner, 'f');
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 6);
  g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 'e');
  for (const char *id = "eabcdf"; *id != 0; id++)
    {
      g_assert_true (cancel (&run, *id));
      g_assert_false (cancel (&run, *id));
    }
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 0);
  g_assert_cmpuint (prio_task_signal_count_pending (signal), ==, 0);
  g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 0);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
  g_assert_cmpstr (run.rejected->str, ==, "eabcdf");
  tear_down (&run);
}

static void
test_others_stay (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  for (char id = 'a'; id <= 'i'; id++)
    post (&run, id, USER_VISIBLE, NULL, 0);
  post (&run, 'j', USER_BLOCKING, NULL, 0);
  /* Cancels the first task, one in the middle, the last task, and the only task. */
  g_assert_true (cancel (&run, 'a'));
  g_assert_true (cancel (&run, 'e'));
  g_assert_true (cancel (&run, 'i'));
  g_assert_true (cancel (&run, 'j'));
  g_assert_false (cancel (&run, 'z'));
  g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 'b');
  post (&run, 'k', USER_VISIBLE, NULL, 0);
  post (&run, 'l', USER_BLOCKING, NULL, 0);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "lbcdfghk");
  g_assert_cmpstr (run.rejected->str, ==, "aeij");
  tear_down (&run);
}

static void
test_counts_as_aborted (Fixture *f, gconstpointer data)
{
  PrioTaskStatistics statistics;
  Run run;

  prio_scheduler_start_statistics (f->scheduler);
  set_up (&run, f);
  post (&run, 'a', USER_VISIBLE, NULL, 0);
  post (&run, 'b', USER_VISIBLE, NULL, 0);
  post (&run, 'c', USER_VISIBLE, NULL, 100000);
  post (&run, 'd', BACKGROUND, NULL, 100000);
  g_assert_true (cancel (&run, 'b'));
  g_assert_true (cancel (&run, 'c'));
  g_assert_true (cancel (&run, 'd'));
  fixture_run (f);
  statistics = statistics_of (f->scheduler, USER_VISIBLE);
  g_assert_cmpuint (statistics.n_run, ==, 1);
  g_assert_cmpuint (statistics.n_aborted, ==, 2);
  g_assert_cmpuint (statistics.n_delayed, ==, 0);
  g_assert_cmpuint (statistics_of (f->scheduler, BACKGROUND).n_aborted, ==, 1);
  tear_down (&run);
}

static void
test_after_an_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Run run;

  set_up (&run, f);
  post (&run, 'a', PRIO_TASK_PRIORITY_UNSET, prio_task_controller_get_signal (controller), 0);
  prio_task_controller_abort (controller, NULL);
  g_assert_false (cancel (&run, 'a'));
  fixture_run (f);
  g_assert_cmpstr (run.rejected->str, ==, "a");
  tear_down (&run);
}

static void
test_while_paused (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  prio_scheduler_pause (f->scheduler);
  post (&run, 'a', USER_VISIBLE, NULL, 0);
  post (&run, 'b', USER_VISIBLE, NULL, 0);
  prio_runner_post_full (run.runner, 'c', USER_VISIBLE, NULL, 0, 100000, FALSE);
  g_assert_true (cancel (&run, 'a'));
  g_assert_true (cancel (&run, 'c'));
  fixture_run (f);
  g_assert_cmpstr (run.rejected->str, ==, "ac");
  g_assert_cmpstr (f->log->str, ==, "");
  prio_scheduler_resume (f->scheduler);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "b");
  tear_down (&run);
}

static void
test_many (Fixture *f, gconstpointer data)
{
  enum { N = 5000 };
  Run run;

  set_up (&run, f);
  for (guint id = 1; id <= N; id++)
    g_assert_cmpint (prio_runner_post_full (run.runner, 7 * id, BACKGROUND, NULL, 100000, 0, FALSE), ==,
                     PRIO_POST_RESULT_OUTSIDE);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, N);
  for (guint id = N; id > 0; id--)
    g_assert_true (prio_runner_cancel (run.runner, 7 * id));
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 0);
  post (&run, 'a', USER_VISIBLE, NULL, 100000);
  g_assert_true (cancel (&run, 'a'));
  fixture_run (f);
  g_assert_cmpuint (run.n_rejected, ==, N + 1);
  g_assert_cmpstr (f->log->str, ==, "");
  tear_down (&run);
}

/* The number of a task is free as soon as its function is called.  With more tasks than an index has places, the index
 * grows. */
static void
post_again (guint id, gpointer user_data)
{
  enum { MORE_THAN_PLACES = 20, OTHERS = 1000 };
  Run *run = user_data;

  if (id == 0)
    return;

  post (run, (char) id, USER_VISIBLE, NULL, 100000);
  for (guint i = 0; i < MORE_THAN_PLACES; i++)
    prio_runner_post_full (run->runner, OTHERS + i, USER_VISIBLE, NULL, 100000, 0, FALSE);
  g_assert_true (prio_runner_cancel (run->runner, id));
  g_assert_false (prio_runner_cancel (run->runner, id));
  for (guint i = 0; i < MORE_THAN_PLACES; i++)
    g_assert_true (prio_runner_cancel (run->runner, OTHERS + i));
}

static void
test_number_of_running_task (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Run run = { .f = f, .rejected = g_string_new (NULL) };

  run.runner = prio_runner_new (f->scheduler, post_again, &run, run_freed);
  post (&run, 'a', PRIO_TASK_PRIORITY_UNSET, prio_task_controller_get_signal (controller), 0);
  fixture_run (f);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 0);
  tear_down (&run);
}

static gpointer
ask_elsewhere (gpointer data)
{
  Run *run = data;

  g_assert_false (prio_runner_is_owner (run->runner));
  g_assert_false (cancel (run, 'a'));
  return NULL;
}

static void
test_other_threads (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  post (&run, 'a', USER_VISIBLE, NULL, 100000);
  g_assert_true (prio_runner_is_owner (run.runner));
  g_thread_join (g_thread_new (NULL, ask_elsewhere, &run));
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 1);
  g_assert_true (cancel (&run, 'a'));
  fixture_run (f);
  tear_down (&run);
}

/* The last task of a runner runs although its scheduler has been freed. */
static void
test_scheduler_goes (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  post (&run, 'a', USER_VISIBLE, NULL, 100000);
  g_clear_object (&f->scheduler);
  g_assert_true (cancel (&run, 'a'));
  g_assert_false (cancel (&run, 'a'));
  fixture_run (f);
  g_assert_cmpuint (run.n_freed, ==, 1);
  tear_down (&run);
}

/* The function is notified of tasks that will not run, even if the scheduler is dropped before the next checkpoint. */
static void
test_scheduler_goes_before_it_is_reported (Fixture *f, gconstpointer data)
{
  for (guint aborts = 0; aborts < 2; aborts++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      Run run;

      if (f->scheduler == NULL)
        f->scheduler = prio_scheduler_new (f->context);
      set_up (&run, f);
      post (&run, 'a', PRIO_TASK_PRIORITY_UNSET, prio_task_controller_get_signal (controller), 0);
      post (&run, 'b', PRIO_TASK_PRIORITY_UNSET, prio_task_controller_get_signal (controller), 100000);
      if (aborts)
        prio_task_controller_abort (controller, NULL);
      else
        g_assert_true (cancel (&run, 'a') && cancel (&run, 'b'));
      g_clear_object (&f->scheduler);
      fixture_run (f);
      g_assert_cmpstr (run.rejected->str, ==, "ab");
      tear_down (&run);
    }
}

/* The context goes with the scheduler, so the function cannot be called. */
static void
test_context_goes_before_it_is_reported (Fixture *f, gconstpointer data)
{
  gsize n;
  g_autofree guint *rejected = NULL;
  Run run;

  set_up (&run, f);
  post (&run, 'a', USER_VISIBLE, NULL, 0);
  g_assert_true (cancel (&run, 'a'));
  fixture_drop_context (f);
  g_assert_cmpuint (run.n_freed, ==, 1);
  g_assert_cmpuint (run.n_rejected, ==, 0);
  rejected = prio_runner_take_rejected (run.runner, &n);
  g_assert_cmpuint (n, ==, 1);
  prio_runner_unref (run.runner);
  g_string_free (run.rejected, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/runner-cancel/leaves-at-once", test_leaves_at_once);
  add_test ("/runner-cancel/others-stay", test_others_stay);
  add_test ("/runner-cancel/counts-as-aborted", test_counts_as_aborted);
  add_test ("/runner-cancel/after-an-abort", test_after_an_abort);
  add_test ("/runner-cancel/while-paused", test_while_paused);
  add_test ("/runner-cancel/many", test_many);
  add_test ("/runner-cancel/number-of-running-task", test_number_of_running_task);
  add_test ("/runner-cancel/other-threads", test_other_threads);
  add_test ("/runner-cancel/scheduler-goes", test_scheduler_goes);
  add_test ("/runner-cancel/scheduler-goes-before-it-is-reported", test_scheduler_goes_before_it_is_reported);
  add_test ("/runner-cancel/context-goes-before-it-is-reported", test_context_goes_before_it_is_reported);

  return g_test_run ();
}
