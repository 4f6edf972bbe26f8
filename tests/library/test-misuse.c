/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-misuse.c: wrong arguments and calls
 *
 * Each logs a critical and has no other effect; correct work continues.  The program also tests properties, and objects
 * that g_object_new () makes.
 */

#include <prio-sched-bindings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "helpers.h"

#define assert_critical(expression) assert_told ("*assertion*failed*", expression)

/* Expects that @expression is rejected for each `bad` that is not an object of the right type. */
#define assert_critical_for_bad(expression)                                             \
  G_STMT_START                                                                          \
  {                                                                                     \
    gpointer bad = NULL;                                                                \
                                                                                        \
    assert_critical (expression);                                                       \
    bad = no_object_of_ours;                                                            \
    assert_critical (expression);                                                       \
  }                                                                                     \
  G_STMT_END

static GObject *no_object_of_ours;

static gboolean
closure (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static void
function (gpointer data)
{
}

static void
task_function (PrioTask *task, gpointer data)
{
}

static void
callback (GObject *source, GAsyncResult *result, gpointer data)
{
}

static void
idle_function (PrioIdleDeadline *deadline, gpointer copy)
{
  if (copy != NULL)
    *(PrioIdleDeadline **) copy = g_boxed_copy (PRIO_TYPE_IDLE_DEADLINE, deadline);
}

static void
runner_function (guint id, gpointer data)
{
}

#define OPTIONS(...) &(PrioTaskOptions) { __VA_ARGS__ }
#define YIELD_OPTIONS(...) &(PrioYieldOptions) { __VA_ARGS__ }

/* Expects the critical of assert_critical_for_bad (), with a sentence as the message. */
#define assert_told_not(type, function, expression)                        \
  G_STMT_START                                                             \
  {                                                                        \
    gpointer bad = NULL;                                                   \
                                                                           \
    assert_told (function "(): NULL is not a " type, expression);          \
    bad = no_object_of_ours;                                               \
    assert_told (function "(): a GObject is not a " type, expression);     \
  }                                                                        \
  G_STMT_END

#define assert_told_for_bad(function, expression) assert_told_not ("PrioScheduler", function, expression)
#define assert_told_for_bad_task(function, expression) assert_told_not ("PrioTask", function, expression)

/* GLib's priorities are rejected, though G_PRIORITY_DEFAULT is 0, and the message says so. */
static void
test_glib_priorities (Fixture *f, gconstpointer data)
{
  static const gint priorities[] = {
    G_PRIORITY_DEFAULT, G_PRIORITY_HIGH, G_PRIORITY_HIGH_IDLE, G_PRIORITY_DEFAULT_IDLE, G_PRIORITY_LOW, G_MAXINT, G_MININT,
  };

  for (guint i = 0; i < G_N_ELEMENTS (priorities); i++)
    {
      g_autofree char *message = g_strdup_printf ("prio_scheduler_post(): %d is not a PrioTaskPriority*GLib's*", priorities[i]);

      assert_told (message, prio_scheduler_post (f->scheduler, priorities[i], closure, NULL, NULL));
    }
  fixture_run (f);
}

/* Each misuse logs one sentence that names the function, the value and the task. */
static void
test_posting (Fixture *f, gconstpointer data)
{
  PrioScheduler *s = f->scheduler;
  GCancellable *no_signal = (gpointer) no_object_of_ours;
  g_autoptr (PrioTaskSignal) signal = prio_task_signal_new_aborted (NULL);
  g_autoptr (GCancellable) plain = g_cancellable_new ();

  assert_told_for_bad ("prio_scheduler_post", prio_scheduler_post (bad, BACKGROUND, closure, NULL, NULL));
  assert_told ("prio_scheduler_post(): 4 is not a PrioTaskPriority*", prio_scheduler_post (s, 4, closure, NULL, NULL));
  assert_told ("prio_scheduler_post(): func is NULL*", prio_scheduler_post (s, BACKGROUND, NULL, NULL, NULL));

#define POST_FULL(options) prio_scheduler_post_full (s, options, closure, NULL, NULL)
  assert_told_for_bad ("prio_scheduler_post_full", prio_scheduler_post_full (bad, NULL, closure, NULL, NULL));
  assert_told ("prio_scheduler_post_full(): -100 is not a PrioTaskPriority*", POST_FULL (OPTIONS (.priority = -100)));
  assert_told ("prio_scheduler_post_full(): 7 is not a PrioTaskPriority*", POST_FULL (OPTIONS (.priority = 7)));
  assert_told ("prio_scheduler_post_full(): a GObject is not a GCancellable*",
               POST_FULL (OPTIONS (.cancellable = no_signal)));
  assert_told ("prio_scheduler_post_full(): a GCancellable is not a PrioTaskSignal*",
               POST_FULL (OPTIONS (.signal = (gpointer) plain)));
  assert_told ("prio_scheduler_post_full(): a signal and a cancellable are given*",
               POST_FULL (OPTIONS (.signal = signal, .cancellable = plain)));
  assert_told ("prio_scheduler_post_full(): func is NULL*", prio_scheduler_post_full (s, NULL, NULL, NULL, NULL));

#define POST_TASK(options) prio_scheduler_post_task (s, options, task_function, NULL, NULL)
#define REFUSE_TASK(...) g_assert_null (prio_scheduler_post_task (s, __VA_ARGS__, task_function, NULL, NULL))
  assert_told_for_bad ("prio_scheduler_post_task", g_assert_null (prio_scheduler_post_task (bad, NULL, task_function, NULL, NULL)));
  assert_told ("prio_scheduler_post_task(): func is NULL, and has to be a function",
               g_assert_null (prio_scheduler_post_task (s, NULL, NULL, NULL, NULL)));
  assert_told ("prio_scheduler_post_task(): func is NULL*(task \"mine\")",
               g_assert_null (prio_scheduler_post_task (s, OPTIONS (.name = "mine"), NULL, NULL, NULL)));
  assert_told ("prio_scheduler_post_task(): -1 is not a PrioTaskPriority*(task \"mine\")",
               REFUSE_TASK (OPTIONS (.priority = -1, .name = "mine")));
  assert_told ("prio_scheduler_post_task(): 4 is not a PrioTaskPriority*", REFUSE_TASK (OPTIONS (.priority = 4)));
  assert_told ("prio_scheduler_post_task(): a GObject is not a GCancellable*(task \"mine\")",
               REFUSE_TASK (OPTIONS (.cancellable = no_signal, .name = "mine")));

  assert_critical_for_bad (prio_scheduler_queue_microtask (bad, function, NULL, NULL));
  assert_critical (prio_scheduler_queue_microtask (s, NULL, NULL, NULL));
  assert_critical_for_bad (prio_scheduler_request_idle_callback (bad, 0, idle_function, NULL, NULL));
  assert_critical (prio_scheduler_request_idle_callback (s, 0, NULL, NULL, NULL));
  assert_critical_for_bad (prio_scheduler_cancel_idle_callback (bad, 1));

  post_letter (f, BACKGROUND, 'a');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
}

/* Options of a later version, or without a version, are rejected instead of being ignored silently. */
static void
test_unknown_options (Fixture *f, gconstpointer data)
{
  PrioScheduler *s = f->scheduler;
  struct { PrioTaskOptions known; guint8 more[24]; } later = { .known = { .size = sizeof later } };
  struct { PrioYieldOptions known; guint8 more[24]; } later_yield = { .known = { .size = sizeof later_yield } };

  assert_told ("prio_scheduler_post_full(): options of 5 bytes*", POST_FULL (OPTIONS (.size = 5)));
  assert_told ("prio_scheduler_post_task(): options of 1000 bytes*", REFUSE_TASK (OPTIONS (.size = 1000)));
  assert_told ("prio_scheduler_post_task(): options of *", REFUSE_TASK (OPTIONS (.size = G_MAXSIZE)));
  assert_told ("prio_scheduler_yield_async(): options of 5 bytes*",
               prio_scheduler_yield_async (s, YIELD_OPTIONS (.size = 5), callback, NULL));
  g_object_unref (POST_TASK (&PRIO_TASK_OPTIONS ()));

  for (guint i = 0; i < sizeof later.more; i++)
    {
      later.more[i] = later_yield.more[i] = 1;
      assert_told ("prio_scheduler_post_full(): options of * this version of the library knows * is set", POST_FULL (&later.known));
      assert_told ("prio_scheduler_post_task(): options of * this version of the library knows * is set", REFUSE_TASK (&later.known));
      assert_told ("prio_scheduler_yield_async(): options of * this version of the library knows * is set",
                   prio_scheduler_yield_async (s, &later_yield.known, callback, NULL));
      later.more[i] = later_yield.more[i] = 0;
    }
  g_object_unref (POST_TASK (&later.known));
  prio_scheduler_yield_async (s, &later_yield.known, callback, NULL);
  fixture_run (f);

  assert_told ("prio_scheduler_post_full(): options of * this version of the library knows * is set", POST_FULL (OPTIONS (.reserved = 1)));
  assert_told ("prio_scheduler_post_task(): options of * this version of the library knows * is set", REFUSE_TASK (OPTIONS (.reserved = 1)));
  assert_told ("prio_scheduler_yield_async(): options of * this version of the library knows * is set",
               prio_scheduler_yield_async (s, YIELD_OPTIONS (.reserved = 1), callback, NULL));
}

/* A program of 1.0 has options that end with `reserved`: nothing after them is read. */
static void
test_options_of_1_0 (Fixture *f, gconstpointer data)
{
  const gsize size = 4 * 4 + 8 + 6 * sizeof (gpointer), yield_size = 4 * 4 + 5 * sizeof (gpointer);
  const gsize page = (gsize) sysconf (_SC_PAGESIZE);
  guint8 *pages = mmap (NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, PRIO_TASK_PRIORITY_USER_VISIBLE);
  PrioTaskOptions *options = (gpointer) (pages + page - size);
  PrioYieldOptions *yield_options = (gpointer) (pages + page - yield_size);

  g_assert_true (pages != MAP_FAILED);
  g_assert_cmpint (mprotect (pages + page, page, PROT_NONE), ==, 0);
  for (guint i = 0; i < 2; i++)
    {
      memset (options, 0, size);
      options->size = i == 0 ? 0 : size;
      options->name = "old";
      g_assert_true (prio_scheduler_post_full (f->scheduler, options, closure, NULL, NULL));
      g_object_unref (prio_scheduler_post_task (f->scheduler, options, task_function, NULL, NULL));
      g_object_unref (prio_task_group_post_task (group, options, task_function, NULL, NULL));
      g_boxed_free (PRIO_TYPE_TASK_OPTIONS, g_boxed_copy (PRIO_TYPE_TASK_OPTIONS, options));

      memset (yield_options, 0, yield_size);
      yield_options->size = i == 0 ? 0 : yield_size;
      prio_scheduler_yield_async (f->scheduler, yield_options, callback, NULL);
      g_boxed_free (PRIO_TYPE_YIELD_OPTIONS, g_boxed_copy (PRIO_TYPE_YIELD_OPTIONS, yield_options));
    }
  fixture_run (f);
  g_assert_cmpint (munmap (pages, 2 * page), ==, 0);
}

static void
test_yielding (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, NULL, task_function, NULL, NULL);
  g_autoptr (GError) error = g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "there");
  g_autoptr (PrioTaskSignal) signal = prio_task_signal_new_aborted (NULL);

