/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-async.c: a task as the result of a program's own _async function */

#include "helpers.h"

static void
return_true (PrioTask *task, gpointer data)
{
  prio_task_return_boolean (task, TRUE);
}

/* The function under test, on any object. */
static void
thing_do_async (GObject *thing, PrioScheduler *scheduler, GAsyncReadyCallback callback, gpointer user_data)
{
  PrioTaskOptions options = { .source_object = thing, .source_tag = thing_do_async };
  g_autoptr (PrioTask) task = prio_scheduler_post_task (scheduler, &options, return_true, NULL, NULL);

  prio_task_wait_async (task, NULL, callback, user_data);
}

static gboolean
thing_do_finish (GObject *thing, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (prio_task_is_valid (result, thing, thing_do_async), FALSE);

  return prio_task_propagate_boolean (PRIO_TASK (result), error);
}

typedef struct
{
  GObject *thing;
  GAsyncResult *result;
} Heard;

static void
heard_of (GObject *source, GAsyncResult *result, gpointer data)
{
  Heard *heard = data;
  g_autoptr (GObject) same_source = g_async_result_get_source_object (result);
  g_autoptr (GError) error = NULL;

  g_assert_true (source == heard->thing && same_source == source);
  g_assert_true (g_async_result_get_user_data (result) == data);
  g_assert_true (g_async_result_is_tagged (result, thing_do_async));
  g_assert_false (g_async_result_is_tagged (result, NULL));
  g_assert_true (thing_do_finish (source, result, &error));
  g_assert_no_error (error);
  heard->result = g_object_ref (result);
}

static void
test_own_function (Fixture *f, gconstpointer data)
{
  Heard heard = { .thing = g_object_new (G_TYPE_OBJECT, NULL) };
  GObject *thing = heard.thing;

  /* The task holds the object until the task is freed. */
  thing_do_async (thing, f->scheduler, heard_of, &heard);
  g_object_add_weak_pointer (thing, (gpointer *) &thing);
  g_object_unref (thing);
  fixture_run (f);
  g_assert_nonnull (heard.result);
  g_assert_nonnull (thing);
  g_assert_true (g_async_result_get_user_data (heard.result) == &heard);
  g_object_unref (heard.result);
  g_assert_null (thing);
}

static void
heard_by_wait (GObject *source, GAsyncResult *result, gpointer data)
{
  Heard *heard = data;

  g_assert_true (source == heard->thing && prio_task_is_valid (result, source, thing_do_async));
  g_assert_true (g_async_result_get_user_data (result) == data);
  heard->result = result;
}

/* A task without references is reused, and its source object is released. */
static void
test_used_again (Fixture *f, gconstpointer data)
{
  Heard heard = { .thing = g_object_new (G_TYPE_OBJECT, NULL) };
  GObject *thing = heard.thing;
  g_autoptr (PrioTask) another = NULL;

  thing_do_async (thing, f->scheduler, heard_by_wait, &heard);
  g_object_add_weak_pointer (thing, (gpointer *) &thing);
  g_object_unref (thing);
  fixture_run (f);
  g_assert_nonnull (heard.result);
  g_assert_null (thing);

  another = prio_scheduler_post_task (f->scheduler, NULL, return_true, NULL, NULL);
  g_assert_false (g_async_result_is_tagged (G_ASYNC_RESULT (another), thing_do_async));
  g_assert_null (g_async_result_get_user_data (G_ASYNC_RESULT (another)));
  g_assert_true (prio_task_is_valid (another, another, NULL));
}

