/* prio-hooks.c: what bindings for languages ask of schedulers, tasks, signals, states and idle callbacks
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

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
 *   task has completed; its source object is that of the task's options or, if they have none, the task
 * @user_data: data for @callback
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Registers @callback for the completion of the task.
 *
 * Callbacks are called in the order in which they were registered, in a microtask
 * on the thread that runs the scheduler's main context, with the scheduling state
 * that is current at the time of this call (§4.1.5 and §4.1.6 of the draft).  If the task has
 * completed already, the callback is called soon, but never within this call.  Once the main
 * context has gone no callback is called any more, and @notify is called at once.
 *
 * %NULL is accepted, as an `_async` function may be given it by its caller: then @notify is
 * called at once.
 *
 * Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_task_then (PrioTask *self, PrioTaskReadyCallback callback, gpointer user_data, GDestroyNotify notify)
{
  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));

  prio_task_add_reaction (self, callback, user_data, notify);
}

/**
 * prio_task_signal_pin:
 * @self: a signal
 *
 * Keeps a signal that depends on others alive, for as long as they can make it emit
 * something that a handler is connected to (§3.3.1 of the draft).
 *
 * This happens automatically when the last reference is dropped.  The function is for
 * bindings that have disconnected their handlers by then: they call it when a handler is
 * connected.
 *
 * Any thread may call it.
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
 * Tells whether the priority of the signal can never change: the signal was made from others
 * with a fixed priority, or the signal whose priority it followed has been finalized.  Any
 * thread may call it.
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
 * @func: (scope call) (closure user_data): what to run
 * @user_data: data for @func
 *
 * Calls @func with @state as the current one, and then restores the former one.
 *
 * If the thread does not own the main context of @state, that is, neither runs nor has acquired
 * it (see [method@GLib.MainContext.is_owner]), @func runs without a state.
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

/* What the program or another library has given to find the states of its fibers; atomic. */
static PrioSchedulingStateFinder public_finder;

static const PrioState *
find_state (void)
{
  PrioSchedulingState *state = __atomic_load_n (&public_finder, __ATOMIC_ACQUIRE) ();

  return state != NULL ? prio_scheduling_state_peek_here (state) : NULL;
}

/**
 * prio_scheduling_state_set_finder: (skip)
 * @find: what knows the state of the code that calls it
 *
 * Lets code that runs on stacks of its own, such as fibers, have a state while it runs.
 *
 * A fiber begins in one dispatch of the main loop and goes on in another, so that
 * prio_scheduling_state_run() cannot be around it. Code that runs fibers captures a state
 * for each, and tells here which fiber is running. The library `prio-sched-dex-1` does that
 * for those of libdex.
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
 * @find is called where no task runs at the same depth of main loops, often and anywhere, on any thread and under locks
 * of this library. It calls nothing of this library, and takes no lock.
 *
 * There is one for the whole process: a second one is refused with a critical message. Any thread may call this.
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
 * prio_idle_deadline_get_current:
 *
 * Gets the deadline of the idle callback that runs on the calling thread.  A runner's function
 * needs this, as it is not given the deadline (prio_runner_request_idle_callback()).
 * Any thread may call it.
 *
 * Returns: (transfer full) (nullable): the deadline, or %NULL if none runs
 *
 * Since: 1.0
 */
PrioIdleDeadline *
prio_idle_deadline_get_current (void)
{
  return g_memdup2 (prio_thread.deadline, sizeof (PrioIdleDeadline));
}

/**
 * prio_scheduler_end_slice:
 * @self: a scheduler
 *
 * Ends the time slice of what is running, so that the main loop has its turn.
 *
 * [method@PrioSched.Scheduler.should_yield] returns %TRUE from now on, until every other source of the main
 * context has had its turn; the same goes for the other schedulers of the context.
 *
 * Call it on the thread that runs the scheduler's main context; on others, and where no main loop runs, it does
 * nothing.
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

/* The task of the program at the head of @queue, which may be NULL, if that is one with a function; or NULL. */
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
 * Gets the task that comes next: the oldest of the highest priority, of this scheduler and of its groups
 * that have a place, or the first of those whose timeout has passed.
 *
 * It stays where it is, and runs when its turn comes; [method@PrioSched.Task.cancel] takes it out.  A delayed task is one of them
 * when its delay is over.  It does not matter whether the scheduler is paused.
 *
 * Only a task that a function has returned when it was posted can be given, as that of [method@PrioSched.Scheduler.post_task].  If the
 * first is a closure, a continuation or a task of a language binding, the result is %NULL, as it is if there is none.
 * [method@PrioSched.Scheduler.get_n_pending] tells whether there is one; [method@PrioSched.Runner.get_first] gives the number of a task of a binding.
 *
 * The time it takes grows with the number of the scheduler's groups, those without tasks included, and not with
 * that of tasks.
 *
 * Call it on the thread that runs the scheduler's main context.  On another one it logs a critical
 * message, and returns %NULL.
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
  /* The loop holds what is queued, so this reference is not the second, of which a binding would hear. */
  if (task != NULL)
    g_object_ref (task);
  prio_loop_leave (self->run_queue->loop);
  return task;
}

/**
 * prio_scheduling_state_new: (constructor)
 * @parent: (nullable): the state to take the signal and the timeout from, or %NULL for none
 * @scheduler: a scheduler
 * @priority: the priority of what inherits the state
 *
 * Makes a state with another priority, for prio_scheduling_state_run().
 *
 * It is that of a task of the scheduler of @parent, with the signal and the timeout of @parent.  Without a parent, or if that belongs to
 * another main context than @scheduler, it is that of a task of @scheduler that has neither.
 *
 * Any thread may call it.  With a wrong argument it logs a critical message, and returns %NULL.
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

/* Inside: the number that comes next of all tasks of the scheduler of @self, if it is one of @self, and no continuation; or 0, and sets
 * @task to the task, if it is one. */
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