#define YIELD(options) prio_scheduler_yield_async (f->scheduler, options, callback, NULL)
  assert_told ("prio_scheduler_yield_async(): callback is NULL*", prio_scheduler_yield_async (f->scheduler, NULL, NULL, NULL));
  assert_told_for_bad ("prio_scheduler_yield_async", prio_scheduler_yield_async (bad, NULL, callback, NULL));
  assert_told ("prio_scheduler_yield_async(): callback is NULL*(task \"mine\")",
               prio_scheduler_yield_async (f->scheduler, YIELD_OPTIONS (.name = "mine"), NULL, NULL));
  assert_told ("prio_scheduler_yield_async(): 0x9 is not a set of PrioYieldFlags: 0x8 is unknown (task \"mine\")",
               YIELD (YIELD_OPTIONS (.flags = 8 | PRIO_YIELD_DROP_SIGNAL, .name = "mine")));
  assert_told ("prio_scheduler_yield_async(): *exclude each other",
               YIELD (YIELD_OPTIONS (.flags = PRIO_YIELD_DROP_PRIORITY | PRIO_YIELD_KEEP_PRIORITY)));
  assert_told ("prio_scheduler_yield_async(): a GObject is not a GCancellable*",
               YIELD (YIELD_OPTIONS (.cancellable = (gpointer) no_object_of_ours)));
  assert_told ("prio_scheduler_yield_async(): a GObject is not a PrioTaskSignal*",
               YIELD (YIELD_OPTIONS (.signal = (gpointer) no_object_of_ours)));
  assert_told ("prio_scheduler_yield_async(): a signal and a cancellable are given*",
               YIELD (YIELD_OPTIONS (.signal = signal, .cancellable = G_CANCELLABLE (signal))));
  assert_told ("prio_scheduler_yield_async(): -1 is not a PrioTaskPriority*", YIELD (YIELD_OPTIONS (.priority = -1)));
  assert_told ("prio_scheduler_yield_async(): 4 is not a PrioTaskPriority*", YIELD (YIELD_OPTIONS (.priority = 4)));
  assert_told ("prio_scheduler_yield_finish(): a GObject is not a PrioScheduler",
               prio_scheduler_yield_finish ((gpointer) no_object_of_ours, G_ASYNC_RESULT (task), NULL));
  assert_critical_for_bad (prio_scheduler_yield_finish (f->scheduler, bad, NULL));
  assert_told ("prio_scheduler_yield_finish: *no yield*",
               prio_scheduler_yield_finish (f->scheduler, G_ASYNC_RESULT (task), NULL));
  assert_critical (prio_scheduler_yield_finish (f->scheduler, G_ASYNC_RESULT (task), &error));
}

