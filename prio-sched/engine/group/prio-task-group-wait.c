/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-wait.c: waits for the tasks of a group */

#include "config.h"

#include "group/prio-task-group-wait-private.h"

#include "base/prio-debug-private.h"
#include "group/prio-task-group-private.h"
#include "scheduler/prio-options-private.h"
#include "prio-engine.h"

#include <glib/gi18n-lib.h>

/* A wait.  It is the data of a task that is in no queue: an abort of that task's signal ends the wait. */
typedef struct
{
  PrioTaskGroup *group;  /* owned */
  PrioTask *task;        /* owned */
  PrioTaskGroupWait until;
  PrioMember *member;    /* the member of this group that waits, owned until the wait is over; or NULL */
  GList link;            /* in the group's @waits; @link.data is the wait from join () until the wait is over, and NULL
                          * otherwise */
  guint64 order;         /* the wait's age */
  guint64 n_failed;      /* the number of failed tasks at join () */
  PrioResult result;     /* set when the wait is over */
} PrioWait;

/* Begins a wait of @member for its own group.  Until the wait is over, no wait includes the member's task, and its
 * place is free. */
static void
begin_to_wait (PrioTaskGroup *self, PrioWait *wait, PrioMember *member)
{
  wait->member = prio_member_ref (member);
  if (member->n_waits++ == 0)
    {
      self->n_waiting++;
      prio_member_leave_place (member);
    }
}

static void
end_to_wait (PrioTaskGroup *self, PrioMember *member)
{
  if (--member->n_waits > 0 || member->completed)
    return;

  self->n_waiting--;
  if (!member->left)
    prio_member_take_place (member);
}

/* Removes @wait from the waits of its group, if join () has added it, and gives a waiting member its place again. */
static void
end_wait (PrioWait *wait)
{
  PrioTaskGroup *self = wait->group;

  if (wait->link.data != NULL)
    {
      wait->link.data = NULL;
      self->n_waits--;
      g_queue_unlink (&self->waits[wait->until][wait->member != NULL], &wait->link);
      if (self->waits[PRIO_TASK_GROUP_WAIT_ANY][0].length + self->waits[PRIO_TASK_GROUP_WAIT_ANY][1].length == 0)
        g_clear_error (&self->last_error);
    }
  if (wait->member != NULL)
    {
      end_to_wait (self, wait->member);
      g_clear_pointer (&wait->member, prio_member_unref);
    }
}

static void
wait_release (gpointer data)
{
  PrioWait *wait = data;

  end_wait (wait);
  g_object_unref (wait->task);
  g_object_unref (wait->group);
  g_free (wait);
}

/* Returns the result of @wait, which has ended with the task @completed or, if it is NULL, because no task is left. */
static PrioResult
result_of (const PrioWait *wait, PrioTask *completed, gboolean failed)
{
  PrioTaskGroup *self = wait->group;

  if (wait->until == PRIO_TASK_GROUP_WAIT_ALL && failed)
    return PRIO_RESULT_OF_ERROR (g_error_copy (prio_task_get_error (completed)));
  if (wait->until == PRIO_TASK_GROUP_WAIT_DRAINED || wait->until == PRIO_TASK_GROUP_WAIT_ALL)
    return (PrioResult) { .kind = PRIO_RESULT_NONE };
  if (completed != NULL && (wait->until == PRIO_TASK_GROUP_WAIT_FIRST || !failed))
    return (PrioResult) { .value.pointer = g_object_ref (completed), .destroy = g_object_unref, .kind = PRIO_RESULT_POINTER };
  if (wait->until == PRIO_TASK_GROUP_WAIT_ANY && self->n_failed > wait->n_failed && self->last_error != NULL)
    return PRIO_RESULT_OF_ERROR (g_error_copy (self->last_error));
  return PRIO_RESULT_OF_ERROR (g_error_new_literal (G_IO_ERROR, G_IO_ERROR_NOT_FOUND, _("There is no task in the group")));
}

static gint
by_age (gconstpointer a, gconstpointer b)
{
  const PrioWait *first = *(const PrioWait *const *) a, *second = *(const PrioWait *const *) b;

  return first->order < second->order ? -1 : 1;
}

static void
note_failure (PrioTaskGroup *self, PrioTask *completed)
{
  self->n_failed++;
  if (self->waits[PRIO_TASK_GROUP_WAIT_ANY][0].length + self->waits[PRIO_TASK_GROUP_WAIT_ANY][1].length > 0)
    {
      g_clear_error (&self->last_error);
      self->last_error = g_error_copy (prio_task_get_error (completed));
    }
}

