/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-state.c: inheritance of the state, and microtasks */

#include <prio-sched-bindings.h>
#include "helpers.h"

/* Logs @letter when its yield resumes, or '-' if it is rejected. */
static void
resumed (GObject *source, GAsyncResult *result, gpointer data)
{
  Step *step = data;
  gboolean ok = prio_scheduler_yield_finish (step->f->scheduler, result, NULL);

  g_string_append_c (step->f->log, ok ? step->letter : '-');
  if (ok && step->then != NULL)
    step->then (step);
  step_free (step);
}

static void
yield_letter (Fixture *f, char letter)
{
  prio_scheduler_yield_async (f->scheduler, NULL, resumed, step_new (f, letter, NULL, NULL));
}

static void
yield_then_log (Step *step)
{
  yield_letter (step->f, g_ascii_toupper (step->letter));
}

/* Posts tasks around a yielding probe: their order shows its priority. */
static void
surround (Fixture *f)
{
  post_letter (f, BACKGROUND, '0');
  post_letter (f, USER_VISIBLE, '1');
  post_letter (f, USER_BLOCKING, '2');
}

static void
test_yield_beats_its_own_priority (Fixture *f, gconstpointer data)
{
  post_step (f, BACKGROUND, 'a', yield_then_log, NULL);
  surround (f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "21aA0");

  g_string_truncate (f->log, 0);
  post_step (f, USER_BLOCKING, 'b', yield_then_log, NULL);
  surround (f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "bB210");
}

static void
test_yield_outside_any_task (Fixture *f, gconstpointer data)
{
  surround (f);
  yield_letter (f, 'y');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "2y10");
}

static void
yield_on_other (Step *step)
{
  prio_scheduler_yield_async (step->data, NULL, resumed, step_new (step->f, 'Y', NULL, NULL));
}

/* Another scheduler's state is not inherited. */
static void
test_yield_on_another_scheduler (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);
  PrioScheduler *mine = f->scheduler;

  post_step (f, BACKGROUND, 'a', yield_on_other, other);
  prio_scheduler_post (other, USER_VISIBLE, step_run, step_new (f, '1', NULL, NULL), step_free);
  f->scheduler = other;
  fixture_run (f);
  f->scheduler = mine;
  g_assert_cmpstr (f->log->str, ==, "1aY");
}

static void
test_yield_follows_the_signal (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);

  prio_scheduler_set_time_slice (f->scheduler, 0);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'a', yield_then_log, NULL);
  g_main_context_iteration (f->context, TRUE);
  surround (f);
  prio_task_controller_set_priority (controller, BACKGROUND, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a21A0");
}

static void
abort_and_yield (Step *step)
{
  prio_task_controller_abort (step->data, NULL);
  yield_letter (step->f, 'x');
}

static void
test_yield_is_rejected_after_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);

  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'a', abort_and_yield, controller);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a-");
}

/* The older draft's options, each in a task of a background signal. */
typedef struct
{
  PrioYieldFlags flags;
  PrioTaskPriority priority;
  gboolean own_signal; /* whether a user-blocking signal is given */
  const char *order;
  const char *after_abort; /* the state of the running task's signal */
} YieldCase;