static void
test_scheduler (Fixture *f, gconstpointer data)
{
  GObject *clock = g_object_new (G_TYPE_OBJECT, NULL);

  assert_critical_for_bad (prio_scheduler_get_context (bad));
  assert_critical_for_bad (prio_scheduler_should_yield (bad));
  assert_critical_for_bad (prio_scheduler_get_time_slice (bad));
  assert_critical_for_bad (prio_scheduler_set_time_slice (bad, 1));
  assert_critical_for_bad (prio_scheduler_pause (bad));
  assert_critical_for_bad (prio_scheduler_resume (bad));
  assert_critical_for_bad (prio_scheduler_get_paused (bad));
  assert_critical_for_bad (prio_scheduler_get_next_frame (bad));
  assert_critical_for_bad (prio_scheduler_set_next_frame (bad, 1));
  assert_critical (prio_scheduler_set_next_frame (f->scheduler, -1));
  assert_critical_for_bad (prio_scheduler_follow_frame_clock (bad, clock));
  assert_critical (prio_scheduler_follow_frame_clock (f->scheduler, NULL));
  assert_critical (prio_scheduler_follow_frame_clock (f->scheduler, clock));
  assert_critical_for_bad (prio_scheduler_unfollow_frame_clock (bad, clock));
  assert_critical (prio_scheduler_unfollow_frame_clock (f->scheduler, NULL));
  assert_critical (prio_scheduler_unfollow_frame_clock (f->scheduler, clock));
  g_object_unref (clock);
}

