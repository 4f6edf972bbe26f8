/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-yield.c: yields, sleeps, and microtasks */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-current-private.h"
#include "loop/prio-traits-private.h"
#include "open/prio-engine.h"
#include "scheduler/prio-options-private.h"
#include "scheduler/prio-scheduling-state-private.h"
#include "signal/prio-registration-private.h"
#include "task/prio-task-impl-private.h"

/* The signal and the priority of a continuation: from the options, or inherited from the state in the options or from
 * the running task. */
typedef struct
{
  GCancellable *signal;   /* from the options or inherited, or NULL; not owned */
  GCancellable *followed; /* an inherited signal that determines the priority, but aborts nothing; or NULL */
  PrioTaskPriority priority;
  PrioTimed timed;           /* whether the continuation has the timeout of the code that yields */
  gint64 expiry;             /* when the timeout expires, µs */
  gboolean takes_turns;
} PrioInheritance;

static void
inherit_priority (PrioInheritance *from, const PrioState *state)
{
  PrioRegistration *registration;

  from->priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
  if (state == NULL)
    return;

  registration = prio_registration_of (state->group);
  if (state->priority != PRIO_TASK_PRIORITY_UNSET)
    from->priority = (PrioTaskPriority) state->priority;
  else if (from->signal == registration->signal)
    from->priority = PRIO_TASK_PRIORITY_UNSET;
  else
    from->followed = registration->signal;
}

/* Combines @state and @options by the rules of an older draft of yield().  Without options, these are also the current
 * draft's rules (§4.1.3, steps 3 to 8). */
static PrioInheritance
inherit (const PrioState *state, const PrioYieldOptions *options)
{
  PrioInheritance from = { .signal = PRIO_CANCELLABLE_OF (options), .priority = options->priority,
                           .takes_turns = options->takes_turns };
  gboolean has_own = from.signal != NULL || options->priority != PRIO_TASK_PRIORITY_UNSET;

  if (state != NULL)
    {
      from.takes_turns |= state->takes_turns;
      from.timed = state->timed;
      from.expiry = prio_traits_of (state).expiry;
    }
  if (from.signal == NULL && (options->flags & PRIO_YIELD_DROP_SIGNAL) == 0 && state != NULL && state->group != NULL)
    from.signal = prio_registration_of (state->group)->signal;

  if ((options->flags & PRIO_YIELD_KEEP_PRIORITY) != 0 ||
      (!has_own && (options->flags & PRIO_YIELD_DROP_PRIORITY) == 0))
    inherit_priority (&from, state);

  return from;
}

/* Inherits from the state in @options, which may belong to any context.  Without a state, inherits from the running
 * task if that is a task of @run_queue. */
static PrioInheritance
inherit_for (PrioRunQueue *run_queue, const PrioYieldOptions *options)
{
  const PrioState *given = options->state != NULL ? prio_scheduling_state_peek (options->state) : NULL;
  const PrioState *current = given == NULL ? prio_state_of_thread () : NULL;

  if (prio_state_is_of (current, run_queue) && prio_loop_is_owner_thread (run_queue->loop))
    given = current;
  return inherit (given, options);
}

/* Queues a continuation with @options, at @due, or at once if @due is 0.  @notify is called when @data is no longer
 * needed, and is NULL if @options have a state.  If @waits is not NULL, sets *@waits to the continuation, which is
 * valid until @callback or @notify is called. */
void
prio_run_queue_continue (PrioRunQueue *run_queue, const PrioYieldOptions *options, gpointer source_tag, gint64 due,
                         GAsyncReadyCallback callback, gpointer data, GDestroyNotify notify, PrioTask **waits)
{
  PrioInheritance from = inherit_for (run_queue, options);
  PrioState held;
  PrioTask *task = prio_task_make (run_queue, prio_turn_of_continuation (from.takes_turns), from.signal, from.priority);

  prio_task_set_source (task, NULL, source_tag);
  prio_task_set_program_func (task, (gpointer) callback);
  if (from.timed != PRIO_TIMED_NOT)
    prio_entry_set_expiry (prio_task_get_entry (task), from.expiry);
  if (options->name != NULL)
    prio_task_set_name (task, options->name);
  if (options->state != NULL)
    prio_scheduling_state_hold_for (options->state, run_queue->loop, &held);
  prio_task_add_reaction (task, options->state != NULL ? &held : NULL,
                          &(PrioReaction) { .callback = callback, .data = data, .notify = notify });

  if (waits != NULL)
    *waits = task;
  prio_scheduler_submit_task (task, from.signal, from.followed, from.priority, due);
}

