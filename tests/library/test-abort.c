/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-abort.c: effects of an abort, and their order */

#include "helpers.h"

static void
log_outcome (GObject *source, GAsyncResult *result, gpointer data)
{
  static const char letters[] = { 'P', 'R', 'F', 'E', 'A' };
  Fixture *f = data;

  g_string_append_c (f->log, letters[prio_task_get_state (PRIO_TASK (result))]);
}

static PrioTask *
post_task (Fixture *f, gpointer signal, PrioTaskFunc func, gpointer func_data)
{
  PrioTask *task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .cancellable = signal }, func,
                                             func_data, NULL);

  prio_task_then (task, log_outcome, f, NULL);
  return task;
}

static void
abort_it (Step *step)
{
  prio_task_controller_abort (step->data, NULL);
}

static void
test_queued_tasks_leave_at_once (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  guint freed = step_n_freed;

  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'a', NULL, NULL);
  post_with_signal (f, BACKGROUND, cancellable_of (controller), 'b', NULL, NULL);
  prio_scheduler_post_full (f->scheduler,
                            &(PrioTaskOptions) {
                              .priority = USER_VISIBLE,
                              .signal = signal_of (controller),
                              .delay = G_MAXUINT64,
                            },
                            step_run, step_new (f, 'c', NULL, NULL), step_free);
  post_letter (f, USER_VISIBLE, 'd');
  prio_task_controller_abort (controller, NULL);

  g_assert_cmpuint (step_n_freed - freed, ==, 3);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "d");
}

static void
abort_in_function (PrioTask *task, gpointer data)
{
  prio_task_controller_abort (data, NULL);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  prio_task_return_boolean (task, TRUE);
}

/* The function of an aborted task continues, and the result is the abort. */
static void
test_while_running (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) task = post_task (f, cancellable_of (controller), abort_in_function, controller);
  g_autoptr (GError) error = NULL;

  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "A");
  g_assert_false (prio_task_propagate_boolean (task, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
queue_abort (PrioTask *task, gpointer data)
{
  Step *step = data;

  prio_scheduler_queue_microtask (step->f->scheduler, step_run_once,
                                  step_new (step->f, 'm', abort_it, step->data), step_free);
  g_string_append_c (step->f->log, 't');
}

/* The checkpoint is before the result settles: §2.4.2. */
static void
test_by_a_microtask_of_the_task (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Step step = { .f = f, .data = controller };
  g_autoptr (PrioTask) task G_GNUC_UNUSED = post_task (f, cancellable_of (controller), queue_abort, &step);

  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "tmA");
}

static void
yield_after_abort (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  Step *step = data;

  g_assert_false (prio_scheduler_yield_finish (step->f->scheduler, result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_string_append_c (step->f->log, 'y');
  prio_task_return_boolean (step->data, TRUE);
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  Step *step = data;

  g_assert_true (prio_scheduler_yield_finish (step->f->scheduler, result, NULL));
  prio_task_controller_abort (g_object_get_data (G_OBJECT (step->data), "controller"), NULL);
  prio_scheduler_yield_async (step->f->scheduler, NULL, yield_after_abort, step);
}

static void
defer_and_yield (PrioTask *task, gpointer data)
{
  Step *step = data;

  step->data = task;
  g_object_set_data (G_OBJECT (task), "controller", g_object_get_data (G_OBJECT (step->f->scheduler), "controller"));
  prio_task_defer (task);
  prio_scheduler_yield_async (step->f->scheduler, NULL, yielded, step);
}

/* The result is settled after the task's own end, and the task's next yield is rejected. */
static void
test_after_the_function_returned (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Step step = { .f = f };
  g_autoptr (PrioTask) task = NULL;

  g_object_set_data (G_OBJECT (f->scheduler), "controller", controller);
  task = post_task (f, cancellable_of (controller), defer_and_yield, &step);
  fixture_run (f);

  g_assert_cmpstr (f->log->str, ==, "yF");
  g_assert_true (prio_task_propagate_boolean (task, NULL));
}

static void
test_already_aborted (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) why = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "no time");
  g_autoptr (PrioTaskSignal) aborted = prio_task_signal_new_aborted (why);
  g_autoptr (PrioTask) task = NULL;
  guint freed = step_n_freed;

  g_assert_false (post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, aborted, 'x', NULL, NULL));
  g_assert_cmpuint (step_n_freed - freed, ==, 1);

  task = post_task (f, aborted, step_run_task, NULL);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_error (prio_task_get_error (task), G_IO_ERROR, G_IO_ERROR_BUSY);
  g_assert_cmpstr (f->log->str, ==, "");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "A");
}

