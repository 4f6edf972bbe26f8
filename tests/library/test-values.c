/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-values.c: values that bindings read: properties, copies of structures, the number of the first task */

#include <prio-sched-bindings.h>
#include <prio-sched-watch.h>
#include "helpers.h"

static void
test_group_properties (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 3, USER_VISIBLE);
  g_autoptr (PrioScheduler) scheduler = NULL;
  g_autoptr (PrioTaskSignal) signal = NULL;
  g_autoptr (PrioTaskGroup) of_default = g_object_new (PRIO_TYPE_TASK_GROUP, NULL);
  g_autoptr (PrioScheduler) by_default = NULL;
  PrioTaskPriority priority;
  guint limit, pending;

  g_object_get (group, "scheduler", &scheduler, "limit", &limit, "n-tasks", &pending, "priority", &priority, "signal", &signal, NULL);
  g_assert_true (scheduler == f->scheduler);
  g_assert_cmpuint (limit, ==, 3);
  g_assert_cmpuint (pending, ==, 0);
  g_assert_cmpint (priority, ==, USER_VISIBLE);
  g_assert_true (signal == prio_task_group_get_signal (group));

  by_default = prio_task_group_dup_scheduler (of_default);
  g_assert_true (by_default == prio_scheduler_get_default ());
  g_object_set (group, "limit", 5, NULL);
  g_assert_cmpuint (prio_task_group_get_limit (group), ==, 5);
}

/* A copy owns its strings and objects, but not the tag. */
static void
test_options_are_copied (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();
  PrioTaskOptions task = { .signal = signal_of (controller), .name = "name", .source_object = G_OBJECT (f->scheduler), .delay = 7 };
  PrioYieldOptions yield = { .signal = signal_of (controller), .name = "name", .state = state };
  PrioTaskOptions *task_copy = g_boxed_copy (PRIO_TYPE_TASK_OPTIONS, &task);
  PrioYieldOptions *yield_copy = g_boxed_copy (PRIO_TYPE_YIELD_OPTIONS, &yield);
  PrioTaskOptions *empty = g_boxed_copy (PRIO_TYPE_TASK_OPTIONS, &(PrioTaskOptions) { 0 });

  g_assert_true (task_copy->signal == task.signal && task_copy->source_object == task.source_object);
  g_assert_cmpuint (task_copy->delay, ==, 7);
  g_assert_true (task_copy->name != task.name && yield_copy->name != yield.name);
  g_assert_cmpstr (task_copy->name, ==, yield_copy->name);
  g_assert_true (yield_copy->signal == yield.signal && yield_copy->state == yield.state);
  g_assert_true (empty->signal == NULL && empty->name == NULL);
  g_boxed_free (PRIO_TYPE_TASK_OPTIONS, task_copy);
  g_boxed_free (PRIO_TYPE_TASK_OPTIONS, empty);
  g_boxed_free (PRIO_TYPE_YIELD_OPTIONS, yield_copy);
}

static void
run_numbers (guint id, gpointer data)
{
  Fixture *f = data;

  for (; id != 0; id = prio_runner_next ())
    g_string_append_c (f->log, (gchar) id);
}

static void
test_first_number (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  PrioRunner *runner = prio_runner_new (f->scheduler, run_numbers, f, NULL);

  g_assert_cmpuint (prio_runner_get_first (runner), ==, 0);
  prio_runner_post (runner, 'a', BACKGROUND);
  g_assert_cmpuint (prio_runner_get_first (runner), ==, 'a');
  prio_runner_post_full (runner, 'b', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 0, 0, FALSE);
  g_assert_cmpuint (prio_runner_get_first (runner), ==, 'b');
  prio_task_controller_abort (controller, NULL);
  g_assert_cmpuint (prio_runner_get_first (runner), ==, 'a');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  g_assert_cmpuint (prio_runner_get_first (runner), ==, 0);
  g_clear_object (&f->scheduler);
  fixture_run (f);
  prio_runner_unref (runner);
}

#define ADD(path, function) g_test_add ("/values/" path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("group-properties", test_group_properties);
  ADD ("options-are-copied", test_options_are_copied);
  ADD ("first-number", test_first_number);

  return g_test_run ();
}
