/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-starvation.c: a task behind continuations of its priority has a turn in the end */

#include "frozen-fixture.h"

#define STEP 10 /* ms */

/* The log has a letter for each task, with the tenths of a second since the beginning. */
static gint64 begun;
static gint64 yields_until;

static void
set_up (Fixture *f, gconstpointer data)
{
  frozen_set_up (f, data);
  begun = frozen_time;
  yields_until = frozen_time + 4 * G_USEC_PER_SEC;
}

static void
expect_warning (const char *pattern)
{
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, pattern);
}

static gboolean
log_time (gpointer data)
{
  Step *step = data;

  g_string_append_printf (step->f->log, "%c%d ", step->letter, (gint) ((frozen_time - begun) / (100 * MS)));
  if (step->then != NULL)
    step->then (step);
  return G_SOURCE_REMOVE;
}

static void
post_timed (Fixture *f, PrioTaskPriority priority, char letter, void (*then) (Step *step), gpointer data)
{
  prio_scheduler_post (f->scheduler, priority, log_time, step_new (f, letter, then, data), step_free);
}

static void
log_time_of_task (PrioTask *task, gpointer data)
{
  log_time (data);
  prio_task_return_boolean (task, TRUE);
}

static PrioTask *
post_named (Fixture *f, const char *name)
{
  return prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .name = name }, log_time_of_task,
                                   step_new (f, name[0], NULL, NULL), step_free);
}

static gboolean
keep_yielding (gpointer data G_GNUC_UNUSED)
{
  pass (STEP);
  return frozen_time < yields_until;
}

static void
keep_yielding_by_name (GObject *scheduler, GAsyncResult *result, gpointer data)
{
  if (result != NULL)
    g_assert_true (prio_scheduler_yield_finish (PRIO_SCHEDULER (scheduler), result, NULL));
  if (keep_yielding (NULL))
    prio_scheduler_yield_async (PRIO_SCHEDULER (scheduler), &PRIO_YIELD_OPTIONS (.name = "reader"), keep_yielding_by_name, data);
}

/* Checks which tasks ran when, and that the library has warned once. */
static void
assert_ran_after_warning (Fixture *f, const char *expected)
{
  expect_warning ("*takes_turns*");
  assert_ran (f, expected);
  g_test_assert_expected_messages ();
}

static void
post_yielder (Fixture *f, PrioTaskPriority priority)
{
  prio_scheduler_post (f->scheduler, priority, keep_yielding, NULL, NULL);
}

static void
stop_yields (Step *step G_GNUC_UNUSED)
{
  yields_until = 0;
}

static void
test_a_loop_of_yields_ends (Fixture *f, gconstpointer data)
{
  PrioTaskPriority priority = (PrioTaskPriority) GPOINTER_TO_INT (data);

  post_yielder (f, priority);
  post_timed (f, priority, 's', stop_yields, NULL);
  expect_warning ("A task (*) has waited behind yields of a task (*) of the same priority for longer than the starvation-limit, "
                  "and has a turn now.  Tasks that are posted with takes_turns alternate");
  assert_ran (f, "s10 ");
  g_test_assert_expected_messages ();
}

static void
test_each_has_a_turn_after_the_limit (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  post_yielder (f, USER_VISIBLE);
  for (char letter = 'a'; letter < 'f'; letter++)
    post_timed (f, USER_VISIBLE, letter, NULL, NULL);
  assert_ran_after_warning (f, "a10 b20 c30 d40 e40 ");
}

static void
test_the_limit_is_a_property (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  guint limit;

  g_assert_cmpuint (prio_scheduler_get_starvation_limit (f->scheduler), ==, 1000);
  prio_scheduler_set_starvation_limit (f->scheduler, 300);
  g_object_get (f->scheduler, "starvation-limit", &limit, NULL);
  g_assert_cmpuint (limit, ==, 300);

  post_yielder (f, USER_VISIBLE);
  for (char letter = 'a'; letter < 'd'; letter++)
    post_timed (f, USER_VISIBLE, letter, NULL, NULL);
  assert_ran_after_warning (f, "a3 b6 c9 ");
}

