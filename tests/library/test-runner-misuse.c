/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-runner-misuse.c: wrong arguments of the functions for bindings, and of statistics
 *
 * Each logs a critical and has no other effect.
 */

#include <prio-sched-bindings.h>
#include <prio-sched-watch.h>
#include "helpers.h"

#define assert_critical(expression) assert_told ("*assertion*failed*", expression)

static void
run_tasks (guint id, gpointer log)
{
  for (; id != 0; id = prio_runner_next ())
    g_string_append_c (log, (gchar) id);
}

static PrioRunner *
runner_new (Fixture *f)
{
  return prio_runner_new (f->scheduler, run_tasks, f->log, NULL);
}

static void
test_posting (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioRunner) runner = runner_new (f);
  GCancellable *bad = (gpointer) f->scheduler;

  assert_critical (prio_runner_post_full (NULL, 'x', BACKGROUND, NULL, 0, 1, FALSE));
  assert_critical (prio_runner_post_full (runner, 0, BACKGROUND, NULL, 0, 1, FALSE));
  assert_critical (prio_runner_post_full (runner, 'x', 4, NULL, 0, 1, FALSE));
  assert_critical (prio_runner_post_full (runner, 'x', BACKGROUND, bad, 0, 1, FALSE));
  assert_critical (prio_runner_yield_full (NULL, 'x', BACKGROUND, NULL, 0, 1, FALSE));
  assert_critical (prio_runner_yield_full (runner, 0, BACKGROUND, NULL, 0, 1, FALSE));
  assert_critical (prio_runner_yield_full (runner, 'x', 4, NULL, 0, 1, FALSE));
  assert_critical (prio_runner_yield_full (runner, 'x', BACKGROUND, bad, 0, 1, FALSE));
  assert_critical (prio_runner_cancel (NULL, 'x'));
  assert_critical (prio_runner_cancel (runner, 0));
  assert_critical (prio_runner_get_first (NULL));
  assert_critical (prio_runner_is_owner (NULL));

  prio_runner_post (runner, 'a', BACKGROUND);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
}

static void
test_lending (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioRunner) runner = runner_new (f);
  GCancellable *bad = (gpointer) f->scheduler;

  assert_critical (prio_runner_add_lender (NULL, 0, BACKGROUND, NULL));
  assert_critical (prio_runner_add_lender (runner, 0, 4, NULL));
  assert_critical (prio_runner_add_lender (runner, 0, BACKGROUND, bad));
  assert_critical (prio_runner_remove_lender (NULL, 1));
  assert_critical (prio_runner_remove_lender (runner, 0));
  assert_critical (prio_runner_begin_wait (NULL, 1, 2));
  assert_critical (prio_runner_begin_wait (runner, 0, 2));
  assert_critical (prio_runner_begin_wait (runner, 1, 0));
  assert_critical (prio_runner_begin_wait_for_id (NULL, 1, 2));
  assert_critical (prio_runner_begin_wait_for_id (runner, 0, 2));
  assert_critical (prio_runner_end_wait (NULL, 1, 2));
  assert_critical (prio_runner_end_wait (runner, 0, 2));
  assert_critical (prio_runner_end_wait (runner, 1, 0));

  /* Without lending, there are no lenders, and no waits. */
  g_assert_cmpuint (prio_runner_add_lender (runner, 0, BACKGROUND, NULL), ==, 0);
  prio_runner_begin_wait (runner, 1, 2);
  prio_runner_begin_wait_for_id (runner, 1, 2);
  prio_runner_end_wait (runner, 1, 2);
  prio_runner_remove_lender (runner, 1);
}

static void
test_groups (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioRunner) runner = runner_new (f);
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) elsewhere = prio_scheduler_new (context);
  g_autoptr (PrioRunner) stranger = prio_runner_new (elsewhere, run_tasks, f->log, NULL);
  g_autoptr (GError) error = NULL;
  GCancellable *bad = (gpointer) f->scheduler;
  PrioPostResult posted;
  guint handle;

#define POST_ID(group, runner, id, priority, signal) \
  prio_task_group_post_id (group, runner, id, priority, signal, 0, 0, FALSE, NULL, NULL, &posted)
  assert_told ("prio_task_group_post_id*(): NULL is not a PrioTaskGroup*", POST_ID (NULL, runner, 'x', BACKGROUND, NULL));
  assert_told ("*a group and the runner of its tasks have one main context", POST_ID (group, NULL, 'x', BACKGROUND, NULL));
  assert_told ("*a group and the runner of its tasks have one main context", POST_ID (group, stranger, 'x', BACKGROUND, NULL));
  assert_told ("*(): 4 is not a PrioTaskPriority*", POST_ID (group, runner, 'x', 4, NULL));
  assert_told ("*a PrioScheduler is not a GCancellable*", POST_ID (group, runner, 'x', BACKGROUND, bad));
  assert_critical (POST_ID (group, runner, 0, BACKGROUND, NULL));

  assert_told ("*NULL is not a PrioTaskGroup*", prio_task_group_return_id (NULL, 1, NULL));
  assert_told ("*NULL is not a PrioTaskGroup*", prio_task_group_add_lender (NULL, 1));

