/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-runner.c: tasks that are identified by numbers */

#include <prio-sched-bindings.h>
#include "frozen-time.h"
#include "helpers.h"

/* A runner whose tasks log the letter of their number; `acts` has their further actions. */
typedef struct
{
  Fixture *f;
  PrioRunner *runner;
  void (*acts[128]) (gpointer run);
  gpointer data;
  gboolean end; /* whether to ask for the end of each task */
  GString *aborted;
  guint calls;
  guint freed;
} Run;

static void
run_tasks (guint id, gpointer user_data)
{
  Run *run = user_data;

  run->calls++;
  if (id == 0)
    {
      gsize n;
      g_autofree guint *rejected = prio_runner_take_rejected (run->runner, &n);

      for (gsize i = 0; i < n; i++)
        g_string_append_c (run->aborted, (gchar) rejected[i]);
    }

  for (; id != 0; id = prio_runner_next ())
    {
      g_string_append_c (run->f->log, (gchar) id);
      if (run->acts[id] != NULL)
        run->acts[id](run);
      if (run->end && prio_runner_end ())
        g_string_append_c (run->aborted, (gchar) id);
    }
}

static void
run_freed (gpointer data)
{
  Run *run = data;

  run->freed++;
}

static void
set_up (Run *run, Fixture *f)
{
  *run = (Run) { .f = f, .aborted = g_string_new (NULL) };
  run->runner = prio_runner_new (f->scheduler, run_tasks, run, run_freed);
}

static void
tear_down (Run *run)
{
  g_clear_object (&run->f->scheduler);
  fixture_run (run->f);
  g_assert_cmpuint (run->freed, ==, 1);
  g_clear_pointer (&run->runner, prio_runner_unref);
  g_string_free (run->aborted, TRUE);
}

static void
post (Run *run, char id, PrioTaskPriority priority)
{
  g_assert_cmpint (prio_runner_post (run->runner, (guint) id, priority), !=, PRIO_POST_RESULT_REJECTED);
}

static gboolean
post_full (Run *run, char id, gint priority, gpointer signal, guint64 delay)
{
  return prio_runner_post_full (run->runner, (guint) id, priority, signal, delay, 0, FALSE);
}

static void
test_order (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  post (&run, 'a', BACKGROUND);
  post_letter (f, USER_VISIBLE, 'B');
  post (&run, 'c', USER_VISIBLE);
  post (&run, 'd', USER_VISIBLE);
  post_letter (f, USER_VISIBLE, 'E');
  g_assert_true (prio_runner_yield_full (run.runner, 'f', USER_VISIBLE, NULL, 0, -1, FALSE));
  post (&run, 'g', USER_BLOCKING);
  frozen_time = g_get_monotonic_time ();
  fixture_run (f);
  frozen_time = 0;
  g_assert_cmpstr (f->log->str, ==, "gfBcdEa");
  /* The runner is called once for g and f, once for c and d, and once for a. */
  g_assert_cmpuint (run.calls, <=, 4);
  tear_down (&run);
}

static void
post_urgent (gpointer data)
{
  Run *run = data;

  post_letter (run->f, USER_BLOCKING, 'U');
  prio_runner_yield (run->runner, 'y');
}

static void
test_chosen_afresh (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  run.acts['a'] = post_urgent;
  post (&run, 'a', USER_VISIBLE);
  post (&run, 'b', USER_VISIBLE);
  post (&run, 'c', BACKGROUND);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "aUybc");
  tear_down (&run);
}

static void
test_signal (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *signal = cancellable_of (controller);
  Run run;

  set_up (&run, f);
  g_assert_true (post_full (&run, 'a', PRIO_TASK_PRIORITY_UNSET, signal, 0));
  g_assert_true (post_full (&run, 'b', USER_VISIBLE, signal, 0));
  post (&run, 'c', USER_VISIBLE);
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abc");

  g_assert_true (post_full (&run, 'd', PRIO_TASK_PRIORITY_UNSET, signal, 0));
  g_assert_true (post_full (&run, 'e', BACKGROUND, signal, 1000000));
  post (&run, 'f', BACKGROUND);
  prio_task_controller_abort (controller, NULL);
  g_assert_false (post_full (&run, 'g', USER_VISIBLE, signal, 0));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abcf");
  g_assert_cmpstr (run.aborted->str, ==, "de");
  tear_down (&run);
}

