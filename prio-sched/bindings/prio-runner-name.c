/* prio-runner-name.c: what the tasks of a runner are called
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"

#include "loop/prio-observer-private.h"

/* Outside, on any thread, while somebody observes the loop: a trace names tasks from the post on.  A continuation without a name
 * has that of the task that runs.
 *
 * Returns: (transfer full) (nullable): the name */
char *
prio_runner_ask_name (PrioRunner *self, guint id, gboolean continuation)
{
  char *name = NULL;

  /* The function belongs to the owner thread. */
  if (!prio_observers_hear_posts () || !prio_runner_is_owner (self))
    return NULL;

  if (self->name_func != NULL)
    name = self->name_func (id, self->name_data);
  if (name == NULL && continuation && prio_thread.observed != NULL)
    name = g_strdup (prio_thread.observed->told.name);
  return name;
}

/**
 * prio_runner_set_name_func:
 * @self: a runner
 * @func: (scope notified) (closure user_data) (destroy notify): tells a task's name
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed: with the notify of [ctor@PrioSched.Runner.new]
 *
 * Lets the library ask for the names of tasks, for [callback@PrioSched.LongTaskFunc], traces and the monitor.
 *
 * @func is called only while one of these needs names: right before a task begins, with its number, on the thread that runs the
 * main context; for a trace also when that thread posts the task.  A task that has a name already is not asked for, unless it
 * is a continuation.
 *
 * Call it once, on that thread, before the first task is posted.
 *
 * ```c
 * static char *
 * get_name (guint id, gpointer user_data)
 * {
 *   return g_strdup (find_job (user_data, id)->name);
 * }
 *
 * prio_runner_set_name_func (runner, get_name, jobs, NULL);
 * ```
 *
 * Since: 1.0
 */
void
prio_runner_set_name_func (PrioRunner *self, PrioRunnerNameFunc func, gpointer user_data, GDestroyNotify notify)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (func != NULL);
  g_return_if_fail (self->name_func == NULL);

  if (self->numbers.run_queue == NULL)
    {
      /* Nothing will run any more. */
      prio_release_now (notify, user_data);
      return;
    }
  self->name_func = func;
  self->name_data = user_data;
  self->name_notify = notify;
}