#define WAIT_ID(group, own, until, cancellable, runner, id) prio_task_group_wait_id (group, own, 0, until, cancellable, runner, id)
  assert_told ("*NULL is not a PrioTaskGroup*", WAIT_ID (NULL, NULL, PRIO_TASK_GROUP_WAIT_ALL, NULL, runner, 'w'));
  assert_told ("*a PrioScheduler is not a PrioTaskGroup*",
               WAIT_ID (group, (gpointer) bad, PRIO_TASK_GROUP_WAIT_ALL, NULL, runner, 'w'));
  assert_told ("*have one main context", WAIT_ID (group, NULL, PRIO_TASK_GROUP_WAIT_ALL, NULL, stranger, 'w'));
  assert_critical (WAIT_ID (group, NULL, (PrioTaskGroupWait) 9, NULL, runner, 'w'));
  assert_critical (WAIT_ID (group, NULL, PRIO_TASK_GROUP_WAIT_ALL, bad, runner, 'w'));
  assert_critical (WAIT_ID (group, NULL, PRIO_TASK_GROUP_WAIT_ALL, NULL, runner, 0));
  assert_told ("*NULL is not a PrioTaskGroup*", prio_task_group_finish_id (NULL, 'w', NULL, NULL, &error));
  assert_critical (prio_task_group_finish_id (group, 'w', NULL, NULL, &error));
  g_assert_no_error (error);

  handle = POST_ID (group, runner, 'a', BACKGROUND, NULL);
  g_assert_cmpuint (handle, !=, 0);
  g_assert_cmpuint (prio_task_group_add_lender (group, handle), ==, 0); /* without lending */
  g_assert_cmpuint (prio_task_group_add_lender (group, handle + 1), ==, 0);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  prio_task_group_return_id (group, handle, NULL);
  fixture_run (f);
}

/* In C, a task of a group is made a lender like any other: tasks that it waits for run before older ones. */
static void
test_lender_of_a_group (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioRunner) runner = NULL;
  g_autoptr (PrioTaskGroup) group = NULL;
  guint handle, waiter, awaited;
  PrioPostResult posted;

  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
  runner = runner_new (f);
  group = prio_task_group_new (f->scheduler, 1, USER_BLOCKING);
  handle = POST_ID (group, runner, 'g', PRIO_TASK_PRIORITY_UNSET, NULL);
  fixture_run (f);
  prio_runner_post (runner, 'v', USER_VISIBLE);
  prio_runner_post_full (runner, 'b', BACKGROUND, NULL, 0, 0, FALSE);
  waiter = prio_task_group_add_lender (group, handle);
  awaited = prio_runner_add_lender (runner, 'b', PRIO_TASK_PRIORITY_UNSET, NULL);
  g_assert_cmpuint (waiter, !=, 0);
  prio_runner_begin_wait (runner, waiter, awaited);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "gbv");
  prio_runner_remove_lender (runner, awaited);
  prio_runner_remove_lender (runner, waiter);
  prio_task_group_return_id (group, handle, NULL);
  g_assert_cmpuint (prio_task_group_add_lender (group, handle), ==, 0);
  fixture_run (f);
}

static void
test_statistics (Fixture *f, gconstpointer data)
{
  PrioStatistics statistics = PRIO_STATISTICS_INIT;

  assert_told ("prio_scheduler_start_statistics(): NULL is not a PrioScheduler", prio_scheduler_start_statistics (NULL));
  assert_told ("prio_scheduler_stop_statistics(): NULL is not a PrioScheduler", prio_scheduler_stop_statistics (NULL));
  assert_told ("prio_scheduler_get_statistics(): NULL is not a PrioScheduler", prio_scheduler_get_statistics (NULL, &statistics));
  assert_critical (prio_scheduler_get_statistics (f->scheduler, NULL));
  statistics.size--;
  assert_critical (prio_scheduler_get_statistics (f->scheduler, &statistics));
  statistics.size = G_MAXSIZE;
  assert_critical (prio_scheduler_get_statistics (f->scheduler, &statistics));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add (path, Fixture, NULL, fixture_set_up, func, fixture_tear_down)
  add ("/runner-misuse/posting", test_posting);
  add ("/runner-misuse/lending", test_lending);
  add ("/runner-misuse/groups", test_groups);
  add ("/runner-misuse/lender-of-a-group", test_lender_of_a_group);
  add ("/runner-misuse/statistics", test_statistics);
  return g_test_run ();
}