static void
test_valid (Fixture *f, gconstpointer data)
{
  g_autoptr (GObject) thing = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (PrioTask) of_thing = NULL;
  g_autoptr (PrioTask) of_itself = NULL;
  g_autoptr (PrioTask) tagged = NULL;
  g_autoptr (GTask) foreign = g_task_new (thing, NULL, NULL, NULL);

  of_thing = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .source_object = thing }, return_true, NULL, NULL);
  of_itself = prio_scheduler_post_task (f->scheduler, NULL, return_true, NULL, NULL);
  tagged = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .source_tag = test_valid }, return_true, NULL, NULL);

  g_assert_true (prio_task_is_valid (of_thing, thing, NULL));
  g_assert_false (prio_task_is_valid (of_thing, thing, test_valid));
  g_assert_false (prio_task_is_valid (of_thing, f->scheduler, NULL));
  g_assert_false (prio_task_is_valid (of_thing, NULL, NULL));
  g_assert_true (prio_task_is_valid (of_itself, of_itself, NULL));
  g_assert_false (prio_task_is_valid (of_itself, thing, NULL));
  g_assert_false (prio_task_is_valid (of_itself, f->scheduler, NULL));
  g_assert_true (prio_task_is_valid (tagged, tagged, test_valid));
  g_assert_false (prio_task_is_valid (tagged, tagged, test_used_again));
  g_assert_false (prio_task_is_valid (foreign, thing, NULL));
  g_assert_false (prio_task_is_valid (NULL, thing, NULL));

  fixture_run (f);
  g_clear_object (&f->scheduler);
  fixture_run (f);
  g_assert_true (prio_task_is_valid (of_itself, of_itself, NULL));
  g_assert_true (prio_task_is_valid (of_thing, thing, NULL));
}

static void
append_own_data (GObject *source, GAsyncResult *result, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  g_string_append_c (step->f->log, ((Step *) g_async_result_get_user_data (result))->letter);
}

/* The result has the data of the first callback, whenever later ones are added. */
static void
test_data_of_the_first_callback (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, NULL, return_true, NULL, NULL);
  Step steps[] = { { f, 'a' }, { f, 'b' }, { f, 'c' } };

  g_assert_null (g_async_result_get_user_data (G_ASYNC_RESULT (task)));
  prio_task_wait_async (task, NULL, append_own_data, &steps[0]);
  prio_task_wait_async (task, NULL, append_own_data, &steps[1]);
  fixture_run (f);
  prio_task_wait_async (task, NULL, append_own_data, &steps[2]);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "aabaca");
}

static void
note_end (GObject *source, GAsyncResult *result, gpointer data)
{
  Step *step = data;
  g_autoptr (GError) error = NULL;

  g_assert_true (source == G_OBJECT (result));
  if (prio_task_wait_finish (PRIO_TASK (source), result, &error))
    g_string_append_c (step->f->log, step->letter);
  else
    g_string_append_c (step->f->log, g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY) ? '-' : '!');
}

/* Several callbacks wait for one task, before and after the task has ended: each is called, but not within the call
 * that registers it. */
static void
test_several_waits (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, NULL, return_true, NULL, NULL);
  Step steps[] = { { f, 'a' }, { f, 'b' }, { f, 'c' }, { f, 'd' } };

  prio_task_wait_async (task, NULL, note_end, &steps[0]);
  prio_task_wait_async (task, NULL, note_end, &steps[1]);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
  prio_task_wait_async (task, NULL, note_end, &steps[2]);
  prio_task_wait_async (task, NULL, note_end, &steps[3]);
  g_assert_cmpstr (f->log->str, ==, "ab");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abcd");
  g_assert_true (prio_task_propagate_boolean (task, NULL));
}

static gpointer
wait_elsewhere (gpointer data)
{
  Step *step = data;

  prio_task_wait_async (step->data, NULL, note_end, step);
  return NULL;
}

/* Another thread waits for a queued task, and for an ended one. */
static void
test_wait_from_another_thread (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, NULL, return_true, NULL, NULL);
  Step step = { f, 'a', NULL, task };

  g_assert_true (g_main_context_acquire (f->context));
  for (guint i = 0; i < 2; i++)
    {
      g_thread_join (g_thread_new ("wait", wait_elsewhere, &step));
      g_assert_cmpuint (f->log->len, ==, i);
      fixture_run (f);
      g_assert_cmpuint (f->log->len, ==, i + 1);
    }
  g_main_context_release (f->context);
}