void
prio_scheduler_fail_to_yield (PrioScheduler *self, GError *error, GAsyncReadyCallback callback, gpointer data)
{
  PrioTask *task = prio_task_make (self->run_queue, PRIO_ENTRY_GOES_ON, NULL, PRIO_TASK_PRIORITY_USER_VISIBLE);

  prio_task_set_source (task, NULL, prio_scheduler_yield_async);
  prio_task_add_reaction (task, &prio_state_none, &(PrioReaction) { .callback = callback, .data = data });
  prio_task_return (task, &PRIO_RESULT_OF_ERROR (error));
  prio_object_unref (task);
}

/**
 * prio_scheduler_yield_async:
 * @self: a scheduler
 * @options: (nullable): the options, or %NULL to inherit from the running task
 * @callback: (not nullable) (scope async) (closure user_data): the continuation
 * @user_data: data for @callback
 *
 * Lets more urgent work, and other sources of the main context, run first: the WICG draft's `yield()` (§2.2, §2.4.2).
 *
 * The continuation, which is @callback, runs before new tasks of the same priority, unless it takes turns.  If the
 * running task belongs to this scheduler, the continuation has its signal, priority and timeout, and takes turns if the
 * task does.  Otherwise the priority is %PRIO_TASK_PRIORITY_USER_VISIBLE.  If the signal is aborted,
 * [method@PrioSched.Scheduler.yield_finish] fails with the reason of the abort.
 *
 * The options choose another signal and another priority, as in an older draft of `yield()`:
 *
 * ```c
 * static void
 * go_on (GObject *scheduler, GAsyncResult *result, gpointer self)
 * {
 *   if (prio_scheduler_yield_finish (PRIO_SCHEDULER (scheduler), result, NULL))
 *     my_window_make_next_thumbnail (self);
 * }
 *
 * prio_scheduler_yield_async (scheduler, &PRIO_YIELD_OPTIONS (.priority = PRIO_TASK_PRIORITY_BACKGROUND), go_on, self);
 * ```
 *
 * With a state in the options, the continuation inherits from that state, which may come from a task of any scheduler.
 * If the state belongs to another main context, @callback runs without a state.  This lets a task continue where its
 * own state is lost, such as after a call of GIO: see [method@PrioSched.SchedulingState.resume_async].  With a wrong
 * argument, the call logs a critical message, and does not call @callback.  Any thread may call this function;
 * @callback is called on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_scheduler_yield_async (PrioScheduler *self, const PrioYieldOptions *options, GAsyncReadyCallback callback,
                            gpointer user_data)
{
  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_yield_options (G_STRFUNC, options, callback != NULL));

  prio_run_queue_continue (self->run_queue, options != NULL ? options : &prio_no_yield_options, prio_scheduler_yield_async, 0, callback,
                           user_data, NULL, NULL);
}

/**
 * prio_scheduler_yield_finish:
 * @self: (nullable): the scheduler that the callback got, which is %NULL if it has been finalized
 * @result: the result that the callback was called with
 * @error: return location for a `GError`
 *
 * Finishes a yield.  It fails with the reason of the abort if the continuation's signal is aborted.  Call this function
 * in the callback, on its thread.
 *
 * Returns: %TRUE if the task may continue, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_yield_finish (PrioScheduler *self, GAsyncResult *result, GError **error)
{
  prio_return_val_if_wrong (self == NULL || prio_check_scheduler (G_STRFUNC, self), FALSE);
  g_return_val_if_fail (PRIO_IS_TASK (result), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!g_async_result_is_tagged (result, prio_scheduler_yield_async))
    {
      g_critical ("%s: this is the result of no yield: prio_scheduler_sleep_finish() "
                  "or a prio_task_propagate_…() function gets it", G_STRFUNC);
      return FALSE;
    }
  return prio_task_propagate_value_for (PRIO_TASK (result), &(GValue) G_VALUE_INIT, error, G_STRFUNC);
}

typedef struct
{
  PrioOp op;
  PrioMicrotask microtask;
} QueueOp;

static void
op_queue_microtask (PrioLoop *loop, const PrioOp *op)
{
  prio_loop_queue_microtask (loop, &((const QueueOp *) op)->microtask);
}

/**
 * prio_scheduler_queue_microtask:
 * @self: a scheduler
 * @func: (scope notified) (closure user_data) (destroy notify): the function to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Queues a call of @func before the next task of the main context: in the microtask checkpoint after the function of
 * the running task, before the result of that task is settled (§4.1.4 of the WICG draft).
 *
 * @func inherits the scheduling state of the running task.  Outside any task, @func has no state, and is called in the
 * next iteration of the main context.  Any thread may call this function; @func is called on the thread that runs the
 * scheduler's main context, even while the scheduler is paused.
 *
 * Since: 1.0
 */
