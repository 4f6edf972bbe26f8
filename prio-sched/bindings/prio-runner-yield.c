/* prio-runner-yield.c: continuations of a runner's tasks, and tasks with a timeout
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"

#include "loop/prio-current-private.h"
#include "loop/prio-lending-private.h"
#include "loop/prio-traits-private.h"
#include "post/prio-scheduler-post-private.h"
#include "signal/prio-util-private.h"

/* Owner thread: appends a continuation of the running task, whose signal cannot be reset, or which has none, but a timeout or
 * what may lend it a priority.
 * Returns FALSE if the runner is closed or the signal aborted. */
static gboolean
append_inherited (PrioRunner *self, guint id, const PrioState *state)
{
  PrioRegistration *registration = prio_registration_of (state->group);
  PrioEntry *entry;

  if (self->ids.run_queue == NULL || (registration != NULL && prio_signal_node_is_aborted (registration->node)))
    return FALSE;

  entry = prio_id_queue_new_entry (&self->ids, id, TRUE);
  if (state->timed != PRIO_TIMED_NOT)
    prio_entry_set_expiry (entry, prio_traits_of (state).expiry);
  if (registration != NULL)
    prio_registration_hold (registration);
  entry->abort = prio_registration_group (registration);
  if (state->priority != PRIO_PRIORITY_UNSET)
    {
      entry->priority = (guint8) state->priority;
    }
  else
    {
      prio_registration_hold (registration);
      entry->follows = &registration->group;
    }
  prio_run_queue_add (entry, 0);
  return TRUE;
}

/**
 * prio_runner_yield:
 * @self: a runner
 * @id: the number that identifies the continuation; not 0
 *
 * Posts the continuation of the running task after a yield.  It inherits that task's
 * signal and priority (§2.2, §2.4.2 of the draft).
 *
 * Outside any task of the scheduler its priority is
 * %PRIO_TASK_PRIORITY_USER_VISIBLE.
 *
 * Any thread may call it.
 *
 * Returns: (type gint): a [enum@PrioSched.Posted]: whether the task will run, and
 *   whether it was posted from a task; a task that is rejected here is not reported by
 *   [method@PrioSched.Runner.take_rejected]
 *
 * Since: 1.0
 */
PrioPosted
prio_runner_yield (PrioRunner *self, guint id)
{
  const PrioState *current, *state = NULL;
  PrioRegistration *registration = NULL;
  PrioTaskPriority priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
  PrioOp op = { .id = id, .flag = TRUE };
  g_auto (PrioPostedName) name G_GNUC_UNUSED = { FALSE };
  gboolean accepted;

  g_return_val_if_fail (self != NULL, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POSTED_REJECTED);

  name = prio_runner_name_of_post (self, id, TRUE);
  current = prio_state_of_thread ();
  if (!prio_loop_enter (self->loop))
    return prio_runner_post_id (self, id, prio_effective (priority, TRUE));

  if (self->ids.run_queue != NULL && prio_state_is_of (current, self->ids.run_queue))
    state = current;
  if (state != NULL)
    registration = prio_registration_of (state->group);
  if (registration != NULL && (state->run_queue != self->ids.run_queue || !prio_registration_is_for_life (registration)))
    {
      prio_loop_leave (self->loop);
      if (state->timed == PRIO_TIMED_NOT)
        return prio_runner_post_full (self, id, state->priority, registration->signal, 0, TRUE);
      op.priority = state->priority;
      return prio_runner_posted_here (self, prio_run_queue_post_id (self->loop, &self->ids, &op, registration->signal,
                                                                    prio_traits_of (state).expiry));
    }
  if (registration != NULL ||
      (state != NULL && (state->timed != PRIO_TIMED_NOT || G_UNLIKELY (prio_lending_is_used (self->loop)))))
    {
      accepted = append_inherited (self, id, state);
    }
  else
    {
      if (state != NULL)
        priority = (PrioTaskPriority) state->priority;
      accepted = prio_runner_append_id (self, id, prio_effective (priority, TRUE));
    }
  prio_loop_leave (self->loop);
  return prio_runner_posted_here (self, accepted);
}

