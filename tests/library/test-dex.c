/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-dex.c: tasks as futures of libdex, and futures as results of tasks */

#include "dex.h"

static void
return_copy (PrioTask *task, gpointer value)
{
  prio_task_return_value (task, value);
}

static void
return_future (PrioTask *task, gpointer future)
{
  prio_dex_task_return (task, dex_ref (future));
}

static void
return_string_later (PrioTask *task, gpointer promise)
{
  prio_dex_task_return (task, dex_ref (promise));
}

/* Takes @value through a task to a future, and from there through another task. */
static void
check_value (const GValue *value)
{
  g_autoptr (DexFuture) first = prio_dex_post (scheduler, NULL, return_copy, (gpointer) value, NULL);
  g_autoptr (DexFuture) second = prio_dex_post (scheduler, NULL, return_future, first, NULL);
  const GValue *result;

  wait_for (second);
  result = dex_future_get_value (second, NULL);
  g_assert_nonnull (result);
  g_assert_cmpstr (G_VALUE_TYPE_NAME (result), ==, G_VALUE_TYPE_NAME (value));
  if (g_value_fits_pointer (value))
    {
      if (G_VALUE_HOLDS_STRING (value))
        g_assert_cmpstr (g_value_get_string (result), ==, g_value_get_string (value));
      else if (G_VALUE_HOLDS (value, G_TYPE_BYTES))
        g_assert_true (g_bytes_equal (g_value_get_boxed (result), g_value_get_boxed (value)));
      else
        g_assert_true (g_value_peek_pointer (result) == g_value_peek_pointer (value));
    }
  else
    {
      g_autofree char *got = g_strdup_value_contents (result), *wanted = g_strdup_value_contents (value);

      g_assert_cmpstr (got, ==, wanted);
    }
}

#define CHECK_VALUE(type, set, content)   \
  G_STMT_START                            \
  {                                       \
    g_auto (GValue) value = G_VALUE_INIT; \
    g_value_init (&value, type);          \
    set (&value, content);                \
    check_value (&value);                 \
  }                                       \
  G_STMT_END

static void
test_values_of_every_type (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("bytes", 5);
  g_autoptr (GVariant) variant = g_variant_ref_sink (g_variant_new ("(is)", 1, "two"));

  CHECK_VALUE (G_TYPE_BOOLEAN, g_value_set_boolean, FALSE);
  CHECK_VALUE (G_TYPE_CHAR, g_value_set_schar, -7);
  CHECK_VALUE (G_TYPE_UCHAR, g_value_set_uchar, 200);
  CHECK_VALUE (G_TYPE_INT, g_value_set_int, G_MININT);
  CHECK_VALUE (G_TYPE_UINT, g_value_set_uint, G_MAXUINT);
  CHECK_VALUE (G_TYPE_LONG, g_value_set_long, G_MINLONG);
  CHECK_VALUE (G_TYPE_ULONG, g_value_set_ulong, G_MAXULONG);
  CHECK_VALUE (G_TYPE_INT64, g_value_set_int64, G_MININT64);
  CHECK_VALUE (G_TYPE_UINT64, g_value_set_uint64, G_MAXUINT64);
  CHECK_VALUE (G_TYPE_FLOAT, g_value_set_float, 0.5f);
  CHECK_VALUE (G_TYPE_DOUBLE, g_value_set_double, -0.25);
  CHECK_VALUE (PRIO_TYPE_TASK_STATE, g_value_set_enum, PRIO_TASK_STATE_FAILED);
  CHECK_VALUE (PRIO_TYPE_YIELD_FLAGS, g_value_set_flags, PRIO_YIELD_DROP_SIGNAL);
  CHECK_VALUE (G_TYPE_GTYPE, g_value_set_gtype, G_TYPE_OBJECT);
  CHECK_VALUE (G_TYPE_STRING, g_value_set_string, "text");
  CHECK_VALUE (G_TYPE_STRING, g_value_set_string, NULL);
  CHECK_VALUE (G_TYPE_POINTER, g_value_set_pointer, &bytes);
  CHECK_VALUE (G_TYPE_BYTES, g_value_set_boxed, bytes);
  CHECK_VALUE (G_TYPE_VARIANT, g_value_set_variant, variant);
  CHECK_VALUE (PRIO_TYPE_SCHEDULER, g_value_set_object, scheduler);
  CHECK_VALUE (G_TYPE_OBJECT, g_value_set_object, scheduler);
  CHECK_VALUE (G_TYPE_OBJECT, g_value_set_object, NULL);
}

