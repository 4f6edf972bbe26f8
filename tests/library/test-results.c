/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-results.c: types of results, and messages for misuse */

#include "helpers.h"
#include "tsan-suppressions.h"

static guint n_destroyed;

static void
destroy (gpointer data)
{
  n_destroyed++;
}

static PrioTask *
post_with (Fixture *f, PrioTaskFunc func, gpointer data, gpointer signal)
{
  return prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .cancellable = signal, .name = "a name" }, func,
                                   data, NULL);
}

static PrioTask *
post (Fixture *f, PrioTaskFunc func)
{
  return post_with (f, func, f, NULL);
}

static void
return_nothing (PrioTask *task, gpointer data)
{
}

static void
return_pointer (PrioTask *task, gpointer data)
{
  prio_task_return_pointer (task, data, destroy);
}

static void
return_boolean (PrioTask *task, gpointer data)
{
  prio_task_return_boolean (task, TRUE);
}

static void
return_int (PrioTask *task, gpointer data)
{
  prio_task_return_int (task, 42);
}

static void
return_value (PrioTask *task, gpointer data)
{
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_set_static_string (&value, "text");
  prio_task_return_value (task, &value);
}

/* A request for another type logs a critical, and the result stays. */
static void
test_of_another_type (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) pointer = post (f, return_pointer);
  g_autoptr (PrioTask) boolean = post (f, return_boolean);
  g_autoptr (PrioTask) number = post (f, return_int);
  g_autoptr (PrioTask) value = post (f, return_value);
  g_autoptr (GError) error = NULL;
  g_auto (GValue) text = G_VALUE_INIT;

  n_destroyed = 0;
  fixture_run (f);

  assert_told ("prio_task_propagate_int: task 'a name' has a pointer*not an int*",
               g_assert_cmpint (prio_task_propagate_int (pointer, &error), ==, -1));
  assert_told ("prio_task_propagate_boolean: task 'a name' has a pointer*not a boolean*",
               g_assert_false (prio_task_propagate_boolean (pointer, &error)));
  assert_told ("prio_task_propagate_pointer: task 'a name' has a boolean*not a pointer*",
               g_assert_null (prio_task_propagate_pointer (boolean, &error)));
  assert_told ("prio_task_propagate_pointer: task 'a name' has an int*not a pointer*",
               g_assert_null (prio_task_propagate_pointer (number, &error)));
  assert_told ("prio_task_propagate_boolean: task 'a name' has an int*not a boolean*",
               g_assert_false (prio_task_propagate_boolean (number, &error)));
  assert_told ("prio_task_propagate_pointer: task 'a name' has a GValue*not a pointer*",
               g_assert_null (prio_task_propagate_pointer (value, &error)));
  g_assert_no_error (error);

  g_assert_true (prio_task_propagate_pointer (pointer, &error) == f);
  g_assert_true (prio_task_propagate_boolean (boolean, &error));
  g_assert_cmpint (prio_task_propagate_int (number, &error), ==, 42);
  g_assert_true (prio_task_propagate_value (value, &text, &error));
  g_assert_cmpstr (g_value_get_string (&text), ==, "text");
  g_assert_cmpuint (n_destroyed, ==, 0);
}

/* Any result can be taken as a value of its natural type. */
static void
test_as_a_value (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) pointer = post (f, return_pointer);
  g_autoptr (PrioTask) boolean = post (f, return_boolean);
  g_autoptr (PrioTask) number = post (f, return_int);
  g_auto (GValue) of_pointer = G_VALUE_INIT;
  g_auto (GValue) of_boolean = G_VALUE_INIT;
  g_auto (GValue) of_number = G_VALUE_INIT;
  g_auto (GValue) again = G_VALUE_INIT;

  n_destroyed = 0;
  fixture_run (f);

  g_assert_true (prio_task_propagate_value (boolean, &of_boolean, NULL));
  g_assert_true (G_VALUE_HOLDS_BOOLEAN (&of_boolean) && g_value_get_boolean (&of_boolean));
  g_assert_true (prio_task_propagate_value (number, &of_number, NULL));
  g_assert_true (G_VALUE_HOLDS_INT64 (&of_number) && g_value_get_int64 (&of_number) == 42);

  /* The caller owns a pointer that it gets. */
  g_assert_true (prio_task_propagate_value (pointer, &of_pointer, NULL));
  g_assert_true (G_VALUE_HOLDS_POINTER (&of_pointer) && g_value_get_pointer (&of_pointer) == f);
  assert_told ("prio_task_propagate_value: task 'a name' has no result any more*",
               g_assert_false (prio_task_propagate_value (pointer, &again, NULL)));
  g_assert_false (G_IS_VALUE (&again));
  g_clear_object (&pointer);
  g_assert_cmpuint (n_destroyed, ==, 0);
}

