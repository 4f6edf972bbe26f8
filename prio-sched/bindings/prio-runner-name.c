/* prio-runner-name.c: what the tasks of a runner are called
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"

#include "loop/prio-observer-private.h"
#include "watch/prio-trace-file-private.h"

/* Outside, on any thread, while somebody observes the loop: a trace names tasks from the post on.  A continuation without a name
 * has that of the task that runs. */
PrioPostedName
prio_runner_tell_name (PrioRunner *self, guint id, gboolean continuation)
{
  PrioPostedName posted = { .is_told = FALSE };

  /* The function belongs to the owner thread. */
  if (!prio_trace_file_is_open () || !prio_runner_is_owner (self))
    return posted;

  if (self->name_func != NULL)
    posted.name = self->name_func (id, self->name_data);
  posted.is_told = TRUE;
  prio_thread.posting_name = posted.name;
  if (posted.name == NULL && continuation && prio_thread.observed != NULL)
    prio_thread.posting_name = prio_thread.observed->told.name;
  return posted;
}

/**
 * prio_runner_set_name_func:
 * @self: a runner
 * @func: (scope notified) (closure user_data) (destroy notify): tells a task's name
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed: with the notify of [ctor@PrioSched.Runner.new]
 *
 * Lets the library ask for the names of tasks, for [signal@PrioSched.Scheduler::long-task], traces and the monitor.
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

  if (self->ids.run_queue == NULL)
    {
      /* Nothing will run any more. */
      prio_release_now (notify, user_data);
      return;
    }
  self->name_func = func;
  self->name_data = user_data;
  self->name_notify = notify;
}

typedef struct
{
  GObject *target;
  const char *id_property, *name_property; /* the names of their GParamSpecs */
} Getter;

static char *
get_by_property (guint id, gpointer data)
{
  Getter *getter = data;
  char *name = NULL;

  g_object_set (getter->target, getter->id_property, id, NULL);
  g_object_get (getter->target, getter->name_property, &name, NULL);
  return name;
}

static void
getter_free (gpointer data)
{
  Getter *getter = data;

  g_object_unref (getter->target);
  g_free (getter);
}

/**
 * prio_runner_set_name_properties:
 * @self: a runner
 * @target: an object with both properties
 * @id_property: a writable property of type `guint`
 * @name_property: a readable property of type `gchararray`
 *
 * Lets the library ask for the names of tasks by setting a property to a task's number, and getting another one.
 *
 * It is [method@PrioSched.Runner.set_name_func] for bindings whose closures cannot be called at all times.  Call it on the thread
 * that runs the main context, before the first task is posted.
 *
 * Since: 1.0
 */
void
prio_runner_set_name_properties (PrioRunner *self, GObject *target, const char *id_property, const char *name_property)
{
  GObjectClass *object_class;
  GParamSpec *id, *name;
  Getter *getter;

  g_return_if_fail (self != NULL);
  g_return_if_fail (G_IS_OBJECT (target));
  g_return_if_fail (id_property != NULL);
  g_return_if_fail (name_property != NULL);
  object_class = G_OBJECT_GET_CLASS (target);
  id = g_object_class_find_property (object_class, id_property);
  name = g_object_class_find_property (object_class, name_property);
  g_return_if_fail (id != NULL && id->value_type == G_TYPE_UINT && (id->flags & G_PARAM_WRITABLE) != 0);
  g_return_if_fail (name != NULL && name->value_type == G_TYPE_STRING && (name->flags & G_PARAM_READABLE) != 0);
  g_return_if_fail (self->name_func == NULL);

  getter = g_new (Getter, 1);
  *getter = (Getter) { g_object_ref (target), id->name, name->name };
  prio_runner_set_name_func (self, get_by_property, getter, getter_free);
}