static void
test_task (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) pending = prio_scheduler_post_task (f->scheduler,
                                                           &(PrioTaskOptions) { .priority = BACKGROUND, .delay = 1000 },
                                                           task_function, NULL, NULL);
  g_autoptr (PrioTask) completed = prio_scheduler_post_task (f->scheduler,
                                                             &(PrioTaskOptions) { .priority = BACKGROUND },
                                                             task_function, NULL, NULL);
  g_autoptr (GError) error = g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "there");
  g_autoptr (GError) second = g_error_copy (error);
  g_auto (GValue) value = G_VALUE_INIT;
  g_auto (GValue) unset = G_VALUE_INIT;

  fixture_run (f);
  assert_told_for_bad_task ("prio_task_get_state", prio_task_get_state (bad));
  assert_told_for_bad_task ("prio_task_wait_async", prio_task_wait_async (bad, NULL, callback, NULL));
  assert_told_for_bad_task ("prio_task_wait_finish", prio_task_wait_finish (bad, G_ASYNC_RESULT (completed), NULL));
  assert_critical (prio_task_wait_finish (completed, G_ASYNC_RESULT (pending), NULL));
  assert_critical (prio_task_wait_finish (completed, G_ASYNC_RESULT (completed), &error));
  assert_told ("prio_task_wait_finish: *has not completed*", prio_task_wait_finish (pending, G_ASYNC_RESULT (pending), NULL));
  assert_told_for_bad_task ("prio_task_get_priority", prio_task_get_priority (bad));
  assert_told_for_bad_task ("prio_task_dup_name", g_assert_null (prio_task_dup_name (bad)));
  assert_told_for_bad_task ("prio_task_get_cancellable", prio_task_get_cancellable (bad));
  assert_told_for_bad_task ("prio_task_get_error", prio_task_get_error (bad));
  assert_told_for_bad_task ("prio_task_cancel", prio_task_cancel (bad));
  assert_told_for_bad_task ("prio_task_then", prio_task_then (bad, callback, NULL, NULL));

  /* Only a running function may return a result, and only once. */
  assert_told_for_bad_task ("prio_task_defer", prio_task_defer (bad));
  assert_told ("*prio_task_defer*unnamed*not running*", prio_task_defer (pending));
  assert_told_for_bad_task ("prio_task_return_pointer", prio_task_return_pointer (bad, NULL, NULL));
  assert_told ("*unnamed*has ended*", prio_task_return_pointer (completed, NULL, NULL));
  assert_told_for_bad_task ("prio_task_return_boolean", prio_task_return_boolean (bad, TRUE));
  assert_told ("*not begun*", prio_task_return_boolean (pending, TRUE));
  assert_told_for_bad_task ("prio_task_return_int", prio_task_return_int (bad, 1));
  assert_told ("*not begun*", prio_task_return_int (pending, 1));
  assert_told_for_bad_task ("prio_task_return_value", prio_task_return_value (bad, NULL));
  assert_told ("*not begun*", prio_task_return_value (pending, NULL));
  assert_critical (prio_task_return_value (pending, &unset));
  assert_told_for_bad_task ("prio_task_return_error", prio_task_return_error (bad, second));
  assert_critical (prio_task_return_error (pending, NULL));
  assert_told ("*not begun*", prio_task_return_error (pending, g_steal_pointer (&second)));
  assert_told_for_bad_task ("prio_task_return_new_error", prio_task_return_new_error (bad, G_IO_ERROR, G_IO_ERROR_FAILED, "no"));
  assert_told ("*not begun*", prio_task_return_new_error (pending, G_IO_ERROR, G_IO_ERROR_FAILED, "no"));

  assert_told_for_bad_task ("prio_task_propagate_pointer", prio_task_propagate_pointer (bad, NULL));
  assert_told ("*propagate_pointer*unnamed*not completed*", prio_task_propagate_pointer (pending, NULL));
  assert_critical (prio_task_propagate_pointer (completed, &error));
  assert_told_for_bad_task ("prio_task_propagate_boolean", prio_task_propagate_boolean (bad, NULL));
  assert_told ("*propagate_boolean*unnamed*not completed*", prio_task_propagate_boolean (pending, NULL));
  assert_critical (prio_task_propagate_boolean (completed, &error));
  assert_told_for_bad_task ("prio_task_propagate_int", prio_task_propagate_int (bad, NULL));
  assert_told ("*propagate_int*unnamed*not completed*", prio_task_propagate_int (pending, NULL));
  assert_critical (prio_task_propagate_int (completed, &error));
  assert_told_for_bad_task ("prio_task_propagate_value", prio_task_propagate_value (bad, &value, NULL));
  assert_critical (prio_task_propagate_value (completed, NULL, NULL));
  assert_told ("*propagate_value*unnamed*not completed*", prio_task_propagate_value (pending, &value, NULL));
  assert_critical (prio_task_propagate_value (completed, &value, &error));
}