static void
return_by_kind (PrioTask *task, gpointer data)
{
  switch (GPOINTER_TO_INT (data))
    {
    case 'b':
      prio_task_return_boolean (task, FALSE);
      break;

    case 'i':
      prio_task_return_int (task, 42);
      break;

    case 'p':
      prio_task_return_pointer (task, g_strdup ("owned"), g_free);
      break;

    case 'e':
      prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
      break;

    default:
      break;
    }
}

static DexFuture *
post_kind (char kind)
{
  return prio_dex_post (scheduler, NULL, return_by_kind, GINT_TO_POINTER (kind), NULL);
}

static void
test_results_of_every_kind (void)
{
  g_autoptr (DexFuture) none = post_kind ('n'), boolean = post_kind ('b'), number = post_kind ('i'), pointer = post_kind ('p');

  wait_for (pointer);
  g_assert_true (g_value_get_boolean (dex_future_get_value (none, NULL)));
  g_assert_false (g_value_get_boolean (dex_future_get_value (boolean, NULL)));
  g_assert_cmpint (g_value_get_int64 (dex_future_get_value (number, NULL)), ==, 42);
  /* The code that awaits it frees it. */
  g_assert_cmpstr (g_value_get_pointer (dex_future_get_value (pointer, NULL)), ==, "owned");
  g_free (g_value_get_pointer (dex_future_get_value (pointer, NULL)));
}

static void
test_errors_both_ways (void)
{
  g_autoptr (DexFuture) first = post_kind ('e');
  g_autoptr (DexFuture) second = prio_dex_post (scheduler, NULL, return_future, first, NULL);

  wait_for (second);
  assert_rejected (first, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
  assert_rejected (second, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
}

static void
count (PrioTask *task G_GNUC_UNUSED, gpointer data)
{
  ++*(guint *) data;
}

static void
count_release (gpointer data)
{
  ++*(guint *) data;
}

static void
test_discarded_future_aborts_the_task (void)
{
  guint n = 0;
  DexFuture *future = prio_dex_post (scheduler, NULL, count, &n, NULL);

  discard (future);
  settle_down ();
  g_assert_cmpuint (n, ==, 0);

  /* The result may be dropped at once, as with other functions of libdex. */
  dex_unref (prio_dex_post (scheduler, NULL, count, &n, NULL));
  settle_down ();
  g_assert_cmpuint (n, ==, 1);

  future = dex_future_first (prio_dex_post (scheduler, NULL, count, &n, NULL), dex_future_new_for_int (1), NULL);
  g_assert_true (dex_future_is_resolved (future));
  settle_down ();
  g_assert_cmpuint (n, ==, 1);
  dex_unref (future);
}

static void
test_data_is_released_once (void)
{
  guint n = 0;
  DexFuture *future = prio_dex_post (scheduler, NULL, return_by_kind, NULL, NULL);

  wait_for (future);
  dex_unref (future);

  discard (prio_dex_post (scheduler, NULL, count, &n, count_release));
  settle_down ();
  g_assert_cmpuint (n, ==, 1);
}

static void
test_last_who_waits_for_a_task_aborts_it (void)
{
  guint n = 0;
  g_autoptr (PrioTask) task = prio_scheduler_post_task (scheduler, NULL, count, &n, NULL);
  DexFuture *a = waiter (prio_dex_future_new (task)), *b = waiter (prio_dex_future_new (task)), *c;

  dex_unref (a);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_PENDING);
  settle_down ();
  g_assert_cmpuint (n, ==, 1);
  g_assert_true (dex_future_is_resolved (b));
  dex_unref (b);

  /* A future of a completed task works, too. */
  c = prio_dex_future_new (task);
  wait_for (c);
  g_assert_true (dex_future_is_resolved (c));
  dex_unref (c);

  g_clear_object (&task);
  task = prio_scheduler_post_task (scheduler, NULL, count, &n, NULL);
  a = waiter (prio_dex_future_new (task));
  b = waiter (prio_dex_future_new (task));
  dex_unref (a);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_PENDING);
  dex_unref (b);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  a = prio_dex_future_new (task);
  wait_for (a);
  g_assert_true (dex_future_is_rejected (a));
  dex_unref (a);
  g_assert_cmpuint (n, ==, 1);
}

