/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-debug.c: messages with G_MESSAGES_DEBUG=PrioSched and with PRIO_SCHED_LONG_TASKS */

#include "prio-sched-watch.h"
#include "prio-sched.h"

#include "frozen-time.h"

static gboolean
take (gpointer data)
{
  frozen_time += GPOINTER_TO_INT (data) * 1000;
  return G_SOURCE_REMOVE;
}

static void
post (PrioScheduler *scheduler, const char *name, PrioTaskPriority priority, gint ms)
{
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = name, .priority = priority }, take,
                            GINT_TO_POINTER (ms), NULL);
}

/* Long tasks are reported with messages, also for a scheduler without a watch. */
static void
test_environment (void)
{
  g_autoptr (PrioScheduler) scheduler = NULL;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
      g_test_trap_assert_stderr ("*slow*of priority background held the main loop for 20.0 ms*");
      return;
    }

  g_setenv ("PRIO_SCHED_LONG_TASKS", "20", TRUE);
  frozen_time = 1;
  scheduler = prio_scheduler_new (NULL);
  post (scheduler, "slow", PRIO_TASK_PRIORITY_BACKGROUND, 20);
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
test_wrong_environment (void)
{
  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
      return;
    }

  g_setenv ("PRIO_SCHED_LONG_TASKS", "50ms", TRUE);
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "PRIO_SCHED_LONG_TASKS: '50ms' is not a number of milliseconds");
  g_object_unref (prio_scheduler_new (NULL));
  g_test_assert_expected_messages ();
}

static void
return_true (PrioTask *task, gpointer data)
{
  prio_task_return_boolean (task, TRUE);
}

/* A name cannot start a new line in the log, or control a terminal. */
static void
test_names (void)
{
  const char *name = "two\nlines\033[2J\xff \xe2\x80\xae \xe2\x80\xa8 größe\\";
  g_autoptr (PrioScheduler) scheduler = NULL;
  g_autoptr (PrioTask) task = NULL;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
      return;
    }

  g_setenv ("PRIO_SCHED_LONG_TASKS", "20", TRUE);
  frozen_time = 1;
  scheduler = prio_scheduler_new (NULL);
  post (scheduler, name, PRIO_TASK_PRIORITY_BACKGROUND, 20);
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_MESSAGE,
                         "The task 'two\\u000alines\\u001b[2J\\xff \\u202e \\u2028 größe\\' of priority background held*");
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_test_assert_expected_messages ();

  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*is not a PrioTaskPriority*(task \"two\\u000alines\\u001b[2J\\xff *");
  post (scheduler, name, 5, 0);
  g_test_assert_expected_messages ();

  task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .name = name }, return_true, NULL, NULL);
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*task 'two\\u000alines\\u001b[2J\\xff *");
  prio_task_return_boolean (task, TRUE);
  g_test_assert_expected_messages ();
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
ignore (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
}

/* Checks the messages of G_MESSAGES_DEBUG=PrioSched. */
static void
test_debug (void)
{
  g_autoptr (GMainContext) context = NULL;
  g_autoptr (PrioTaskController) controller = NULL;
  g_autoptr (GError) reason = NULL;
  PrioScheduler *scheduler;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
      g_test_trap_assert_stdout ("*has been made for a main context*is paused*goes on*reports everything that holds*for 50 ms*"
                                 "The priority of a signal*is set to background*"
                                 "is aborted, with 2 tasks that this thread runs waiting: enough\\u000anow*held the main loop for 50.0 ms*"
                                 "is finalized*has gone with 3 tasks that have not run*");
      /* An address would reveal the layout of memory. */
      g_test_trap_assert_stdout_unmatched ("*0x*");
      return;
    }

  g_setenv ("G_MESSAGES_DEBUG", "PrioSched", TRUE);
  frozen_time = 1;
  context = g_main_context_new ();
  scheduler = prio_scheduler_new (context);
  prio_scheduler_pause (scheduler);
  prio_scheduler_resume (scheduler);
  prio_scheduler_add_long_task_func (scheduler, 50, ignore, NULL, NULL);
  controller = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_VISIBLE);
  for (guint i = 0; i < 2; i++)
    prio_scheduler_post_full (scheduler,
                              &(PrioTaskOptions) { .signal = prio_task_controller_get_signal (controller) },
                              take, NULL, NULL);
  prio_task_controller_set_priority (controller, PRIO_TASK_PRIORITY_BACKGROUND, NULL);
  reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "enough\nnow");
  prio_task_controller_abort (controller, reason);
  post (scheduler, "slow", PRIO_TASK_PRIORITY_USER_VISIBLE, 50);
  while (g_main_context_iteration (context, FALSE))
    ;
  for (guint i = 0; i < 3; i++)
    post (scheduler, NULL, PRIO_TASK_PRIORITY_USER_VISIBLE, 0);
  g_object_unref (scheduler);
}

static void
wait_for_group (PrioTask *task, gpointer group)
{
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, NULL, NULL);
}

/* Groups have numbers in messages, so a circle of waits can be seen. */
static void
test_groups (void)
{
  g_autoptr (PrioTaskGroup) one = NULL, two = NULL;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
      g_test_trap_assert_stdout ("*A task of group 1 waits for group 2: lo\\u000aad*A task of group 2 waits for group 1: it has no name*");
      g_test_trap_assert_stdout_unmatched ("*group 1 waits for group 1*");
      return;
    }

  g_setenv ("G_MESSAGES_DEBUG", "PrioSched", TRUE);
  frozen_time = 1;
  one = prio_task_group_new (prio_scheduler_get_default (), 1, PRIO_TASK_PRIORITY_BACKGROUND);
  two = prio_task_group_new (prio_scheduler_get_default (), 1, PRIO_TASK_PRIORITY_BACKGROUND);
  g_object_unref (prio_task_group_post_task (one, &(PrioTaskOptions) { .name = "lo\nad" }, wait_for_group, two, NULL));
  g_object_unref (prio_task_group_post_task (two, NULL, wait_for_group, one, NULL));
  g_object_unref (prio_task_group_post_task (one, NULL, wait_for_group, one, NULL));
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/debug/sentences", test_debug);
  g_test_add_func ("/debug/groups", test_groups);
  g_test_add_func ("/debug/long-tasks", test_environment);
  g_test_add_func ("/debug/names", test_names);
  g_test_add_func ("/debug/wrong-threshold", test_wrong_environment);
  return g_test_run ();
}