void
prio_scheduler_queue_microtask (PrioScheduler *self, GSourceOnceFunc func, gpointer user_data,
                                GDestroyNotify notify)
{
  QueueOp queue = { { .apply = op_queue_microtask, .size = sizeof queue }, { .func = func, .data = user_data, .notify = notify } };
  PrioRunQueue *run_queue;
  const PrioState *state;

  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail (func != NULL);

  run_queue = self->run_queue;
  state = prio_state_capture (run_queue->loop);
  if (prio_loop_enter (run_queue->loop))
    {
      if (state != NULL)
        {
          queue.microtask.state = *state;
          prio_state_hold (state);
        }
      prio_loop_queue_microtask (run_queue->loop, &queue.microtask);
      prio_loop_leave (run_queue->loop);
    }
  else
    {
      prio_loop_submit (run_queue->loop, &queue.op);
    }
}

/**
 * prio_scheduler_sleep_async:
 * @self: a scheduler
 * @delay: the time to wait, in milliseconds; 0 is a yield
 * @options: (nullable): the options, or %NULL to inherit from the running task
 * @callback: (not nullable) (scope async) (closure user_data): the continuation
 * @user_data: data for @callback
 *
 * Waits for @delay, and then queues @callback as a continuation, as [method@PrioSched.Scheduler.yield_async] does at
 * once.
 *
 * The continuation inherits the signal and the priority of the running task, as after a yield, unless @options have
 * others.  An abort of its signal ends the wait at once: [method@PrioSched.Scheduler.sleep_finish] fails with its
 * reason.  A change of the signal's priority counts until the continuation runs.
 *
 * ```c
 * static void
 * try_again (GObject *scheduler, GAsyncResult *result, gpointer connection)
 * {
 *   g_autoptr (GError) error = NULL;
 *
 *   if (prio_scheduler_sleep_finish (PRIO_SCHEDULER (scheduler), result, &error))
 *     my_connection_open (connection);
 * }
 *
 * prio_scheduler_sleep_async (scheduler, 500, &PRIO_YIELD_OPTIONS (.signal = signal), try_again, connection);
 * ```
 *
 * If the main context is destroyed before the delay is over, @callback is not called, as with a yield.  While the
 * scheduler is paused the delay passes, and the continuation waits.  With a wrong argument, the call logs a critical
 * message, and does not call @callback.  Any thread may call this function; @callback is called on the thread that runs
 * the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_scheduler_sleep_async (PrioScheduler *self, guint64 delay, const PrioYieldOptions *options,
                            GAsyncReadyCallback callback, gpointer user_data)
{
  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_yield_options (G_STRFUNC, options, callback != NULL));

  prio_run_queue_continue (self->run_queue, options != NULL ? options : &prio_no_yield_options, prio_scheduler_sleep_async, prio_due_after (delay),
                           callback, user_data, NULL, NULL);
}

/**
 * prio_scheduler_sleep_finish:
 * @self: (nullable): the scheduler that the callback got, which is %NULL if it has been finalized
 * @result: the result that the callback was called with
 * @error: return location for a `GError`
 *
 * Finishes a [method@PrioSched.Scheduler.sleep_async].  It fails with the reason of the abort if the continuation's
 * signal is aborted.  Call this function in the callback, on its thread.
 *
 * Returns: %TRUE if the delay is over, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_sleep_finish (PrioScheduler *self, GAsyncResult *result, GError **error)
{
  prio_return_val_if_wrong (self == NULL || prio_check_scheduler (G_STRFUNC, self), FALSE);
  g_return_val_if_fail (PRIO_IS_TASK (result), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!g_async_result_is_tagged (result, prio_scheduler_sleep_async))
    {
      g_critical ("%s: this is the result of no prio_scheduler_sleep_async()", G_STRFUNC);
      return FALSE;
    }
  return prio_task_propagate_value_for (PRIO_TASK (result), &(GValue) G_VALUE_INIT, error, G_STRFUNC);
}
