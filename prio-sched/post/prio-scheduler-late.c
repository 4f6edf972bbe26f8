/* prio-scheduler-late.c: whether the timeout of the running task has passed
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-current-private.h"
#include "scheduler/prio-options-private.h"

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
 * prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .timeout = 5000 }, render, view, NULL);
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

  state = prio_state_capture (self->run_queue);
  return state != NULL && state->timed == PRIO_TIMED_EXPIRED;
}