/**
 * prio_runner_post_timed:
 * @self: a runner
 * @id: the number that identifies the task; not 0
 * @priority: a [enum@PrioSched.TaskPriority], or %PRIO_PRIORITY_UNSET for that of
 *   @signal or, if it has none, %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @signal: (nullable): what may abort the task: a [class@PrioSched.TaskSignal], or
 *   any other cancellable
 * @delay: milliseconds to wait before the task is queued
 * @timeout: milliseconds from now, or from the end of the delay, after which it goes before every
 *   task whose timeout has not passed.  0 is a timeout too, and passes at once
 *
 * Posts a task with a timeout: see [struct@PrioSched.TaskOptions].
 *
 * Any thread may call it.
 *
 * Returns: (type gint): a [enum@PrioSched.Posted], as [method@PrioSched.Runner.post_full] does
 *
 * Since: 1.0
 */
PrioPosted
prio_runner_post_timed (PrioRunner *self, guint id, gint priority, GCancellable *signal, guint64 delay, gint timeout)
{
  PrioOp op = { .id = id, .priority = (gint8) priority };
  g_auto (PrioPostedName) name G_GNUC_UNUSED = { FALSE };

  g_return_val_if_fail (self != NULL, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (PRIO_IS_PRIORITY_OR_UNSET (priority), PRIO_POSTED_REJECTED);
  g_return_val_if_fail (PRIO_IS_SIGNAL_OR_NULL (signal), PRIO_POSTED_REJECTED);

  name = prio_runner_name_of_post (self, id, FALSE);
  op.due = prio_due_after (delay);
  return prio_runner_posted_here (self, prio_run_queue_post_id (self->loop, &self->ids, &op, signal,
                                                                prio_expiry_after (op.due, timeout)));
}

/**
 * prio_runner_yield_timed:
 * @self: a runner
 * @id: the number that identifies the continuation; not 0
 * @priority: a [enum@PrioSched.TaskPriority], or %PRIO_PRIORITY_UNSET for that of
 *   @signal or, if it has none, %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @signal: (nullable): what may abort the continuation: a [class@PrioSched.TaskSignal], or
 *   any other cancellable
 * @delay: milliseconds to wait before the continuation is queued
 * @expiry: when the timeout of the task passes, in microseconds of g_get_monotonic_time()
 *
 * Posts the continuation of a task that has a timeout, whose time it keeps, for a binding that knows the task where the
 * library does not: after an `await` of something else.  Elsewhere [method@PrioSched.Runner.yield] inherits it.
 *
 * Any thread may call it.
 *
 * Returns: (type gint): a [enum@PrioSched.Posted], as [method@PrioSched.Runner.post_full] does
 *
 * Since: 1.0
 */
PrioPosted
prio_runner_yield_timed (PrioRunner *self, guint id, gint priority, GCancellable *signal, guint64 delay, gint64 expiry)
{
  PrioOp op = { .id = id, .priority = (gint8) priority, .flag = TRUE };
  g_auto (PrioPostedName) name G_GNUC_UNUSED = { FALSE };

  g_return_val_if_fail (self != NULL, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POSTED_REJECTED);
  g_return_val_if_fail (PRIO_IS_PRIORITY_OR_UNSET (priority), PRIO_POSTED_REJECTED);
  g_return_val_if_fail (PRIO_IS_SIGNAL_OR_NULL (signal), PRIO_POSTED_REJECTED);

  name = prio_runner_name_of_post (self, id, TRUE);
  op.due = prio_due_after (delay);
  return prio_runner_posted_here (self, prio_run_queue_post_id (self->loop, &self->ids, &op, signal, expiry));
}
