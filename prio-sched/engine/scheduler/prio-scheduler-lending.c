/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-lending.c: the property lends-priority of schedulers */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-lending-private.h"

GParamSpec *
prio_scheduler_make_lends_priority (void)
{
  /**
   * PrioScheduler:lends-priority: (getter get_lends_priority) (setter set_lends_priority)
   *
   * Whether a waiting task lends its priority to the task that it waits for, which then runs at that priority.
   *
   * Since: 1.0
   */
  return g_param_spec_boolean ("lends-priority", NULL, NULL, FALSE,
                               G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
}

/* Applies the property's latest value, because operations of several threads are applied in any order. */
static void
op_set_lends (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  PrioRunQueue *run_queue = op->target;

  prio_lending_set (run_queue, __atomic_load_n (&run_queue->wants_lending, __ATOMIC_SEQ_CST));
}

/**
 * prio_scheduler_set_lends_priority: (set-property lends-priority)
 * @self: a scheduler
 * @lends_priority: whether waiting tasks lend their priority
 *
 * Sets whether a waiting task of the scheduler, or of its groups, lends its priority to the task that it waits for.
 *
 * If an urgent task waits for a less urgent task, it also waits for all tasks in between: a priority inversion, which
 * the WICG draft allows (WICG/scheduling-apis #98).  With this property, the awaited task runs with the highest
 * priority of all tasks that wait for it, until it has its result.  Among the tasks of that priority it keeps its age.
 *
 * A task waits for another if it calls [method@PrioSched.Task.wait_async], in its function, in a callback of a wait, or
 * in a continuation; it also waits for its own continuations.  A waiting task also lends a priority that it has
 * borrowed.  A task of [method@PrioSched.Scheduler.post], for which nothing can wait, can lend its priority too.
 *
 * In Python, `await task` in a task is such a wait, and so are `asyncio.gather ()` and similar functions, if the
 * schedulers of both tasks lend.  The wait ends with the `await`, at the latest with the coroutine.  In JavaScript the
 * library cannot find out which task awaits a promise, so only tasks in C lend.
 *
 * The wait ends when the awaited task has its result, or when the waiting task is aborted.  A change of the priority of
 * either task counts at once.  Waiting for a [class@PrioSched.TaskGroup], or because of its limit, lends nothing.
 * [method@PrioSched.Task.get_priority] and the scheduling state do not change, and a task lends nothing to tasks that
 * it has posted until it waits for them.
 *
 * While the property is off, which is the default, the order is as in the WICG draft.  Tasks of other main contexts lend
 * nothing, and functions in threads borrow nothing.
 *
 * ```c
 * prio_scheduler_set_lends_priority (scheduler, TRUE);
 * ```
 *
 * A change applies to waits that begin later.  Any thread may call this function.
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
 * Returns whether a waiting task of the scheduler lends its priority to the task that it waits for.  Any thread may
 * call this function.
 *
 * ```c
 * // Without lending, the program makes the awaited work more urgent by itself.
 * if (!prio_scheduler_get_lends_priority (scheduler))
 *   prio_task_controller_set_priority (index_controller, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL);
 * ```
 *
 * Returns: whether waiting tasks lend their priority
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_get_lends_priority (PrioScheduler *self)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (self), FALSE);

  return __atomic_load_n (&self->run_queue->wants_lending, __ATOMIC_SEQ_CST);
}