/* Lists the waits that the end of @completed has ended, oldest first.  If @completed is NULL, only the number of tasks
 * has changed.  Visits only waits that are over, and returns NULL if there are none. */
static GPtrArray *
list_ended (PrioTaskGroup *self, PrioTask *completed)
{
  gboolean failed = completed != NULL && prio_task_get_state (completed) != PRIO_TASK_STATE_FULFILLED;
  gboolean drained[2] = { self->n_open == 0, self->n_open == self->n_waiting };
  gboolean ends[PRIO_TASK_GROUP_WAIT_FIRST + 1] = {
    [PRIO_TASK_GROUP_WAIT_ALL] = failed,
    [PRIO_TASK_GROUP_WAIT_ANY] = completed != NULL && !failed,
    [PRIO_TASK_GROUP_WAIT_FIRST] = completed != NULL,
  };
  GPtrArray *ended = NULL;
  guint n_lists = 0;

  if (failed)
    note_failure (self, completed);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (ends); i++)
    {
      GList *link = ends[i / 2] || drained[i % 2] ? self->waits[i / 2][i % 2].head : NULL;

      n_lists += link != NULL;
      if (ended == NULL && link != NULL)
        ended = g_ptr_array_new ();
      for (; link != NULL; link = link->next)
        {
          ((PrioWait *) link->data)->result = result_of (link->data, completed, failed);
          g_ptr_array_add (ended, link->data);
        }
    }
  if (n_lists > 1)
    g_ptr_array_sort (ended, by_age);
  return ended;
}

/* Ends the waits that the end of @completed has ended.  @completed may be NULL: see list_ended (). */
void
prio_task_group_settle_waits (PrioTaskGroup *self, PrioTask *completed)
{
  g_autoptr (GPtrArray) ended = self->n_waits > 0 ? list_ended (self, completed) : NULL;

  if (ended == NULL)
    return;

  g_object_ref (self);
  /* All waits are removed before any result is given, because the end of a wait changes which other waits are over.
   * Destroy notifies may abort waits, so they are called last. */
  for (guint i = 0; i < ended->len; i++)
    end_wait (ended->pdata[i]);
  for (guint i = 0; i < ended->len; i++)
    prio_task_return_quietly (((PrioWait *) ended->pdata[i])->task, &((PrioWait *) ended->pdata[i])->result);
  prio_loop_flush_releases (prio_task_group_get_loop (self));
  g_object_unref (self);
}

void
prio_task_group_set_fed (PrioTaskGroup *self, gboolean is_fed)
{
  self->n_open += is_fed ? 1 : -1;
  if (!is_fed)
    prio_task_group_settle_waits (self, NULL);
}

/* Adds the wait of the task @data to its group, and settles the waits that are over. */
static void
join (gpointer data)
{
  PrioTask *task = data;
  PrioWait *wait;
  PrioTaskGroup *self;

  if (prio_task_is_completed (task))
    return;

  wait = task->entry.job.data;
  self = wait->group;
  wait->n_failed = self->n_failed;
  wait->order = self->next_wait++;
  wait->link.data = wait;
  self->n_waits++;
  g_queue_push_tail_link (&self->waits[wait->until][wait->member != NULL], &wait->link);
  prio_task_group_settle_waits (self, NULL);
}

/* Logs which group waits for which, because waits of groups for each other never end. */
static void
debug_wait (PrioTaskGroup *self, PrioMember *member)
{
  g_autofree char *plain = prio_task_dup_name (member->task), *name = prio_debug_escape (plain);

  g_debug ("A task of group %u waits for group %u: %s", member->group->number, self->number,
           name != NULL ? name : "it has no name");
}

/* Begins a wait.  @member is the member whose function or continuation is the caller, or NULL.  @held is the scheduling
 * state of the callback, as for prio_task_add_reaction (). */
