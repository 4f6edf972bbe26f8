/* prio-runner-lend.c: tasks of bindings that wait for others lend them their priority
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"

#include "loop/prio-lending-private.h"
#include "signal/prio-dependence-private.h"
#include "signal/prio-registration-private.h"
#include "signal/prio-util-private.h"

/* Enters if this is the owner thread, and a scheduler of the context lends. */
static gboolean
enter_lending (PrioRunner *self)
{
  if (!prio_loop_enter (self->loop))
    return FALSE;
  if (prio_lending_is_used (self->loop))
    return TRUE;
  prio_loop_leave (self->loop);
  return FALSE;
}

/* A task that has begun.  Its priority is that of @signal if it has none of its own. */
static guint
keep_begun (PrioRunner *self, gint priority, GCancellable *signal)
{
  GCancellable *held = signal != NULL ? g_object_ref (signal) : NULL;
  PrioState state = { .run_queue = self->numbers.run_queue, .priority = (gint8) priority };
  PrioRegistration *registration = NULL;
  gboolean aborted = FALSE;
  guint lender = 0;

  if (signal != NULL)
    registration = prio_registration_acquire (self->numbers.run_queue, prio_signal_node_for (signal), &held, &aborted);
  if (!aborted)
    {
      state.group = prio_registration_group (registration);
      if (state.group == NULL && priority == PRIO_PRIORITY_UNSET)
        state.priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
      lender = prio_lending_keep_state (self->loop, &state);
    }
  g_clear_pointer (&registration, prio_registration_release);
  if (held != NULL)
    prio_loop_defer_release (self->loop, g_object_unref, held);
  return lender;
}

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
  PrioEntry *entry = NULL;
  guint lender = 0;

  g_return_val_if_fail (self != NULL, 0);
  g_return_val_if_fail (PRIO_IS_PRIORITY_OR_UNSET (priority), 0);
  g_return_val_if_fail (PRIO_IS_SIGNAL_OR_NULL (signal), 0);

  if (!enter_lending (self))
    return 0;

  /* Its scheduler has not gone. */
  if (id != 0 && self->numbers.run_queue != NULL)
    entry = prio_numbers_find (&self->numbers, id);
  if (entry != NULL)
    lender = prio_lending_keep (entry);
  else if (id == 0 && self->numbers.run_queue != NULL)
    lender = keep_begun (self, priority, signal);
  prio_loop_leave (self->loop);
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

  if (!enter_lending (self))
    return;
  prio_lending_drop (self->loop, lender);
  prio_loop_leave (self->loop);
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

  if (!enter_lending (self))
    return;
  prio_lending_begin_wait (self->loop, lender, awaited);
  prio_loop_leave (self->loop);
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
  PrioEntry *entry;

  g_return_if_fail (self != NULL);
  g_return_if_fail (lender != 0);

  if (!enter_lending (self))
    return;
  entry = self->numbers.run_queue != NULL ? prio_numbers_find (&self->numbers, id) : NULL;
  if (entry != NULL)
    prio_lending_begin_wait_for_entry (self->loop, lender, entry);
  prio_loop_leave (self->loop);
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

  if (!enter_lending (self))
    return;
  prio_lending_end_wait (self->loop, lender, awaited);
  prio_loop_leave (self->loop);
}
