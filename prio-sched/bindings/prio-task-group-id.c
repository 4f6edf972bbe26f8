/* prio-task-group-id.c: tasks of a group that are identified by numbers, and waits for them
 *
 * A member of the group stands for such a task, and has its place and its age.  What its function does is to call that of the
 * runner: so the rules of groups are those of prio-task-group-post.c and prio-task-group-wait.c.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-task-group-id-private.h"

#include "group/prio-task-group-post-private.h"
#include "group/prio-task-group-private.h"

#include "bindings/prio-runner-inner-private.h"
#include "bindings/prio-runner-private.h"
#include "loop/prio-current-private.h"
#include "loop/prio-lending-private.h"
#include "loop/prio-traits-private.h"
#include "scheduler/prio-options-private.h"
#include "task/prio-task-private.h"

/* The domain of the errors that stand for those of tasks of runners; their codes are the handles. */
static GQuark
handle_quark (void)
{
  return g_quark_from_static_string ("prio-sched-task-handle");
}

/* A task that a runner runs, from its post until its member has its result. */
typedef struct
{
  PrioTaskGroup *group; /* the member holds it */
  PrioMember *member;   /* NULL until the task begins */
  PrioRunner *runner;   /* held, and the task is a user of its numbers; NULL once the task has begun */
  PrioTask *task;       /* held, or NULL if it was rejected at once */
  guint id;
  guint handle;
  gboolean is_silent; /* who posts it knows by himself that it is rejected */
} PrioSeat;

/* What a group keeps. */
typedef struct
{
  GHashTable *seats; /* what runners run, by their handles; NULL until needed */
  GHashTable *ended; /* how waits that are tasks of runners have ended, by their ids; NULL until needed */
  guint last_handle;
} PrioGroupNumbers;

static void
numbers_clear (gpointer record)
{
  PrioGroupNumbers *numbers = record;

  g_clear_pointer (&numbers->seats, g_hash_table_unref);
  g_clear_pointer (&numbers->ended, g_hash_table_unref);
}

static PrioGroupNumbers *
numbers_of (PrioTaskGroup *group)
{
  static const PrioSlotFuncs funcs = { .size = sizeof (PrioGroupNumbers), .clear = numbers_clear };

  return prio_slot_ensure (&group->slots[PRIO_GROUP_SLOT_BINDINGS], &funcs);
}

static void
hold_runner (PrioRunner *runner)
{
  prio_runner_ref (runner);
  prio_loop_enter (runner->loop);
  prio_numbers_hold (&runner->numbers);
  prio_loop_leave (runner->loop);
}

/* Owner thread, or the context has gone. */
static void
op_release_runner (PrioLoop *loop, const PrioOp *op)
{
  PrioRunner *runner = op->target;

  if (op->data != NULL)
    runner->numbers.funcs->rejected (&runner->numbers, GPOINTER_TO_UINT (op->data));
  prio_numbers_release (&runner->numbers);
  prio_loop_defer_release (loop, (GDestroyNotify) prio_runner_unref, runner);
}

/* A task of @runner has ended, or the task @rejected will not run, if that is not 0. */
static void
release_runner (PrioRunner *runner, guint rejected)
{
  PrioOp op = { .apply = op_release_runner, .target = runner, .data = GUINT_TO_POINTER (rejected) };

  prio_loop_submit (runner->loop, &op);
}

/* The destroy notify of the member: it has its result. */
static void
end_seat (gpointer data)
{
  PrioSeat *seat = data;

  g_hash_table_remove (numbers_of (seat->group)->seats, GUINT_TO_POINTER (seat->handle));
  g_clear_object (&seat->task);
  if (seat->runner != NULL)
    release_runner (seat->runner, seat->is_silent ? 0 : seat->id);
  g_free (seat);
}

/* The function of the member. */
static void
run_seat (PrioTask *task, gpointer data)
{
  PrioSeat *seat = data;
  PrioRunner *runner = g_steal_pointer (&seat->runner);

  /* The seat may end in the function, and the runner is not closed while that runs. */
  seat->member = seat->group->running;
  prio_task_defer (task);
  prio_inner_run (task, runner->func, seat->id, runner->data);
  release_runner (runner, 0);
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
  PrioGroupNumbers *numbers;
  PrioSeat *seat;
  guint handle;

  if (combined != NULL)
    *combined = NULL;
  if (posted != NULL)
    *posted = PRIO_POSTED_REJECTED;
  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), 0);
  prio_return_val_if_wrong (check_runner_of_group (G_STRFUNC, self, runner), 0);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, &options, TRUE), 0);
  g_return_val_if_fail (id != 0, 0);

  /* Its scheduler has gone. */
  if (runner->numbers.run_queue == NULL)
    return 0;

  numbers = numbers_of (self);
  if (numbers->seats == NULL)
    numbers->seats = g_hash_table_new (NULL, NULL);
  do
    handle = ++numbers->last_handle;
  while (handle == 0 || g_hash_table_contains (numbers->seats, GUINT_TO_POINTER (handle)));

  hold_runner (runner);
  seat = g_new (PrioSeat, 1);
  *seat = (PrioSeat) { .group = self, .runner = runner, .id = id, .handle = handle, .is_silent = TRUE };
  g_hash_table_insert (numbers->seats, GUINT_TO_POINTER (handle), seat);
  task = prio_task_group_post_task (self, &options, run_seat, seat, end_seat);
  if (combined != NULL)
    g_set_object (combined, prio_task_get_signal (task));
  if (prio_task_is_completed (task))
    return 0;

  seat->task = g_object_ref (task);
  seat->is_silent = FALSE;
  if (posted != NULL)
    *posted = prio_state_capture (runner->loop) != NULL ? PRIO_POSTED_INSIDE : PRIO_POSTED_OUTSIDE;
  return handle;
}

