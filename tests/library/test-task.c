/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-task.c: results */

#include "helpers.h"

static guint n_destroyed;

static void
destroy (gpointer data)
{
  n_destroyed++;
}

static PrioTask *
post (Fixture *f, PrioTaskFunc func)
{
  return prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE, .name = "a name" },
                                   func, f, NULL);
}

static void
nothing (PrioTask *task, gpointer data)
{
}

static void
return_pointer (PrioTask *task, gpointer data)
{
  prio_task_return_pointer (task, data, destroy);
}

static void
return_string (PrioTask *task, gpointer data)
{
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_set_static_string (&value, "result");
  prio_task_return_value (task, &value);
}

static void
return_error (PrioTask *task, gpointer data)
{
  prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_FAILED, "no %s", "luck");
}

static void
test_properties (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, nothing);
  g_autofree char *name = NULL;
  PrioTaskPriority priority;
  PrioTaskState state;

  g_object_get (task, "name", &name, "priority", &priority, "state", &state, NULL);
  g_assert_cmpstr (name, ==, "a name");
  g_assert_cmpint (priority, ==, USER_VISIBLE);
  g_assert_cmpint (state, ==, PRIO_TASK_STATE_PENDING);
  fixture_run (f);
  g_object_get (task, "state", &state, NULL);
  g_assert_cmpint (state, ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_null (prio_task_get_error (task));
}

static void
test_priority_is_the_signals (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler,
                                                        &(PrioTaskOptions) { .signal = signal_of (controller) },
                                                        nothing, NULL, NULL);

  g_assert_true (prio_task_get_cancellable (task) == cancellable_of (controller));
  g_assert_cmpint (prio_task_get_priority (task), ==, BACKGROUND);
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  g_assert_cmpint (prio_task_get_priority (task), ==, USER_BLOCKING);
}

static void
test_pointer (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) taken = post (f, return_pointer);
  PrioTask *left = post (f, return_pointer);

  n_destroyed = 0;
  fixture_run (f);
  g_assert_true (prio_task_propagate_pointer (taken, NULL) == f);
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*prio_task_propagate_pointer*a name*has no result any more*");
  g_assert_null (prio_task_propagate_pointer (taken, NULL));
  g_test_assert_expected_messages ();
  g_assert_cmpuint (n_destroyed, ==, 0);
  g_object_unref (left);
  g_assert_cmpuint (n_destroyed, ==, 1);
}

static void
test_value (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, return_string);
  g_auto (GValue) first = G_VALUE_INIT;
  g_auto (GValue) second = G_VALUE_INIT;

  fixture_run (f);
  g_assert_true (prio_task_propagate_value (task, &first, NULL));
  g_assert_true (prio_task_propagate_value (task, &second, NULL));
  g_assert_cmpstr (g_value_get_string (&first), ==, "result");
  g_assert_cmpstr (g_value_get_string (&second), ==, "result");
}

static void
count_completed (GObject *source, GAsyncResult *result, gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, 'c');
}

/* Finishes in GIO's style: the result is the task. */
static void
finish_string (GObject *source, GAsyncResult *result, gpointer data)
{
  Fixture *f = data;
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GObject) same_source = g_async_result_get_source_object (result);
  g_autoptr (GError) error = NULL;

  g_assert_true (source == G_OBJECT (result) && same_source == source);
  g_assert_true (g_async_result_get_user_data (result) == f);
  g_assert_true (prio_task_wait_finish (PRIO_TASK (source), result, &error));
  g_assert_no_error (error);
  g_assert_true (prio_task_propagate_value (PRIO_TASK (source), &value, &error));
  g_string_append (f->log, g_value_get_string (&value));
}

static void
test_async (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND }, return_string,
                                                        NULL, NULL);

  prio_task_wait_async (task, NULL, finish_string, f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "result");
}

/* The source object of a callback lives until it returns, whatever happens in it. */
static void
drop_scheduler_and_nest (GObject *source, GAsyncResult *result, gpointer data)
{
  Fixture *f = data;
  GObject *watched = source;

  g_object_add_weak_pointer (source, (gpointer *) &watched);
  prio_task_then (PRIO_TASK (result), count_completed, f, NULL);
  g_clear_object (&f->scheduler);
  fixture_run (f);
  g_assert_nonnull (watched);
  g_object_remove_weak_pointer (source, (gpointer *) &watched);
  g_string_append_c (f->log, 'a');
}

