/* prio-task-group-id.c: tasks of a group that are identified by numbers, and waits for them
 *
 * A member of the group stands for such a task, and has its place and its age.  What its function does is to call that of the
 * runner: so the rules of groups are those of prio-task-group-post.c and prio-task-group-wait.c.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-task-group-id.h"

#include "base/prio-check-private.h"
#include "prio-numbers.h"

/* The domain of the errors that stand for those of tasks of runners; their codes are the handles. */
static GQuark
handle_quark (void)
{
  return g_quark_from_static_string ("prio-sched-task-handle");
}

/* The data of a task of a group that stands for one of a runner, until it has its result. */
typedef struct
{
  PrioRunner *runner; /* held, and the task is a user of its numbers; NULL once the task has begun */
  PrioTask *task;     /* held; NULL if it was rejected at once, which who posts it knows */
  guint id;
} PrioSeat;

static gboolean
is_over (PrioTask *task)
{
  return prio_task_get_state (task) >= PRIO_TASK_STATE_FULFILLED;
}

/* The seat of @task, which has no result yet, or is NULL; NULL if it is not a task of a runner. */
static PrioSeat *
seat_of (PrioTask *task)
{
  return task != NULL && g_async_result_is_tagged (G_ASYNC_RESULT (task), prio_task_group_post_id) ? prio_task_group_get_data (task) : NULL;
}

static PrioSeat *
get_seat (PrioTaskGroup *self, guint handle)
{
  return seat_of (prio_task_group_find (self, handle));
}

/* The destroy notify of the task: it has its result. */
static void
end_seat (gpointer data)
{
  PrioSeat *seat = data;

  if (seat->runner != NULL)
    prio_numbers_drop_rejected (seat->runner, seat->task != NULL ? seat->id : 0);
  g_clear_object (&seat->task);
  g_free (seat);
}

/* The function of the task. */
static void
run_seat (PrioTask *task, gpointer data)
{
  PrioSeat *seat = data;
  PrioRunner *runner = g_steal_pointer (&seat->runner);

  /* The seat may end in the function, and the runner is not closed while that runs. */
  prio_task_defer (task);
  prio_numbers_run_in (runner, seat->id, prio_task_get_entry (task));
  prio_numbers_drop (runner);
}

/* Whether @runner can run tasks of @self; if not, says so for @function. */
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
 * @runner: runs the task: a runner of the group's scheduler
 * @id: the number that identifies the task to @runner; not 0
 * @priority: a [enum@PrioSched.TaskPriority], or %PRIO_PRIORITY_UNSET for that of
 *   @signal or, if it has none, that of the group
 * @signal: (nullable): what may abort the task, beside the group
 * @delay: milliseconds to wait before the task is queued
 * @timeout: milliseconds from now, or from the end of the delay, after which it goes before every
 *   task whose timeout has not passed; 0 for none
 * @takes_turns: whether its continuations wait behind tasks of the same priority that are queued already
 * @name: (nullable): the task's name in messages and tools for developers; it is copied
 * @combined: (out) (transfer full) (optional): return location for the signal that may abort the task: that
 *   of the group, or one that depends on it and on @signal
 * @posted: (out) (type gint) (optional): return location for a [enum@PrioSched.Posted], as for
 *   [method@PrioSched.Runner.post_full]
 *
 * Posts a task of a [struct@PrioSched.Runner] that begins when a place is free.
 *
 * It is for language bindings, whose tasks are numbers: in C, [method@PrioSched.TaskGroup.post_task]
 * does the same.  The task keeps its place until [method@PrioSched.TaskGroup.return_id] is called.
 *
 * Call it on the thread that runs the scheduler's main context.
 *
 * Returns: a number that identifies the task to the group until its result is there, or 0 if it is rejected at once, which
 *   [method@PrioSched.Runner.take_rejected] does not report
 *
 * Since: 1.0
 */
