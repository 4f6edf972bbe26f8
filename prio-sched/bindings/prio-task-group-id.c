/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-id.c: tasks of a group that are identified by numbers, and waits for them
 *
 * For each such task there is an *id task*: a PrioTask in the group, whose function calls the runner's function.  So
 * the rules of groups in prio-task-group-post.c and prio-task-group-wait.c apply here, too. */

#include "config.h"

#include "prio-task-group-id.h"

#include "base/prio-check-private.h"
#include "prio-engine.h"

/* An internal error domain for runner tasks that have failed.  The error code is the task's handle. */
static G_DEFINE_QUARK (prio-sched-task-handle, handle)

/* The data of an id task, until it has its result. */
typedef struct
{
  PrioRunner *runner; /* owned, and in use (prio_numbers_use ()), until the task begins; then NULL */
  PrioTask *task;     /* owned; NULL until the post has succeeded */
  guint id;
} PrioIdTask;

/* Returns the data of the id task @task, which has no result yet; NULL if @task is NULL or not an id task. */
static PrioIdTask *
id_task_of (PrioTask *task)
{
  return task != NULL && g_async_result_is_tagged (G_ASYNC_RESULT (task), prio_task_group_post_id) ? prio_task_group_get_data (task) : NULL;
}

static PrioIdTask *
get_id_task (PrioTaskGroup *self, guint handle)
{
  return id_task_of (prio_task_group_find (self, handle));
}

/* Frees the data of an id task that has its result.  If the task did not begin, the runner rejects the id. */
static void
end_id_task (gpointer data)
{
  PrioIdTask *id_task = data;

  if (id_task->runner != NULL)
    prio_numbers_drop_rejected (id_task->runner, id_task->task != NULL ? id_task->id : 0);
  g_clear_object (&id_task->task);
  g_free (id_task);
}

static void
run_id_task (PrioTask *task, gpointer data)
{
  PrioIdTask *id_task = data;
  PrioRunner *runner = g_steal_pointer (&id_task->runner);

  /* The function may end @task, which frees @id_task.  So the runner is kept open here until the function returns. */
  prio_task_defer (task);
  prio_numbers_run_in (runner, id_task->id, prio_task_get_entry (task));
  prio_numbers_drop (runner);
}

/* Returns whether @runner can run tasks of @self.  If not, logs a critical message for @function. */
G_GNUC_UNUSED static gboolean
check_runner_of_group (const char *function, PrioTaskGroup *self, PrioRunner *runner)
{
  if (runner != NULL && runner->loop == prio_task_group_get_loop (self))
    return TRUE;

  g_critical ("%s(): a group and the runner of its tasks have one main context", function);
  return FALSE;
}

/**
 * prio_task_group_post_id:
 * @self: a group
 * @runner: a runner of the group's scheduler, which runs the task
 * @id: the number that identifies the task to @runner; not 0
 * @priority: a [enum@PrioSched.TaskPriority], or %PRIO_TASK_PRIORITY_UNSET for the priority of @signal or, if @signal
 *   has none, the group's priority
 * @signal: (nullable): a signal that may abort the task, in addition to the group's signal
 * @delay: milliseconds to wait before the task is queued
 * @timeout: milliseconds from now, or from the end of the delay, after which the task precedes all tasks whose timeout
 *   has not expired; 0 for none
 * @takes_turns: whether the task's continuations wait behind tasks of the same priority that are queued already
 * @name: (nullable): the task's name in messages and tools for developers; it is copied
 * @combined: (out) (transfer full) (optional) (nullable): return location for the signal that may abort the task: the
 *   group's signal, or a signal that depends on the group's signal and on @signal
 * @posted: (out) (type gint) (optional): return location for a [enum@PrioSched.PostResult], as for
 *   [method@PrioSched.Runner.post_full]
 *
 * Posts a task of a [struct@PrioSched.Runner], but starts it only when the group's limit allows another task.
 *
 * This function is for language bindings, whose tasks are numbers.  In C, use [method@PrioSched.TaskGroup.post_task].
 * A task that has begun counts toward the limit until [method@PrioSched.TaskGroup.return_id] is called.  Call this
 * function on the thread that runs the scheduler's main context.
 *
 * Returns: a handle that identifies the task to the group until the task has its result; 0 if the task is rejected at
 *   once: [method@PrioSched.Runner.take_rejected] does not report this task
 *
 * Since: 1.0
 */
