/* prio-task-group-wait.c: waits for the tasks of a group
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-task-group-private.h"

#include "scheduler/prio-options-private.h"

#include <glib/gi18n-lib.h>

/* The data of a wait, which is a GTask. */
typedef struct
{
  PrioTaskGroupWait until;
  PrioMember *member; /* in whose function it was called, or NULL */
  GSource *cancelled; /* or NULL */
  GError *error;      /* of the last task that has failed, or NULL */
} PrioWait;

static void
wait_free (gpointer data)
{
  PrioWait *wait = data;

  g_assert (wait->member == NULL && wait->cancelled == NULL);
  g_clear_error (&wait->error);
  g_free (wait);
}

/* A task that waits for its own group: nobody waits for it, and it gives its place to another one. */
static void
begin_to_wait (PrioTaskGroup *self, PrioMember *member)
{
  member->refs++;
  if (member->n_waits++ == 0)
    {
      self->n_begun--;
      self->n_waiting++;
    }
}

static void
end_to_wait (PrioTaskGroup *self, PrioMember *member)
{
  if (--member->n_waits == 0 && !member->completed)
    {
      self->n_begun++;
      self->n_waiting--;
    }
  prio_member_unref (member);
}

/* Takes @task out of the waits of its group, and gives the caller the group's reference to it. */
static void
end_wait (PrioTaskGroup *self, GTask *task)
{
  PrioWait *wait = g_task_get_task_data (task);

  g_queue_remove (&self->waits, task);
  if (wait->member != NULL)
    end_to_wait (self, g_steal_pointer (&wait->member));
  if (wait->cancelled != NULL)
    {
      g_source_destroy (wait->cancelled);
      g_source_unref (g_steal_pointer (&wait->cancelled));
    }
}

static gboolean
is_drained (PrioTaskGroup *self, PrioWait *wait)
{
  return self->n_pending == (wait->member != NULL ? self->n_waiting : 0);
}

static gboolean
has_failed (PrioTask *task)
{
  return task != NULL && prio_task_get_state (task) != PRIO_TASK_STATE_FULFILLED;
}

/* Whether @wait is over, now that @completed, or nothing if that is NULL, has completed. */
static gboolean
is_over (PrioTaskGroup *self, PrioWait *wait, PrioTask *completed)
{
  switch (wait->until)
    {
    case PRIO_TASK_GROUP_ALL:
      return has_failed (completed) || is_drained (self, wait);
    case PRIO_TASK_GROUP_ANY:
      return (completed != NULL && !has_failed (completed)) || is_drained (self, wait);
    case PRIO_TASK_GROUP_FIRST:
      return completed != NULL || is_drained (self, wait);
    case PRIO_TASK_GROUP_DRAINED:
    default:
      return is_drained (self, wait);
    }
}

static void
give_result (GTask *task, PrioTask *completed)
{
  PrioWait *wait = g_task_get_task_data (task);
  gboolean failed = has_failed (completed);

  if (wait->until == PRIO_TASK_GROUP_DRAINED || (wait->until == PRIO_TASK_GROUP_ALL && !failed))
    g_task_return_pointer (task, NULL, NULL);
  else if (completed != NULL && (wait->until == PRIO_TASK_GROUP_FIRST || !failed))
    g_task_return_pointer (task, g_object_ref (completed), g_object_unref);
  else if (wait->error != NULL)
    g_task_return_error (task, g_steal_pointer (&wait->error));
  else
    g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s", _("There is no task in the group"));
}

/* Ends the waits that are over, now that @completed, or nothing if that is NULL, has completed.  One that is over may let
 * a task go on, or be the last that others wait for. */
void
prio_task_group_settle_waits (PrioTaskGroup *self, PrioTask *completed)
{
  GQueue over = G_QUEUE_INIT;

  for (GList *link = self->waits.head, *next; link != NULL; link = next)
    {
      GTask *task = link->data;
      PrioWait *wait = g_task_get_task_data (task);

      next = link->next;
      if (has_failed (completed))
        {
          g_clear_error (&wait->error);
          wait->error = g_error_copy (prio_task_get_error (completed));
        }
      if (is_over (self, wait, completed))
        g_queue_push_tail (&over, task);
    }
  /* First all of them are found: one that ends changes what the others wait for. */
  for (GList *link = over.head; link != NULL; link = link->next)
    end_wait (self, link->data);

  g_object_ref (self);
  if (completed != NULL)
    g_object_ref (completed);
  for (GTask *task; (task = g_queue_pop_head (&over)) != NULL; g_object_unref (task))
    give_result (task, completed);
  prio_task_group_update_places (self);
  g_clear_object (&completed);
  g_object_unref (self);
}

