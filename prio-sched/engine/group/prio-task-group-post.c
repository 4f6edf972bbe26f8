/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-post.c: posts and ends tasks of a group */

#include "config.h"

#include "group/prio-task-group-post-private.h"

#include "group/prio-task-group-private.h"
#include "group/prio-task-group-wait-private.h"
#include "loop/prio-traits-private.h"
#include "scheduler/prio-options-private.h"

/* Releases the user data of a task that has a result.  The result may not have been reported yet. */
static void
member_release_data (gpointer data)
{
  prio_member_leave (data);
  prio_member_release (data);
}

static void
member_run (PrioTask *task, gpointer data)
{
  PrioMember *member = data;
  g_autoptr (PrioTaskGroup) self = g_object_ref (member->group);
  const PrioState *outer = prio_thread.state;
  PrioState state = *outer;

  /* Sets @task, because the post may not have returned yet: a destroy notify called by the post may run a main loop. */
  member->task = task;
  prio_member_begin (member);

  state.traits = prio_traits_new_for_member (outer, member->number);
  prio_thread.state = &state;
  member->outer = self->running;
  self->running = prio_member_ref (member);
  /* Checks the state, because another thread may have cancelled the task after it left the queue. */
  if (prio_task_get_state (task) == PRIO_TASK_STATE_RUNNING)
    member->func (task, member->data);
  self->running = member->outer;
  prio_thread.state = outer;
  prio_traits_end (&state);
  /* The member lives until here, even if the task got its result while its function ran. */
  prio_member_unref (member);
}

/* Reports the result to the waits.  This is the first callback of the task. */
static void
member_completed (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  PrioMember *member = data;
  PrioTaskGroup *self = member->group;

  member->completed = TRUE;
  prio_member_leave (member);
  self->n_open--;
  if (member->n_waits > 0)
    self->n_waiting--;
  prio_task_group_settle_waits (self, PRIO_TASK (result));
}

/* Releases the callback's reference to the member.  Called even if the callback is not called. */
static void
member_reported (gpointer data)
{
  PrioMember *member = data;

  prio_member_leave (member);
  prio_member_unref (member);
}

/* Adds a new task to the group's queue, and registers the group's callback.  The callback runs without a scheduling
 * state, because the code that posts the task does not wait for the task. */
void
prio_member_hear_of (PrioMember *member)
{
  prio_task_set_program_func (member->task, (gpointer) member->func);
  if (prio_task_get_state (member->task) == PRIO_TASK_STATE_PENDING)
    prio_member_enqueue (member);
  if (member->group->return_on_abort)
    prio_task_apply_return_on_abort (member->task, TRUE);
  prio_task_add_reaction (member->task, &prio_state_none,
                          &(PrioReaction) { .callback = member_completed, .data = member, .notify = member_reported });
}

/* Stops queued functions from beginning in threads until end_taking (). */
static void
begin_taking (PrioTaskGroup *self)
{
  self->n_taking++;
  prio_task_group_update_places (self);
}

static void
end_taking (PrioTaskGroup *self)
{
  self->n_taking--;
  prio_task_group_update_places (self);
}

/* Removes from the group a task that is queued or whose function is on the stack.  The caller then ends the task.  If a
 * thread has begun the task's function already, only removes the task from the queue, and returns FALSE. */
static gboolean
take (PrioMember *member)
{
  if (member->in_thread && prio_task_get_state (member->task) == PRIO_TASK_STATE_RUNNING)
    {
      prio_member_take_out_of_queue (member);
      return FALSE;
    }
  prio_member_leave (member);
  return TRUE;
}