guint
prio_task_group_post_id (PrioTaskGroup *self, PrioRunner *runner, guint id, gint priority, GCancellable *signal, guint64 delay,
                         gint timeout, gboolean takes_turns, const char *name, GCancellable **combined,
                         PrioPostResult *posted)
{
  PrioTaskOptions options = { .priority = (PrioTaskPriority) priority, .cancellable = signal, .delay = delay,
                              .timeout = timeout,
                              .name = name, .source_tag = prio_task_group_post_id, .takes_turns = takes_turns };
  g_autoptr (PrioTask) task = NULL;
  PrioIdTask *id_task;

  if (combined != NULL)
    *combined = NULL;
  if (posted != NULL)
    *posted = PRIO_POST_RESULT_REJECTED;
  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), 0);
  prio_return_val_if_wrong (check_runner_of_group (G_STRFUNC, self, runner), 0);
  g_return_val_if_fail (id != 0, 0);

  /* A closed runner, whose scheduler was finalized, takes no tasks. */
  if (runner->run_queue == NULL || !prio_numbers_enter (runner->loop))
    return 0;
  prio_numbers_use (runner);
  prio_numbers_leave (runner->loop);

  id_task = g_new (PrioIdTask, 1);
  *id_task = (PrioIdTask) { .runner = runner, .id = id };
  task = prio_task_group_post_task (self, &options, run_id_task, id_task, end_id_task);
  if (task == NULL)
    {
      end_id_task (id_task);
      return 0;
    }
  if (combined != NULL)
    g_set_object (combined, prio_task_get_cancellable (task));
  if (prio_task_is_over (task))
    return 0;

  id_task->task = g_object_ref (task);
  if (posted != NULL)
    *posted = prio_state_capture (runner->loop) != NULL ? PRIO_POST_RESULT_INSIDE : PRIO_POST_RESULT_OUTSIDE;
  return prio_task_group_number (task);
}

/**
 * prio_task_group_return_id:
 * @self: a group
 * @handle: a handle that [method@PrioSched.TaskGroup.post_id] has returned
 * @failure: (nullable): why the task has failed, or %NULL if it was fulfilled
 *
 * Gives a task of a runner its result in the group.  The task then no longer counts toward the group's limit.
 *
 * If the result ends a wait for the group, [method@PrioSched.TaskGroup.finish_id] returns the task's handle.  A task
 * that has not begun is cancelled, as with [method@PrioSched.Task.cancel], and its runner reports it as rejected.  If
 * the task has been cancelled, or aborted in its function, or its main context is destroyed, nothing happens.  Call
 * this function on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_task_group_return_id (PrioTaskGroup *self, guint handle, const char *failure)
{
  g_autoptr (PrioTask) task = NULL;
  PrioIdTask *id_task;

  /* After the end of the main context, there is no task to give a result to, and the call logs no message. */
  if (PRIO_IS_TASK_GROUP (self) && prio_loop_has_gone (prio_task_group_get_loop (self)))
    return;
  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));

  id_task = get_id_task (self, handle);
  if (id_task == NULL || prio_task_is_over (id_task->task))
    return;
  if (id_task->runner != NULL)
    {
      prio_task_cancel (id_task->task);
      return;
    }

  task = g_object_ref (id_task->task);
  if (failure != NULL)
    prio_task_return_error (task, g_error_new_literal (handle_quark (), (gint) handle, failure));
  else
    prio_task_return_int (task, handle);
}

/**
 * prio_task_group_add_lender:
 * @self: a group
 * @handle: a handle that [method@PrioSched.TaskGroup.post_id] has returned
 *
 * Creates a lender for a task of the group: see [method@PrioSched.Runner.add_lender].  Call this function on the thread
 * that runs the scheduler's main context.
 *
 * Returns: the lender, to be freed with [method@PrioSched.Runner.remove_lender]; 0 if no scheduler of the main context
 *   lends, or if the task has its result
 *
 * Since: 1.0
 */
guint
prio_task_group_add_lender (PrioTaskGroup *self, guint handle)
{
  PrioLoop *loop;
  PrioIdTask *id_task;
  guint lender;

  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), 0);

  id_task = get_id_task (self, handle);
  loop = prio_task_group_get_loop (self);
  if (id_task == NULL || prio_task_is_over (id_task->task) || !prio_numbers_enter (loop))
    return 0;
  lender = prio_numbers_keep_task (id_task->task);
  prio_numbers_leave (loop);
  return lender;
}

/**
 * prio_runner_get_first:
 * @self: a runner
 *
 * Returns the number of the scheduler's next task if it is a task of this runner, in a group or not, and not a
 * continuation: see [method@PrioSched.Scheduler.dup_first_task].  Call this function on the thread that runs the main
 * context; on others it returns 0.
 *
 * Returns: the number, or 0
 *
 * Since: 1.0
 */
guint
prio_runner_get_first (PrioRunner *self)
{
  PrioTask *task;
  PrioIdTask *id_task;
  guint id;

  g_return_val_if_fail (self != NULL, 0);

  if (!prio_numbers_enter (self->loop))
    return 0;
  id = prio_numbers_first (self, &task);
  id_task = id_task_of (task);
  if (id_task != NULL && id_task->runner == self)
    id = id_task->id;
  prio_numbers_leave (self->loop);
  return id;
}

