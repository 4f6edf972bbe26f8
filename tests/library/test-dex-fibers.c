/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-dex-fibers.c: fibers of libdex that take turns by priority */

#include "dex.h"

static GString *record;

static const PrioTaskOptions background = { .priority = PRIO_TASK_PRIORITY_BACKGROUND };
static const PrioTaskOptions visible = { .priority = PRIO_TASK_PRIORITY_USER_VISIBLE };
static const PrioTaskOptions blocking = { .priority = PRIO_TASK_PRIORITY_USER_BLOCKING };

static DexFuture *
spawn (const PrioTaskOptions *options, DexFiberFunc func, gpointer data)
{
  return prio_dex_spawn (scheduler, options, 0, func, data, NULL);
}

/* Returns: (transfer full): a future of all of @futures, which it takes */
static DexFuture *
all_of (DexFuture **futures, guint n)
{
  DexFuture *all = dex_future_allv (futures, n);

  for (guint i = 0; i < n; i++)
    dex_unref (futures[i]);
  return all;
}

/* Takes three turns, and records its letter in each. */
static DexFuture *
take_turns (gpointer letter)
{
  GError *error = NULL;

  for (guint i = 0; i < 3; i++)
    {
      g_string_append_c (record, (char) GPOINTER_TO_INT (letter));
      if (!prio_dex_yield (&error))
        return dex_future_new_for_error (error);
    }
  return dex_future_new_for_int (3);
}

static void
test_turns_by_priority (void)
{
  DexFuture *futures[] = {
    spawn (&background, take_turns, GINT_TO_POINTER ('a')),
    spawn (NULL, take_turns, GINT_TO_POINTER ('v')),
    spawn (&background, take_turns, GINT_TO_POINTER ('b')),
    spawn (&blocking, take_turns, GINT_TO_POINTER ('u')),
  };
  g_autoptr (DexFuture) all = all_of (futures, G_N_ELEMENTS (futures));

  wait_for (all);
  g_assert_true (dex_future_is_resolved (all));
  /* The two fibers of one priority alternate. */
  g_assert_cmpstr (record->str, ==, "uuuvvvababab");
  g_string_truncate (record, 0);
}

static DexFuture *
take_turns_and_spawn (gpointer letter)
{
  g_string_append_c (record, 's');
  dex_future_disown (spawn (&blocking, take_turns, letter));
  return take_turns (GINT_TO_POINTER ('a'));
}

/* A waiting fiber does not run before a more urgent one. */
static void
test_urgent_fiber_goes_before_those_that_wait (void)
{
  g_autoptr (DexFuture) all = NULL;
  DexFuture *futures[20];

  for (gsize i = 0; i < G_N_ELEMENTS (futures); i++)
    futures[i] = spawn (&background, i == 0 ? take_turns_and_spawn : take_turns, GINT_TO_POINTER (i == 0 ? 'u' : 'b'));
  all = all_of (futures, G_N_ELEMENTS (futures));
  wait_for (all);
  g_assert_true (g_str_has_prefix (record->str, "sauuu"));
  g_string_truncate (record, 0);
}

static void
record_task (PrioTask *task G_GNUC_UNUSED, gpointer letter)
{
  g_string_append_c (record, (char) GPOINTER_TO_INT (letter));
}

static DexFuture *
take_turns_and_post (gpointer data G_GNUC_UNUSED)
{
  dex_future_disown (prio_dex_post (scheduler, &blocking, record_task, GINT_TO_POINTER ('u'), NULL));
  dex_future_disown (prio_dex_post (scheduler, &background, record_task, GINT_TO_POINTER ('t'), NULL));
  return take_turns (GINT_TO_POINTER ('f'));
}

static void
test_turns_among_tasks (void)
{
  g_autoptr (DexFuture) future = spawn (&background, take_turns_and_post, NULL);

  wait_for (future);
  settle_down ();
  /* Until libdex reaches a fiber whose turn it is, tasks of its priority may run. */
  g_assert_true (g_str_has_prefix (record->str, "fu"));
  g_assert_cmpuint (record->len, ==, 5);
  g_string_truncate (record, 0);
}

static DexFuture *
take_turns_and_promote (gpointer controller)
{
  g_assert_true (prio_task_controller_set_priority (controller, PRIO_TASK_PRIORITY_USER_VISIBLE, NULL));
  return take_turns (GINT_TO_POINTER ('a'));
}

static void
test_change_of_priority_moves_a_fiber (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };
  DexFuture *futures[] = {
    spawn (&background, take_turns_and_promote, controller),
    spawn (&background, take_turns, GINT_TO_POINTER ('b')),
    spawn (&options, take_turns, GINT_TO_POINTER ('v')),
  };
  g_autoptr (DexFuture) all = all_of (futures, G_N_ELEMENTS (futures));

  wait_for (all);
  g_assert_true (g_str_has_prefix (record->str, "avvv"));
  g_string_truncate (record, 0);
}

