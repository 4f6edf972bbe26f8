/* prio-thread-under.c: functions in threads, without a structure of options
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-thread-under.h"

/**
 * prio_scheduler_run_in_thread_under:
 * @self: a scheduler
 * @worker: (nullable): whose thread runs @func, or %NULL for one of the pool
 * @priority: the priority, or 0, which is %PRIO_PRIORITY_UNSET, for that of @signal
 * @signal: (nullable): what may abort the task
 * @name: (nullable): the task's name in messages and tools for developers; it is copied
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Runs a function in another thread: [method@PrioSched.Scheduler.run_in_thread], or
 * [method@PrioSched.Scheduler.run_in_worker], for a language that cannot let go of what it has put into a structure of options.
 *
 * Any thread may call it; @notify is called on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full) (nullable): the task, or %NULL with a wrong argument
 *
 * Since: 1.0
 */
PrioTask *
prio_scheduler_run_in_thread_under (PrioScheduler *self, PrioWorker *worker, gint priority, GCancellable *signal,
                                    const char *name, PrioTaskFunc func, gpointer user_data, GDestroyNotify notify)
{
  PrioTaskOptions options = { .priority = (PrioTaskPriority) priority, .signal = signal, .name = name };

  if (worker != NULL)
    return prio_scheduler_run_in_worker (self, worker, &options, func, user_data, notify);
  return prio_scheduler_run_in_thread (self, &options, func, user_data, notify);
}