static void
test_signals (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (GError) error = g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "there");
  GCancellable *no_signals[] = { cancellable_of (controller), (gpointer) no_object_of_ours };

  assert_told ("*is not a PrioTaskPriority*", prio_task_controller_new (0));
  assert_told ("*is not a PrioTaskPriority*", prio_task_controller_new (4));
  assert_told_not ("PrioTaskController", "prio_task_controller_get_signal", prio_task_controller_get_signal (bad));
  assert_told_not ("PrioTaskController", "prio_task_controller_set_priority", prio_task_controller_set_priority (bad, BACKGROUND, NULL));
  assert_told ("*is not a PrioTaskPriority*", prio_task_controller_set_priority (controller, 0, NULL));
  assert_told ("*is not a PrioTaskPriority*", prio_task_controller_set_priority (controller, 4, NULL));
  assert_critical (prio_task_controller_set_priority (controller, BACKGROUND, &error));
  assert_told_not ("PrioTaskController", "prio_task_controller_abort", prio_task_controller_abort (bad, NULL));

  assert_critical (prio_task_signal_new_any (NULL, 1, BACKGROUND));
  assert_critical (prio_task_signal_new_any (no_signals, 2, BACKGROUND));
  assert_told ("*is not a PrioTaskPriority*", prio_task_signal_new_any (no_signals, 1, 0));
  assert_told ("*is not a PrioTaskPriority*", prio_task_signal_new_any (no_signals, 1, 4));
  assert_critical (prio_task_signal_new_any_following (NULL, 1, PRIO_TASK_SIGNAL (no_signals[0])));
  assert_critical (prio_task_signal_new_any_following (no_signals, 2, PRIO_TASK_SIGNAL (no_signals[0])));
  assert_critical_for_bad (prio_task_signal_new_any_following (no_signals, 1, bad));
  assert_critical_for_bad (prio_task_signal_pin (bad));
  assert_critical_for_bad (prio_task_signal_get_priority (bad));
  assert_critical_for_bad (prio_task_signal_has_fixed_priority (bad));
  assert_critical_for_bad (prio_task_signal_is_aborted (bad));
  assert_critical_for_bad (prio_task_signal_dup_reason (bad));
}