static void
test_of_no_value (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, return_nothing);
  g_autoptr (GError) error = NULL;
  g_auto (GValue) value = G_VALUE_INIT;

  fixture_run (f);
  g_assert_null (prio_task_propagate_pointer (task, &error));
  g_assert_true (prio_task_propagate_value (task, &value, &error));
  g_assert_false (G_IS_VALUE (&value));
  assert_told ("prio_task_propagate_boolean: task 'a name' has no value*",
               g_assert_false (prio_task_propagate_boolean (task, &error)));
  assert_told ("prio_task_propagate_int: task 'a name' has no value*",
               g_assert_cmpint (prio_task_propagate_int (task, &error), ==, -1));
  g_assert_no_error (error);
}

static void
got_value (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_true (prio_task_wait_finish (PRIO_TASK (source), result, NULL));
  g_assert_cmpint (prio_task_propagate_int (PRIO_TASK (source), NULL), ==, 42);
  ++*(guint *) data;
}

/* Does not take the pointer, so it is destroyed. */
static void
got_to_know (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_true (prio_task_wait_finish (PRIO_TASK (source), result, NULL));
  ++*(guint *) data;
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_true (prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, NULL));
  ++*(guint *) data;
}

/* The end of a wait leaves a result of any type in the task. */
static void
test_finish (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) number = post (f, return_int);
  PrioTask *pointer = post (f, return_pointer);
  guint n_called = 0;

  n_destroyed = 0;
  prio_task_wait_async (number, NULL, got_value, &n_called);
  prio_task_wait_async (pointer, NULL, got_to_know, &n_called);
  g_object_unref (pointer);
  prio_scheduler_yield_async (f->scheduler, NULL, yielded, &n_called);
  fixture_run (f);
  g_assert_cmpuint (n_called, ==, 3);
  g_assert_cmpuint (n_destroyed, ==, 1);
}

/* A value that is already set would lose its content, and the task's pointer. */
static void
test_into_a_set_value (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, return_pointer);
  g_auto (GValue) set = G_VALUE_INIT;

  g_value_init (&set, G_TYPE_INT);
  fixture_run (f);
  assert_told ("prio_task_propagate_value: task 'a name' keeps its result*unset*gint",
               g_assert_false (prio_task_propagate_value (task, &set, NULL)));
  g_assert_true (prio_task_propagate_pointer (task, NULL) == f);
}

static void
return_twice (PrioTask *task, gpointer data)
{
  prio_task_return_boolean (task, TRUE);
  assert_told ("prio_task_return_pointer: *second result*", prio_task_return_pointer (task, data, destroy));
  g_assert_cmpuint (n_destroyed, ==, 1);
  g_assert_false (prio_task_return_error_if_aborted (task));
}

/* A pointer that is refused as a result is destroyed. */
static void
test_refused_is_destroyed (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task G_GNUC_UNUSED = post (f, return_twice);

  n_destroyed = 0;
  fixture_run (f);
  g_assert_cmpuint (n_destroyed, ==, 1);
}

/* The caller of an _async function may pass no callback. */
static void
test_no_callback (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, return_int);
  gint result = 0;

  n_destroyed = 0;
  prio_task_then (task, NULL, NULL, destroy);
  g_assert_cmpuint (n_destroyed, ==, 1);
  prio_task_then (task, NULL, NULL, NULL);
  g_object_unref (prio_scheduler_post_task (f->scheduler, NULL, return_pointer, &result, destroy));
  prio_task_wait_async (task, NULL, NULL, NULL);
  fixture_run (f);
  /* Frees the result, which was not taken, and the data. */
  g_assert_cmpuint (n_destroyed, ==, 3);
  g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, 42);
  assert_told ("prio_scheduler_yield_finish: *result of no yield*",
               g_assert_false (prio_scheduler_yield_finish (f->scheduler, G_ASYNC_RESULT (task), NULL)));
}

static void
misuse_return (PrioTask *task, gpointer data)
{
  prio_task_return_boolean (task, TRUE);
  assert_told ("prio_task_return_int: task 'a name' cannot be given a second result*", prio_task_return_int (task, 1));
  assert_told ("prio_task_defer: task 'a name' has been given its result*", prio_task_defer (task));
}