static const YieldCase yield_cases[] = {
  { PRIO_YIELD_DROP_SIGNAL | PRIO_YIELD_DROP_PRIORITY, PRIO_TASK_PRIORITY_UNSET, FALSE, "a2Y10", "aY" },
  { PRIO_YIELD_DROP_SIGNAL, USER_BLOCKING, FALSE, "aY210", "aY" },
  { PRIO_YIELD_NONE, PRIO_TASK_PRIORITY_UNSET, TRUE, "aY210", "aY" },
  { PRIO_YIELD_NONE, BACKGROUND, TRUE, "a21Y0", "aY" },
  { PRIO_YIELD_NONE, PRIO_TASK_PRIORITY_UNSET, FALSE, "a21Y0", "a-" },
  { PRIO_YIELD_NONE, USER_BLOCKING, FALSE, "aY210", "a-" },
  { PRIO_YIELD_DROP_SIGNAL, PRIO_TASK_PRIORITY_UNSET, FALSE, "a21Y0", "aY" },
  { PRIO_YIELD_KEEP_PRIORITY, PRIO_TASK_PRIORITY_UNSET, TRUE, "a21Y0", "aY" },
  { PRIO_YIELD_KEEP_PRIORITY, USER_BLOCKING, TRUE, "a21Y0", "aY" },
  { PRIO_YIELD_KEEP_PRIORITY, PRIO_TASK_PRIORITY_UNSET, FALSE, "a21Y0", "a-" },
  { PRIO_YIELD_DROP_PRIORITY, PRIO_TASK_PRIORITY_UNSET, FALSE, "a21Y0", "a-" },
};

static PrioTaskController *own_controller;

static void
yield_with_options (Step *step)
{
  const YieldCase *c = step->data;

  prio_scheduler_yield_async (step->f->scheduler,
                              &(PrioYieldOptions) {
                                .priority = c->priority,
                                .signal = c->own_signal ? signal_of (own_controller) : NULL,
                                .flags = c->flags,
                              },
                              resumed, step_new (step->f, 'Y', NULL, NULL));
}

static void
test_yield_options (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_time_slice (f->scheduler, 0);

  for (guint i = 0; i < G_N_ELEMENTS (yield_cases); i++)
    {
      const YieldCase *c = &yield_cases[i];
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
      g_autoptr (PrioTaskController) own = prio_task_controller_new (USER_BLOCKING);

      own_controller = own;
      for (guint abort = 0; abort < 2; abort++)
        {
          g_string_truncate (f->log, 0);
          post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'a', yield_with_options,
                            (gpointer) c);
          g_main_context_iteration (f->context, TRUE);
          if (abort)
            prio_task_controller_abort (controller, NULL);
          else
            surround (f);
          fixture_run (f);
          g_test_message ("case %u", i);
          g_assert_cmpstr (f->log->str, ==, abort ? c->after_abort : c->order);
        }
    }
}

static void
queue_two_microtasks (Step *step)
{
  prio_scheduler_queue_microtask (step->f->scheduler, step_run_once,
                                  step_new (step->f, 'm', yield_then_log, NULL), step_free);
  prio_scheduler_queue_microtask (step->f->scheduler, step_run_once, step_new (step->f, 'n', NULL, NULL), step_free);
  g_string_append_c (step->f->log, '.');
}

static void
test_microtasks_before_the_next_task_inherit (Fixture *f, gconstpointer data)
{
  post_step (f, BACKGROUND, 'a', queue_two_microtasks, NULL);
  surround (f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "21a.mnM0");
}

static void
queue_more (Step *step)
{
  if (step->letter < 'e')
    prio_scheduler_queue_microtask (step->f->scheduler, step_run_once,
                                    step_new (step->f, step->letter + 1, queue_more, NULL), step_free);
}

static void
test_microtasks_of_microtasks (Fixture *f, gconstpointer data)
{
  post_step (f, USER_VISIBLE, 'a', queue_more, NULL);
  surround (f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "2abcde10");
}

static void
test_microtasks_outside_any_task (Fixture *f, gconstpointer data)
{
  surround (f);
  prio_scheduler_queue_microtask (f->scheduler, step_run_once, step_new (f, 'm', yield_then_log, NULL), step_free);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "m2M10");
}

/* A callback keeps the state of its registration, whatever code completes the task. */
static void
log_and_yield (GObject *source, GAsyncResult *result, gpointer data)
{
  Step *step = data;

  step_run (step);
}

static void
await_data (Step *step)
{
  prio_task_then (step->data, log_and_yield, step_new (step->f, 'c', yield_then_log, NULL), step_free);
}