static void
check_state (gpointer signal, gint priority)
{
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
  g_autoptr (PrioScheduler) its = NULL;

  g_assert_nonnull (state);
  its = prio_scheduling_state_dup_scheduler (state);
  g_assert_true (its == scheduler);
  g_assert_cmpint (prio_scheduling_state_get_priority (state), ==, priority);
  if (signal != NULL)
    g_assert_true (prio_scheduling_state_get_cancellable (state) == signal);
}

static gboolean
check_no_state (gpointer loop)
{
  g_assert_null (prio_scheduling_state_ref_current ());
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

static void
check_no_state_once (gpointer data G_GNUC_UNUSED)
{
  g_assert_null (prio_scheduling_state_ref_current ());
}

/* Lets other fibers run, without the library's knowledge. */
static void
pass_on (void)
{
  g_assert_true (dex_fiber_yield (NULL));
}

static DexFuture *
keep_state (gpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
  GCancellable *signal = prio_scheduling_state_get_cancellable (state);
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  for (guint i = 0; i < 5; i++)
    {
      check_state (signal, PRIO_TASK_PRIORITY_USER_VISIBLE);
      g_assert_true (prio_dex_yield (NULL));
      check_state (signal, PRIO_TASK_PRIORITY_USER_VISIBLE);
      g_assert_true (prio_dex_await (dex_timeout_new_msec (0), NULL) == FALSE);
      check_state (signal, PRIO_TASK_PRIORITY_USER_VISIBLE);
      g_assert_false (dex_await (dex_timeout_new_msec (0), NULL));
      check_state (signal, PRIO_TASK_PRIORITY_USER_VISIBLE);
      pass_on ();
      check_state (signal, PRIO_TASK_PRIORITY_USER_VISIBLE);
    }

  prio_scheduling_state_run (NULL, check_no_state_once, NULL);
  g_idle_add (check_no_state, loop);
  g_main_loop_run (loop);
  check_state (signal, PRIO_TASK_PRIORITY_USER_VISIBLE);
  return dex_future_new_true ();
}

/* A fiber that libdex runs without the library, in the same dispatches. */
static DexFuture *
have_no_state (gpointer data)
{
  while (dex_future_is_pending (data))
    {
      g_assert_null (prio_scheduling_state_ref_current ());
      pass_on ();
    }
  return dex_future_new_true ();
}

static void
test_state_is_kept (void)
{
  g_autoptr (DexFuture) ours = spawn (&visible, keep_state, NULL);
  g_autoptr (DexFuture) plain = dex_scheduler_spawn (NULL, 0, have_no_state, dex_ref (ours), dex_unref);

  wait_for (ours);
  g_assert_true (dex_future_is_resolved (ours));
  wait_for (plain);
  g_assert_true (dex_future_is_resolved (plain));
  g_assert_null (prio_scheduling_state_ref_current ());
}

static DexFuture *
wait_plainly (gpointer future)
{
  gboolean ok = dex_await (dex_ref (future), NULL);

  g_string_append (record, ok ? "w" : "-");
  return dex_future_new_for_boolean (ok);
}

/* A fiber that is suspended without the library's knowledge lets the others run, which it may wait for. */
static void
test_plain_await_holds_nobody_up (void)
{
  DexPromise *start = dex_promise_new ();
  g_autoptr (DexFuture) first = spawn (&blocking, wait_plainly, start);
  g_autoptr (DexFuture) second = spawn (&background, take_turns, GINT_TO_POINTER ('b'));

  wait_for (second);
  g_assert_true (dex_future_is_pending (first));
  dex_promise_resolve_boolean (start, TRUE);
  wait_for (first);
  g_assert_cmpstr (record->str, ==, "bbbw");
  g_string_truncate (record, 0);
  dex_unref (start);
}

static DexFuture *
wait_for_promise (gpointer promise)
{
  g_autoptr (GError) error = NULL;

  if (!prio_dex_await (dex_ref (promise), &error))
    {
      g_string_append_printf (record, "<%s>", error->message);
      /* The fiber stays aborted. */
      g_assert_false (prio_dex_yield (NULL));
      return dex_future_new_for_error (g_steal_pointer (&error));
    }
  return dex_future_new_for_int (dex_await_int (dex_ref (promise), NULL));
}

/* Reports an error, which does not end its fiber. */
static DexFuture *
report_failure (gpointer promise)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (prio_dex_await (dex_ref (promise), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BUSY);
  /* The promise has completed. */
  g_assert_false (prio_dex_await (dex_ref (promise), NULL));
  g_assert_true (prio_dex_await (dex_future_new_true (), NULL));
  g_assert_true (prio_dex_yield (NULL));
  return dex_future_new_true ();
}

static void
test_await (void)
{
  g_autoptr (DexPromise) promise = dex_promise_new ();
  g_autoptr (DexPromise) failing = dex_promise_new ();
  g_autoptr (DexFuture) future = spawn (NULL, wait_for_promise, promise);
  g_autoptr (DexFuture) failure = NULL;

  settle_down ();
  dex_promise_resolve_int (promise, 5);
  wait_for (future);
  g_assert_cmpint (g_value_get_int (dex_future_get_value (future, NULL)), ==, 5);

  failure = spawn (NULL, report_failure, failing);
  settle_down ();
  g_assert_true (dex_future_is_pending (failure));
  dex_promise_reject (failing, g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "busy"));
  wait_for (failure);
  g_assert_true (dex_future_is_resolved (failure));
}

