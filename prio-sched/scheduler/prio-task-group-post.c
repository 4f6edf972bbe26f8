/* prio-task-group-post.c: the tasks of a group, from post to completion
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-task-group-private.h"

#include "scheduler/prio-options-private.h"

static void
take_out_of_queue (PrioMember *member)
{
  if (member->link.data == NULL)
    return;

  g_queue_unlink (&member->group->queued, &member->link);
  member->link.data = NULL;
}

void
prio_member_unref (PrioMember *member)
{
  if (--member->refs > 0)
    return;

  g_object_unref (member->group);
  g_free (member);
}

/* The task releases its user data: it has completed, and may not have been reported yet. */
static void
member_release_data (gpointer data)
{
  PrioMember *member = data;

  take_out_of_queue (member);
  if (member->notify != NULL)
    member->notify (member->data);
  prio_member_unref (member);
}

static void
member_run (PrioTask *task, gpointer data)
{
  PrioMember *member = data;
  g_autoptr (PrioTaskGroup) self = g_object_ref (member->group);
  PrioMember *outer = self->running;

  take_out_of_queue (member);
  member->begun = TRUE;
  self->n_begun++;
  prio_task_group_update_places (self);

  self->running = member;
  member->func (task, member->data);
  self->running = outer;
}

/* A reaction: the task has completed. */
static void
member_completed (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  PrioMember *member = data;
  PrioTaskGroup *self = member->group;

  self->n_pending--;
  if (member->n_waits > 0)
    self->n_waiting--;
  else if (member->begun)
    self->n_begun--;
  member->completed = TRUE;

  prio_task_group_pending_changed (self);
  prio_task_group_update_places (self);
  prio_task_group_settle_waits (self, PRIO_TASK (result));
}

/* Destroy notify of the reaction. */
static void
member_reported (gpointer data)
{
  PrioMember *member = data;

  /* The context has gone, and nobody counts any more. */
  if (!member->completed)
    member->group->n_pending--;
  prio_member_unref (member);
}

/* What aborts a task with a signal of its own: that, or the group.  Its priority is the first that there is. */
static PrioTaskSignal *
combine (PrioTaskGroup *self, GCancellable *own)
{
  PrioTaskSignal *signal = prio_task_group_get_signal (self);
  GCancellable *both[] = { own, G_CANCELLABLE (signal) };

  return prio_task_signal_any_following (both, G_N_ELEMENTS (both), PRIO_IS_TASK_SIGNAL (own) ? PRIO_TASK_SIGNAL (own) : signal);
}

/**
 * prio_task_group_post_task:
 * @self: a group
 * @options: (nullable): what to post it with, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task that begins when a place is free: like [method@PrioSched.Scheduler.post_task] apart
 * from that.
 *
 * The task is aborted with the group.  If @options has a signal, it is aborted with that too, and
 * has its priority: then [method@PrioSched.Task.get_signal] is a signal that depends on both.
 *
 * With a wrong argument it logs a critical message, posts nothing, and does not call @notify.
 *
 * Call it on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_task_group_post_task (PrioTaskGroup *self, const PrioTaskOptions *options, PrioTaskFunc func, gpointer user_data,
                           GDestroyNotify notify)
{
  g_autoptr (PrioTaskSignal) signal = NULL;
  PrioTaskOptions own;
  PrioMember *member;
  PrioTask *task;

  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options), NULL);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL,
                                                 options != NULL ? options->name : NULL), NULL);

  own = options != NULL ? *options : prio_no_task_options;
  signal = own.signal != NULL ? combine (self, own.signal) : g_object_ref (prio_task_group_get_signal (self));
  own.signal = G_CANCELLABLE (signal);

  member = g_new (PrioMember, 1);
  *member = (PrioMember) { .refs = 2, .group = g_object_ref (self), .func = func, .data = user_data, .notify = notify };
  member->link.data = member;
  g_queue_push_tail_link (&self->queued, &member->link);
  self->n_pending++;
  prio_task_group_pending_changed (self);

  task = prio_scheduler_post_task (self->places, &own, member_run, member, member_release_data);
  member->task = task;
  prio_task_then (task, member_completed, member, member_reported);
  return task;
}

/**
 * prio_task_group_cancel_queued:
 * @self: a group
 *
 * Cancels the tasks that have not begun, as [method@PrioSched.Task.cancel] does.  Those that are
 * running go on, and so does the group.
 *
 * Call it on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_task_group_cancel_queued (PrioTaskGroup *self)
{
  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));

  g_object_ref (self);
  /* Not those that a destroy notify posts meanwhile. */
  for (guint left = self->queued.length; left > 0 && self->queued.length > 0; left--)
    {
      PrioMember *member = self->queued.head->data;

      take_out_of_queue (member);
      prio_task_cancel (member->task);
    }
  g_object_unref (self);
}