static void
abort_it (gpointer data)
{
  Run *run = data;

  prio_task_controller_abort (run->data, NULL);
}

static void
abort_in_microtask (gpointer data)
{
  Run *run = data;

  prio_scheduler_queue_microtask (run->f->scheduler, abort_it, run, NULL);
}

/* The checkpoint comes before the abort steps are removed; a yield is rejected. */
static void
test_abort_while_running (Fixture *f, gconstpointer data)
{
  void (*acts[]) (gpointer) = { abort_it, abort_in_microtask };

  for (guint i = 0; i < G_N_ELEMENTS (acts); i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
      Run run;

      f->scheduler = f->scheduler != NULL ? f->scheduler : prio_scheduler_new (f->context);
      g_string_truncate (f->log, 0);
      set_up (&run, f);
      run.end = TRUE;
      run.data = controller;
      run.acts['a'] = acts[i];
      post_full (&run, 'a', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 0);
      post_full (&run, 'b', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 0);
      post (&run, 'c', BACKGROUND);
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "ac");
      g_assert_true (g_str_equal (run.aborted->str, "ab") || g_str_equal (run.aborted->str, "ba"));
      tear_down (&run);
    }
}

static void
yield_under_signal (gpointer data)
{
  Run *run = data;

  g_assert_true (prio_runner_yield (run->runner, 'y'));
  prio_task_controller_abort (run->data, NULL);
  g_assert_false (prio_runner_yield (run->runner, 'z'));
}

static void
test_yield_inherits_signal (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Run run;

  set_up (&run, f);
  run.data = controller;
  run.acts['a'] = yield_under_signal;
  post_full (&run, 'a', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 0);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  g_assert_cmpstr (run.aborted->str, ==, "y");
  tear_down (&run);
}

static void
yield_once (gpointer data)
{
  g_assert_true (prio_runner_yield (((Run *) data)->runner, 'y'));
}

/* A yield inherits the priority of the task, if it has one, and not the signal's. */
static void
test_yield_inherits_priority (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Run run;

  set_up (&run, f);
  run.acts['a'] = yield_once;
  post_full (&run, 'a', USER_BLOCKING, cancellable_of (controller), 0);
  post (&run, 'b', USER_VISIBLE);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ayb");
  tear_down (&run);
}

static void
run_nested_loop (gpointer data)
{
  Run *run = data;

  post (run, 'n', USER_VISIBLE);
  fixture_run (run->f);
  g_string_append_c (run->f->log, '|');
  prio_runner_yield (run->runner, 'y');
}

static void
test_nested_loop (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  run.acts['a'] = run_nested_loop;
  post (&run, 'a', USER_BLOCKING);
  post (&run, 'b', USER_BLOCKING);
  post (&run, 'c', BACKGROUND);
  fixture_run (f);
  /* The outer task's state has not changed: y is a user-blocking continuation. */
  g_assert_cmpstr (f->log->str, ==, "abnc|y");
  tear_down (&run);
}

static gboolean
quit_slice (gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, '.');
  return G_SOURCE_REMOVE;
}

static void
test_slice_ends_the_row (Fixture *f, gconstpointer data)
{
  g_autoptr (GSource) source = g_idle_source_new ();
  Run run;

  set_up (&run, f);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  for (char id = 'a'; id < 'f'; id++)
    post (&run, id, BACKGROUND);
  g_source_set_callback (source, quit_slice, f, NULL);
  g_source_attach (source, f->context);
  fixture_run (f);
  g_assert_cmpuint (run.calls, ==, 5);
  g_assert_nonnull (strchr (f->log->str, '.'));
  tear_down (&run);
}

static void
pause_it (gpointer data)
{
  Run *run = data;

  prio_scheduler_pause (run->f->scheduler);
}