static void
misuse_defer (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
  assert_told ("prio_task_defer: task 'a name' has deferred its result already*", prio_task_defer (task));
  prio_task_return_boolean (task, TRUE);
}

/* Each message is one sentence, with the name of the task. */
static void
test_misuse (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) returned = post (f, misuse_return);
  g_autoptr (PrioTask) deferred = post (f, misuse_defer);

  assert_told ("prio_task_return_int: task 'a name'*has not begun*", prio_task_return_int (returned, 1));
  assert_told ("prio_task_defer: task 'a name' is not running yet*", prio_task_defer (returned));
  assert_told ("prio_task_propagate_int: task 'a name' has not completed*",
               g_assert_cmpint (prio_task_propagate_int (returned, NULL), ==, -1));
  fixture_run (f);
  g_assert_true (prio_task_propagate_boolean (returned, NULL));
  g_assert_true (prio_task_propagate_boolean (deferred, NULL));
  assert_told ("prio_task_defer: task 'a name' has completed*", prio_task_defer (returned));

  prio_task_set_name (returned, NULL);
  assert_told ("prio_task_propagate_int: an unnamed task (of function *)*a boolean*",
               g_assert_cmpint (prio_task_propagate_int (returned, NULL), ==, -1));
}

typedef struct
{
  PrioTaskController *controller;
  const GError *reason;
  gboolean alone; /* prio_task_cancel () */
  gboolean failed;
} Asking;

static void
ask (PrioTask *task, gpointer data)
{
  Asking *asking = data;

  g_assert_false (prio_task_return_error_if_aborted (task));
  if (asking->alone)
    prio_task_cancel (task);
  else
    prio_task_controller_abort (asking->controller, asking->reason);
  asking->failed = prio_task_return_error_if_aborted (task);
  assert_told ("prio_task_return_int: task 'a name'*second result*", prio_task_return_int (task, 1));
}

static void
test_return_error_if_aborted (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "a reason");
      Asking asking = { .controller = controller, .reason = reason, .alone = i != 0 };
      g_autoptr (PrioTask) task = post_with (f, ask, &asking, prio_task_controller_get_signal (controller));

      fixture_run (f);
      g_assert_true (asking.failed);
      if (asking.alone)
        g_assert_error (prio_task_get_error (task), G_IO_ERROR, G_IO_ERROR_CANCELLED);
      else
        g_assert_error (prio_task_get_error (task), G_IO_ERROR, G_IO_ERROR_BUSY);
    }
}

/* How a task calls return_error_if_aborted () after a result, or twice. */
typedef struct
{
  PrioTaskController *controller; /* NULL to cancel only the task */
  gboolean by_hand, gives_before, gives_between;
  guint n_told;
  gboolean has_returned;
} Twice;

/* Records, as a destroy notify, that the function has returned, perhaps in a thread. */
static void
note_return (gpointer data)
{
  ((Twice *) data)->has_returned = TRUE;
}

static void
end_it (PrioTask *task, const Twice *twice)
{
  if (twice->by_hand)
    g_cancellable_cancel (prio_task_get_cancellable (task));
  else if (twice->controller != NULL)
    prio_task_controller_abort (twice->controller, NULL);
  else
    prio_task_cancel (task);
}

static void
ask_twice (PrioTask *task, gpointer data)
{
  Twice *twice = data;

  if (twice->gives_before)
    prio_task_return_int (task, 1);
  end_it (task, twice);
  if (twice->gives_between)
    prio_task_return_int (task, 1);
  for (guint i = 0; i < 2; i++)
    twice->n_told += prio_task_return_error_if_aborted (task) ? 1 : 0;
}

static void
ask_twice_in_thread (PrioTask *task, gpointer data)
{
  Twice *twice = data;

  g_cancellable_cancel (prio_task_get_cancellable (task));
  for (guint i = 0; i < 2; i++)
    twice->n_told += prio_task_return_error_if_aborted (task) ? 1 : 0;
}

static void
check_told_twice (Fixture *f, PrioTask *task, Twice *twice)
{
  while (!twice->has_returned)
    g_main_context_iteration (f->context, TRUE);
  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpuint (twice->n_told, ==, 2);
}