static void
test_abort_rejects_with_the_reason (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "the user went away");
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  guint n = 0;
  g_autoptr (DexFuture) future = prio_dex_post (scheduler, &(PrioTaskOptions) { .cancellable = signal }, count, &n,
                                                NULL);

  prio_task_controller_abort (controller, reason);
  wait_for (future);
  assert_rejected (future, G_IO_ERROR, G_IO_ERROR_BUSY, "the user went away");
  g_assert_cmpuint (n, ==, 0);
}

static void
note_priority (PrioTask *task, gpointer data)
{
  g_string_append_printf (data, "%d", (int) prio_task_get_priority (task));
}

static void
test_priorities (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  PrioTaskOptions all[] = { { .cancellable = signal }, { .priority = PRIO_TASK_PRIORITY_BACKGROUND },
                            { .cancellable = plain },
                            { .cancellable = signal, .priority = PRIO_TASK_PRIORITY_USER_BLOCKING } };

  for (gsize i = 0; i < G_N_ELEMENTS (all); i++)
    dex_future_disown (prio_dex_post (scheduler, &all[i], note_priority, log, NULL));
  g_assert_true (prio_task_controller_set_priority (controller, PRIO_TASK_PRIORITY_USER_VISIBLE, NULL));
  settle_down ();
  g_assert_cmpstr (log->str, ==, "3221");
}

/* An abort of the task's signal discards the future that the task awaits. */
static void
test_waits_under_its_signal (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "the user went away");
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  g_autoptr (DexPromise) promise = dex_promise_new_cancellable ();
  g_autoptr (DexFuture) future = NULL;
  g_autoptr (PrioTask) task =
      prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .cancellable = signal }, return_string_later, promise,
                                NULL);

  settle_down ();
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_RUNNING);
  prio_task_controller_abort (controller, reason);
  settle_down ();
  g_assert_true (g_cancellable_is_cancelled (dex_promise_get_cancellable (promise)));
  g_assert_true (g_error_matches (prio_task_get_error (task), G_IO_ERROR, G_IO_ERROR_BUSY));
  dex_promise_resolve_int (promise, 1);
  settle_down ();

  /* The task is aborted already. */
  g_clear_object (&task);
  g_clear_pointer (&promise, dex_unref);
  promise = dex_promise_new_cancellable ();
  future = prio_dex_post (scheduler, NULL, return_string_later, promise, NULL);
  settle_down ();
  g_assert_true (dex_future_is_pending (future));
  discard (g_steal_pointer (&future));
  settle_down ();
  g_assert_true (g_cancellable_is_cancelled (dex_promise_get_cancellable (promise)));
}

static DexFuture *
answer_in_a_thread (gpointer data G_GNUC_UNUSED)
{
  return dex_future_new_for_int (7);
}

static void
ask_a_thread (PrioTask *task, gpointer data G_GNUC_UNUSED)
{
  prio_dex_task_return (task, dex_scheduler_spawn (dex_thread_pool_scheduler_get_default (), 0, answer_in_a_thread, NULL, NULL));
}

static gpointer
post_from_a_thread (gpointer data G_GNUC_UNUSED)
{
  DexFuture **futures = g_new (DexFuture *, 200);

  for (guint i = 0; i < 200; i++)
    futures[i] = prio_dex_post (scheduler, NULL, ask_a_thread, NULL, NULL);
  for (guint i = 0; i < 200; i += 2)
    discard (g_steal_pointer (&futures[i]));
  return futures;
}

static void
test_threads (void)
{
  GThread *threads[2];

  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("poster", post_from_a_thread, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    {
      g_autofree DexFuture **futures = g_thread_join (threads[i]);

      for (guint j = 1; j < 200; j += 2)
        {
          wait_for (futures[j]);
          g_assert_cmpint (g_value_get_int (dex_future_get_value (futures[j], NULL)), ==, 7);
          dex_unref (futures[j]);
        }
    }
}

/* Runs a context in a thread that libdex does not know. */
static gpointer
run_context (gpointer loop)
{
  g_main_context_push_thread_default (g_main_loop_get_context (loop));
  g_main_loop_run (loop);
  g_main_context_pop_thread_default (g_main_loop_get_context (loop));
  return NULL;
}

static void
test_a_thread_without_libdex (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GMainLoop) loop = g_main_loop_new (context, FALSE);
  g_autoptr (PrioScheduler) other = prio_scheduler_new (context);
  GThread *thread = g_thread_new ("other", run_context, loop);
  g_autoptr (DexFuture) future = prio_dex_post (other, NULL, ask_a_thread, NULL, NULL);

  wait_for (future);
  g_assert_cmpint (g_value_get_int (dex_future_get_value (future, NULL)), ==, 7);
  g_main_loop_quit (loop);
  g_thread_join (thread);
}

