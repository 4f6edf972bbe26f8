/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-unrun.c: with PRIO_SCHED_DEBUG=1, a program that ends without a main loop says how many tasks never ran */

#include "helpers.h"

static gboolean
count (gpointer data)
{
  ++*(guint *) data;
  return G_SOURCE_REMOVE;
}

/* Posts two tasks in another process, aborts a third, and, if @data is not NULL, runs them. */
static void
test_posts (gconstpointer data)
{
  PrioScheduler *scheduler = prio_scheduler_get_default ();
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  static guint n;

  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  prio_scheduler_post (scheduler, USER_VISIBLE, count, &n, NULL);
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .delay = 1 }, count, &n, NULL);
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, count, &n, NULL);
  prio_task_controller_abort (controller, NULL);
  while (data != NULL && n < 2)
    g_main_context_iteration (NULL, TRUE);
}

static gboolean
set (gpointer data)
{
  *(gboolean *) data = TRUE;
  return G_SOURCE_REMOVE;
}

/* Posts a delayed task in another process, and iterates the main loop until the task is due, while its scheduler is paused. */
static void
test_becomes_due (void)
{
  PrioScheduler *scheduler = prio_scheduler_get_default ();
  gboolean is_later = FALSE;
  static guint n;

  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  prio_scheduler_pause (scheduler);
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .delay = 1 }, count, &n, NULL);
  g_timeout_add (5, set, &is_later);
  while (!is_later)
    g_main_context_iteration (NULL, TRUE);
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
run_with (const char *debug, const char *path)
{
  g_setenv ("PRIO_SCHED_DEBUG", debug, TRUE);
  g_test_trap_subprocess (path, 0, 0);
  g_test_trap_assert_passed ();
}

/* Table H, mistake of newcomers: "no main loop". */
static void
test_tasks_that_never_ran_are_counted (void)
{
  run_with ("1", "/unrun/subprocess/posts");
  g_test_trap_assert_stderr ("*WARNING*2 tasks never ran: a main loop runs tasks, as g_main_loop_run() does*");
}

static void
test_a_task_that_became_due_is_counted_once (void)
{
  run_with ("1", "/unrun/subprocess/becomes-due");
  g_test_trap_assert_stderr ("*WARNING*1 task never ran*");
}

static void
test_others_are_quiet (void)
{
  run_with ("1", "/unrun/subprocess/posts-and-runs");
  g_test_trap_assert_stderr_unmatched ("*never ran*");
  run_with ("0", "/unrun/subprocess/posts");
  g_test_trap_assert_stderr_unmatched ("*never ran*");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/unrun/tasks-that-never-ran-are-counted", test_tasks_that_never_ran_are_counted);
  g_test_add_func ("/unrun/a-task-that-became-due-is-counted-once", test_a_task_that_became_due_is_counted_once);
  g_test_add_func ("/unrun/subprocess/becomes-due", test_becomes_due);
  g_test_add_func ("/unrun/others-are-quiet", test_others_are_quiet);
  g_test_add_data_func ("/unrun/subprocess/posts", NULL, test_posts);
  g_test_add_data_func ("/unrun/subprocess/posts-and-runs", "runs", test_posts);

  return g_test_run ();
}