/* A result after the abort is released, and return_error_if_aborted () returns TRUE. */
static void
test_asked_after_the_abort (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 9; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      Twice twice = { i / 3 > 0 ? controller : NULL, i / 3 > 1, i % 3 == 1, i % 3 == 2, 0, FALSE };
      g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler,
                                                            &(PrioTaskOptions) { .signal = signal_of (controller) },
                                                            ask_twice, &twice, note_return);

      check_told_twice (f, task, &twice);
    }
}

static void
test_asked_in_a_thread (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) signal = g_cancellable_new ();
  Twice twice = { 0 };
  g_autoptr (PrioTask) task = prio_scheduler_run_in_thread (f->scheduler, &(PrioTaskOptions) { .cancellable = signal },
                                                            ask_twice_in_thread, &twice, note_return);

  check_told_twice (f, task, &twice);
}

/* A task without a function ends at once.  Once it is fulfilled, an abort does not end it. */
static void
test_asked_without_a_function (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  PrioTaskOptions options = { .signal = signal_of (controller) };
  g_autoptr (PrioTask) aborted = prio_task_new (f->scheduler, NULL), fulfilled = prio_task_new (f->scheduler, &options);

  prio_task_cancel (aborted);
  prio_task_return_int (aborted, 1);
  g_assert_true (prio_task_return_error_if_aborted (aborted));
  prio_task_return_int (fulfilled, 1);
  prio_task_cancel (fulfilled);
  g_assert_false (prio_task_return_error_if_aborted (fulfilled));
  prio_task_controller_abort (controller, NULL);
  assert_told ("prio_task_return_error_if_aborted: *second result*",
               g_assert_false (prio_task_return_error_if_aborted (fulfilled)));
}

static void
log_notified (GObject *object, GParamSpec *pspec, gpointer data)
{
  Fixture *f = data;

  g_string_append_printf (f->log, "%s:", pspec->name);
  if (g_str_equal (pspec->name, "state"))
    g_string_append_printf (f->log, "%d", prio_task_get_state (PRIO_TASK (object)));
  g_string_append_c (f->log, ' ');
}

static void
log_run (PrioTask *task, gpointer data)
{
  g_string_append (((Fixture *) data)->log, "run ");
}

/* A task also notifies its start, and its completion twice: as a state, and as the property completed. */
static void
test_state_is_notified (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, log_run);

  g_signal_connect (task, "notify", G_CALLBACK (log_notified), f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "state:1 run state:2 completed: ");
}

static gpointer
set_names (gpointer task)
{
  for (guint i = 0; i < 1000; i++)
    prio_task_set_name (task, i % 2 == 0 ? "even" : "odd");
  return NULL;
}

static void
test_name (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post (f, return_nothing);
  g_autofree char *another = NULL;
  GThread *thread;

  g_signal_connect (task, "notify::name", G_CALLBACK (log_notified), f);
  prio_task_set_name (task, "another");
  prio_task_set_name (task, "another");
  another = prio_task_dup_name (task);
  g_object_set (task, "name", NULL, NULL);
  g_assert_cmpstr (another, ==, "another");
  g_assert_null (prio_task_dup_name (task));
  g_assert_cmpstr (f->log->str, ==, "name: name: ");

  g_signal_handlers_disconnect_by_data (task, f);
  thread = g_thread_new ("names", set_names, task);
  for (guint i = 0; i < 1000; i++)
    {
      g_autofree char *name = prio_task_dup_name (task);

      g_assert_true (name == NULL || g_str_equal (name, "even") || g_str_equal (name, "odd"));
    }
  g_thread_join (thread);
  fixture_run (f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/results/of-another-type", test_of_another_type);
  add_test ("/results/as-a-value", test_as_a_value);
  add_test ("/results/of-no-value", test_of_no_value);
  add_test ("/results/into-a-set-value", test_into_a_set_value);
  add_test ("/results/refused-is-destroyed", test_refused_is_destroyed);
  add_test ("/results/no-callback", test_no_callback);
  add_test ("/results/finish", test_finish);
  add_test ("/results/misuse", test_misuse);
  add_test ("/results/return-error-if-aborted", test_return_error_if_aborted);
  add_test ("/results/asked-after-the-abort", test_asked_after_the_abort);
  add_test ("/results/asked-in-a-thread", test_asked_in_a_thread);
  add_test ("/results/asked-without-a-function", test_asked_without_a_function);
  add_test ("/results/state-is-notified", test_state_is_notified);
  add_test ("/results/name", test_name);

  return g_test_run ();
}