static void
defer (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
}

static void
finish (Step *step)
{
  prio_task_return_boolean (step->data, TRUE);
}

static void
test_callbacks_keep_the_state_of_registration (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING },
                                                        defer, NULL, NULL);

  fixture_run (f);
  post_step (f, BACKGROUND, 'a', await_data, task);
  fixture_run (f);

  surround (f);
  post_step (f, USER_BLOCKING, 'f', finish, task);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a2fc1C0");
}

static PrioSchedulingState *captured;

static void
capture (Step *step)
{
  captured = prio_scheduling_state_ref_current ();
  g_assert_nonnull (captured);
}

static void
yield_in_state (gpointer data)
{
  yield_letter (data, 'y');
}

static void
test_captured_state (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioSchedulingState) copy = NULL;
  g_autoptr (PrioScheduler) scheduler = NULL;

  g_assert_null (prio_scheduling_state_ref_current ());
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'a', capture, NULL);
  fixture_run (f);
  g_assert_null (prio_scheduling_state_ref_current ());

  surround (f);
  prio_scheduling_state_run (captured, yield_in_state, f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a21y0");

  copy = g_boxed_copy (PRIO_TYPE_SCHEDULING_STATE, captured);
  scheduler = prio_scheduling_state_dup_scheduler (copy);
  g_assert_true (scheduler == f->scheduler);
  g_assert_true (prio_scheduling_state_get_cancellable (copy) == cancellable_of (controller));
  g_assert_cmpint (prio_scheduling_state_get_priority (copy), ==, PRIO_TASK_PRIORITY_UNSET);

  prio_task_controller_abort (controller, NULL);
  prio_scheduling_state_run (captured, yield_in_state, f);
  prio_scheduling_state_run (NULL, yield_in_state, f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a21y0-y");
  g_clear_pointer (&captured, prio_scheduling_state_unref);
}

/* A thread that ran the context last does not run it now. */
typedef struct
{
  PrioScheduler *scheduler;
  gboolean had_state, yielded;
} Where;

static void
look_for_state (gpointer data)
{
  Where *where = data;
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();

  where->had_state = state != NULL;
  for (guint i = 0; i < 1000; i++)
    where->yielded |= prio_scheduler_should_yield (where->scheduler);
}

static gpointer
run_until_captured (gpointer context)
{
  while (captured == NULL)
    g_main_context_iteration (context, TRUE);
  return NULL;
}

static void
test_only_where_the_context_runs (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  Fixture f = { .context = context, .scheduler = scheduler, .log = g_string_new (NULL) };
  Where where = { .scheduler = scheduler };

  /* This thread has run the context, and no longer does. */
  post_step (&f, BACKGROUND, 'a', capture, NULL);
  run_until_captured (context);
  post_letter (&f, USER_BLOCKING, 'b');
  g_assert_false (g_main_context_is_owner (context));
  prio_scheduling_state_run (captured, look_for_state, &where);
  g_assert_false (where.had_state);
  g_assert_false (where.yielded);

  /* This thread is about to run the context. */
  g_assert_true (g_main_context_acquire (context));
  prio_scheduling_state_run (captured, look_for_state, &where);
  g_assert_true (where.had_state);
  g_assert_true (where.yielded);
  g_main_context_release (context);

  /* Another thread ran the context last.  This thread has a state only after it acquires the context. */
  g_clear_pointer (&captured, prio_scheduling_state_unref);
  post_step (&f, BACKGROUND, 'c', capture, NULL);
  g_thread_join (g_thread_new ("other", run_until_captured, context));
  prio_scheduling_state_run (captured, look_for_state, &where);
  g_assert_false (where.had_state);
  g_assert_true (g_main_context_acquire (context));
  prio_scheduling_state_run (captured, look_for_state, &where);
  g_assert_true (where.had_state);
  g_main_context_release (context);

  g_clear_pointer (&captured, prio_scheduling_state_unref);
  g_string_free (f.log, TRUE);
}

/* A nested main loop: other tasks continue, its sources are not part of the task, and the task's state is intact
 * afterwards. */
static gboolean
yield_in_source (gpointer data)
{
  Step *step = data;

  g_assert_null (prio_scheduling_state_ref_current ());
  yield_letter (step->f, 's');
  return G_SOURCE_REMOVE;
}

static void
run_nested_loop (Step *step)
{
  GSource *source = g_idle_source_new ();

  g_source_set_callback (source, yield_in_source, step, NULL);
  g_source_attach (source, step->f->context);
  g_source_unref (source);
  surround (step->f);
  fixture_run (step->f);
  g_string_append_c (step->f->log, ')');
  yield_letter (step->f, 'A');
}

static void
test_nested_main_loop (Fixture *f, gconstpointer data)
{
  post_step (f, BACKGROUND, '(', run_nested_loop, NULL);
  fixture_run (f);

  /* The source of the nested loop yields as user-visible; the order of the idle source among the tasks is not tested
   * here. */
  g_assert_true (g_str_has_prefix (f->log->str, "("));
  g_assert_nonnull (strchr (f->log->str, 's'));
  g_assert_true (g_str_has_suffix (f->log->str, ")A"));
  g_assert_cmpuint (f->log->len, ==, 7);
}

static void
run_nested_then_probe (Step *step)
{
  fixture_run (step->f);
  surround (step->f);
  yield_letter (step->f, 'A');
}

static void
test_state_after_a_nested_main_loop (Fixture *f, gconstpointer data)
{
  post_step (f, BACKGROUND, 'a', run_nested_then_probe, NULL);
  post_letter (f, USER_BLOCKING, 'b');
  post_letter (f, BACKGROUND, 'c');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "bac21A0");
}