static void
capture (Step *step)
{
  *(PrioSchedulingState **) step->data = prio_scheduling_state_ref_current ();
}

static void
test_states_and_deadlines (Fixture *f, gconstpointer data)
{
  PrioSchedulingState *state = NULL;

  post_step (f, BACKGROUND, 'a', capture, &state);
  fixture_run (f);
  g_assert_nonnull (state);

  assert_critical (prio_scheduling_state_ref (NULL));
  assert_critical (prio_scheduling_state_unref (NULL));
  assert_critical (prio_scheduling_state_dup_scheduler (NULL));
  assert_critical (prio_scheduling_state_get_cancellable (NULL));
  assert_critical (prio_scheduling_state_get_priority (NULL));
  assert_critical (prio_scheduling_state_run (state, NULL, NULL));
  assert_critical (prio_scheduling_state_call_wrapped (NULL, NULL, NULL));
  assert_critical (prio_scheduling_state_resume_async (NULL, callback, NULL));
  assert_told ("prio_scheduling_state_resume_async(): callback is NULL*", prio_scheduling_state_resume_async (state, NULL, NULL));
  assert_critical (prio_scheduling_state_resume_finish (state, NULL, NULL));
  prio_scheduling_state_unref (state);

  assert_critical (prio_idle_deadline_copy (NULL));
  assert_critical (prio_idle_deadline_get_time_remaining (NULL));
  assert_critical (prio_idle_deadline_did_timeout (NULL));
}