static void
test_abort_discards_what_a_fiber_awaits (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_VISIBLE);
  PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "gone");
  g_autoptr (DexPromise) promise = dex_promise_new_cancellable ();
  g_autoptr (DexFuture) future = spawn (&options, wait_for_promise, promise);

  settle_down ();
  prio_task_controller_abort (controller, reason);
  wait_for (future);
  settle_down ();
  assert_rejected (future, G_IO_ERROR, G_IO_ERROR_BUSY, "gone");
  g_assert_true (g_cancellable_is_cancelled (dex_promise_get_cancellable (promise)));
  g_assert_cmpstr (record->str, ==, "<gone>");
  g_string_truncate (record, 0);
}

static void
test_discarded_future_cancels_the_fiber (void)
{
  g_autoptr (DexPromise) promise = dex_promise_new_cancellable ();
  DexFuture *future = spawn (NULL, wait_for_promise, promise);

  settle_down ();
  discard (future);
  settle_down ();
  g_assert_true (g_cancellable_is_cancelled (dex_promise_get_cancellable (promise)));
  g_assert_true (g_str_has_prefix (record->str, "<"));
  g_string_truncate (record, 0);
}

static void
note_release (gpointer letter)
{
  g_string_append_c (record, (char) GPOINTER_TO_INT (letter));
}

static void
test_fiber_that_is_aborted_before_it_begins (void)
{
  DexFuture *future = prio_dex_spawn (scheduler, NULL, 0, take_turns, GINT_TO_POINTER ('r'), note_release);

  discard (future);
  settle_down ();
  g_assert_cmpstr (record->str, ==, "r");
  g_string_truncate (record, 0);
}

/* Aborts fibers in each of the places where they may be, among others. */
static void
test_aborts_while_others_wait (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };
  DexFuture *futures[30];

  for (gsize i = 0; i < G_N_ELEMENTS (futures); i++)
    futures[i] = spawn (i % 3 == 0 ? &options : &background, take_turns, GINT_TO_POINTER (i % 3 == 0 ? 'x' : 'b'));
  for (guint i = 0; i < 6; i++)
    g_main_context_iteration (NULL, TRUE);
  for (gsize i = 1; i < G_N_ELEMENTS (futures); i += 6)
    discard (g_steal_pointer (&futures[i]));
  prio_task_controller_abort (controller, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (futures); i++)
    if (futures[i] != NULL)
      {
        wait_for (futures[i]);
        g_assert_true (dex_future_is_rejected (futures[i]) == (i % 3 == 0));
        dex_unref (futures[i]);
      }
  settle_down ();
  g_string_truncate (record, 0);
}

static void
test_paused_scheduler_holds_fibers (void)
{
  g_autoptr (DexFuture) first = spawn (NULL, take_turns, GINT_TO_POINTER ('a'));
  g_autoptr (DexFuture) second = spawn (NULL, take_turns, GINT_TO_POINTER ('b'));
  gsize n;

  while (record->len < 2)
    g_main_context_iteration (NULL, TRUE);
  prio_scheduler_pause (scheduler);
  /* The fiber whose turn it is runs. */
  settle_down ();
  n = record->len;
  g_assert_cmpuint (n, <=, 3);
  g_assert_true (dex_future_is_pending (first) && dex_future_is_pending (second));

  prio_scheduler_resume (scheduler);
  wait_for (first);
  wait_for (second);
  g_assert_cmpuint (record->len, ==, 6);
  g_string_truncate (record, 0);
}