static gboolean
log_and_queue (gpointer data)
{
  Fixture *f = data;

  g_string_append_c (f->log, 'j');
  prio_scheduler_queue_microtask (f->scheduler, step_run_once, step_new (f, 'm', NULL, NULL), step_free);
  return G_SOURCE_REMOVE;
}

/* The order of microtasks holds even if tasks are so short that the clock is not read after each. */
static void
test_microtasks_in_a_row (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 1000; i++)
    prio_scheduler_post (f->scheduler, USER_VISIBLE, log_and_queue, f, NULL);
  fixture_run (f);

  g_assert_cmpuint (f->log->len, ==, 2000);
  for (gsize i = 0; i < f->log->len; i += 2)
    g_assert_true (f->log->str[i] == 'j' && f->log->str[i + 1] == 'm');
}

static void
ignore_task (GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
}

static void
post_and_wait (gpointer data)
{
  Fixture *f = data;
  g_autoptr (PrioTask) low = NULL;

  low = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND }, step_run_task,
                                  step_new (f, 'l', NULL, NULL), step_free);
  prio_task_then (low, ignore_task, NULL, NULL);
}

static void
post_refused (Step *step)
{
  PrioTaskOptions options = { .cancellable = step->data };

  g_assert_false (prio_scheduler_post_full (step->f->scheduler, &options, step_run, step->f, post_and_wait));
}

/* Tasks that a destroy notify posts and awaits are not lent the priority of the task that causes the call. */
static void
test_a_destroy_notify_has_none (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) aborted = g_cancellable_new ();

  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
  g_cancellable_cancel (aborted);
  post_step (f, USER_BLOCKING, 'p', post_refused, aborted);
  post_letter (f, USER_VISIBLE, 'v');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "pvl");
}

static void
expect_log (Fixture *f, const char *expected)
{
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, expected);
  g_string_truncate (f->log, 0);
}