static PrioSeat *
get_seat (PrioTaskGroup *self, guint handle)
{
  PrioGroupNumbers *numbers = numbers_of (self);

  return numbers->seats != NULL ? g_hash_table_lookup (numbers->seats, GUINT_TO_POINTER (handle)) : NULL;
}

/* Whether nobody needs to hear of its tasks, as the main context has gone. */
static gboolean
has_ended (PrioTaskGroup *self)
{
  return PRIO_IS_TASK_GROUP (self) && prio_loop_is_dead (prio_task_group_get_loop (self));
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

  if (has_ended (self))
    return;
  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));

  seat = get_seat (self, handle);
  if (seat == NULL || prio_task_is_completed (seat->task))
    return;
  if (seat->member == NULL)
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
  guint lender = 0;

  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), 0);

  seat = get_seat (self, handle);
  loop = prio_task_group_get_loop (self);
  if (seat == NULL || prio_task_is_completed (seat->task) || !prio_loop_enter (loop))
    return 0;
  if (prio_lending_is_used (loop))
    lender = prio_lending_keep (prio_task_get_entry (seat->task));
  prio_loop_leave (loop);
  return lender;
}

/* Owner thread: which task of @runner @task stands for, that waits in its group; 0 if it is none. */
guint
prio_runner_id_of_task (PrioRunner *runner, PrioTask *task)
{
  PrioMember *member;
  PrioSeat *seat;

  if (!g_async_result_is_tagged (G_ASYNC_RESULT (task), prio_task_group_post_id))
    return 0;
  member = prio_task_get_entry (task)->job.data;
  seat = member->data;
  return seat->runner == runner ? seat->id : 0;
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
  PrioRunner *runner;
  guint id;
} PrioIdWait;

/* How it has ended. */
typedef struct
{
  PrioTask *task;
  GError *error;
} PrioIdWaitEnd;

static void
end_free (gpointer data)
{
  PrioIdWaitEnd *end = data;

  g_clear_object (&end->task);
  g_clear_error (&end->error);
  g_free (end);
}

static void
waited (GObject *group, GAsyncResult *result, gpointer data)
{
  PrioTaskGroup *self = PRIO_TASK_GROUP (group);
  PrioIdWait *wait = data;
  PrioIdWaitEnd *end = g_new0 (PrioIdWaitEnd, 1);

  prio_task_group_wait_finish (self, result, &end->task, &end->error);
  if (numbers_of (self)->ended == NULL)
    numbers_of (self)->ended = g_hash_table_new_full (NULL, NULL, NULL, end_free);
  g_hash_table_insert (numbers_of (self)->ended, GUINT_TO_POINTER (wait->id), end);
  /* Not behind a loop of yields. */
  prio_runner_yield_full (wait->runner, wait->id, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL, 0, -1, FALSE);
  prio_runner_unref (wait->runner);
  g_free (wait);
}

/* The state in which a task that @seat stands for calls, or none if that is NULL.  Owner thread; to be ended. */
static PrioState
state_of_seat (PrioSeat *seat)
{
  PrioState state = { .depth = g_main_depth () };
  PrioTraits traits = { 0 };
  PrioLoop *loop;

  if (seat == NULL || seat->member == NULL)
    return (PrioState) { .run_queue = NULL };

  state.run_queue = seat->group->places;
  traits.member = seat->member->number;
  loop = state.run_queue->loop;
  if (prio_loop_enter (loop))
    {
      state.traits = prio_traits_new (&traits);
      prio_loop_leave (loop);
    }
  return state;
}

static void
end_state_of_seat (const PrioState *state)
{
  gboolean locked;

  if (state->traits != NULL && prio_loop_enter_or_lock (state->run_queue->loop, &locked))
    {
      prio_traits_end (state);
      prio_loop_leave_or_unlock (state->run_queue->loop, locked);
    }
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
  const PrioState *outer = prio_thread.state;
  PrioState state;
  PrioIdWait *wait;

  prio_return_if_wrong (prio_check_task_group (G_STRFUNC, self));
  prio_return_if_wrong (own == NULL || prio_check_task_group (G_STRFUNC, own));
  prio_return_if_wrong (check_runner_of_group (G_STRFUNC, self, runner));
  g_return_if_fail (until <= PRIO_TASK_GROUP_FIRST);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));
  g_return_if_fail (id != 0);

  wait = g_new (PrioIdWait, 1);
  *wait = (PrioIdWait) { .runner = prio_runner_ref (runner), .id = id };
  state = state_of_seat (own != NULL ? get_seat (own, handle) : NULL);
  prio_thread.state = state.run_queue != NULL ? &state : NULL;
  prio_task_group_wait_async (self, until, cancellable, waited, wait);
  prio_thread.state = outer;
  end_state_of_seat (&state);
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
  PrioIdWaitEnd *end;
  GHashTable *ended;
  gpointer stolen = NULL;
  gboolean has_come;

  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), FALSE);
  ended = numbers_of (self)->ended;
  g_return_val_if_fail (ended != NULL, FALSE);

  g_hash_table_steal_extended (ended, GUINT_TO_POINTER (id), NULL, &stolen);
  g_return_val_if_fail (stolen != NULL, FALSE);

  end = stolen;
  has_come = end->error == NULL;
  if (handle != NULL)
    *handle = end->task != NULL ? handle_of (end->task) : 0;
  if (!has_come)
    g_propagate_error (error, g_steal_pointer (&end->error));
  else if (task != NULL)
    *task = g_steal_pointer (&end->task);
  end_free (end);
  return has_come;
}
