/* prio-scheduler-yield.c: going on later, and before the next task
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-scheduler-private.h"

#include "prio-bond-private.h"
#include "prio-current-private.h"
#include "prio-dependence-private.h"
#include "prio-task-impl-private.h"
#include "prio-util-private.h"

/* What a continuation is bound to: what it inherits is taken from the running
 * task's state, and only the rest from what is given. */
typedef struct
{
  GCancellable *signal; /* given, or inherited and held by the running task's state */
  gint priority;
  PrioBond *abort;   /* inherited */
  PrioBond *follows; /* inherited */
} PrioInheritance;

/* The older draft's rules for the options of yield() (seed 003), and the current
 * draft's where none are given (§2.4.2, steps 2 to 6). */
static PrioInheritance
inherit (const PrioState *state, PrioYieldFlags flags, GCancellable *signal, gint priority)
{
  PrioBond *bond = state != NULL ? prio_bond_of (state->group) : NULL;
  PrioInheritance from = { .priority = priority };

  /* Who inherits the signal inherits its priority, unless told otherwise. */
  if ((flags & PRIO_YIELD_INHERIT_SIGNAL) != 0 && priority == PRIO_PRIORITY_UNSET)
    flags |= PRIO_YIELD_INHERIT_PRIORITY;

  /* A plain cancellable may have been reset, and is not what the bond knows any more. */
  if ((flags & PRIO_YIELD_INHERIT_SIGNAL) == 0)
    from.signal = signal;
  else if (bond != NULL && prio_bond_is_for_life (bond))
    from.abort = bond;
  else if (bond != NULL)
    from.signal = bond->signal;

  if ((flags & PRIO_YIELD_INHERIT_PRIORITY) != 0)
    {
      from.priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
      if (state != NULL && state->priority != PRIO_PRIORITY_UNSET)
        from.priority = state->priority;
      else if (state != NULL)
        from.follows = bond;
    }

  return from;
}

/* The bonds that @from names are its own, and become the task's. */
static void
heir_came (PrioLoop *loop, const PrioOp *op)
{
  PrioTask *task = op->target;
  PrioEntry *entry = prio_task_get_entry (task);
  g_autofree PrioInheritance *from = op->data;
  GCancellable *signal = op->signal;
  gboolean refused = FALSE;

  if (signal != NULL)
    from->abort = prio_bond_acquire (entry->core, prio_hub_for (signal), &signal, &refused);
  else if (from->abort != NULL)
    refused = prio_hub_is_aborted (from->abort->hub);
  if (signal != NULL)
    prio_loop_bury (loop, g_object_unref, signal);

  if (refused)
    {
      g_clear_pointer (&from->abort, prio_bond_release);
      g_clear_pointer (&from->follows, prio_bond_release);
      prio_task_abort (task);
      return;
    }

  entry->priority = (guint8) from->priority;
  entry->abort = prio_bond_group (from->abort);
  entry->follows = prio_bond_group (from->follows);
  prio_core_admit (entry, 0);
}

/* Inherits from what runs on this thread, if that is a task of @self, and takes
 * hold of it. */
static PrioInheritance
inherit_from_current (PrioScheduler *self, PrioYieldFlags flags, GCancellable *signal, gint priority)
{
  PrioLoop *loop = self->core->loop;
  PrioInheritance from;

  if (!prio_loop_enter (loop))
    return inherit (NULL, flags, signal, priority);

  from = inherit (prio_state_current (self->core), flags, signal, priority);
  if (from.abort != NULL)
    prio_bond_hold (from.abort);
  if (from.follows != NULL)
    prio_bond_hold (from.follows);
  prio_loop_leave (loop);

  return from;
}

static void
submit_heir (PrioScheduler *self, PrioTask *task, const PrioInheritance *from)
{
  PrioOp op = { .apply = heir_came, .target = task, .data = g_memdup2 (from, sizeof *from) };

  if (from->signal != NULL)
    {
      prio_hub_for (from->signal);
      op.signal = g_object_ref (from->signal);
    }
  prio_loop_submit (self->core->loop, &op);
}