static DexFuture *
recurse (gpointer depth)
{
  volatile char frame[1000];
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();

  g_assert_nonnull (state);
  frame[0] = 0;
  if (GPOINTER_TO_INT (depth) > 0)
    return recurse (GINT_TO_POINTER (GPOINTER_TO_INT (depth) - 1));
  return dex_future_new_for_boolean (prio_dex_yield (NULL) && frame[0] == 0);
}

static void
test_stacks_of_any_size (void)
{
  static const gsize sizes[] = { 0, 1, 100000, 256 * 1024 + 1, 4 * 1024 * 1024 };
  DexFuture *futures[G_N_ELEMENTS (sizes)];

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    futures[i] = prio_dex_spawn (scheduler, NULL, sizes[i], recurse, GINT_TO_POINTER (sizes[i] > 1000000 ? 1000 : 20), NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      wait_for (futures[i]);
      g_assert_true (dex_future_is_resolved (futures[i]));
      dex_unref (futures[i]);
    }
}

static void
test_thousands (void)
{
  g_autofree DexFuture **futures = g_new (DexFuture *, 2000);
  g_autoptr (DexFuture) all = NULL;

  for (guint i = 0; i < 2000; i++)
    futures[i] = spawn (i % 2 ? &background : NULL, take_turns, GINT_TO_POINTER (i % 2 ? 'b' : 'v'));
  all = all_of (futures, 2000);
  wait_for (all);
  g_assert_cmpuint (record->len, ==, 6000);
  for (guint i = 0; i < 6000; i++)
    g_assert_true (record->str[i] == (i < 3000 ? 'v' : 'b'));
  g_string_truncate (record, 0);
}

/* Runs in a thread of libdex's pool, which has a separate scheduler. */
static DexFuture *
run_in_pool (gpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioScheduler) own = prio_scheduler_ref_thread_default ();
  DexFuture *fibers[2];
  gboolean ok;

  for (gsize i = 0; i < G_N_ELEMENTS (fibers); i++)
    fibers[i] = prio_dex_spawn (own, NULL, 0, recurse, NULL, NULL);
  ok = dex_await (dex_future_all (fibers[0], fibers[1], NULL), NULL);
  return dex_future_new_for_boolean (ok);
}

static gpointer
run_context (gpointer loop)
{
  g_main_loop_run (loop);
  return NULL;
}

static void
test_threads (void)
{
  g_autoptr (DexFuture) pooled = dex_scheduler_spawn (dex_thread_pool_scheduler_get_default (), 0, run_in_pool, NULL, NULL);
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GMainLoop) loop = g_main_loop_new (context, FALSE);
  g_autoptr (PrioScheduler) other = prio_scheduler_new (context);
  GThread *thread = g_thread_new ("other", run_context, loop);
  g_autoptr (DexFuture) nowhere = prio_dex_spawn (other, NULL, 0, recurse, NULL, NULL);

  wait_for (pooled);
  g_assert_true (g_value_get_boolean (dex_future_get_value (pooled, NULL)));
  wait_for (nowhere);
  assert_rejected (nowhere, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "*DexScheduler*");
  g_main_loop_quit (loop);
  g_thread_join (thread);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dex_init ();
  scheduler = prio_scheduler_get_default ();
  record = g_string_new (NULL);

  g_test_add_func ("/dex/fibers/turns-by-priority", test_turns_by_priority);
  g_test_add_func ("/dex/fibers/urgent-one-goes-before-those-that-wait", test_urgent_fiber_goes_before_those_that_wait);
  g_test_add_func ("/dex/fibers/turns-among-tasks", test_turns_among_tasks);
  g_test_add_func ("/dex/fibers/change-of-priority", test_change_of_priority_moves_a_fiber);
  g_test_add_func ("/dex/fibers/state-is-kept", test_state_is_kept);
  g_test_add_func ("/dex/fibers/plain-await-holds-nobody-up", test_plain_await_holds_nobody_up);
  g_test_add_func ("/dex/fibers/await", test_await);
  g_test_add_func ("/dex/fibers/abort-discards-what-is-awaited", test_abort_discards_what_a_fiber_awaits);
  g_test_add_func ("/dex/fibers/discarded-future", test_discarded_future_cancels_the_fiber);
  g_test_add_func ("/dex/fibers/aborted-before-it-begins", test_fiber_that_is_aborted_before_it_begins);
  g_test_add_func ("/dex/fibers/aborts-while-others-wait", test_aborts_while_others_wait);
  g_test_add_func ("/dex/fibers/paused-scheduler", test_paused_scheduler_holds_fibers);
  g_test_add_func ("/dex/fibers/stacks-of-any-size", test_stacks_of_any_size);
  g_test_add_func ("/dex/fibers/thousands", test_thousands);
  g_test_add_func ("/dex/fibers/threads", test_threads);

  return g_test_run ();
}
