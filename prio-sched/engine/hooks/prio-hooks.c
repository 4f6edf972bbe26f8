/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-hooks.c: functions of schedulers, tasks, signals, states and idle callbacks for language bindings */

#include "config.h"

#include "prio-hooks.h"

#include "loop/prio-current-private.h"
#include "loop/prio-dispatch-private.h"
#include "loop/prio-first-private.h"
#include "loop/prio-idle-private.h"
#include "loop/prio-yield-private.h"
#include "scheduler/prio-scheduler-private.h"
#include "scheduler/prio-scheduling-state-private.h"
#include "signal/prio-dependence-private.h"
#include "signal/prio-signal-travel-private.h"
#include "task/prio-task-impl-private.h"

/**
 * prio_task_then:
 * @self: a task
 * @callback: (nullable) (scope notified) (closure user_data) (destroy notify): called when the
 *   task has completed; its source object is the source object of the task's options or, if they have none, the task
 * @user_data: data for @callback
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Registers @callback for the completion of the task.
 *
 * Callbacks are called in the order in which they were registered, in a microtask on the thread that runs the
 * scheduler's main context, with the scheduling state that is current at the time of this call (§4.1.5 and §4.1.6 of
 * the WICG draft).  If the task has completed already, the callback is called soon, but never within this call.  Once
 * the main context is destroyed no callback is called, and @notify is called at once.
 *
 * @callback may be %NULL, as in an `_async` function: @notify is then called at once.  Any thread may call this.
 *
 * Since: 1.0
 */
void
prio_task_then (PrioTask *self, PrioTaskReadyCallback callback, gpointer user_data, GDestroyNotify notify)
{
  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));

  prio_task_add_reaction (self, NULL, &(PrioReaction) { .callback = callback, .data = user_data, .notify = notify });
}

/**
 * prio_task_signal_pin:
 * @self: a signal
 *
 * Keeps @self, which depends on other signals, alive as long as they can make @self emit a GObject signal that has a
 * handler (§3.3.1 of the WICG draft).
 *
 * This happens automatically when the last reference is dropped.  A binding that disconnects its handlers earlier
 * than that calls this function when it connects a handler.  Any thread may call this function.
 *
 * Since: 1.0
 */
void
prio_task_signal_pin (PrioTaskSignal *self)
{
  g_return_if_fail (PRIO_IS_TASK_SIGNAL (self));

  prio_signal_node_keep (prio_signal_node_for (G_CANCELLABLE (self)));
}

/**
 * prio_task_signal_has_fixed_priority:
 * @self: a signal
 *
 * Returns whether the priority of the signal can never change: the signal was made from others with a fixed priority,
 * or the signal whose priority it followed has been finalized.  Any thread may call this function.
 *
 * Returns: whether the priority is fixed
 *
 * Since: 1.0
 */
gboolean
prio_task_signal_has_fixed_priority (PrioTaskSignal *self)
{
  g_return_val_if_fail (PRIO_IS_TASK_SIGNAL (self), TRUE);

  return prio_signal_node_has_fixed_priority (prio_signal_node_for (G_CANCELLABLE (self)));
}

/**
 * prio_scheduling_state_run:
 * @state: (nullable): a state, or %NULL for none
 * @func: (scope call) (closure user_data): the function to call
 * @user_data: data for @func
 *
 * Calls @func with @state as the current state, and then restores the former state.
 *
 * If the thread does not own the main context of @state, as [method@GLib.MainContext.is_owner] tells, @func runs
 * without a state.
 *
 * Since: 1.0
 */
void
prio_scheduling_state_run (PrioSchedulingState *state, GSourceOnceFunc func, gpointer user_data)
{
  const PrioState *outer = prio_thread.state;
  const PrioState *captured = state != NULL ? prio_scheduling_state_peek_here (state) : NULL;
  PrioState inner = captured != NULL ? *captured : prio_state_none;

  g_return_if_fail (func != NULL);

  if (captured != NULL)
    {
      prio_scheduling_state_ref (state);
      inner.depth = g_main_depth ();
    }
  prio_thread.state = captured != NULL ? &inner : &prio_state_none;
  func (user_data);
  prio_thread.state = outer;
  if (captured != NULL)
    prio_scheduling_state_unref (state);
}