static void
wait_for (PrioTaskGroup *self, PrioTaskGroupWait until, PrioMember *member, GCancellable *cancellable, const PrioState *held,
          const PrioReaction *reaction)
{
  PrioTaskOptions options = { .cancellable = cancellable, .source_object = G_OBJECT (self),
                              .source_tag = prio_task_group_wait_async };
  gboolean is_own = member != NULL && member->group == self;
  PrioLoop *loop = prio_task_group_get_loop (self);
  g_autoptr (PrioTask) task = NULL;
  PrioWait *wait;

  prio_return_if_wrong (prio_check_task_options ("prio_task_group_wait_async", &options, TRUE));

  task = prio_run_queue_make_task (self->places, &options);
  prio_task_add_reaction (task, held, reaction);
  wait = g_new (PrioWait, 1);
  *wait = (PrioWait) { .group = g_object_ref (self), .task = g_object_ref (task), .until = until };
  if (is_own)
    begin_to_wait (self, wait, member);
  else if (member != NULL && prio_is_debugging ())
    debug_wait (self, member);
  prio_task_submit_hidden (task, PRIO_TASK_PRIORITY_UNSET, PRIO_NEVER, NULL, wait, wait_release);

  /* Tasks that have ended may still have to be reported, in a microtask.  So the wait begins in a later microtask,
   * unless it is over at once. */
  if (self->n_open == (is_own ? self->n_waiting : 0))
    {
      join (task);
    }
  else if (prio_loop_enter (loop))
    {
      prio_loop_queue_microtask (loop, &(PrioMicrotask) { .func = join, .data = g_steal_pointer (&task), .notify = g_object_unref });
      prio_loop_leave (loop);
    }
}

/**
 * prio_task_group_wait_async:
 * @self: a group
 * @until: which results to wait for
 * @cancellable: (nullable): a cancellable that ends the wait, but does not abort the tasks, or %NULL
 * @callback: (nullable) (scope async) (closure user_data): called when the wait is over
 * @user_data: data for @callback
 *
 * Waits for all tasks of the group that have no result yet, and for tasks that are posted until the wait is over.
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
 * prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_ALL, NULL, all_loaded, spinner);
 * ```
 *
 * A task may wait for its own group, in its function or in a continuation.  Until the wait is over, the task does not
 * count toward the limit, and the group's tasks do not wait for it.  If tasks of two groups wait for each other's group,
 * they wait until one of the waits is aborted.
 *
 * An abort of @cancellable ends the wait, which fails with the reason of the abort.  If the main context is destroyed
 * before the wait is over, @callback is not called.  A wait keeps the group alive, but not the main context.
 *
 * Call this function on the thread that runs the scheduler's main context; @callback is called there.
 *
 * Since: 1.0
 */
void
prio_task_group_wait_async (PrioTaskGroup *self, PrioTaskGroupWait until, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer user_data)
{
  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));
  g_return_if_fail (until <= PRIO_TASK_GROUP_WAIT_FIRST);

  wait_for (self, until, prio_member_current (prio_task_group_get_loop (self)), cancellable, NULL,
            &(PrioReaction) { .callback = callback, .data = user_data });
}

void
prio_task_group_wait_as (PrioTaskGroup *self, PrioTaskGroup *own, guint number, PrioTaskGroupWait until, GCancellable *cancellable,
                         GAsyncReadyCallback callback, gpointer user_data)
{
  PrioMember *member = own != NULL ? prio_member_find (own, number) : NULL;

  if (member != NULL && (member->left || member->link.data != NULL))
    member = NULL;
  wait_for (self, until, member, cancellable, &prio_state_none, &(PrioReaction) { .callback = callback, .data = user_data });
}

/**
 * prio_task_group_wait_finish:
 * @self: a group
 * @result: the result that the callback was called with
 * @task: (out) (optional) (nullable) (transfer full): return location for the task that has ended the wait, if the wait
 *   was for any task or for the first one; otherwise %NULL
 * @error: return location for a `GError`
 *
 * Finishes a wait.
 *
 * A wait for all tasks fails with the error of the first task that is not fulfilled.  A wait for any task fails if no
 * task is fulfilled, with the error of the last task.  A wait for any task or for the first one fails with
 * %G_IO_ERROR_NOT_FOUND if the group had no task.  If the cancellable of the wait is cancelled, the wait fails with the
 * reason.  Any thread may call this function, usually in the callback.
 *
 * Returns: %TRUE if the wait has succeeded, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_group_wait_finish (PrioTaskGroup *self, GAsyncResult *result, PrioTask **task, GError **error)
{
  g_autoptr (PrioTask) completed = NULL;
  GValue value = G_VALUE_INIT;

  g_return_val_if_fail (prio_task_is_valid (result, self, prio_task_group_wait_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (task != NULL)
    *task = NULL;
  if (!prio_task_propagate_value_for (PRIO_TASK (result), &value, error, G_STRFUNC))
    return FALSE;
  completed = G_VALUE_HOLDS_POINTER (&value) ? g_value_get_pointer (&value) : NULL;
  if (task != NULL)
    *task = g_steal_pointer (&completed);
  return TRUE;
}