static void
test_pause (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  run.acts['a'] = pause_it;
  post (&run, 'a', BACKGROUND);
  post (&run, 'b', BACKGROUND);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  prio_scheduler_resume (f->scheduler);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
  tear_down (&run);
}

static gpointer
post_from_thread (gpointer data)
{
  Run *run = data;

  for (guint i = 0; i < 1000; i++)
    {
      post (run, 'a', USER_VISIBLE);
      g_assert_true (post_full (run, 'b', PRIO_TASK_PRIORITY_UNSET, run->data, 0));
      g_assert_true (prio_runner_yield (run->runner, 'c'));
    }
  return NULL;
}

static void
test_other_threads (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  guint counts[3] = { 0 };
  GThread *thread;
  Run run;

  set_up (&run, f);
  run.data = cancellable_of (controller);
  thread = g_thread_new ("poster", post_from_thread, &run);
  while (f->log->len < 3000)
    g_main_context_iteration (f->context, TRUE);
  g_thread_join (thread);

  for (gsize i = 0; i < f->log->len; i++)
    counts[f->log->str[i] - 'a']++;
  g_assert_cmpuint (counts[0], ==, 1000);
  g_assert_cmpuint (counts[1], ==, 1000);
  g_assert_cmpuint (counts[2], ==, 1000);
  tear_down (&run);
}

static gpointer
post_with_signal_from_thread (gpointer data)
{
  Run *run = data;

  g_assert_true (post_full (run, 'a', PRIO_TASK_PRIORITY_UNSET, cancellable_of (run->data), 0));
  prio_task_controller_abort (run->data, NULL);
  g_assert_false (post_full (run, 'b', PRIO_TASK_PRIORITY_UNSET, cancellable_of (run->data), 0));
  return NULL;
}

/* Tasks are accepted, and aborted before the owner thread has received them. */
static void
test_aborted_on_the_way (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Run run;

  set_up (&run, f);
  run.data = controller;
  g_thread_join (g_thread_new ("poster", post_with_signal_from_thread, &run));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
  g_assert_cmpstr (run.aborted->str, ==, "a");
  tear_down (&run);
}

/* Several runners are dropped in any order. */
static void
test_several_runners (Fixture *f, gconstpointer data)
{
  Run runs[3];

  for (guint i = 0; i < 3; i++)
    {
      set_up (&runs[i], f);
      post (&runs[i], 'a' + i, USER_VISIBLE);
    }
  post (&runs[0], 'd', BACKGROUND);
  post (&runs[2], 'e', BACKGROUND);
  g_clear_object (&f->scheduler);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abcde");
  for (guint i = 0; i < 3; i++)
    tear_down (&runs[i]);
}

/* Idle callbacks by number: called when there is nothing else to do, or after their time,
 * and not if cancelled. */
static void
run_idle_by_number (guint id, gpointer data)
{
  Fixture *f = data;
  g_autoptr (PrioIdleDeadline) deadline = prio_idle_deadline_dup_current ();

  g_assert_cmpfloat (prio_idle_deadline_get_time_remaining (deadline), <=, 50);
  g_string_append_printf (f->log, "%u%c", id % 10, prio_idle_deadline_did_timeout (deadline) ? '!' : ' ');
}

static gboolean
is_longer (Fixture *f, gsize length)
{
  g_main_context_iteration (f->context, TRUE);
  return f->log->len >= length;
}

static void
test_idle_callbacks (Fixture *f, gconstpointer data)
{
  PrioRunner *runner = prio_runner_new (f->scheduler, run_idle_by_number, f, NULL);
  g_autofree char *expected = NULL;
  guint first, second, third;

  first = prio_runner_request_idle_callback (runner, 0);
  second = prio_runner_request_idle_callback (runner, 0);
  third = prio_runner_request_idle_callback (runner, 0);
  prio_scheduler_cancel_idle_callback (f->scheduler, second);
  post_letter (f, BACKGROUND, 'a');
  g_assert_null (prio_idle_deadline_dup_current ());
  while (!is_longer (f, 5))
    ;
  expected = g_strdup_printf ("a%u %u ", first % 10, third % 10);
  g_assert_cmpstr (f->log->str, ==, expected);

  /* A waiting task keeps the runner; no other object does. */
  prio_runner_request_idle_callback (runner, 1);
  prio_runner_unref (runner);
  g_clear_object (&f->scheduler);
  while (!is_longer (f, 7))
    ;
  fixture_run (f);
}