static void
test_runner (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioRunner) runner = prio_runner_new (f->scheduler, runner_function, NULL, NULL);
  gsize n;

  assert_critical_for_bad (prio_runner_new (bad, runner_function, NULL, NULL));
  assert_critical (prio_runner_new (f->scheduler, NULL, NULL, NULL));
  assert_critical (prio_runner_ref (NULL));
  assert_critical (prio_runner_unref (NULL));
  assert_critical (prio_runner_post (NULL, 1, BACKGROUND));
  assert_critical (prio_runner_post (runner, 0, BACKGROUND));
  assert_told ("*is not a PrioTaskPriority*", prio_runner_post (runner, 1, 0));
  assert_told ("*is not a PrioTaskPriority*", prio_runner_post (runner, 1, 4));
  assert_critical (prio_runner_post_full (NULL, 1, BACKGROUND, NULL, 0, 0, FALSE));
  assert_critical (prio_runner_post_full (runner, 0, BACKGROUND, NULL, 0, 0, FALSE));
  assert_critical (prio_runner_post_full (runner, 1, -1, NULL, 0, 0, FALSE));
  assert_critical (prio_runner_post_full (runner, 1, 4, NULL, 0, 0, FALSE));
  assert_critical (prio_runner_post_full (runner, 1, BACKGROUND, (gpointer) no_object_of_ours, 0, 0, FALSE));
  assert_critical (prio_runner_yield (NULL, 1));
  assert_critical (prio_runner_yield (runner, 0));
  assert_critical (prio_runner_request_idle_callback (NULL, 0));
  assert_critical (prio_runner_take_rejected (NULL, &n));
  assert_critical (prio_runner_take_rejected (runner, NULL));

  assert_critical (prio_runner_add_checkpoint_func (f->context, NULL, NULL, NULL));

  /* The calls are outside of a runner's function. */
  assert_critical (prio_runner_end ());
  assert_critical (prio_runner_next ());
}

static void
end_id (Step *step)
{
  assert_critical (prio_runner_end ());
  assert_critical (prio_runner_next ());
}