static void
test_source_in_a_nested_loop (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, nothing);
  g_autoptr (PrioTask) other = post (f, nothing);

  prio_task_then (task, drop_scheduler_and_nest, f, NULL);
  prio_task_then (other, count_completed, f, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "cca");
}

static void
test_error (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, return_error);
  g_autoptr (GError) error = NULL;
  g_auto (GValue) value = G_VALUE_INIT;

  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_FAILED);
  g_assert_false (prio_task_propagate_value (task, &value, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==, "no luck");
  g_assert_error (prio_task_get_error (task), G_IO_ERROR, G_IO_ERROR_FAILED);
  g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, -1);
}

static void
log_letter (GObject *source, GAsyncResult *result, gpointer data)
{
  Step *step = data;

  g_assert_true (source == (GObject *) result);
  step_run (step);
}

static void
log_notify (PrioTask *task, GParamSpec *pspec, Fixture *f)
{
  if (prio_task_get_state (task) >= PRIO_TASK_STATE_FULFILLED)
    g_string_append_c (f->log, '!');
}

static void
test_callbacks_in_order_then_notify (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, nothing);
  guint freed = step_n_freed;

  g_signal_connect (task, "notify::state", G_CALLBACK (log_notify), f);
  for (char letter = 'a'; letter <= 'd'; letter++)
    prio_task_then (task, log_letter, step_new (f, letter, NULL, NULL), step_free);
  post_letter (f, USER_VISIBLE, '|');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abcd!|");

  prio_task_then (task, log_letter, step_new (f, 'e', NULL, NULL), step_free);
  g_assert_cmpstr (f->log->str, ==, "abcd!|");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abcd!|e");
  g_assert_cmpuint (step_n_freed - freed, ==, 6);
}

static void
log_completed (PrioTask *task, GParamSpec *pspec, Fixture *f)
{
  gboolean completed;

  g_object_get (task, "completed", &completed, NULL);
  g_string_append_c (f->log, completed ? 'c' : '-');
}

/* The property is notified once, at the end, whether the task has run or was cancelled. */
static void
test_completed (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) runs = post (f, nothing), cancelled = post (f, nothing);

  g_signal_connect (runs, "notify::completed", G_CALLBACK (log_completed), f);
  g_signal_connect (cancelled, "notify::completed", G_CALLBACK (log_completed), f);
  prio_task_cancel (cancelled);
  log_completed (runs, NULL, f);
  log_completed (cancelled, NULL, f);
  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (runs), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpstr (f->log->str, ==, "-ccc");
}

static void
ask_again_and_wait (PrioTask *task, GParamSpec *pspec, Fixture *f)
{
  if (prio_task_get_state (task) < PRIO_TASK_STATE_FULFILLED)
    return;
  g_string_append_c (f->log, '!');
  prio_task_then (task, count_completed, f, NULL);
  fixture_run (f);
}

/* A handler runs a nested loop, such as a dialog, and waits for the task once more. */
static void
test_notifies_once_beside_a_nested_loop (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, nothing);

  g_signal_connect (task, "notify::state", G_CALLBACK (ask_again_and_wait), f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "!c");
}

static void
test_result_of_a_dropped_scheduler (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, nothing);

  g_clear_object (&f->scheduler);
  fixture_run (f);
  prio_task_then (task, log_letter, step_new (f, 'e', NULL, NULL), step_free);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "e");
}

/* Reused tasks are like new tasks: they keep nothing of the previous task. */
static void
remember (PrioTask *task, gpointer data)
{
  GHashTable *seen = data;

  g_hash_table_add (seen, task);
  prio_task_return_int (task, 7);
}

static void
test_used_again (Fixture *f, gconstpointer data)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (PrioTask) held = NULL;
  g_autoptr (PrioTask) fresh = NULL;

  for (guint i = 0; i < 100; i++)
    {
      g_object_unref (prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE }, remember,
                                                seen, NULL));
      fixture_run (f);
    }
  g_assert_cmpuint (g_hash_table_size (seen), <, 100);

  /* A task with references or handlers is not reused. */
  held = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE }, remember, seen,
                                   NULL);
  fixture_run (f);
  fresh = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE }, nothing, NULL,
                                    NULL);
  g_assert_true (fresh != held);
  g_assert_cmpint (prio_task_get_state (fresh), ==, PRIO_TASK_STATE_PENDING);
  g_signal_connect (fresh, "notify::state", G_CALLBACK (log_notify), f);
  g_object_set_data (G_OBJECT (held), "mine", f);
  g_clear_object (&fresh);
  g_clear_object (&held);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "!");

  for (guint i = 0; i < 10; i++)
    {
      g_object_unref (post (f, nothing));
      g_object_unref (prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE }, nothing,
                                                NULL, NULL));
    }
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "!");
}

