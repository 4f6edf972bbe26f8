/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-async-result.c: a task as the result of an asynchronous function */

#include "config.h"

#include "task/prio-task-impl-private.h"

/* Sets the object and the tag of the asynchronous function whose result the task is. */
void
prio_task_set_source (PrioTask *self, GObject *source_object, gpointer source_tag)
{
  self->source_object = source_object != NULL ? g_object_ref (source_object) : NULL;
  self->source_tag = source_tag;
}

/* Returns the user data of the first callback, or NULL: a GAsyncResult has one user data for all its callbacks. */
static gpointer
prio_task_get_user_data (GAsyncResult *result)
{
  PrioReaction *first = &PRIO_TASK (result)->first_reaction;

  return first->callback != NULL ? first->data : NULL;
}

static GObject *
prio_task_get_source_object (GAsyncResult *result)
{
  PrioTask *self = PRIO_TASK (result);

  if (self->source_object != NULL)
    return g_object_ref (self->source_object);
  return prio_entry_is_continuation (&self->entry) ? g_weak_ref_get (self->entry.run_queue->scheduler) : g_object_ref (result);
}

static gboolean
prio_task_is_tagged (GAsyncResult *result, gpointer tag)
{
  return PRIO_TASK (result)->source_tag == tag;
}

/**
 * prio_task_is_valid: (skip)
 * @result: (type GObject.Object) (nullable): the argument of a `_finish` function
 * @source_object: (type GObject.Object) (nullable): the object that the `_async` function was called for
 * @source_tag: (nullable): the tag that the task should have, or %NULL for any
 *
 * Returns whether @result is a task that was posted for @source_object, as [func@Gio.Task.is_valid] does.  A `_finish`
 * function checks this first.
 *
 * ```c
 * gboolean
 * thing_load_finish (Thing *self, GAsyncResult *result, GError **error)
 * {
 *   g_return_val_if_fail (prio_task_is_valid (result, self, thing_load_async), FALSE);
 *
 *   return prio_task_propagate_boolean (PRIO_TASK (result), error);
 * }
 * ```
 *
 * A task that was posted without a source object is its own source object.  Any thread may call this function.
 *
 * Returns: %TRUE if @result is a task with that source object and that tag
 *
 * Since: 1.0
 */
gboolean
prio_task_is_valid (gpointer result, gpointer source_object, gpointer source_tag)
{
  g_autoptr (GObject) source = NULL;

  if (!PRIO_IS_TASK (result) || (source_tag != NULL && !prio_task_is_tagged (result, source_tag)))
    return FALSE;

  source = prio_task_get_source_object (result);
  return source == source_object;
}

void
prio_task_async_result_init (GAsyncResultIface *iface)
{
  iface->get_user_data = prio_task_get_user_data;
  iface->get_source_object = prio_task_get_source_object;
  iface->is_tagged = prio_task_is_tagged;
}
