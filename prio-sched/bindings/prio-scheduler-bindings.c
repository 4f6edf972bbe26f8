/* prio-scheduler-bindings.c: the slice, the first task and the state, for bindings
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-scheduler-bindings.h"

#include "loop/prio-current-private.h"
#include "loop/prio-dispatch-private.h"
#include "loop/prio-first-private.h"
#include "loop/prio-yield-private.h"
#include "scheduler/prio-options-private.h"
#include "scheduler/prio-scheduler-private.h"
#include "scheduler/prio-scheduling-state-private.h"
#include "task/prio-task-impl-private.h"

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
  PrioTask *task = NULL;
  PrioQueue *queue;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);

  if (!prio_scheduler_enter (self, G_STRFUNC, "the first task is"))
    return NULL;

  queue = prio_run_queue_first (self->run_queue);
  if (queue != NULL && queue->kind == PRIO_QUEUE_ENTRIES)
    {
      PrioEntry *entry = (PrioEntry *) queue->head;

      /* The loop holds what is queued, so this reference is not the second, of which a binding would hear. */
      if (entry->use == PRIO_ENTRY_OF_PROGRAM && entry->funcs->run == prio_task_entry_funcs.run &&
          prio_task_get_func (prio_task_from_entry (entry)) != NULL)
        task = g_object_ref (prio_task_from_entry (entry));
    }
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