/* The function that prio_scheduling_state_set_finder () has set; atomic. */
static PrioSchedulingStateFinder public_finder;

static const PrioState *
find_state (void)
{
  PrioSchedulingState *state = __atomic_load_n (&public_finder, __ATOMIC_ACQUIRE) ();

  return state != NULL ? prio_scheduling_state_peek_here (state) : NULL;
}

/**
 * prio_scheduling_state_set_finder: (skip)
 * @find: a function that returns the state of its caller, without a new reference, or %NULL if there is none
 *
 * Sets a function that finds the states of code with its own stacks, such as fibers.
 *
 * A fiber begins in one dispatch of the main loop and continues in another, so prio_scheduling_state_run() cannot call
 * the whole fiber.  Code that runs fibers captures a state for each fiber, and @find returns the state of the running
 * fiber.  The library `prio-sched-dex-1` does this for libdex.
 *
 * ```c
 * static PrioSchedulingState *
 * state_of_fiber (void)
 * {
 *   return running_fiber != NULL ? running_fiber->state : NULL;
 * }
 *
 * prio_scheduling_state_set_finder (state_of_fiber);
 * ```
 *
 * @find is called often, on any thread and with locks of this library held, wherever no task runs at the current
 * [func@GLib.main_depth].  It must not call this library, nor take a lock.
 *
 * A process has one such function: a second one is refused with a critical message.  Any thread may call this function.
 *
 * Since: 1.0
 */
void
prio_scheduling_state_set_finder (PrioSchedulingStateFinder find)
{
  PrioSchedulingStateFinder none = NULL;

  g_return_if_fail (find != NULL);

  if (__atomic_compare_exchange_n (&public_finder, &none, find, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    __atomic_store_n (&prio_state_finder, find_state, __ATOMIC_RELEASE);
  else if (none != find)
    g_critical ("%s: the finder cannot be %p: the process has one already, %p", G_STRFUNC, (gpointer) find, (gpointer) none);
}

/**
 * prio_idle_deadline_dup_current:
 *
 * Gets the deadline of the idle callback that runs on the calling thread.  The function of a `PrioRunner` needs this,
 * because it does not get the deadline as an argument.  Any thread may call this function.
 *
 * Returns: (transfer full) (nullable): the deadline, or %NULL if no idle callback runs
 *
 * Since: 1.0
 */
PrioIdleDeadline *
prio_idle_deadline_dup_current (void)
{
  return g_memdup2 (prio_thread.deadline, sizeof (PrioIdleDeadline));
}

/**
 * prio_scheduler_end_slice:
 * @self: a scheduler
 *
 * Ends the time slice of the running code, so that the main loop has its turn.
 *
 * From now on, [method@PrioSched.Scheduler.should_yield] returns %TRUE for every scheduler of the main context, until
 * every other source of the context has had its turn.
 *
 * Call this function on the thread that runs the scheduler's main context.  On other threads, or if no main loop is
 * running, it has no effect.
 *
 * Since: 1.0
 */
void
prio_scheduler_end_slice (PrioScheduler *self)
{
  PrioLoop *loop;

  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));

  loop = self->run_queue->loop;
  if (g_main_depth () == 0 || !prio_loop_is_owner (loop) || !prio_loop_enter (loop))
    return;
  prio_loop_end_slice (loop);
  prio_loop_leave (loop);
}

/* Returns the task at the head of @queue, or NULL if @queue is NULL, or its head is not a PrioTask of the program that
 * has a function. */
static PrioTask *
task_at_head (PrioQueue *queue)
{
  PrioEntry *entry = queue != NULL && queue->kind == PRIO_QUEUE_ENTRIES ? (PrioEntry *) queue->head : NULL;
  gboolean is_task = entry != NULL && entry->use == PRIO_ENTRY_OF_PROGRAM && entry->funcs->run == prio_task_entry_funcs.run;

  return is_task && prio_task_get_func (prio_task_from_entry (entry)) != NULL ? prio_task_from_entry (entry) : NULL;
}