static gpointer
request_from_thread (gpointer runner)
{
  prio_runner_request_idle_callback (runner, 1000);
  return NULL;
}

/* The context is destroyed with some idle callbacks; afterwards no callback can be requested. */
static void
test_idle_callbacks_end (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  prio_runner_request_idle_callback (run.runner, 0);
  g_thread_join (g_thread_new ("requester", request_from_thread, run.runner));
  fixture_drop_context (f);
  g_assert_cmpuint (run.freed, ==, 1);
  prio_runner_request_idle_callback (run.runner, 1);
  prio_runner_unref (run.runner);
  g_assert_cmpuint (run.calls, ==, 0);
  g_string_free (run.aborted, TRUE);
}

/* The scheduler is dropped with tasks queued: they run, and then the function is released. */
static void
test_scheduler_goes (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  post (&run, 'a', USER_VISIBLE);
  g_clear_object (&f->scheduler);
  g_assert_cmpuint (run.freed, ==, 0);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  g_assert_cmpuint (run.freed, ==, 1);
  g_assert_false (prio_runner_post (run.runner, 'b', USER_VISIBLE));
  g_assert_false (post_full (&run, 'b', USER_VISIBLE, NULL, 10));
  tear_down (&run);
}

static void
test_context_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Run run;

  set_up (&run, f);
  post (&run, 'a', USER_VISIBLE);
  post_full (&run, 'b', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 0);
  post_full (&run, 'c', USER_VISIBLE, NULL, 1000);

  fixture_drop_context (f);
  g_assert_cmpstr (f->log->str, ==, "");
  g_assert_cmpuint (run.freed, ==, 1);
  g_assert_false (prio_runner_post (run.runner, 'd', USER_VISIBLE));
  g_assert_false (post_full (&run, 'd', USER_VISIBLE, cancellable_of (controller), 0));
  g_assert_false (prio_runner_yield (run.runner, 'd'));

  prio_runner_unref (run.runner);
  g_string_free (run.aborted, TRUE);
}

/* Runs one task.  A function that does not ask for the next task is called for each. */
static void
run_one (guint id, gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, (gchar) id);
}

static void
test_one_at_a_time (Fixture *f, gconstpointer data)
{
  PrioRunner *runner = prio_runner_new (f->scheduler, run_one, f, NULL);

  prio_runner_post (runner, 'a', USER_VISIBLE);
  prio_runner_post (runner, 'b', USER_VISIBLE);
  prio_runner_unref (runner);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/runner/order", test_order);
  add_test ("/runner/chosen-afresh", test_chosen_afresh);
  add_test ("/runner/signal", test_signal);
  add_test ("/runner/abort-while-running", test_abort_while_running);
  add_test ("/runner/yield-inherits-signal", test_yield_inherits_signal);
  add_test ("/runner/yield-inherits-priority", test_yield_inherits_priority);
  add_test ("/runner/nested-loop", test_nested_loop);
  add_test ("/runner/slice-ends-the-row", test_slice_ends_the_row);
  add_test ("/runner/pause", test_pause);
  add_test ("/runner/other-threads", test_other_threads);
  add_test ("/runner/aborted-on-the-way", test_aborted_on_the_way);
  add_test ("/runner/several", test_several_runners);
  add_test ("/runner/idle-callbacks", test_idle_callbacks);
  add_test ("/runner/idle-callbacks-end", test_idle_callbacks_end);
  add_test ("/runner/scheduler-goes", test_scheduler_goes);
  add_test ("/runner/context-goes", test_context_goes);
  add_test ("/runner/one-at-a-time", test_one_at_a_time);

  return g_test_run ();
}