static gboolean
abort_and_continue (gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_task_controller_abort (step->data, NULL);
  return G_SOURCE_CONTINUE;
}

static void
test_continuation_is_rejected (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  guint freed = step_n_freed;

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, abort_and_continue,
                            step_new (f, 'a', NULL, controller), step_free);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  g_assert_cmpuint (step_n_freed - freed, ==, 1);
}

static void
abort_again (gpointer data)
{
  Step *step = data;

  prio_task_controller_abort (step->data, NULL);
  g_assert_false (post_with_signal (step->f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (step->data), 'z', NULL, NULL));
  step_free (step);
}

/* A destroy notify that aborts, posts, and changes the priority. */
static void
test_from_a_destroy_notify (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  guint freed = step_n_freed;

  for (guint i = 0; i < 1000; i++)
    prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, step_run,
                              step_new (f, 'a', NULL, controller), abort_again);
  prio_task_controller_abort (controller, NULL);
  g_assert_cmpuint (step_n_freed - freed, ==, 2000);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
}

static PrioTask *
post_step_task (Fixture *f, PrioTaskController *controller, char letter)
{
  PrioTask *task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) },
                                             step_run_task, step_new (f, letter, NULL, NULL), step_free);

  prio_task_then (task, log_outcome, f, NULL);
  return task;
}

static void
test_one_task_alone (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) first = post_step_task (f, controller, '1');
  g_autoptr (PrioTask) second = post_step_task (f, controller, '2');

  prio_task_cancel (first);
  g_assert_cmpint (prio_task_get_state (first), ==, PRIO_TASK_STATE_ABORTED);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "A2F");
  prio_task_cancel (second);
  g_assert_cmpint (prio_task_get_state (second), ==, PRIO_TASK_STATE_FULFILLED);
}

static void
cancel_myself (PrioTask *task, gpointer data)
{
  prio_task_cancel (task);
}

static void
test_one_task_while_it_runs (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) task G_GNUC_UNUSED = post_task (f, cancellable_of (controller), cancel_myself, NULL);

  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "A");
  prio_task_controller_abort (controller, NULL);
}

/* A continuation that inherits the priority of one signal and the abort of another: each signal has only its own
 * effect. */
static void
inherit_priority (Step *step)
{
  prio_scheduler_yield_async (step->f->scheduler,
                              &(PrioYieldOptions) { .cancellable = step->data, .flags = PRIO_YIELD_KEEP_PRIORITY },
                              log_outcome, step->f);
}

static void
test_foreign_follower_of_an_aborted_signal (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) host = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTaskController) other = prio_task_controller_new (BACKGROUND);

  prio_scheduler_set_time_slice (f->scheduler, 0);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (host), 'a', inherit_priority, cancellable_of (other));
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (host), 'b', NULL, NULL);
  g_main_context_iteration (f->context, TRUE);
  g_assert_cmpstr (f->log->str, ==, "a");

  prio_task_controller_abort (host, NULL);
  prio_task_controller_set_priority (host, USER_BLOCKING, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "aF");
}

/* A task that an abort has removed from its queues, but not released yet, is cancelled. */
enum { N_DROPPED = 10 };

typedef struct
{
  Fixture *f;
  PrioTaskController *controller;
  PrioTask *tasks[N_DROPPED];
  gboolean pauses;
} Dropped;

static void
post_dropped (Dropped *dropped)
{
  for (guint i = 0; i < N_DROPPED; i++)
    dropped->tasks[i] = post_step_task (dropped->f, dropped->controller, 'x');
}