/**
 * prio_scheduler_yield_async:
 * @self: a scheduler
 * @callback: (scope async) (closure user_data): called when it is this task's turn
 *   again
 * @user_data: data for @callback
 *
 * Lets more urgent work, and other sources of the main context, go first: the
 * draft's `yield()` (§2.2, §2.4.2).
 *
 * What follows, in @callback, goes before other tasks of the same priority.  It
 * inherits the signal and the priority of the running task, if that is of this
 * scheduler; outside any task its priority is
 * %PRIO_TASK_PRIORITY_USER_VISIBLE.  If the inherited signal is aborted,
 * [method@PrioSched.Scheduler.yield_finish] fails with its reason.
 *
 * Any thread may call it; @callback is called on the thread that runs the
 * scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_scheduler_yield_async (PrioScheduler *self, GAsyncReadyCallback callback, gpointer user_data)
{
  prio_scheduler_yield_full_async (self, PRIO_YIELD_INHERIT_SIGNAL | PRIO_YIELD_INHERIT_PRIORITY, NULL,
                                   PRIO_PRIORITY_UNSET, callback, user_data);
}

/**
 * prio_scheduler_yield_full_async:
 * @self: a scheduler
 * @flags: what is inherited from the running task
 * @signal: (nullable): what may abort the continuation, unless that is inherited
 * @priority: a [enum@PrioSched.TaskPriority], unless that is inherited, or
 *   %PRIO_PRIORITY_UNSET for that of the signal or, if it has none,
 *   %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @callback: (scope async) (closure user_data): called when it is this task's turn
 *   again
 * @user_data: data for @callback
 *
 * Lets more urgent work go first, and says by what signal and priority to go on:
 * the options that `yield()` had in an older draft.
 *
 * A priority that is given beats the signal's.
 *
 * Any thread may call it; @callback is called on the thread that runs the
 * scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_scheduler_yield_full_async (PrioScheduler *self, PrioYieldFlags flags, GCancellable *signal,
                                 gint priority, GAsyncReadyCallback callback, gpointer user_data)
{
  PrioTask *task;
  PrioInheritance from;

  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail ((flags & ~(PRIO_YIELD_INHERIT_SIGNAL | PRIO_YIELD_INHERIT_PRIORITY)) == 0);
  g_return_if_fail (PRIO_IS_SIGNAL_OR_NULL (signal));
  g_return_if_fail (PRIO_IS_PRIORITY_OR_UNSET (priority));
  g_return_if_fail (callback != NULL);

  from = inherit_from_current (self, flags, signal, priority);
  signal = from.abort != NULL ? from.abort->signal : from.signal;

  task = prio_task_new (self->core, PRIO_ENTRY_CONTINUATION, signal, from.priority);
  task->tag = prio_scheduler_yield_full_async;
  prio_task_then (task, callback, user_data, NULL);

  if (from.abort != NULL || from.follows != NULL)
    submit_heir (self, task, &from);
  else
    prio_scheduler_submit_task (self, task, from.signal, from.priority, 0);
}

/**
 * prio_scheduler_yield_finish:
 * @self: what the callback was given: the scheduler, or %NULL if that is gone
 * @result: what the callback was given
 * @error: return location for a `GError`
 *
 * Ends a yield.
 *
 * Fails with the reason of the abort if the continuation's signal is aborted.
 *
 * Returns: %TRUE if the task may go on, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_yield_finish (PrioScheduler *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (self == NULL || PRIO_IS_SCHEDULER (self), FALSE);
  g_return_val_if_fail (PRIO_IS_TASK (result), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, prio_scheduler_yield_full_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return prio_task_propagate_value (PRIO_TASK (result), &(GValue) G_VALUE_INIT, error);
}

/**
 * prio_scheduler_yield_full_finish:
 * @self: what the callback was given: the scheduler, or %NULL if that is gone
 * @result: what the callback was given
 * @error: return location for a `GError`
 *
 * Ends a [method@PrioSched.Scheduler.yield_full_async], as
 * [method@PrioSched.Scheduler.yield_finish] does.
 *
 * Returns: %TRUE if the task may go on, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_yield_full_finish (PrioScheduler *self, GAsyncResult *result, GError **error)
{
  return prio_scheduler_yield_finish (self, result, error);
}

static void
microtask_came (PrioLoop *loop, const PrioOp *op)
{
  PrioMicrotask microtask = { .func = (GSourceOnceFunc) (gpointer) op->func, .data = op->data,
                              .notify = op->notify };

  prio_loop_queue_microtask (loop, &microtask);
}

/**
 * prio_scheduler_queue_microtask:
 * @self: a scheduler
 * @func: (scope notified) (closure user_data) (destroy notify): what to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Has @func called before the next task of the main context: in the checkpoint
 * that follows the running task's function, before that task's result is settled
 * (§4.1.4 of the draft).
 *
 * It inherits the signal and the priority of what is running.  Outside any task it
 * is called in the next iteration of the main context.
 *
 * Any thread may call it; @func is called on the thread that runs the scheduler's
 * main context.
 *
 * Since: 1.0
 */
void
prio_scheduler_queue_microtask (PrioScheduler *self, GSourceOnceFunc func, gpointer user_data,
                                GDestroyNotify notify)
{
  PrioCore *core;

  g_return_if_fail (PRIO_IS_SCHEDULER (self));
  g_return_if_fail (func != NULL);

  core = self->core;
  if (prio_loop_enter (core->loop))
    {
      const PrioState *state = prio_state_capture (core);
      PrioMicrotask microtask = { .func = func, .data = user_data, .notify = notify };

      if (state != NULL)
        {
          microtask.state = *state;
          prio_state_hold (state);
        }
      prio_loop_queue_microtask (core->loop, &microtask);
      prio_loop_leave (core->loop);
    }
  else
    {
      PrioOp op = { .apply = microtask_came, .func = (GSourceFunc) (gpointer) func, .data = user_data,
                    .notify = notify };

      prio_loop_submit (core->loop, &op);
    }
}