guint
prio_task_group_post_id (PrioTaskGroup *self, PrioRunner *runner, guint id, gint priority, GCancellable *signal, guint64 delay,
                         gint timeout, gboolean takes_turns, const char *name, GCancellable **combined, PrioPosted *posted)
{
  PrioTaskOptions options = { .priority = (PrioTaskPriority) priority, .signal = signal, .delay = delay, .timeout = timeout,
                              .name = name, .source_tag = prio_task_group_post_id, .takes_turns = takes_turns };
  g_autoptr (PrioTask) task = NULL;
  PrioSeat *seat;

  if (combined != NULL)
    *combined = NULL;
  if (posted != NULL)
    *posted = PRIO_POSTED_REJECTED;
  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), 0);
  prio_return_val_if_wrong (check_runner_of_group (G_STRFUNC, self, runner), 0);
  g_return_val_if_fail (id != 0, 0);

  /* If its scheduler has gone, it is closed. */
  if (runner->run_queue == NULL || !prio_numbers_enter (runner->loop))
    return 0;
  prio_numbers_use (runner);
  prio_numbers_leave (runner->loop);

  seat = g_new (PrioSeat, 1);
  *seat = (PrioSeat) { .runner = runner, .id = id };
  task = prio_task_group_post_task (self, &options, run_seat, seat, end_seat);
  if (task == NULL)
    {
      end_seat (seat);
      return 0;
    }
  if (combined != NULL)
    g_set_object (combined, prio_task_get_signal (task));
  if (is_over (task))
    return 0;

  seat->task = g_object_ref (task);
  if (posted != NULL)
    *posted = prio_state_capture (runner->loop) != NULL ? PRIO_POSTED_INSIDE : PRIO_POSTED_OUTSIDE;
  return prio_task_group_number (task);
}

/**
 * prio_task_group_return_id:
 * @self: a group
 * @handle: what [method@PrioSched.TaskGroup.post_id] has returned
 * @failure: (nullable): why the task has failed, or %NULL if it was fulfilled
 *
 * Tells a group that a task of a runner has its result, and needs its place no longer.
 *
 * A wait for the group that ends with it tells by [method@PrioSched.TaskGroup.finish_id] which one it was.  A task that has not begun
 * is cancelled, as by [method@PrioSched.Task.cancel], and its runner reports it as rejected.  If the task has been cancelled, or
 * aborted in its function, or its main context has gone, nothing happens.
 *
 * Call it on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_task_group_return_id (PrioTaskGroup *self, guint handle, const char *failure)
{
  g_autoptr (PrioTask) task = NULL;
  PrioSeat *seat;

  /* Nobody needs to hear of its tasks any more. */
  if (PRIO_IS_TASK_GROUP (self) && prio_loop_has_gone (prio_task_group_get_loop (self)))
    return;
  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));

  seat = get_seat (self, handle);
  if (seat == NULL || is_over (seat->task))
    return;
  if (seat->runner != NULL)
    {
      prio_task_cancel (seat->task);
      return;
    }

  task = g_object_ref (seat->task);
  if (failure != NULL)
    prio_task_return_error (task, g_error_new_literal (handle_quark (), (gint) handle, failure));
  else
    prio_task_return_int (task, handle);
}

/**
 * prio_task_group_new_lender:
 * @self: a group
 * @handle: what [method@PrioSched.TaskGroup.post_id] has returned
 *
 * Makes a task of the group known as one that may wait for others, and be waited for, as [method@PrioSched.Runner.new_lender]
 * does with others.
 *
 * Call it on the thread that runs the scheduler's main context.
 *
 * Returns: a number for [method@PrioSched.Runner.free_lender], or 0 if no scheduler of the main context lends, or the task has its
 *   result
 *
 * Since: 1.0
 */
guint
prio_task_group_new_lender (PrioTaskGroup *self, guint handle)
{
  PrioLoop *loop;
  PrioSeat *seat;
  guint lender;

  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), 0);

  seat = get_seat (self, handle);
  loop = prio_task_group_get_loop (self);
  if (seat == NULL || is_over (seat->task) || !prio_numbers_enter (loop))
    return 0;
  lender = prio_numbers_keep_task (seat->task);
  prio_numbers_leave (loop);
  return lender;
}

