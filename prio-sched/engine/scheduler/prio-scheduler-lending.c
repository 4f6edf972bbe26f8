/* prio-scheduler-lending.c: whether tasks that wait lend their priority
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-lending-private.h"

GParamSpec *
prio_scheduler_make_lends_priority (void)
{
  /**
   * PrioScheduler:lends-priority: (getter get_lends_priority) (setter set_lends_priority)
   *
   * Whether a task that waits for another lends it its priority.
   *
   * Since: 1.0
   */
  return g_param_spec_boolean ("lends-priority", NULL, NULL, FALSE,
                               G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
}

/* Does what was asked for last: the operations of several threads come here in any order. */
static void
op_set_lends (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  PrioRunQueue *run_queue = op->target;

  prio_lending_set (run_queue, __atomic_load_n (&run_queue->wants_lending, __ATOMIC_SEQ_CST));
}

/**
 * prio_scheduler_set_lends_priority: (set-property lends-priority)
 * @self: a scheduler
 * @lends_priority: whether tasks lend
 *
 * Sets whether a task of the scheduler, or of a group of it, that waits for another lends it its priority.
 *
 * If an urgent task waits for a less urgent one, it waits for everything in between, too: a
 * priority inversion, on which the draft is silent (WICG/scheduling-apis #98).  With this, what it waits
 * for runs with the highest priority of all who wait for it, until it has its result.  It keeps its age, so
 * that it is found in order among the tasks of the lent priority.
 *
 * A task waits for another if it calls [method@PrioSched.Task.wait_async], in its own function, in a callback of what it has waited for, or in a
 * continuation; it waits for its own continuations as well.  What it is lent it lends on to what it waits for.  Code
 * that runs in a task that has no result lends the priority of that task.
 *
 * In Python, `await task` is such a wait, and so are `asyncio.gather ()` and others that are called in a task, if the schedulers
 * of both tasks lend; it ends with the `await`, at the latest with the coroutine.  Of promises in JavaScript nobody can tell who
 * awaits them: there only tasks of C lend.
 *
 * The wait ends when the other has its result, or when the task that waits is aborted.  A change of the priority
 * of either counts at once.  A wait for a [class@PrioSched.TaskGroup] lends nothing, nor does one for a place in it.  [method@PrioSched.Task.get_priority] and the scheduling state are those of
 * the task itself, and what it posts is not lent anything before it waits for that.
 *
 * Off, which is the default, order is as in the draft.  What tasks of other main contexts wait for is not lent
 * anything, nor is what a thread runs.
 *
 * ```c
 * prio_scheduler_set_lends_priority (scheduler, TRUE);
 * ```
 *
 * A change counts for waits that begin after it.  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_scheduler_set_lends_priority (PrioScheduler *self, gboolean lends_priority)
{
  gint lends = lends_priority != FALSE;

  g_return_if_fail (PRIO_IS_SCHEDULER (self));

  if (__atomic_exchange_n (&self->run_queue->wants_lending, lends, __ATOMIC_SEQ_CST) != lends)
    prio_scheduler_submit_change (self, op_set_lends, "lends-priority");
}

/**
 * prio_scheduler_get_lends_priority: (get-property lends-priority)
 * @self: a scheduler
 *
 * Tells whether a task of the scheduler that waits for another lends it its priority.  Any
 * thread may call it.
 *
 * ```c
 * // Without lending, the program makes what the user waits for more urgent by itself.
 * if (!prio_scheduler_get_lends_priority (scheduler))
 *   prio_task_controller_set_priority (index_controller, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL);
 * ```
 *
 * Returns: whether tasks lend
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_get_lends_priority (PrioScheduler *self)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), FALSE);

  return __atomic_load_n (&self->run_queue->wants_lending, __ATOMIC_SEQ_CST);
}