static void
test_without_a_limit_the_order_is_the_drafts (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_set_starvation_limit (f->scheduler, 0);
  post_yielder (f, USER_VISIBLE);
  post_timed (f, USER_VISIBLE, 'a', NULL, NULL);
  assert_ran (f, "a40 ");
}

static void
test_the_warning_names_both (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) waits = NULL;

  /* This is the first task of the main context. */
  waits = post_named (f, "writer");
  keep_yielding_by_name (G_OBJECT (f->scheduler), NULL, NULL);
  expect_warning ("A task (writer) has waited behind yields of a task (reader) of the same priority *");
  assert_ran (f, "w10 ");
  g_test_assert_expected_messages ();
}

/* Only continuations of the task's own priority count. */
static void
test_more_urgent_continuations_go_on (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  post_yielder (f, USER_BLOCKING);
  post_timed (f, USER_VISIBLE, 'a', NULL, NULL);
  assert_ran (f, "a40 ");
}

static void
test_what_takes_turns_needs_no_limit (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.takes_turns = TRUE), keep_yielding, NULL, NULL);
  post_timed (f, USER_VISIBLE, 'a', NULL, NULL);
  assert_ran (f, "a0 ");
}

static gboolean
keep_stepping (PrioTask *task G_GNUC_UNUSED, gpointer data)
{
  return keep_yielding (data);
}

static void
test_steps_are_continuations (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) steps = NULL;

  steps = prio_scheduler_post_steps (f->scheduler, NULL, keep_stepping, NULL, NULL);
  post_timed (f, USER_VISIBLE, 'a', stop_yields, NULL);
  assert_ran_after_warning (f, "a10 ");
}

static gboolean
pause_for_long (gpointer data)
{
  Fixture *f = data;

  prio_scheduler_pause (f->scheduler);
  pass (2000);
  prio_scheduler_resume (f->scheduler);
  return G_SOURCE_REMOVE;
}

/* A wait behind continuations begins anew after a pause. */
static void
test_the_wait_begins_anew_after_a_pause (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  post_yielder (f, USER_VISIBLE);
  post_timed (f, USER_VISIBLE, 'a', NULL, NULL);
  attach_source (f->context, G_PRIORITY_DEFAULT, pause_for_long, f);
  assert_ran_after_warning (f, "a30 ");
}

/* A delayed task begins to wait when it is due. */
static void
test_a_delay_is_no_wait (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  post_yielder (f, USER_VISIBLE);
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.delay = 2000), log_time, step_new (f, 'd', NULL, NULL), step_free);
  assert_ran_after_warning (f, "d30 ");
}

/* If the waiting task is aborted, the next task begins to wait then. */
static void
test_an_abort_while_a_task_waits (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);

  post_yielder (f, USER_VISIBLE);
  g_assert_true (post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, signal_of (controller), 'x', NULL, NULL));
  post_timed (f, USER_VISIBLE, 'a', NULL, NULL);
  while (frozen_time < begun + G_USEC_PER_SEC / 2)
    g_main_context_iteration (f->context, FALSE);
  prio_task_controller_abort (controller, NULL);
  assert_ran_after_warning (f, "a15 ");
}

static void
abort_yields (Step *step)
{
  prio_task_controller_abort (step->data, NULL);
}

static void
test_continuations_of_a_signal (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, keep_yielding, NULL, NULL);
  post_timed (f, USER_BLOCKING, 'a', abort_yields, controller);
  assert_ran_after_warning (f, "a10 ");
}

static void
test_tasks_of_a_group (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTask) first = NULL, second = NULL;

  post_yielder (f, USER_VISIBLE);
  first = prio_task_group_post_task (group, NULL, log_time_of_task, step_new (f, 'a', NULL, NULL), step_free);
  second = prio_task_group_post_task (group, NULL, log_time_of_task, step_new (f, 'b', stop_yields, NULL), step_free);
  assert_ran_after_warning (f, "a10 b20 ");
}