/* The calls are inside a task that is not a runner's. */
static void
test_runner_in_a_task (Fixture *f, gconstpointer data)
{
  post_step (f, BACKGROUND, 'a', end_id, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
}

/* Only a post can create a task. */
static void
test_task_of_nobody (void)
{
  g_autoptr (PrioTask) task = g_object_new (PRIO_TYPE_TASK, NULL);

  assert_told ("*(): this PrioTask was made by no scheduler", prio_task_get_state (task));
  assert_told ("*(): this PrioTask was made by no scheduler", prio_task_cancel (task));
  assert_told ("*(): this PrioTask was made by no scheduler", prio_task_then (task, callback, NULL, NULL));
  assert_told ("*(): this PrioTask was made by no scheduler", prio_task_return_int (task, 1));
  assert_told ("*(): this PrioTask was made by no scheduler", prio_task_propagate_int (task, NULL));
}

/* A priority that is optional elsewhere is refused for a signal, and replaced by the default. */
static void
test_unset_priority (void)
{
  g_autoptr (PrioTaskController) controller = NULL;
  g_autoptr (PrioTaskSignal) signal = NULL;
  g_autoptr (PrioTaskGroup) group = NULL;

  assert_told ("*0 is not a PrioTaskPriority*", signal = g_object_new (PRIO_TYPE_TASK_SIGNAL, "priority", 0, NULL));
  assert_told ("*0 is not a PrioTaskPriority*", controller = g_object_new (PRIO_TYPE_TASK_CONTROLLER, "priority", 0,
                                                                           NULL));
  assert_told ("*0 is not a PrioTaskPriority*", group = g_object_new (PRIO_TYPE_TASK_GROUP, "priority", 0, NULL));
  g_assert_cmpint (prio_task_signal_get_priority (signal), ==, USER_VISIBLE);
  g_assert_cmpint (prio_task_signal_get_priority (prio_task_controller_get_signal (controller)), ==, USER_VISIBLE);
  g_assert_cmpint (prio_task_group_get_priority (group), ==, USER_VISIBLE);
}

static void
test_properties (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = g_object_new (PRIO_TYPE_TASK_CONTROLLER, "priority", BACKGROUND, NULL);
  g_autoptr (PrioTaskSignal) signal = g_object_new (PRIO_TYPE_TASK_SIGNAL, "priority", USER_BLOCKING, NULL);
  g_autoptr (PrioTaskSignal) of_controller = NULL;
  g_autoptr (PrioScheduler) scheduler = NULL;
  g_autoptr (GMainContext) context = NULL;
  g_autoptr (GError) reason = NULL;
  PrioTaskPriority priority;
  gboolean paused;
  double time_slice;
  gint64 next_frame;

  scheduler = g_object_new (PRIO_TYPE_SCHEDULER, "context", f->context, "time-slice", 7.5, "next-frame", (gint64) 77, NULL);
  g_object_get (scheduler, "context", &context, "time-slice", &time_slice, "paused", &paused, "next-frame", &next_frame, NULL);
  g_assert_true (context == f->context && prio_scheduler_get_context (scheduler) == context);
  g_assert_cmpfloat (time_slice, ==, 7.5);
  g_assert_false (paused);
  g_assert_cmpint (next_frame, ==, 77);

  g_object_get (controller, "signal", &of_controller, NULL);
  g_assert_true (of_controller == prio_task_controller_get_signal (controller));
  g_object_get (of_controller, "priority", &priority, "reason", &reason, NULL);
  g_assert_cmpint (priority, ==, BACKGROUND);
  g_assert_no_error (reason);
  prio_task_controller_abort (controller, NULL);
  g_object_get (of_controller, "reason", &reason, NULL);
  g_assert_error (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (prio_task_signal_get_priority (signal), ==, USER_BLOCKING);
}

/* A copy of a deadline returns the same values. */
static void
test_kept_deadline (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioIdleDeadline) copy = NULL;

  prio_scheduler_request_idle_callback (f->scheduler, 0, idle_function, &copy, NULL);
  while (copy == NULL)
    g_main_context_iteration (f->context, TRUE);
  g_assert_false (prio_idle_deadline_did_timeout (copy));
  g_usleep (51000);
  g_assert_cmpfloat (prio_idle_deadline_get_time_remaining (copy), ==, 0);
}

static void
test_unknown_properties (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND },
                                                        task_function, NULL, NULL);
  GObject *objects[] = { G_OBJECT (f->scheduler), G_OBJECT (controller), G_OBJECT (cancellable_of (controller)),
                         G_OBJECT (task) };
  g_autoptr (GParamSpec) foreign = g_param_spec_ref_sink (g_param_spec_int ("foreign", NULL, NULL, 0, 1, 0, G_PARAM_READWRITE));
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_INT);
  for (guint i = 0; i < G_N_ELEMENTS (objects); i++)
    {
      GObjectClass *class = G_OBJECT_GET_CLASS (objects[i]);

      g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "*invalid property id*");
      class->get_property (objects[i], 99, &value, foreign);
      g_test_assert_expected_messages ();
      if (i < 3)
        {
          g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "*invalid property id*");
          class->set_property (objects[i], 99, &value, foreign);
          g_test_assert_expected_messages ();
        }
    }
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  no_object_of_ours = g_object_new (G_TYPE_OBJECT, NULL);

  add_test ("/misuse/glib-priorities", test_glib_priorities);
  add_test ("/misuse/posting", test_posting);
  add_test ("/misuse/unknown-options", test_unknown_options);
  add_test ("/misuse/options-of-1.0", test_options_of_1_0);
  add_test ("/misuse/yielding", test_yielding);
  add_test ("/misuse/scheduler", test_scheduler);
  add_test ("/misuse/task", test_task);
  g_test_add_func ("/misuse/signals", test_signals);
  add_test ("/misuse/states-and-deadlines", test_states_and_deadlines);
  add_test ("/misuse/runner", test_runner);
  add_test ("/misuse/runner-in-a-task", test_runner_in_a_task);
  g_test_add_func ("/misuse/unset-priority", test_unset_priority);
  g_test_add_func ("/misuse/task-of-nobody", test_task_of_nobody);
  add_test ("/misuse/properties", test_properties);
  add_test ("/misuse/kept-deadline", test_kept_deadline);
  add_test ("/misuse/unknown-properties", test_unknown_properties);

  status = g_test_run ();
  g_object_unref (no_object_of_ours);
  return status;
}