/* Returns the handle of the id task @task, which has its result, or 0 if @task was aborted or is not an id task. */
static guint
handle_of (PrioTask *task)
{
  const GError *error = prio_task_get_error (task);

  if (!g_async_result_is_tagged (G_ASYNC_RESULT (task), prio_task_group_post_id))
    return 0;
  if (error != NULL)
    return error->domain == handle_quark () ? (guint) error->code : 0;
  return (guint) prio_task_propagate_int (task, NULL);
}

/* A wait whose end posts a task of a runner. */
typedef struct
{
  PrioRunner *runner; /* owned until the wait has ended */
  guint id;
  PrioTask *task; /* the task that has ended the wait */
  GError *error;
} PrioIdWait;

static void
wait_free (gpointer data)
{
  PrioIdWait *wait = data;

  g_clear_object (&wait->task);
  g_clear_error (&wait->error);
  g_free (wait);
}

/* Returns the waits for @group that have ended, by their ids. */
static GHashTable *
ended_of (GObject *group)
{
  static const char key[] = "prio-sched-ended-waits";
  GHashTable *ended = g_object_get_data (group, key);

  if (ended == NULL)
    {
      ended = g_hash_table_new_full (NULL, NULL, NULL, wait_free);
      g_object_set_data_full (group, key, ended, (GDestroyNotify) g_hash_table_unref);
    }
  return ended;
}

static void
waited (GObject *group, GAsyncResult *result, gpointer data)
{
  PrioIdWait *wait = data;
  g_autoptr (PrioRunner) runner = wait->runner;

  prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, &wait->task, &wait->error);
  g_hash_table_insert (ended_of (group), GUINT_TO_POINTER (wait->id), wait);
  /* Posts at the highest priority, so that code that yields in a loop cannot delay the report. */
  prio_runner_yield_full (runner, wait->id, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL, 0, -1, FALSE);
}

/**
 * prio_task_group_wait_id:
 * @self: a group
 * @own: (nullable): the group of the waiting task, or %NULL if that task is in no group
 * @handle: the handle of the waiting task in @own, or 0
 * @until: which results to wait for
 * @cancellable: (nullable): a cancellable that ends the wait, or %NULL
 * @runner: a runner of the group's scheduler
 * @id: the number of a task for @runner, which is posted when the wait is over; not 0
 *
 * Waits for tasks of the group, as [method@PrioSched.TaskGroup.wait_async] does, for a language binding.
 *
 * The task @id has to call [method@PrioSched.TaskGroup.finish_id].  Call this function on the thread that runs the
 * scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_task_group_wait_id (PrioTaskGroup *self, PrioTaskGroup *own, guint handle, PrioTaskGroupWait until,
                         GCancellable *cancellable, PrioRunner *runner, guint id)
{
  PrioIdWait *wait;

  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));
  prio_return_if_wrong (own == NULL || prio_check_task_group (G_STRFUNC, own));
  prio_return_if_wrong (check_runner_of_group (G_STRFUNC, self, runner));
  g_return_if_fail (until <= PRIO_TASK_GROUP_WAIT_FIRST);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));
  g_return_if_fail (id != 0);

  wait = g_new (PrioIdWait, 1);
  *wait = (PrioIdWait) { .runner = prio_runner_ref (runner), .id = id };
  prio_task_group_wait_as (self, own, handle, until, cancellable, waited, wait);
}

/**
 * prio_task_group_finish_id:
 * @self: a group
 * @id: the number of the task that was posted at the end of the wait
 * @task: (out) (optional) (nullable) (transfer full): as for [method@PrioSched.TaskGroup.wait_finish]
 * @handle: (out) (optional): return location for the handle of @task; 0 if no task has ended the wait, or if that task
 *   is not a task of a runner, or was aborted
 * @error: return location for a `GError`
 *
 * Finishes a wait that has begun with [method@PrioSched.TaskGroup.wait_id].  Call this function in the task @id, on the
 * thread that runs the scheduler's main context.  The call fails in the same cases as
 * [method@PrioSched.TaskGroup.wait_finish].
 *
 * Returns: %TRUE if the wait has succeeded, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_group_finish_id (PrioTaskGroup *self, guint id, PrioTask **task, guint *handle, GError **error)
{
  gpointer ended = NULL;
  gboolean has_come;
  PrioIdWait *wait;

  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  g_hash_table_steal_extended (ended_of (G_OBJECT (self)), GUINT_TO_POINTER (id), NULL, &ended);
  g_return_val_if_fail (ended != NULL, FALSE);

  wait = ended;
  has_come = wait->error == NULL;
  if (handle != NULL)
    *handle = wait->task != NULL ? handle_of (wait->task) : 0;
  if (!has_come)
    g_propagate_error (error, g_steal_pointer (&wait->error));
  if (task != NULL)
    *task = g_steal_pointer (&wait->task);
  wait_free (wait);
  return has_come;
}
