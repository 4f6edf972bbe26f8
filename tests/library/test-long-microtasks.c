/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-long-microtasks.c: a task whose microtasks hold the main loop */

#include "prio-sched-watch.h"
#include "prio-sched.h"

#include "frozen-time.h"

#define MS 1000

static GString *told;

/* Advances the clock, which is frozen otherwise. */
static void
work (gint64 ms)
{
  frozen_time += ms * MS;
}

static void
long_task (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
  g_string_append_printf (told, "%s:%d:%g ", name != NULL ? name : "?", priority, duration);
}

static void
assert_told (const char *expected)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpstr (told->str, ==, expected);
  g_string_truncate (told, 0);
}

static PrioScheduler *
watching (void)
{
  PrioScheduler *scheduler = prio_scheduler_new (NULL);

  prio_scheduler_add_long_task_func (scheduler, PRIO_LONG_TASK_THRESHOLD, long_task, NULL, NULL);
  return scheduler;
}

static gboolean
take (gpointer data)
{
  work (GPOINTER_TO_INT (data));
  return G_SOURCE_REMOVE;
}

typedef struct
{
  PrioScheduler *scheduler;
  gint left;
} WithMicrotasks;

static void
take_in_microtask (gpointer ms)
{
  work (GPOINTER_TO_INT (ms));
}

/* Works in two microtasks; the first queues the second. */
static void
take_in_microtasks (gpointer data)
{
  WithMicrotasks *self = data;

  work (20);
  prio_scheduler_queue_microtask (self->scheduler, take_in_microtask, GINT_TO_POINTER (15), NULL);
}

static gboolean
step_with_microtasks (gpointer data)
{
  WithMicrotasks *self = data;

  work (25);
  prio_scheduler_queue_microtask (self->scheduler, take_in_microtasks, self, NULL);
  return --self->left > 0;
}

/* Microtasks count for the step that queued them, even for the last step, in whatever way it was posted. */
static void
test_microtasks (void)
{
  g_autoptr (PrioScheduler) scheduler = watching ();
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  PrioTaskOptions named = { .name = "named", .priority = PRIO_TASK_PRIORITY_USER_BLOCKING };
  PrioTaskOptions signalled = { .name = "signalled", .signal = prio_task_controller_get_signal (controller) };
  WithMicrotasks self = { scheduler, 1 };

  prio_scheduler_post_full (scheduler, &named, step_with_microtasks, &self, NULL);
  assert_told ("named:3:60 ");

  self.left = 2;
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, step_with_microtasks, &self, NULL);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, take, GINT_TO_POINTER (49), NULL);
  assert_told ("step_with_microtasks:2:60 step_with_microtasks:2:60 ");

  self.left = 2;
  prio_scheduler_post_full (scheduler, &signalled, step_with_microtasks, &self, NULL);
  assert_told ("signalled:1:60 signalled:1:60 ");
}

static void
abort_in_microtask (gpointer controller)
{
  work (30);
  prio_task_controller_abort (controller, NULL);
}

static gboolean
step_that_is_aborted (gpointer controller)
{
  work (30);
  prio_scheduler_queue_microtask (prio_scheduler_get_default (), abort_in_microtask, controller, NULL);
  return G_SOURCE_CONTINUE;
}

/* The step is over when its microtask aborts the next step. */
static void
test_microtask_aborts (void)
{
  g_autoptr (PrioScheduler) scheduler = watching ();
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  PrioTaskOptions options = { .name = "aborted", .signal = prio_task_controller_get_signal (controller) };

  prio_scheduler_post_full (scheduler, &options, step_that_is_aborted, controller, NULL);
  assert_told ("aborted:1:60 ");
}

/* A microtask runs a nested main loop, which is not reported. */
static void
run_nested (gpointer scheduler)
{
  work (60);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_BLOCKING, take, GINT_TO_POINTER (70), NULL);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  work (55);
}

static gboolean
step_that_nests (gpointer scheduler)
{
  work (5);
  prio_scheduler_queue_microtask (scheduler, run_nested, scheduler, NULL);
  return G_SOURCE_REMOVE;
}

static void
test_nested (void)
{
  g_autoptr (PrioScheduler) scheduler = watching ();

  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = "nests" }, step_that_nests, scheduler, NULL);
  assert_told ("nests:2:65 take:3:70 nests:2:55 ");
}

static void
take_in_task (PrioTask *task, gpointer scheduler)
{
  work (30);
  prio_scheduler_queue_microtask (scheduler, take_in_microtask, GINT_TO_POINTER (30), NULL);
}

/* Microtasks that no task has queued count for no task. */
static void
test_others (void)
{
  g_autoptr (PrioScheduler) scheduler = watching ();
  g_autoptr (PrioTask) task = NULL;

  task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .name = "task" }, take_in_task, scheduler, NULL);
  assert_told ("task:2:60 ");
  prio_scheduler_queue_microtask (scheduler, take_in_microtask, GINT_TO_POINTER (60), NULL);
  assert_told ("?:0:60 ");
}

int
main (int argc, char **argv)
{
  int result;

  g_test_init (&argc, &argv, NULL);
  frozen_time = 1000 * G_USEC_PER_SEC;
  told = g_string_new (NULL);
  g_test_add_func ("/long-microtasks/steps", test_microtasks);
  g_test_add_func ("/long-microtasks/aborts", test_microtask_aborts);
  g_test_add_func ("/long-microtasks/nested", test_nested);
  g_test_add_func ("/long-microtasks/others", test_others);
  result = g_test_run ();
  g_string_free (told, TRUE);
  return result;
}
