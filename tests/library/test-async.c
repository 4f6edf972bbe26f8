/* test-async.c: a task as the result of a program's own _async function
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "helpers.h"

static void
return_true (PrioTask *task, gpointer data)
{
  prio_task_return_boolean (task, TRUE);
}

/* The function that the tests are about: of any object. */
static void
thing_do_async (GObject *thing, PrioScheduler *scheduler, GAsyncReadyCallback callback, gpointer user_data)
{
  PrioTaskOptions options = { .source_object = thing, .source_tag = thing_do_async };
  g_autoptr (PrioTask) task = prio_scheduler_post_task (scheduler, &options, return_true, NULL, NULL);

  prio_task_wait_async (task, callback, user_data);
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

  /* The task holds the object as long as there is the task. */
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

/* Nobody holds the task: it is used again, and the object is let go. */
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

/* The data of the result is that of the first callback, whenever the others come. */
static void
test_data_of_the_first_callback (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, NULL, return_true, NULL, NULL);
  Step steps[] = { { f, 'a' }, { f, 'b' }, { f, 'c' } };

  g_assert_null (g_async_result_get_user_data (G_ASYNC_RESULT (task)));
  prio_task_wait_async (task, append_own_data, &steps[0]);
  prio_task_wait_async (task, append_own_data, &steps[1]);
  fixture_run (f);
  prio_task_wait_async (task, append_own_data, &steps[2]);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "aabaca");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/task/async/own-function", test_own_function);
  add_test ("/task/async/used-again", test_used_again);
  add_test ("/task/async/valid", test_valid);
  add_test ("/task/async/data-of-the-first-callback", test_data_of_the_first_callback);

  return g_test_run ();
}