/* An abort ends the wait with its reason, also if it comes from another thread or before the post. */
static void
test_wait_for_what_is_aborted (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "a reason");
  PrioTaskOptions options = { .signal = signal_of (controller) };
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, &options, return_true, NULL, NULL);
  g_autoptr (PrioTask) late = NULL;
  Step step = { f, 'a' };

  prio_task_wait_async (task, NULL, note_end, &step);
  prio_task_controller_abort (controller, reason);
  g_assert_cmpstr (f->log->str, ==, "");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "-");
  late = prio_scheduler_post_task (f->scheduler, &options, return_true, NULL, NULL);
  prio_task_wait_async (late, NULL, note_end, &step);
  g_assert_cmpstr (f->log->str, ==, "-");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "--");
}

static void
drop_last (GObject *source, GAsyncResult *result, gpointer data)
{
  PrioTask **task = data;

  g_assert_true (G_OBJECT (*task) == source);
  g_object_unref (g_steal_pointer (task));
  g_assert_true (prio_task_propagate_boolean (PRIO_TASK (result), NULL));
}

/* The task lives until the callback has returned. */
static void
test_callback_drops_the_task (Fixture *f, gconstpointer data)
{
  PrioTask *task = prio_scheduler_post_task (f->scheduler, NULL, return_true, NULL, NULL);

  prio_task_wait_async (task, NULL, drop_last, &task);
  fixture_run (f);
  g_assert_null (task);

  task = prio_scheduler_post_task (f->scheduler, NULL, return_true, NULL, NULL);
  fixture_run (f);
  prio_task_wait_async (task, NULL, drop_last, &task);
  fixture_run (f);
  g_assert_null (task);
}

static void
look_at_state (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();

  g_assert_true (state != NULL && prio_scheduling_state_get_cancellable (state) == data);
  g_assert_cmpint (prio_scheduling_state_get_priority (state), ==, BACKGROUND);
  g_object_set_data (G_OBJECT (data), "seen", data);
}

static void
wait_in_task (PrioTask *task, gpointer other)
{
  prio_task_wait_async (other, NULL, look_at_state, prio_task_get_cancellable (task));
}

/* The callback continues in the state of the waiting task, whether the other one has ended or not. */
static void
test_wait_keeps_the_state (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) other = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .delay = 1 }, return_true, NULL, NULL);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
      GCancellable *signal = cancellable_of (controller);

      g_object_unref (prio_scheduler_post_task (f->scheduler,
                                                &(PrioTaskOptions) { .cancellable = signal,
                                                                     .priority = BACKGROUND }, wait_in_task,
                                                other, NULL));
      while (g_object_get_data (G_OBJECT (signal), "seen") == NULL)
        g_main_context_iteration (f->context, TRUE);
    }
}

G_GNUC_NORETURN static void
not_called (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_not_reached ();
}

/* The context is destroyed first: no callback is called. */
static void
test_wait_in_a_context_that_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, NULL, return_true, NULL, NULL);
  g_autoptr (PrioTask) late = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .delay = 5000 }, return_true, NULL, NULL);

  fixture_run (f);
  prio_task_wait_async (task, NULL, not_called, NULL);
  prio_task_wait_async (late, NULL, not_called, NULL);
  fixture_drop_context (f);
  prio_task_wait_async (late, NULL, not_called, NULL);
  g_assert_error (prio_task_get_error (late), PRIO_ERROR, PRIO_ERROR_CLOSED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/task/async/own-function", test_own_function);
  add_test ("/task/async/used-again", test_used_again);
  add_test ("/task/async/valid", test_valid);
  add_test ("/task/async/data-of-the-first-callback", test_data_of_the_first_callback);
  add_test ("/task/async/several-waits", test_several_waits);
  add_test ("/task/async/wait-from-another-thread", test_wait_from_another_thread);
  add_test ("/task/async/wait-for-what-is-aborted", test_wait_for_what_is_aborted);
  add_test ("/task/async/callback-drops-the-task", test_callback_drops_the_task);
  add_test ("/task/async/wait-keeps-the-state", test_wait_keeps_the_state);
  add_test ("/task/async/wait-in-a-context-that-goes", test_wait_in_a_context_that_goes);

  return g_test_run ();
}
