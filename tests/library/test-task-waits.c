/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-task-waits.c: waits for a task that a cancellable ends */

#include "helpers.h"
#include "tsan-suppressions.h"

/* A wait for a task, and how it has ended. */
typedef struct
{
  Fixture *f;
  PrioTask *task;
  GCancellable *cancellable;
  GCancellable *cancels; /* a cancellable that the callback cancels, or NULL */
  gint n_called;
  gboolean succeeded, got_task;
  GError *error;
} Wait;

static void
wait_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  Wait *wait = data;
  g_autoptr (GObject) same = g_async_result_get_source_object (result);

  g_assert_true (g_main_context_is_owner (wait->f->context));
  g_assert_true (source == G_OBJECT (wait->task) && same == source);
  g_assert_true (prio_task_is_valid (result, wait->task, NULL));
  g_assert_null (wait->error);
  wait->got_task = result == G_ASYNC_RESULT (wait->task);
  /* A task has the data of its first callback. */
  g_assert_true (wait->got_task || g_async_result_get_user_data (result) == data);
  wait->succeeded = prio_task_wait_finish (wait->task, result, &wait->error);
  g_assert_true (wait->succeeded == (wait->error == NULL));
  if (wait->cancels != NULL)
    g_cancellable_cancel (wait->cancels);
  g_atomic_int_inc (&wait->n_called);
}

static void
wait_begin (Wait *wait, Fixture *f, PrioTask *task, GCancellable *cancellable)
{
  *wait = (Wait) { .f = f, .task = task, .cancellable = cancellable };
  prio_task_wait_async (task, cancellable, wait_ended, wait);
  g_assert_cmpint (wait->n_called, ==, 0);
}

static void
assert_cancelled (Wait *wait)
{
  g_assert_cmpint (wait->n_called, ==, 1);
  g_assert_error (wait->error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_false (wait->got_task);
  g_clear_error (&wait->error);
}

static void
assert_succeeded (Wait *wait)
{
  g_assert_cmpint (wait->n_called, ==, 1);
  g_assert_no_error (wait->error);
  g_assert_true (wait->got_task);
}

/* The cancellable ends the wait, and neither the task nor other waits for it. */
static void
test_cancel (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_task_new (f->scheduler, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Wait first, second, without, again;

  wait_begin (&first, f, task, cancellable);
  wait_begin (&without, f, task, NULL);
  wait_begin (&second, f, task, cancellable);
  fixture_run (f);
  g_assert_cmpint (first.n_called, ==, 0);
  g_cancellable_cancel (cancellable);
  g_assert_cmpint (first.n_called, ==, 0);
  fixture_run (f);
  assert_cancelled (&first);
  assert_cancelled (&second);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_RUNNING);

  g_cancellable_reset (cancellable);
  wait_begin (&again, f, task, cancellable);
  prio_task_return_int (task, 3);
  fixture_run (f);
  assert_succeeded (&without);
  assert_succeeded (&again);
  g_assert_cmpint (first.n_called + second.n_called, ==, 2);
  g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, 3);
  g_cancellable_cancel (cancellable);
  fixture_run (f);
  g_assert_cmpint (again.n_called, ==, 1);
}

/* A wait with a cancelled cancellable fails, even if the task has completed. */
static void
test_cancelled_before (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_task_new (f->scheduler, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Wait pending, completed, without;

  g_cancellable_cancel (cancellable);
  wait_begin (&pending, f, task, cancellable);
  fixture_run (f);
  assert_cancelled (&pending);

  prio_task_return_int (task, 1);
  fixture_run (f);
  wait_begin (&without, f, task, NULL);
  wait_begin (&completed, f, task, cancellable);
  fixture_run (f);
  assert_succeeded (&without);
  assert_cancelled (&completed);
}

static gpointer
cancel_elsewhere (gpointer cancellable)
{
  g_cancellable_cancel (cancellable);
  return NULL;
}

static gpointer
wait_elsewhere (gpointer data)
{
  Wait *wait = data;

  prio_task_wait_async (wait->task, wait->cancellable, wait_ended, wait);
  return NULL;
}

/* Other threads wait and cancel, in each order. */
static void
test_other_threads (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_task_new (f->scheduler, NULL);

  for (guint i = 0; i < times (100); i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      Wait here, there = { .f = f, .task = task, .cancellable = cancellable };
      GThread *waits = NULL, *cancels = NULL;

      wait_begin (&here, f, task, cancellable);
      if (i % 3 != 0)
        waits = g_thread_new ("waits", wait_elsewhere, &there);
      if (i % 3 == 1)
        g_thread_join (g_steal_pointer (&waits));
      cancels = g_thread_new ("cancels", cancel_elsewhere, cancellable);
      if (i % 3 == 0)
        g_thread_join (g_thread_new ("waits", wait_elsewhere, &there));
      fixture_run_until (f, &there.n_called, 1);
      fixture_run_until (f, &here.n_called, 1);
      g_thread_join (cancels);
      g_clear_pointer (&waits, g_thread_join);
      assert_cancelled (&here);
      assert_cancelled (&there);
    }
  prio_task_return_int (task, 1);
}

/* A callback cancels another wait for the same task.  Each callback is called once. */
static void
test_cancel_in_callback (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTask) task = prio_task_new (f->scheduler, NULL);
      g_autoptr (GCancellable) first = g_cancellable_new (), second = g_cancellable_new ();
      Wait one, two, own;

      wait_begin (&one, f, task, first);
      wait_begin (&two, f, task, second);
      wait_begin (&own, f, task, second);
      one.cancels = second;
      own.cancels = second;
      if (i == 0)
        g_cancellable_cancel (first);
      else
        prio_task_return_int (task, 1);
      fixture_run (f);
      g_assert_cmpint (one.n_called, ==, 1);
      if (i == 0)
        {
          assert_cancelled (&one);
          assert_cancelled (&two);
          assert_cancelled (&own);
          prio_task_return_int (task, 1);
        }
      else
        {
          assert_succeeded (&one);
          assert_succeeded (&two);
          assert_succeeded (&own);
        }
      fixture_run (f);
      g_assert_cmpint (one.n_called + two.n_called + own.n_called, ==, 3);
    }
}

