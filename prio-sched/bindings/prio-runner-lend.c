/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-runner-lend.c: lets waiting tasks of a binding lend their priority */

#include "config.h"

#include "prio-runner.h"

#include "base/prio-check-private.h"
#include "prio-numbers.h"

/**
 * prio_runner_add_lender:
 * @self: a runner
 * @id: the number of a task that is delayed or queued, or 0 if the task has begun
 * @priority: if @id is 0, the [enum@PrioSched.TaskPriority] of the task, or %PRIO_TASK_PRIORITY_UNSET for the priority
 *   of @signal
 * @signal: (nullable): if @id is 0, a signal that may abort the task
 *
 * Creates a lender: a number for a task that waits for other tasks and lends them its priority, or for a task that is
 * awaited.
 *
 * The library does not see which task waits for which in another language.  A binding reports it with
 * [method@PrioSched.Runner.begin_wait], so that tasks lend their priority as
 * [property@PrioSched.Scheduler:lends-priority] describes.
 *
 * ```c
 * guint waiter = prio_runner_add_lender (runner, 0, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL);
 * guint awaited = prio_runner_add_lender (runner, id, PRIO_TASK_PRIORITY_UNSET, NULL);
 *
 * prio_runner_begin_wait (runner, waiter, awaited);
 * …
 * prio_runner_remove_lender (runner, awaited);
 * prio_runner_remove_lender (runner, waiter);
 * ```
 *
 * A queued task cannot borrow a priority if it was posted with [method@PrioSched.Runner.post], or while no scheduler of
 * the context lent priorities.  Call this function on the thread that runs the main context; on others it does nothing.
 *
 * Returns: the lender, to be freed with [method@PrioSched.Runner.remove_lender] when the task has its result; 0 if no
 *   scheduler of the main context has ever lent, if there is no such task, or if @id is 0 and @signal is aborted
 *
 * Since: 1.0
 */
guint
prio_runner_add_lender (PrioRunner *self, guint id, gint priority, GCancellable *signal)
{
  guint lender;

  g_return_val_if_fail (self != NULL, 0);
  g_return_val_if_fail (PRIO_IS_PRIORITY_OR_UNSET (priority), 0);
  g_return_val_if_fail (signal == NULL || G_IS_CANCELLABLE (signal), 0);

  if (!prio_numbers_enter (self->loop))
    return 0;
  lender = prio_numbers_keep (self, id, priority, signal);
  prio_numbers_leave (self->loop);
  prio_loop_flush_releases (self->loop);
  return lender;
}

/**
 * prio_runner_remove_lender:
 * @self: a runner
 * @lender: a number that [method@PrioSched.Runner.add_lender] has returned
 *
 * Removes a lender, and ends all waits of its task and all waits for it.  Call this function when the task has its
 * result or was aborted, on the thread that runs the main context; on others it does nothing.
 *
 * Since: 1.0
 */
void
prio_runner_remove_lender (PrioRunner *self, guint lender)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (lender != 0);

  if (!prio_numbers_enter (self->loop))
    return;
  prio_lending_drop (self->loop, lender);
  prio_numbers_leave (self->loop);
  prio_loop_flush_releases (self->loop);
}

/**
 * prio_runner_begin_wait:
 * @self: a runner
 * @lender: the lender of the task that waits
 * @awaited: the lender of the awaited task
 *
 * Begins a wait: @lender lends its priority to @awaited until one of the two lenders is removed, or until
 * [method@PrioSched.Runner.end_wait] is called.  Call this function on the thread that runs the main context; on others
 * it does nothing.
 *
 * Since: 1.0
 */
void
prio_runner_begin_wait (PrioRunner *self, guint lender, guint awaited)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (lender != 0 && awaited != 0);

  if (!prio_numbers_enter (self->loop))
    return;
  prio_lending_begin_wait (self->loop, lender, awaited);
  prio_numbers_leave (self->loop);
}

/**
 * prio_runner_begin_wait_for_id:
 * @self: a runner
 * @lender: as for [method@PrioSched.Runner.begin_wait]
 * @id: the number of a continuation that is delayed or queued
 *
 * Lets the task of @lender lend its priority to its continuation @id, as long as the continuation is delayed or queued.
 * Call this function on the thread that runs the main context; on others it does nothing.
 *
 * Since: 1.0
 */
void
prio_runner_begin_wait_for_id (PrioRunner *self, guint lender, guint id)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (lender != 0);

  if (!prio_numbers_enter (self->loop))
    return;
  prio_numbers_begin_wait (self, lender, id);
  prio_numbers_leave (self->loop);
}

/**
 * prio_runner_end_wait:
 * @self: a runner
 * @lender: the lender of the task that has waited
 * @awaited: the lender of the awaited task, which has no result yet
 *
 * Ends a wait that [method@PrioSched.Runner.begin_wait] has begun, before the awaited task has its result.  Call this
 * function on the thread that runs the main context; on others it does nothing.
 *
 * Since: 1.0
 */
void
prio_runner_end_wait (PrioRunner *self, guint lender, guint awaited)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (lender != 0 && awaited != 0);

  if (!prio_numbers_enter (self->loop))
    return;
  prio_lending_end_wait (self->loop, lender, awaited);
  prio_numbers_leave (self->loop);
}