/* A task is as urgent as the task that waits for it, and waits behind continuations of that priority. */
static void
test_a_lent_priority (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) low = NULL, high = NULL;

  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
  post_yielder (f, USER_BLOCKING);
  low = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND }, log_time_of_task,
                                  step_new (f, 'l', stop_yields, NULL), step_free);
  high = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING }, await_task, low, NULL);
  assert_ran_after_warning (f, "l20 ");
}

/* The waiting task's scheduler has the limit, and each scheduler warns once. */
static void
test_two_schedulers (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);

  prio_scheduler_set_starvation_limit (other, 500);
  post_yielder (f, USER_VISIBLE);
  prio_scheduler_post (other, USER_VISIBLE, log_time, step_new (f, 'o', NULL, NULL), step_free);
  post_timed (f, USER_VISIBLE, 'a', NULL, NULL);
  prio_scheduler_post (other, USER_VISIBLE, log_time, step_new (f, 'p', NULL, NULL), step_free);
  expect_warning ("*takes_turns*");
  assert_ran_after_warning (f, "o5 a15 p20 ");
}

static gboolean
draw (gpointer data)
{
  Fixture *f = data;

  pass (20);
  prio_scheduler_set_next_frame (f->scheduler, frozen_time);
  return yields_until != 0;
}

/* The wait is not longer if drawing takes a part of the time. */
static void
test_beside_frames (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_set_task_share (f->scheduler, 0.5);
  attach_source (f->context, G_PRIORITY_HIGH_IDLE + 20, draw, f);
  post_yielder (f, USER_VISIBLE);
  post_timed (f, USER_VISIBLE, 'a', stop_yields, NULL);
  assert_ran_after_warning (f, "a10 ");
}

/* A signal's timeout is the library's own task. */
static void
test_no_warning_about_the_library (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskSignal) signal = prio_task_signal_new_timeout (10);

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING, .signal = signal }, keep_yielding, NULL, NULL);
  fixture_run (f);
  g_assert_cmpint (frozen_time, <, begun + 2 * G_USEC_PER_SEC);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add ("/scheduler/starvation/" path, Fixture, NULL, set_up, func, fixture_tear_down)
#define add_with(path, data, func) \
  g_test_add ("/scheduler/starvation/" path, Fixture, GINT_TO_POINTER (data), set_up, func, fixture_tear_down)
  add_with ("a-loop-of-yields-ends/background", BACKGROUND, test_a_loop_of_yields_ends);
  add_with ("a-loop-of-yields-ends/user-visible", USER_VISIBLE, test_a_loop_of_yields_ends);
  add_with ("a-loop-of-yields-ends/user-blocking", USER_BLOCKING, test_a_loop_of_yields_ends);
  add ("each-has-a-turn-after-the-limit", test_each_has_a_turn_after_the_limit);
  add ("the-limit-is-a-property", test_the_limit_is_a_property);
  add ("without-a-limit-the-order-is-the-drafts", test_without_a_limit_the_order_is_the_drafts);
  add ("the-warning-names-both", test_the_warning_names_both);
  add ("more-urgent-continuations-go-on", test_more_urgent_continuations_go_on);
  add ("what-takes-turns-needs-no-limit", test_what_takes_turns_needs_no_limit);
  add ("steps-are-continuations", test_steps_are_continuations);
  add ("the-wait-begins-anew-after-a-pause", test_the_wait_begins_anew_after_a_pause);
  add ("a-delay-is-no-wait", test_a_delay_is_no_wait);
  add ("an-abort-while-a-task-waits", test_an_abort_while_a_task_waits);
  add ("continuations-of-a-signal", test_continuations_of_a_signal);
  add ("tasks-of-a-group", test_tasks_of_a_group);
  add ("a-lent-priority", test_a_lent_priority);
  add ("two-schedulers", test_two_schedulers);
  add ("beside-frames", test_beside_frames);
  add ("no-warning-about-the-library", test_no_warning_about_the_library);

  return g_test_run ();
}
