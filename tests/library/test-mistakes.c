/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-mistakes.c: messages about mistakes of newcomers: each names the value, and most say how to write it */

#include "helpers.h"

static void
return_int (PrioTask *task, gpointer data G_GNUC_UNUSED)
{
  prio_task_return_int (task, 1);
}

static void
return_nothing (PrioTask *task G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
}

static PrioTask *
run (Fixture *f, PrioTaskFunc func)
{
  PrioTask *task = prio_scheduler_post_task (f->scheduler, NULL, func, NULL, NULL);

  if (func == return_int || func == return_nothing)
    fixture_run (f);
  return task;
}

static void
glib_priority (Fixture *f)
{
  prio_scheduler_post (f->scheduler, (PrioTaskPriority) G_PRIORITY_DEFAULT_IDLE, step_run, NULL, NULL);
}

static void
no_function (Fixture *f)
{
  prio_scheduler_post (f->scheduler, USER_VISIBLE, NULL, NULL, NULL);
}

static void
controller_as_signal (Fixture *f)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = (PrioTaskSignal *) controller }, step_run, NULL, NULL);
}

static void
no_result (Fixture *f)
{
  g_autoptr (PrioTask) task = run (f, return_nothing);

  prio_task_propagate_int (task, NULL);
}

static void
another_type_of_result (Fixture *f)
{
  g_autoptr (PrioTask) task = run (f, return_int);

  prio_task_propagate_pointer (task, NULL);
}

static void
result_before_the_end (Fixture *f)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, NULL, return_int, NULL, NULL);

  prio_task_propagate_int (task, NULL);
}

static gpointer
post_to_group (gpointer group)
{
  return prio_task_group_post_task (group, NULL, return_int, NULL, NULL);
}

static void
group_in_another_thread (Fixture *f)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);

  g_thread_join (g_thread_new ("other", post_to_group, group));
}

static void
freed_controller (Fixture *f G_GNUC_UNUSED)
{
  gpointer freed[8] = { NULL };

  prio_task_controller_abort ((PrioTaskController *) freed, NULL);
}

static void
wrong_finish (Fixture *f)
{
  g_autoptr (PrioTask) task = run (f, return_int);

  prio_scheduler_yield_finish (f->scheduler, G_ASYNC_RESULT (task), NULL);
}

/* Logs the task's error. */
static void
used_up_controller (Fixture *f)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) task = NULL;

  prio_task_controller_abort (controller, NULL);
  task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, return_int, NULL, NULL);
  g_log ("PrioSched", G_LOG_LEVEL_CRITICAL, "%s", prio_task_get_error (task)->message);
}

/* The mistake, by the name that tests/repository/check-mistakes.py knows; the message, with the value; and whether it says how
 * to mend the program. */
static const struct
{
  const char *name;
  void (*make) (Fixture *f);
  const char *message;
  gboolean mends;
} mistakes[] = {
  { "GLib's priority", glib_priority, "*200 is not a PrioTaskPriority: these are 1 (background)*", TRUE },
  { "NULL for the function", no_function, "*func is NULL, and has to be a function*", TRUE },
  { "controller as signal", controller_as_signal,
    "*a PrioTaskController is not a PrioTaskSignal*prio_task_controller_get_signal() gives a controller's*", TRUE },
  { "function that returns no result", no_result,
    "*has no value, because nothing called prio_task_return_int() or the like, and not an int, as its result*", TRUE },
  { "wrong type of result", another_type_of_result,
    "*has an int, which prio_task_propagate_int() gets, and not a pointer, as its result*", TRUE },
  { "result before the end", result_before_the_end, "*has not completed*: wait with prio_task_wait_async()", TRUE },
  { "freed controller", freed_controller, "*0x*, perhaps freed, is not a PrioTaskController", FALSE },
  { "group in another thread", group_in_another_thread, "*this is another one: post a task there", TRUE },
  { "wrong finish", wrong_finish, "*the result of no yield: *prio_task_propagate_?() function gets it*", TRUE },
  { "used-up controller", used_up_controller, "*was aborted before this task was posted: make a new controller", TRUE },
};

#define LEAST_MENDS 9

static void
test_each_mistake_has_its_message (Fixture *f, gconstpointer data)
{
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    {
      g_test_message ("%s", mistakes[i].name);
      if (HAS_CHECKS)
        assert_told (mistakes[i].message, mistakes[i].make (f));
      n += mistakes[i].mends;
    }
  g_assert_cmpuint (n, >=, LEAST_MENDS);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/mistakes/each-has-its-message", test_each_mistake_has_its_message);

  return g_test_run ();
}
