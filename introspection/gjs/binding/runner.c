/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* runner.c: calls JavaScript from the library
 *
 * GJS 1.74 blocks all closures while its garbage collector sweeps, but properties can always be set.  So to run tasks, a runner
 * sets a property of an object, whose setter is a function of JavaScript, to the number of the first task.
 */

#include "prio-sched-gjs.h"

typedef struct
{
  GObject *driver; /* owned */
  GWeakRef home;   /* the scheduler that reports tasks whose main context was destroyed, if it has another main context */
  guint depth;     /* number of setters on the stack */
} PrioDriver;

/* Sets the driver's property `id`, whose setter runs tasks.  Then reads the property, which returns how many setters have begun and
 * not returned.  If these are more than the setters on the stack, System.exit () has stopped a setter, and the program ends. */
static void
set_id (guint id, gpointer data)
{
  PrioDriver *self = data;
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_UINT);
  g_value_set_uint (&value, id);
  self->depth++;
  g_object_set_property (self->driver, "id", &value);
  self->depth--;
  g_object_get_property (self->driver, "id", &value);
  if (g_value_get_uint (&value) > self->depth)
    prio_sched_gjs_exit ();
}

static char *
get_name (guint id, gpointer data)
{
  PrioDriver *self = data;
  char *name = NULL;

  g_object_set (self->driver, "asked", id, NULL);
  g_object_get (self->driver, "name", &name, NULL);
  return name;
}

static gboolean
tell_rejected (gpointer data)
{
  set_id (0, data);
  return G_SOURCE_REMOVE;
}

static void
driver_free (gpointer data)
{
  PrioDriver *self = data;

  g_weak_ref_clear (&self->home);
  g_object_unref (self->driver);
  g_free (self);
}

/* Ends the driver, when no task will run any more.  If the driver has a home, a task of that scheduler first reports tasks that
 * were left in the destroyed main context.  Any thread may call this function. */
static void
closed (gpointer data)
{
  PrioDriver *self = data;
  g_autoptr (PrioScheduler) home = g_weak_ref_get (&self->home);

  if (home != NULL)
    prio_scheduler_post (home, PRIO_TASK_PRIORITY_USER_BLOCKING, tell_rejected, self, driver_free);
  else
    driver_free (self);
}

/**
 * prio_sched_gjs_new_runner:
 * @scheduler: a scheduler
 * @driver: an object with three properties: `id`, which is written to run tasks, and read to get how many of its setters have started
 *   and not returned; `asked`, a number to be written; and `name`, to be read: the name of the task with that number
 *
 * Makes a runner that sets the property `id` of @driver to the number of the task to run first, or to 0 if tasks have been rejected.
 * If System.exit () has stopped the setter, the runner ends the program.
 *
 * If the main context of @scheduler is destroyed with tasks in it, the property is set to 0 once more, by a task of the scheduler that
 * was the thread's default in this call.  @driver is kept alive until then, or until the last task has run.
 *
 * Returns: (transfer full): a new runner
 */
PrioRunner *
prio_sched_gjs_new_runner (PrioScheduler *scheduler, GObject *driver)
{
  g_autoptr (PrioScheduler) home = prio_scheduler_ref_thread_default ();
  PrioDriver *self;
  PrioRunner *runner;

  g_return_val_if_fail (PRIO_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (G_IS_OBJECT (driver), NULL);

  self = g_new0 (PrioDriver, 1);
  self->driver = g_object_ref (driver);
  g_weak_ref_init (&self->home, prio_scheduler_get_context (home) != prio_scheduler_get_context (scheduler) ? home : NULL);
  runner = prio_runner_new (scheduler, set_id, self, closed);
  prio_runner_set_name_func (runner, get_name, self, NULL);
  return runner;
}