static void
check_settled_once (Dropped *dropped)
{
  for (guint i = 0; i < N_DROPPED; i++)
    {
      g_assert_cmpint (prio_task_get_state (dropped->tasks[i]), ==, PRIO_TASK_STATE_ABORTED);
      g_assert_error (prio_task_get_error (dropped->tasks[i]), G_IO_ERROR, G_IO_ERROR_BUSY);
      g_assert_cmpuint (G_OBJECT (dropped->tasks[i])->ref_count, ==, 1);
      g_object_unref (dropped->tasks[i]);
    }
}

static gboolean
cancel_dropped (gpointer data)
{
  Dropped *dropped = data;

  /* g_cancellable_cancel (): the tasks are dropped now, and released after this task. */
  g_cancellable_cancel (cancellable_of (dropped->controller));
  prio_task_cancel (dropped->tasks[0]);
  g_assert_cmpint (prio_task_get_state (dropped->tasks[0]), ==, PRIO_TASK_STATE_ABORTED);
  prio_task_cancel (dropped->tasks[0]);
  prio_task_cancel (dropped->tasks[N_DROPPED / 2]);
  prio_task_cancel (dropped->tasks[N_DROPPED - 1]);

  for (guint i = 0; i < N_DROPPED; i++)
    g_object_unref (dropped->tasks[i]);
  if (dropped->pauses)
    {
      prio_scheduler_pause (dropped->f->scheduler);
      prio_scheduler_resume (dropped->f->scheduler);
    }
  else
    {
      prio_task_controller_set_priority (dropped->controller, USER_BLOCKING, NULL);
    }
  return G_SOURCE_REMOVE;
}

static void
test_dropped_tasks_are_cancelled_in_a_task (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      Dropped dropped = { .f = f, .controller = controller, .pauses = i == 0 };

      g_string_truncate (f->log, 0);
      prio_scheduler_post_full (f->scheduler,
                                &(PrioTaskOptions) { .priority = USER_BLOCKING, .signal = signal_of (controller) },
                                cancel_dropped, &dropped, NULL);
      post_dropped (&dropped);
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "AAAAAAAAAA");
    }
}

static void
cancel_first (gpointer data)
{
  Dropped *dropped = data;

  prio_task_cancel (dropped->tasks[0]);
  g_assert_cmpint (prio_task_get_state (dropped->tasks[0]), ==, PRIO_TASK_STATE_ABORTED);
  prio_task_cancel (dropped->tasks[N_DROPPED - 1]);
}

/* As many other tasks precede these tasks as are released at a time, so that the last freed record is next to the
 * record of the first task that is cancelled. */
static void
test_dropped_tasks_are_cancelled_by_a_destroy_notify (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (GError) why = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "no time");
  Dropped dropped = { .f = f, .controller = controller };
  guint freed;

  for (guint i = 0; i < 64; i++)
    prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, step_run, &dropped,
                              i == 0 ? cancel_first : NULL);
  post_dropped (&dropped);
  prio_task_controller_abort (controller, why);
  for (guint i = 0; i < 3; i++)
    g_main_context_iteration (f->context, FALSE);
  g_assert_cmpstr (f->log->str, ==, "AAAAAAAAAA");

  /* All records are different. */
  freed = step_n_freed;
  for (guint i = 0; i < 100; i++)
    prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE, .delay = 1 }, step_run,
                              step_new (f, 'y', NULL, NULL), step_free);
  check_settled_once (&dropped);
  while (step_n_freed - freed < 100)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpuint (strlen (f->log->str), ==, N_DROPPED + 100);
}

/* The first abort counts, in whatever way the second comes. */
static void
abort_then_cancel (PrioTask *task, gpointer data)
{
  g_autoptr (GError) why = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "no time");

  prio_task_controller_abort (data, why);
  prio_task_cancel (task);
}

static void
test_cancelled_after_the_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) task = post_task (f, cancellable_of (controller), abort_then_cancel, controller);

  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "A");
  g_assert_error (prio_task_get_error (task), G_IO_ERROR, G_IO_ERROR_BUSY);
}

