/* prio-runner-lend.c: tasks of bindings that wait for others lend them their priority
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-runner.h"

#include "base/prio-check-private.h"
#include "prio-numbers.h"

/**
 * prio_runner_new_lender:
 * @self: a runner
 * @id: the number of a task that is delayed or queued, or 0 for one that has begun
 * @priority: the [enum@PrioSched.TaskPriority] of that one, or %PRIO_PRIORITY_UNSET for that of @signal
 * @signal: (nullable): what may abort that one
 *
 * Makes a task known as one that may wait for others, and be waited for.
 *
 * The library does not see what awaits what in another language: a binding tells it, by
 * [method@PrioSched.Runner.begin_wait], so that tasks lend their priority as [property@PrioSched.Scheduler:lends-priority]
 * describes.
 *
 * ```c
 * guint waiter = prio_runner_new_lender (runner, 0, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL);
 * guint awaited = prio_runner_new_lender (runner, id, PRIO_PRIORITY_UNSET, NULL);
 *
 * prio_runner_begin_wait (runner, waiter, awaited);
 * …
 * prio_runner_free_lender (runner, awaited);
 * prio_runner_free_lender (runner, waiter);
 * ```
 *
 * A task that was posted before any scheduler of the context lends, or by [method@PrioSched.Runner.post], is not lent anything while
 * it is queued.
 *
 * Call it on the thread that runs the main context; on others it does nothing.
 *
 * Returns: a number for [method@PrioSched.Runner.free_lender], which is to be called when the task has its result; 0 if
 *   no scheduler of the main context lends, if the task is not there, or if its signal is aborted
 *
 * Since: 1.0
 */
guint
prio_runner_new_lender (PrioRunner *self, guint id, gint priority, GCancellable *signal)
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
 * prio_runner_free_lender:
 * @self: a runner
 * @lender: what [method@PrioSched.Runner.new_lender] has returned
 *
 * Tells that a task has its result, or was aborted: nobody waits for it any more, and it waits for nobody.
 *
 * Call it on the thread that runs the main context; on others it does nothing.
 *
 * Since: 1.0
 */
void
prio_runner_free_lender (PrioRunner *self, guint lender)
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
 * @lender: the task that waits: what [method@PrioSched.Runner.new_lender] has returned
 * @awaited: the task that it waits for, likewise
 *
 * Tells that a task waits for another: from now on it lends it its priority, until one of them has its result or is aborted, or
 * until [method@PrioSched.Runner.end_wait] is called.
 *
 * Call it on the thread that runs the main context; on others it does nothing.
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
 * @lender: the task that waits: what [method@PrioSched.Runner.new_lender] has returned
 * @id: the number of a continuation that is delayed or queued
 *
 * Tells that a task waits for its own continuation, as long as that is queued.
 *
 * Call it on the thread that runs the main context; on others it does nothing.
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
 * @lender: the task that has waited
 * @awaited: the task that it has waited for, which has no result yet
 *
 * Tells that a wait which [method@PrioSched.Runner.begin_wait] has begun is over, before the other has its result.
 *
 * Call it on the thread that runs the main context; on others it does nothing.
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