/* The task completes and the cancellable is cancelled before either is reported.  A completion that came first counts;
 * otherwise one of the two is reported. */
static void
test_same_iteration (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTask) task = prio_task_new (f->scheduler, NULL);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      Wait wait;

      wait_begin (&wait, f, task, cancellable);
      if (i == 0)
        prio_task_return_int (task, 1);
      g_cancellable_cancel (cancellable);
      if (i == 1)
        prio_task_return_int (task, 1);
      fixture_run (f);
      if (i == 0 || wait.got_task)
        assert_succeeded (&wait);
      else
        assert_cancelled (&wait);
    }
}

/* Many waits end with one cancellable, or each with its own, the last one first. */
static void
test_many (Fixture *f, gconstpointer data)
{
  guint n = times (100000);
  g_autofree Wait *waits = g_new (Wait, n);
  g_autoptr (PrioTask) task = prio_task_new (f->scheduler, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < n; i++)
    wait_begin (&waits[i], f, task, cancellable);
  g_cancellable_cancel (cancellable);
  fixture_run (f);
  for (guint i = 0; i < n; i++)
    assert_cancelled (&waits[i]);

  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (own, g_cancellable_new ());
      wait_begin (&waits[i], f, task, own->pdata[i]);
    }
  for (guint i = n; i-- > n / 2;)
    g_cancellable_cancel (own->pdata[i]);
  fixture_run (f);
  prio_task_return_int (task, 1);
  fixture_run (f);
  for (guint i = 0; i < n / 2; i++)
    assert_succeeded (&waits[i]);
  for (guint i = n / 2; i < n; i++)
    assert_cancelled (&waits[i]);
}

/* After the end of the context, no callback is called, whatever else happens. */
static void
test_context_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .delay = 50000 }, step_run_task, NULL, NULL);
  g_autoptr (PrioTask) completed = prio_task_new (f->scheduler, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new (), cancelled = g_cancellable_new ();
  Wait waits[6];

  prio_task_return_int (completed, 1);
  g_cancellable_cancel (cancelled);
  wait_begin (&waits[0], f, task, cancellable);
  wait_begin (&waits[1], f, completed, cancellable);
  wait_begin (&waits[2], f, task, cancelled);
  wait_begin (&waits[3], f, completed, cancelled);
  fixture_drop_context (f);
  wait_begin (&waits[4], f, task, cancellable);
  g_cancellable_cancel (cancellable);
  wait_begin (&waits[5], f, task, cancellable);
  for (guint i = 0; i < G_N_ELEMENTS (waits); i++)
    g_assert_cmpint (waits[i].n_called, ==, 0);
  g_assert_error (prio_task_get_error (task), PRIO_ERROR, PRIO_ERROR_CLOSED);
}

/* Runs the main loop, and asserts that the wait has reported the abort of @task. */
static void
run_and_assert_aborted (Fixture *f, Wait *wait, PrioTask *task, gint code)
{
  fixture_run (f);
  g_assert_cmpint (wait->n_called, ==, 1);
  g_assert_true (wait->got_task);
  g_assert_error (wait->error, G_IO_ERROR, code);
  g_clear_error (&wait->error);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
}

/* The signal of the task ends the wait, too.  The wait reports the abort of the task, as one without a cancellable. */
static void
test_own_signal (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "a reason");
      PrioTaskOptions options = { .signal = signal_of (controller), .delay = i == 0 ? 0 : 50000 };
      g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, &options, step_run_task, NULL, NULL);
      Wait wait;

      wait_begin (&wait, f, task, cancellable_of (controller));
      prio_task_controller_abort (controller, reason);
      run_and_assert_aborted (f, &wait, task, G_IO_ERROR_BUSY);
    }
}