/* Creates a member.  Copies @options to *@own, for the post, with a signal that the group can abort (transfer full). */
PrioMember *
prio_task_group_add (PrioTaskGroup *self, const PrioTaskOptions *options, PrioTaskOptions *own, PrioTaskFunc func,
                     gpointer user_data, GDestroyNotify notify)
{
  PrioMember *member = g_new (PrioMember, 1);
  PrioTaskSignal *signal;
  GCancellable *given;

  *own = prio_no_task_options;
  if (options != NULL)
    PRIO_COPY_OPTIONS (PrioTaskOptions, own, options);
  signal = prio_task_group_get_signal (self);
  given = PRIO_CANCELLABLE_OF (own);
  own->signal = given != NULL ? prio_combined_get (&self->combined, signal, given) : g_object_ref (signal);
  own->cancellable = NULL;
  *member = (PrioMember) { .refs = 2, .group = g_object_ref (self), .func = func, .data = user_data, .notify = notify };
  __atomic_add_fetch (&self->n_tasks, 1, __ATOMIC_RELEASE);
  self->n_open++;
  prio_task_group_n_tasks_changed (self);
  return member;
}

/**
 * prio_task_group_post_task:
 * @self: a group
 * @options: (nullable): the options, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task like [method@PrioSched.Scheduler.post_task], but starts it only when the group's limit allows it.
 *
 * The task is aborted with the group.  If @options have a signal, that signal can abort the task too and, unless
 * @options set a priority, determines the task's priority.  A plain cancellable in @options only aborts the task.  In
 * both cases, [method@PrioSched.Task.get_cancellable] returns a signal that depends on it and on the group's signal.
 *
 * With a wrong argument, the call logs a critical message, posts nothing, does not call @notify, and returns %NULL.
 * Call this function on the thread that runs the scheduler's main context.
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
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options, func != NULL), NULL);

  member = prio_task_group_add (self, options, &own, func, user_data, notify);
  signal = own.signal;
  member->task = task = prio_run_queue_post_task (self->places, &own, member_run, member, member_release_data);
  prio_member_hear_of (member);
  return task;
}

/**
 * prio_task_group_cancel_pending:
 * @self: a group
 *
 * Cancels the tasks that have not begun, as [method@PrioSched.Task.cancel] does.  Running tasks continue.  The group
 * stays usable: tasks that a destroy notify posts during the call are not cancelled.
 *
 * ```c
 * static void
 * stop_clicked (GtkButton *button, PrioTaskGroup *conversions)
 * {
 *   prio_task_group_cancel_pending (conversions);
 * }
 *
 * g_signal_connect (button, "clicked", G_CALLBACK (stop_clicked), conversions);
 * ```
 *
 * Call this function on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_task_group_cancel_pending (PrioTaskGroup *self)
{
  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));

  g_object_ref (self);
  begin_taking (self);
  /* Cancels all tasks before any destroy notify is called, because it may post tasks that must not be cancelled. */
  while (self->queued.length > 0)
    {
      PrioMember *member = self->queued.head->data;

      if (take (member))
        prio_task_cancel_quietly (member->task);
    }
  prio_loop_flush_releases (prio_task_group_get_loop (self));
  end_taking (self);
  g_object_unref (self);
}

/**
 * prio_task_group_abort:
 * @self: a group
 * @reason: (nullable): the reason, or %NULL for %G_IO_ERROR_CANCELLED
 *
 * Aborts all tasks, queued and running, with @reason.  The group stays usable: tasks that are posted later, even in a
 * handler of this abort, have a new signal.
 *
 * A task that has deferred its result, or whose function runs in a thread, ends when its operation ends, and counts
 * toward the limit until then.  With [property@PrioSched.TaskGroup:return-on-abort] it ends at once.  Call this
 * function on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_task_group_abort (PrioTaskGroup *self, const GError *reason)
{
  g_autoptr (PrioTaskController) controller = NULL;

  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));

  g_object_ref (self);
  begin_taking (self);
  for (PrioMember *member = self->running; member != NULL; member = member->outer)
    take (member);
  while (self->queued.length > 0)
    take (self->queued.head->data);
  controller = g_steal_pointer (&self->controller);
  prio_combined_clear (&self->combined);
  self->controller = prio_task_controller_new (
      prio_task_signal_get_priority (prio_task_controller_get_signal (controller)));

  prio_task_controller_abort (controller, reason);
  end_taking (self);
  g_object_notify (G_OBJECT (self), "signal");
  g_object_unref (self);
}