static gpointer
new_elsewhere (gpointer data)
{
  Fixture *f = data;
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_new (NULL, f->scheduler, BACKGROUND);
  g_autoptr (PrioSchedulingState) inner = prio_scheduling_state_new (state, f->scheduler, USER_BLOCKING);

  g_clear_pointer (&state, prio_scheduling_state_unref);
  return g_steal_pointer (&inner);
}

static void
yielded_in_new (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_true (prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, NULL));
  g_string_append_c (((Fixture *) data)->log, 'y');
}

static void
tell_and_yield (gpointer data)
{
  Fixture *f = data;
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduling_state_dup_scheduler (state);

  g_string_append_printf (f->log, "%d%s%s", prio_scheduling_state_get_priority (state),
                          prio_scheduling_state_get_cancellable (state) != NULL ? "s" : "", prio_scheduler_did_timeout (f->scheduler) ? "!" : "");
  g_assert_true (scheduler == f->scheduler);
  prio_scheduler_yield_async (f->scheduler, NULL, yielded_in_new, f);
}

static void
step_run_in_new (Step *step)
{
  g_autoptr (PrioSchedulingState) outer = prio_scheduling_state_ref_current ();
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_new (outer, step->data, BACKGROUND);

  prio_scheduling_state_run (state, tell_and_yield, step->f);
}

/* A new state has another priority, and otherwise its parent's values: also the scheduler, if it has the same main
 * context. */
static void
test_new (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) stranger = prio_scheduler_new (context);
  g_autoptr (PrioSchedulingState) outside = prio_scheduling_state_new (NULL, f->scheduler, USER_BLOCKING);
  g_autoptr (PrioSchedulingState) foreign = prio_scheduling_state_new (outside, stranger, USER_VISIBLE);
  g_autoptr (PrioSchedulingState) made = NULL;
  g_autoptr (PrioScheduler) own = prio_scheduling_state_dup_scheduler (foreign);

  g_assert_true (own == stranger);
  prio_scheduling_state_run (outside, tell_and_yield, f);
  post_letter (f, USER_VISIBLE, 'x');
  expect_log (f, "3yx");

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller), .timeout = -1 }, step_run,
                            step_new (f, 'a', step_run_in_new, other), step_free);
  post_letter (f, USER_VISIBLE, 'x');
  expect_log (f, "a1s!yx");

  /* The state was created on another thread. */
  made = g_thread_join (g_thread_new ("maker", new_elsewhere, f));
  prio_scheduling_state_run (made, tell_and_yield, f);
  expect_log (f, "3y");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/scheduler/yield/beats-its-own-priority", test_yield_beats_its_own_priority);
  add_test ("/scheduler/yield/outside-any-task", test_yield_outside_any_task);
  add_test ("/scheduler/yield/on-another-scheduler", test_yield_on_another_scheduler);
  add_test ("/scheduler/yield/follows-the-signal", test_yield_follows_the_signal);
  add_test ("/scheduler/yield/is-rejected-after-abort", test_yield_is_rejected_after_abort);
  add_test ("/scheduler/yield/options", test_yield_options);
  add_test ("/scheduler/microtask/before-the-next-task", test_microtasks_before_the_next_task_inherit);
  add_test ("/scheduler/microtask/of-microtasks", test_microtasks_of_microtasks);
  add_test ("/scheduler/microtask/outside-any-task", test_microtasks_outside_any_task);
  add_test ("/state/callbacks-keep-that-of-registration", test_callbacks_keep_the_state_of_registration);
  add_test ("/state/captured", test_captured_state);
  add_test ("/state/new", test_new);
  g_test_add_func ("/state/only-where-the-context-runs", test_only_where_the_context_runs);
  add_test ("/state/nested-main-loop", test_nested_main_loop);
  add_test ("/state/after-a-nested-main-loop", test_state_after_a_nested_main_loop);
  add_test ("/state/microtasks-in-a-row", test_microtasks_in_a_row);
  add_test ("/state/a-destroy-notify-has-none", test_a_destroy_notify_has_none);

  return g_test_run ();
}