static void
return_twice (PrioTask *task, gpointer data)
{
  prio_task_return_int (task, 1);
  prio_task_return_int (task, 2);
}

static void
test_bad_input (Fixture *f, gconstpointer data)
{
  if (g_test_subprocess ())
    {
      g_autoptr (PrioTask) task = post (f, return_twice);

      g_log_set_always_fatal (G_LOG_FATAL_MASK);
      prio_task_return_int (task, 0);
      g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, -1);
      prio_task_defer (task);
      fixture_run (f);
      g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, 1);
      g_assert_false (prio_scheduler_yield_finish (f->scheduler, G_ASYNC_RESULT (task), NULL));
      return;
    }

  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr ("*CRITICAL*a name*not begun*CRITICAL*a name*completed*CRITICAL*a name*running*CRITICAL*a name*given one*"
                             "CRITICAL*prio_scheduler_yield_finish*no yield*");
}

static void
defer_and_cancel (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
  prio_task_cancel (task);
}

/* A result after the abort is released without a notify. */
static void
test_result_after_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, defer_and_cancel);
  g_autoptr (GError) error = NULL;

  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);

  n_destroyed = 0;
  prio_task_return_pointer (task, f, destroy);
  fixture_run (f);
  g_assert_cmpuint (n_destroyed, ==, 1);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_null (prio_task_propagate_pointer (task, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* A deferred task.  Only the code that deferred the result holds the task, and that code does not know of the abort. */
static PrioTask *deferred;

static void
defer_and_keep (PrioTask *task, gpointer data)
{
  defer_and_cancel (task, data);
  deferred = g_object_ref (task);
}

static void
return_deferred (GObject *source, GAsyncResult *result, gpointer data)
{
  prio_task_return_int (deferred, 1);
  g_clear_object (&deferred);
}

static void
test_result_after_abort_of_a_dropped_task (Fixture *f, gconstpointer data)
{
  GObject *watched;
  PrioTask *task;

  for (guint i = 0; i < 2; i++)
    {
      task = post (f, defer_and_keep);
      watched = G_OBJECT (task);
      g_object_add_weak_pointer (watched, (gpointer *) &watched);
      /* Returns the result in the task's own callback, or later. */
      if (i == 0)
        prio_task_then (task, return_deferred, NULL, NULL);
      g_object_unref (task);
      fixture_run (f);

      for (guint j = 0; j < 10; j++)
        g_object_unref (post (f, nothing));
      fixture_run (f);
      if (i == 1)
        {
          g_assert_nonnull (watched);
          prio_task_return_int (deferred, 1);
          g_clear_object (&deferred);
        }
      fixture_run (f);
      g_assert_null (watched);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/task/properties", test_properties);
  add_test ("/task/priority-is-the-signals", test_priority_is_the_signals);
  add_test ("/task/result/pointer", test_pointer);
  add_test ("/task/result/value", test_value);
  add_test ("/task/result/async", test_async);
  add_test ("/task/result/source-in-a-nested-loop", test_source_in_a_nested_loop);
  add_test ("/task/result/error", test_error);
  add_test ("/task/callbacks-in-order-then-notify", test_callbacks_in_order_then_notify);
  add_test ("/task/completed", test_completed);
  add_test ("/task/notifies-once-beside-a-nested-loop", test_notifies_once_beside_a_nested_loop);
  add_test ("/task/result-of-a-dropped-scheduler", test_result_of_a_dropped_scheduler);
  add_test ("/task/used-again", test_used_again);
  if (HAS_CHECKS)
    add_test ("/task/bad-input", test_bad_input);
  add_test ("/task/result-after-abort", test_result_after_abort);
  add_test ("/task/result-after-abort-of-a-dropped-task", test_result_after_abort_of_a_dropped_task);

  return g_test_run ();
}