/* A task that waits for its delay, or is queued while another scheduler's task follows the signal, is dropped as
 * well. */
static void
test_cancelled_wherever_it_stood (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTaskController) other = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTask) delayed = NULL;
  g_autoptr (PrioTask) queued = NULL;

  prio_scheduler_set_time_slice (f->scheduler, 0);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'a', inherit_priority,
                    cancellable_of (other));
  g_main_context_iteration (f->context, TRUE);
  g_assert_cmpstr (f->log->str, ==, "a");

  delayed = prio_scheduler_post_task (f->scheduler,
                                      &(PrioTaskOptions) { .signal = signal_of (controller), .delay = G_MAXUINT64 },
                                      step_run_task, NULL, NULL);
  queued = post_task (f, cancellable_of (controller), step_run_task, NULL);
  g_cancellable_cancel (cancellable_of (controller));
  prio_task_cancel (delayed);
  prio_task_cancel (queued);
  g_assert_cmpint (prio_task_get_state (delayed), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpint (prio_task_get_state (queued), ==, PRIO_TASK_STATE_ABORTED);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "aAF");
}

static void
test_reset_cancellable_serves_again (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) plain = g_cancellable_new ();

  for (guint i = 0; i < 3; i++)
    {
      g_assert_true (post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, plain, 'x', NULL, NULL));
      g_cancellable_cancel (plain);
      g_assert_false (post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, plain, 'y', NULL, NULL));
      fixture_run (f);
      g_cancellable_reset (plain);
    }
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, plain, 'z', NULL, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "z");
}

/* The library calls no code of the program inside GLib's emission of `cancelled`. */
static gboolean in_cancel;

static void
assert_not_in_cancel (gpointer data)
{
  g_assert_false (in_cancel);
  step_free (data);
}

static void
test_nothing_runs_inside_cancelled (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  g_autoptr (PrioTask) task = NULL;
  guint freed = step_n_freed;

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE, .cancellable = plain },
                            step_run, step_new (f, 'x', NULL, NULL), assert_not_in_cancel);
  task = post_task (f, plain, step_run_task, NULL);
  in_cancel = TRUE;
  g_cancellable_cancel (plain);
  in_cancel = FALSE;
  g_assert_cmpuint (step_n_freed - freed, ==, 0);
  fixture_run (f);
  g_assert_cmpuint (step_n_freed - freed, ==, 1);
  g_assert_cmpstr (f->log->str, ==, "A");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/abort/queued-tasks-leave-at-once", test_queued_tasks_leave_at_once);
  add_test ("/abort/while-running", test_while_running);
  add_test ("/abort/by-a-microtask-of-the-task", test_by_a_microtask_of_the_task);
  add_test ("/abort/after-the-function-returned", test_after_the_function_returned);
  add_test ("/abort/already-aborted", test_already_aborted);
  add_test ("/abort/continuation-is-rejected", test_continuation_is_rejected);
  add_test ("/abort/from-a-destroy-notify", test_from_a_destroy_notify);
  add_test ("/abort/one-task-alone", test_one_task_alone);
  add_test ("/abort/one-task-while-it-runs", test_one_task_while_it_runs);
  add_test ("/abort/foreign-follower-of-an-aborted-signal", test_foreign_follower_of_an_aborted_signal);
  add_test ("/abort/dropped-tasks-are-cancelled/in-a-task", test_dropped_tasks_are_cancelled_in_a_task);
  add_test ("/abort/dropped-tasks-are-cancelled/by-a-destroy-notify",
            test_dropped_tasks_are_cancelled_by_a_destroy_notify);
  add_test ("/abort/cancelled-after-the-abort", test_cancelled_after_the_abort);
  add_test ("/abort/cancelled-wherever-it-stood", test_cancelled_wherever_it_stood);
  add_test ("/abort/reset-cancellable-serves-again", test_reset_cancellable_serves_again);
  add_test ("/abort/nothing-runs-inside-cancelled", test_nothing_runs_inside_cancelled);

  return g_test_run ();
}