/**
 * prio_scheduler_dup_first_task:
 * @self: a scheduler
 *
 * Gets the next task of this scheduler, and of its groups whose limit allows another task: the first task whose timeout
 * has passed or, if there is none, the oldest task of the highest priority.
 *
 * The task stays in its queue, and runs when its turn comes.  A delayed task counts when its delay is over.  The
 * scheduler may be paused.
 *
 * If the next task is not a [class@PrioSched.Task] with a function, but a task of [method@PrioSched.Scheduler.post], a
 * continuation or a task of a language binding, returns %NULL.  [method@PrioSched.Scheduler.count_pending] returns how
 * many tasks there are; [method@PrioSched.Runner.get_first] returns the number of a binding's task.
 *
 * The time that the call takes grows with the number of the scheduler's groups, and not with the number of tasks.
 *
 * Call this function on the thread that runs the scheduler's main context.  On another thread, the function logs a
 * critical message, and returns %NULL.
 *
 * Returns: (transfer full) (nullable): the first task, or %NULL
 *
 * Since: 1.0
 */
PrioTask *
prio_scheduler_dup_first_task (PrioScheduler *self)
{
  PrioTask *task;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);

  if (!prio_scheduler_enter (self, G_STRFUNC, "the first task is"))
    return NULL;

  task = task_at_head (prio_run_queue_first (self->run_queue));
  /* The loop owns a reference to a queued task, so no toggle notify is called here. */
  if (task != NULL)
    g_object_ref (task);
  prio_loop_leave (self->run_queue->loop);
  return task;
}

/**
 * prio_scheduling_state_new: (constructor)
 * @parent: (nullable): the state to take the signal and the timeout from, or %NULL for none
 * @scheduler: the scheduler of the new state, unless @parent determines it
 * @priority: the priority of tasks that inherit the state; not %PRIO_TASK_PRIORITY_UNSET
 *
 * Creates a copy of @parent with a different priority, for prio_scheduling_state_run().
 *
 * The new state belongs to the scheduler of @parent, and has @parent's signal and timeout.  If @parent is %NULL,
 * or belongs to a different main context than @scheduler, the new state belongs to @scheduler, and has no signal or
 * timeout.  Any thread may call this function.  With a wrong argument, the call logs a critical message, and returns
 * %NULL.
 *
 * Returns: (transfer full): a new state
 *
 * Since: 1.0
 */
PrioSchedulingState *
prio_scheduling_state_new (PrioSchedulingState *parent, PrioScheduler *scheduler, PrioTaskPriority priority)
{
  const PrioState *outer = parent != NULL ? prio_scheduling_state_peek (parent) : NULL;
  PrioState state = { 0 };

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, scheduler), NULL);
  prio_return_val_if_wrong (prio_check_priority (G_STRFUNC, (gint) priority), NULL);

  state.run_queue = scheduler->run_queue;
  if (outer != NULL && outer->run_queue->loop == scheduler->run_queue->loop)
    state = *outer;
  state.priority = (gint8) priority;
  return prio_scheduling_state_make (&state);
}

/* Returns the number of the scheduler's next task, or 0 if that is a continuation, or not a task of @self.  Sets @task
 * to the next task if that is a PrioTask with a function, and otherwise to NULL.  The caller has entered the loop. */
guint
prio_numbers_first (PrioRunner *self, PrioTask **task)
{
  PrioQueue *queue = self->run_queue != NULL ? prio_run_queue_first (self->run_queue) : NULL;

  *task = task_at_head (queue);
  if (queue == NULL || prio_numbers_of (queue->head) != self)
    return 0;
  if (queue->kind == PRIO_QUEUE_ENTRIES ? prio_entry_is_continuation ((PrioEntry *) queue->head) : (queue->effective & 1) != 0)
    return 0;
  return queue->head->id;
}