/* The cancellable of a task from prio_task_new () ends the wait, too.  The wait reports the abort of the task. */
static void
test_own_cancellable (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      g_autoptr (GCancellable) plain = g_cancellable_new ();
      GCancellable *cancellable = i == 0 ? plain : cancellable_of (controller);
      g_autoptr (PrioTask) task = prio_task_new (f->scheduler, &PRIO_TASK_OPTIONS (.cancellable = cancellable));
      Wait wait;

      wait_begin (&wait, f, task, cancellable);
      g_cancellable_cancel (cancellable);
      run_and_assert_aborted (f, &wait, task, G_IO_ERROR_CANCELLED);
    }
}

/* An abort with a reason ends a wait with this reason, also if the abort came before the wait. */
static void
test_reason (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "a reason");
  g_autoptr (PrioTask) task = prio_task_new (f->scheduler, NULL);
  Wait before, after;

  wait_begin (&before, f, task, cancellable_of (controller));
  prio_task_controller_abort (controller, reason);
  wait_begin (&after, f, task, cancellable_of (controller));
  fixture_run (f);
  g_assert_error (before.error, G_IO_ERROR, G_IO_ERROR_BUSY);
  g_assert_error (after.error, G_IO_ERROR, G_IO_ERROR_BUSY);
  g_clear_error (&before.error);
  g_clear_error (&after.error);
  prio_task_return_int (task, 1);
}

/* A wait does not keep the task alive: if the last reference is dropped, the task fails. */
static void
test_dropped_task (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  PrioTask *task = prio_task_new (f->scheduler, NULL);
  Wait wait;

  wait_begin (&wait, f, task, cancellable);
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "*the last reference to it has been dropped*");
  g_object_unref (task);
  fixture_run (f);
  g_test_assert_expected_messages ();
  g_assert_cmpint (wait.n_called, ==, 1);
  g_assert_error (wait.error, PRIO_ERROR, PRIO_ERROR_DROPPED);
  g_clear_error (&wait.error);
}

/* A program's asynchronous function, whose cancellable ends the wait, but not the work. */
static void
thing_use_async (GObject *thing, PrioTask **made, Fixture *f, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  *made = prio_task_new (f->scheduler, &PRIO_TASK_OPTIONS (.source_object = thing, .source_tag = thing_use_async));
  prio_task_wait_async (*made, cancellable, callback, user_data);
}

static void
thing_used (GObject *thing, GAsyncResult *result, gpointer data)
{
  GError **error = data;

  g_assert_true (prio_task_is_valid (result, thing, thing_use_async));
  g_assert_true (g_async_result_is_tagged (result, thing_use_async));
  g_assert_cmpint (prio_task_propagate_int (PRIO_TASK (result), error), ==, *error != NULL ? -1 : 5);
}

static void
test_own_function (Fixture *f, gconstpointer data)
{
  g_autoptr (GObject) thing = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (PrioTask) first = NULL;
  g_autoptr (PrioTask) second = NULL;

  thing_use_async (thing, &first, f, cancellable, thing_used, &error);
  prio_task_return_int (first, 5);
  fixture_run (f);
  g_assert_no_error (error);

  thing_use_async (thing, &second, f, cancellable, thing_used, &error);
  g_cancellable_cancel (cancellable);
  fixture_run (f);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  prio_task_return_int (second, 5);
}

/* The result of a cancelled wait finishes only waits for the same task.  A wait without a callback does nothing. */
static void
keep_result (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static void
test_result (Fixture *f, gconstpointer data)
{
  PrioTask *task = prio_task_new (f->scheduler, NULL);
  g_autoptr (PrioTask) other = prio_task_new (f->scheduler, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GObject) source = NULL;

  prio_task_wait_async (task, cancellable, keep_result, &result);
  prio_task_wait_async (task, cancellable, NULL, NULL);
  g_cancellable_cancel (cancellable);
  fixture_run (f);
  g_assert_nonnull (result);
  if (HAS_CHECKS)
    assert_told ("*assertion*failed*", prio_task_wait_finish (other, result, NULL));
  prio_task_return_int (task, 1);
  prio_task_return_int (other, 1);
  fixture_run (f);
  g_object_unref (task);
  source = g_async_result_get_source_object (result);
  g_assert_true (source == G_OBJECT (task));
  g_assert_true (g_async_result_get_user_data (result) == &result);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/task/waits/cancel", test_cancel);
  add_test ("/task/waits/cancelled-before", test_cancelled_before);
  add_test ("/task/waits/other-threads", test_other_threads);
  add_test ("/task/waits/cancel-in-callback", test_cancel_in_callback);
  add_test ("/task/waits/same-iteration", test_same_iteration);
  add_test ("/task/waits/many", test_many);
  add_test ("/task/waits/context-goes", test_context_goes);
  add_test ("/task/waits/own-signal", test_own_signal);
  add_test ("/task/waits/own-cancellable", test_own_cancellable);
  add_test ("/task/waits/reason", test_reason);
  add_test ("/task/waits/dropped-task", test_dropped_task);
  add_test ("/task/waits/own-function", test_own_function);
  add_test ("/task/waits/result", test_result);

  return g_test_run ();
}