/**
 * prio_runner_get_first:
 * @self: a runner
 *
 * Gets the number of the task that comes next of all tasks of the scheduler, if it is one of this runner, in a group or not, and no
 * continuation: see [method@PrioSched.Scheduler.dup_first_task].
 *
 * Call it on the thread that runs the main context; on others it returns 0.
 *
 * Returns: the number, or 0
 *
 * Since: 1.0
 */
guint
prio_runner_get_first (PrioRunner *self)
{
  PrioTask *task;
  PrioSeat *seat;
  guint id;

  g_return_val_if_fail (self != NULL, 0);

  if (!prio_numbers_enter (self->loop))
    return 0;
  id = prio_numbers_first (self, &task);
  seat = seat_of (task);
  if (seat != NULL && seat->runner == self)
    id = seat->id;
  prio_numbers_leave (self->loop);
  return id;
}

/* The handle of the task that @task stands for, which has completed: 0 if it is none of a runner, or was aborted. */
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

/* A wait that is a task of a runner, which is posted when it is over. */
typedef struct
{
  PrioRunner *runner; /* held until then */
  guint id;
  PrioTask *task; /* how it has ended; */
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

/* The waits for a group that are over, by their ids. */
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
  /* Not behind a loop of yields. */
  prio_runner_yield_full (runner, wait->id, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL, 0, -1, FALSE);
}

/**
 * prio_task_group_wait_id:
 * @self: a group
 * @own: (nullable): the group of the task that waits, or %NULL if that is in none
 * @handle: what [method@PrioSched.TaskGroup.post_id] of @own has returned for it, or 0
 * @until: what to wait for
 * @cancellable: (nullable): what ends the wait, or %NULL
 * @runner: a runner of the group's scheduler
 * @id: the number of a task for @runner, which is posted when the wait is over; not 0
 *
 * Waits for tasks of the group, as [method@PrioSched.TaskGroup.wait_async] does, for a language binding.
 *
 * That task calls [method@PrioSched.TaskGroup.finish_id].
 *
 * Call it on the thread that runs the scheduler's main context.
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
  g_return_if_fail (until <= PRIO_TASK_GROUP_FIRST);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));
  g_return_if_fail (id != 0);

  wait = g_new (PrioIdWait, 1);
  *wait = (PrioIdWait) { .runner = prio_runner_ref (runner), .id = id };
  prio_task_group_wait_as (self, own, handle, until, cancellable, waited, wait);
}

/**
 * prio_task_group_finish_id:
 * @self: a group
 * @id: the number of the task that was posted because a wait is over
 * @task: (out) (optional) (nullable) (transfer full): as for [method@PrioSched.TaskGroup.wait_finish]
 * @handle: (out) (optional): return location for what [method@PrioSched.TaskGroup.post_id] has returned for that task; 0 if there
 *   is no such task, if it is none of a runner, or if it was aborted
 * @error: return location for a `GError`
 *
 * Ends a wait that has begun with [method@PrioSched.TaskGroup.wait_id].
 *
 * Call it in the task @id, on the thread that runs the scheduler's main context.  It fails as [method@PrioSched.TaskGroup.wait_finish] does.
 *
 * Returns: %TRUE if what was waited for has come, or %FALSE with @error set
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

  g_hash_table_steal_extended (ended_of (G_OBJECT (self)), GUINT_TO_POINTER (id), NULL, &ended);
  g_return_val_if_fail (ended != NULL, FALSE);

  wait = ended;
  has_come = wait->error == NULL;
  if (handle != NULL)
    *handle = wait->task != NULL ? handle_of (wait->task) : 0;
  if (!has_come)
    g_propagate_error (error, g_steal_pointer (&wait->error));
  else if (task != NULL)
    *task = g_steal_pointer (&wait->task);
  wait_free (wait);
  return has_come;
}