static gboolean
cancelled (GCancellable *cancellable G_GNUC_UNUSED, gpointer data)
{
  g_autoptr (GTask) task = g_object_ref (G_TASK (data));
  PrioTaskGroup *self = g_task_get_source_object (task);

  if (g_queue_find (&self->waits, task) != NULL)
    {
      end_wait (self, task);
      g_task_return_error_if_cancelled (task);
      g_object_unref (task);
      prio_task_group_update_places (self);
    }
  return G_SOURCE_REMOVE;
}

/**
 * prio_task_group_wait_async:
 * @self: a group
 * @until: what to wait for
 * @cancellable: (nullable): what ends the wait, or %NULL; the tasks are not aborted by it
 * @callback: (nullable) (scope async) (closure user_data): called when that has come
 * @user_data: data for @callback
 *
 * Waits for tasks of the group: those that are queued or running now, and those that are posted
 * until the wait is over.
 *
 * ```c
 * static void
 * all_loaded (GObject *group, GAsyncResult *result, gpointer spinner)
 * {
 *   g_autoptr (GError) error = NULL;
 *
 *   if (!prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, NULL, &error))
 *     g_message ("One of them could not be loaded: %s", error->message);
 *   gtk_spinner_stop (spinner);
 * }
 *
 * prio_task_group_wait_async (group, PRIO_TASK_GROUP_ALL, NULL, all_loaded, spinner);
 * ```
 *
 * A task of the group that calls it in its function gives its place to another one, and neither it
 * nor any other task of the group waits for it: so a group that waits for itself comes to an end.
 *
 * Call it on the thread that runs the scheduler's main context; @callback is called there.
 *
 * Since: 1.0
 */
void
prio_task_group_wait_async (PrioTaskGroup *self, PrioTaskGroupWait until, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer user_data)
{
  PrioWait *wait;
  GTask *task;

  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));
  g_return_if_fail (until <= PRIO_TASK_GROUP_FIRST);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, prio_task_group_wait_async);
  wait = g_new0 (PrioWait, 1);
  wait->until = until;
  wait->member = self->running;
  g_task_set_task_data (task, wait, wait_free);

  if (wait->member != NULL)
    begin_to_wait (self, wait->member);
  if (cancellable != NULL)
    {
      wait->cancelled = g_cancellable_source_new (cancellable);
      g_source_set_static_name (wait->cancelled, "prio-sched wait for a group");
      g_task_attach_source (task, wait->cancelled, G_SOURCE_FUNC (cancelled));
    }
  g_queue_push_tail (&self->waits, task);
  prio_task_group_settle_waits (self, NULL);
}

/**
 * prio_task_group_wait_finish:
 * @self: a group
 * @result: what the callback was given
 * @task: (out) (optional) (nullable) (transfer full): return location for the task that has ended the
 *   wait for any or the first; %NULL for another wait
 * @error: return location for a `GError`
 *
 * Ends a wait.
 *
 * Fails with the error of the task that was not fulfilled, in a wait for all of them; with that of
 * the last, in a wait for any; with %G_IO_ERROR_NOT_FOUND if there was no task in a wait for any or
 * the first; or with the reason of @cancellable.
 *
 * Any thread may call it; it is meant for the callback.
 *
 * Returns: %TRUE if what was waited for has come, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_group_wait_finish (PrioTaskGroup *self, GAsyncResult *result, PrioTask **task, GError **error)
{
  g_autoptr (PrioTask) completed = NULL;
  g_autoptr (GError) own = NULL;

  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, prio_task_group_wait_async), FALSE);

  completed = g_task_propagate_pointer (G_TASK (result), &own);
  if (own != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&own));
      return FALSE;
    }
  if (task != NULL)
    *task = g_steal_pointer (&completed);
  return TRUE;
}
