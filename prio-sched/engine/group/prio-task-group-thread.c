/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-thread.c: runs functions of a group in threads
 *
 * Functions in threads share the places of the group with its other tasks.  If no other task is queued when a function
 * ends, its place passes to the next function, in the same thread (prio-scheduler-thread-private.h).  Otherwise the
 * place returns to the group, which gives it to the oldest of the most urgent tasks of both kinds. */

#include "config.h"

#include "group/prio-task-group-post-private.h"
#include "group/prio-task-group-private.h"
#include "scheduler/prio-options-private.h"
#include "prio-engine.h"

static void
run (PrioTask *task, gpointer data)
{
  PrioMember *member = data;

  member->func (task, member->data);
}

static void
place_free (gpointer data)
{
  PrioMember *member = data;
  PrioTaskGroup *self = member->group;

  if (prio_loop_has_gone (prio_task_group_get_loop (self)))
    return;

  self->n_begun--;
  prio_task_group_update_places (self);
}

/* Makes the member keep its place until the task has its deferred result, as every task of a group does. */
static void
place_kept (gpointer data)
{
  PrioMember *member = data;

  if (prio_loop_has_gone (prio_task_group_get_loop (member->group)))
    return;

  member->has_place = TRUE;
  if (member->left)
    prio_member_leave_place (member);
}

static const PrioPlacesFuncs funcs = { prio_member_take_out_of_queue, place_free, place_kept };

/* Returns the number of tasks at which feeds stop posting: the limit, plus the tasks that wait for the group and need
 * no place, plus some more if functions run in threads, so that no thread waits for the main loop. */
guint
prio_task_group_get_room (PrioTaskGroup *self)
{
  guint ahead = self->n_waiting + (self->threads != NULL ? MIN (self->limit, 16) : 0);

  return self->limit < G_MAXUINT - ahead ? self->limit + ahead : G_MAXUINT;
}

static guint64
next_order (PrioLoop *loop)
{
  guint64 order = 0;

  if (prio_loop_enter (loop))
    {
      order = prio_loop_next_order (loop);
      prio_loop_leave (loop);
    }
  return order;
}

/**
 * prio_task_group_run_in_thread: (skip)
 * @self: a group
 * @options: (nullable): the options, or %NULL for the defaults; a delay or a timeout is refused
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Runs a function in a thread of a pool, as [method@PrioSched.Scheduler.run_in_thread] does, when the group's limit
 * allows another task.
 *
 * When @func has returned, the next function of the group, by priority and age, begins at once in the same thread,
 * however busy the main loop is.  If the group also has queued tasks for the main loop's thread, the main
 * loop chooses the next task among both kinds.  A task that has deferred its result counts toward the limit until
 * it has the result.
 *
 * ```c
 * static void
 * load (PrioTask *task, gpointer path)
 * {
 *   GError *error = NULL;
 *   char *text = NULL;
 *
 *   if (g_file_get_contents (path, &text, NULL, &error))
 *     prio_task_return_pointer (task, text, g_free);
 *   else
 *     prio_task_return_error (task, error);
 * }
 *
 * disk = prio_task_group_new (scheduler, 4, PRIO_TASK_PRIORITY_USER_VISIBLE);
 * for (guint i = 0; paths[i] != NULL; i++)
 *   {
 *     g_autoptr (PrioTask) task = prio_task_group_run_in_thread (disk, NULL, load, g_strdup (paths[i]), g_free);
 *
 *     prio_task_wait_async (task, NULL, loaded, rows[i]);
 *   }
 * ```
 *
 * The task is aborted with the group, and has the group's priority, as with [method@PrioSched.TaskGroup.post_task].  An
 * abort ends a task that has not begun; a running function can call [method@PrioSched.Task.return_error_if_aborted].
 * With a wrong argument, the call logs a critical message, runs nothing, does not call @notify, and returns %NULL.
 * Call this function on the thread that runs the scheduler's main context; @notify is called there.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_task_group_run_in_thread (PrioTaskGroup *self, const PrioTaskOptions *options, PrioTaskFunc func, gpointer user_data,
                               GDestroyNotify notify)
{
  g_autoptr (PrioTaskSignal) signal = NULL;
  PrioTaskOptions own;
  PrioMember *member;
  PrioTask *task;

  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options, func != NULL), NULL);
  prio_return_val_if_wrong (prio_check_no_delay (G_STRFUNC, options), NULL);

  if (self->threads == NULL)
    self->threads = prio_places_new (prio_task_group_get_loop (self), &funcs);
  member = prio_task_group_add (self, options, &own, func, user_data, notify);
  signal = own.signal;
  member->in_thread = TRUE;
  member->task = task = prio_run_queue_make_task (self->places, &own);
  prio_member_hear_of (member);
  prio_task_run_in_thread (task, self->threads, next_order (prio_task_group_get_loop (self)), run, member, prio_member_release);
  prio_task_group_update_places (self);
  return task;
}