static void
test_context_that_goes (void)
{
  GMainContext *context = g_main_context_new ();
  PrioScheduler *other = prio_scheduler_new (context);
  guint n = 0, n_released = 0;
  g_autoptr (DexFuture) future = prio_dex_post (other, NULL, count, &n, NULL);
  g_autoptr (DexFuture) fiber = prio_dex_spawn (other, NULL, 0, answer_in_a_thread, &n_released, count_release);

  g_object_unref (other);
  g_main_context_unref (context);
  wait_for (future);
  assert_rejected (future, PRIO_ERROR, PRIO_ERROR_CLOSED, "*");
  assert_rejected (fiber, PRIO_ERROR, PRIO_ERROR_CLOSED, "*");
  g_assert_cmpuint (n, ==, 0);
  g_assert_cmpuint (n_released, ==, 1);
}

static void
test_misuse (void)
{
  g_autoptr (GError) error = NULL;
  guint n = 0;

  assert_told ("*scheduler*", g_assert_null (prio_dex_post (NULL, NULL, count, NULL, NULL)));
  assert_told ("*func*", g_assert_null (prio_dex_post (scheduler, NULL, NULL, NULL, NULL)));
  assert_told ("*17*", g_assert_null (prio_dex_post (scheduler, &(PrioTaskOptions) { .priority = 17 }, count, NULL, NULL)));
  assert_told ("*the signal*",
               g_assert_null (prio_dex_post (scheduler, &(PrioTaskOptions) { .signal = (gpointer) scheduler }, count, NULL, NULL)));
  assert_told ("*the cancellable*",
               g_assert_null (prio_dex_post (scheduler, &(PrioTaskOptions) { .cancellable = (gpointer) scheduler },
                                                         count, NULL, NULL)));
  assert_told ("*PRIO_IS_TASK*", g_assert_null (prio_dex_future_new (NULL)));
  assert_told ("*func*", g_assert_null (prio_dex_spawn (scheduler, NULL, 0, NULL, NULL, NULL)));
  assert_told ("*scheduler*", g_assert_null (prio_dex_spawn (NULL, NULL, 0, answer_in_a_thread, &n, count_release)));
  g_assert_cmpuint (n, ==, 0);

  g_assert_false (prio_dex_yield (&error));
  g_assert_error (error, DEX_ERROR, DEX_ERROR_NO_FIBER);
  g_clear_error (&error);
  g_assert_false (prio_dex_await (dex_future_new_infinite (), &error));
  g_assert_error (error, DEX_ERROR, DEX_ERROR_NO_FIBER);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scheduler = prio_scheduler_get_default ();
  assert_told ("*dex_init*", g_assert_null (prio_dex_post (scheduler, NULL, count, NULL, NULL)));
  dex_init ();

  g_test_add_func ("/dex/values-of-every-type", test_values_of_every_type);
  g_test_add_func ("/dex/results-of-every-kind", test_results_of_every_kind);
  g_test_add_func ("/dex/errors-both-ways", test_errors_both_ways);
  g_test_add_func ("/dex/discarded-future-aborts-the-task", test_discarded_future_aborts_the_task);
  g_test_add_func ("/dex/data-is-released-once", test_data_is_released_once);
  g_test_add_func ("/dex/last-who-waits-aborts-the-task", test_last_who_waits_for_a_task_aborts_it);
  g_test_add_func ("/dex/abort-rejects-with-the-reason", test_abort_rejects_with_the_reason);
  g_test_add_func ("/dex/priorities", test_priorities);
  g_test_add_func ("/dex/waits-under-its-signal", test_waits_under_its_signal);
  g_test_add_func ("/dex/threads", test_threads);
  g_test_add_func ("/dex/a-thread-without-libdex", test_a_thread_without_libdex);
  g_test_add_func ("/dex/context-that-goes", test_context_that_goes);
  g_test_add_func ("/dex/misuse", test_misuse);

  return g_test_run ();
}
