/* prio-scheduler-levels.c: at which priority something runs, and whether it is late
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-current-private.h"
#include "scheduler/prio-options-private.h"
#include "scheduler/prio-scheduling-state-private.h"

/* The state that is current on this thread for a task of any scheduler or group of the same main context, or NULL. */
static const PrioState *
current_state (PrioScheduler *self)
{
  return prio_state_capture (self->run_queue);
}

/**
 * prio_scheduler_did_timeout:
 * @self: a scheduler
 *
 * Tells whether the timeout of the running task had passed when its turn came: what React's
 * Scheduler gives a callback as `didTimeout`.  A task can then do what is left in one go.
 *
 * It is decided when the main loop begins the task, and again when it begins what follows a yield, and
 * never changes in between: a callback that the task awaits, and whatever else runs under its
 * state, gets the same answer.  Sources that a nested main loop dispatches are no part of the task.
 * The task may be one of any scheduler or group of the same main context.
 *
 * ```c
 * static gboolean
 * render (gpointer view)
 * {
 *   do
 *     render_row (view);
 *   while (has_rows (view) && (prio_scheduler_did_timeout (scheduler) || !prio_scheduler_should_yield (scheduler)));
 *   return has_rows (view);
 * }
 *
 * prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .timeout = PRIO_TIMEOUT_NORMAL }, render, view, NULL);
 * ```
 *
 * Call it on the thread that runs the scheduler's main context; on others it returns %FALSE.
 *
 * Returns: whether it had; %FALSE outside any task, and for a task without a timeout
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_did_timeout (PrioScheduler *self)
{
  const PrioState *state;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), FALSE);

  state = current_state (self);
  return state != NULL && state->timed == PRIO_TIMED_EXPIRED;
}

/**
 * prio_scheduler_get_current_priority:
 * @self: a scheduler
 *
 * Gets the priority of what is running, which a yield would inherit: React's
 * `unstable_getCurrentPriorityLevel()`.
 *
 * It is that of the running task of any scheduler or group of the same main context, or what
 * [method@PrioSched.Scheduler.run_with_priority] has been given.  A timeout that has passed does not
 * change it.
 *
 * Call it on the thread that runs the scheduler's main context.
 *
 * Returns: the priority; %PRIO_TASK_PRIORITY_USER_VISIBLE outside any task, and on other threads
 *
 * Since: 1.0
 */
PrioTaskPriority
prio_scheduler_get_current_priority (PrioScheduler *self)
{
  const PrioState *state;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), PRIO_TASK_PRIORITY_USER_VISIBLE);

  state = current_state (self);
  if (state == NULL)
    return PRIO_TASK_PRIORITY_USER_VISIBLE;
  if (state->priority != PRIO_PRIORITY_UNSET)
    return (PrioTaskPriority) state->priority;
  return prio_group_get_priority (state->group);
}

/**
 * prio_scheduler_run_with_priority:
 * @self: a scheduler
 * @priority: a priority
 * @func: (scope call) (closure user_data): what to run
 * @user_data: data for @func
 *
 * Calls @func now, as part of the running task but with another priority: React's
 * `unstable_runWithPriority()`.
 *
 * What it yields, and the callbacks that it registers, have that priority, and the signal and the
 * timeout of the running task.  Outside any task it runs as part of one of this scheduler that has neither.
 *
 * To call something later under the state of now, as React's `unstable_wrapCallback()` does, there is
 * prio_scheduler_wrap_callback(); bindings use [func@PrioSched.SchedulingState.get_current] and
 * prio_scheduling_state_run().
 *
 * Call it on the thread that runs the scheduler's main context, or has acquired it; on others @func runs
 * without a state.
 *
 * Since: 1.0
 */
void
prio_scheduler_run_with_priority (PrioScheduler *self, PrioTaskPriority priority, GSourceOnceFunc func,
                                  gpointer user_data)
{
  g_autoptr (PrioSchedulingState) state = NULL;
  const PrioState *current;
  PrioState inner = { 0 };

  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_priority (G_STRFUNC, (gint) priority));
  prio_return_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, NULL));

  current = current_state (self);
  inner.run_queue = self->run_queue;
  if (current != NULL)
    inner = *current;
  inner.priority = (gint8) priority;
  state = prio_scheduling_state_new (&inner);
  prio_scheduling_state_call (state, func, user_data);
}
