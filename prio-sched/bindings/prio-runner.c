/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-runner.c: runs tasks that are identified by numbers */

#include "config.h"

#include "prio-runner.h"

#include "prio-numbers.h"

G_DEFINE_BOXED_TYPE (PrioRunner, prio_runner, prio_runner_ref, prio_runner_unref)

/**
 * prio_runner_new:
 * @scheduler: a scheduler
 * @func: (scope notified) (closure user_data) (destroy notify): runs the tasks
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed: when @scheduler was finalized and the last task has
 *   run, or when the main context is destroyed or its worker has stopped
 *
 * Creates a runner for tasks of @scheduler.
 *
 * A scheduler may have any number of runners.  Any thread may call this function; @func is called on the thread that
 * runs the scheduler's main context.
 *
 * Returns: (transfer full): a new runner
 *
 * Since: 1.0
 */
PrioRunner *
prio_runner_new (PrioScheduler *scheduler, PrioRunnerFunc func, gpointer user_data, GDestroyNotify notify)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (func != NULL, NULL);

  return prio_numbers_new (prio_scheduler_get_run_queue (scheduler), G_OBJECT (scheduler), func, user_data, notify);
}

/**
 * prio_runner_ref: (skip)
 * @self: a runner
 *
 * Adds a reference.  Any thread may call this function.
 *
 * Returns: (transfer full): @self
 *
 * Since: 1.0
 */
PrioRunner *
prio_runner_ref (PrioRunner *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_int_inc (&self->refs);
  return self;
}

/**
 * prio_runner_unref: (skip)
 * @self: (transfer full): a runner
 *
 * Drops a reference.  Tasks that have been posted still run.  Any thread may call this function.
 *
 * Since: 1.0
 */
void
prio_runner_unref (PrioRunner *self)
{
  g_return_if_fail (self != NULL);

  prio_numbers_unref (self);
}

/**
 * prio_runner_take_rejected:
 * @self: a runner
 * @n_rejected: (out): the number of rejected tasks
 *
 * Returns the numbers of the tasks that were rejected since the last call, in order.  The tasks will not run, because
 * they were cancelled, their signal was aborted, or the main context was destroyed.
 *
 * After a task has been rejected, the runner's function is called with 0, in a microtask; code that aborts a signal may
 * call this function at once instead.  On threads that do not run the main context, the result is %NULL, unless the
 * context has been destroyed.
 *
 * Returns: (transfer full) (array length=n_rejected) (nullable): the numbers
 *
 * Since: 1.0
 */
guint *
prio_runner_take_rejected (PrioRunner *self, gsize *n_rejected)
{
  guint *rejected = NULL;
  gboolean locked;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (n_rejected != NULL, NULL);

  *n_rejected = 0;
  if (prio_loop_enter_or_lock (self->loop, &locked))
    {
      rejected = g_array_steal (self->rejected, n_rejected);
      prio_loop_leave_or_unlock (self->loop, locked);
    }
  return rejected;
}

/**
 * prio_runner_is_owner:
 * @self: a runner
 *
 * Returns whether the calling thread owns the main context: this thread was the last to run the context or, if no
 * thread has run it, created its first scheduler.
 *
 * A language binding can raise an exception if this returns %FALSE, before a function of the owner thread would log a
 * critical message.  Any thread may call this function.
 *
 * Returns: whether the thread owns the main context; %FALSE if the context has been destroyed
 *
 * Since: 1.0
 */
gboolean
prio_runner_is_owner (PrioRunner *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return prio_observed_is_here (self->loop);
}

/**
 * prio_runner_set_name_func:
 * @self: a runner
 * @func: (scope notified) (closure user_data) (destroy notify): returns a task's name
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed: with the notify of [ctor@PrioSched.Runner.new]
 *
 * Sets a function that returns the names of tasks, for [callback@PrioSched.LongTaskFunc], traces and other tools.
 *
 * @func is called only while names are needed, on the thread that runs the main context: with the number of a task that
 * is about to begin, is posted during a trace, or is named in a warning of the library.  It is not called at the
 * beginning of a task that has a name already, unless the task is a continuation.
 *
 * Call this function once, on the thread that runs the main context, before the first task is posted.
 *
 * ```c
 * static char *
 * get_name (guint id, gpointer user_data)
 * {
 *   return g_strdup (find_job (user_data, id)->name);
 * }
 *
 * prio_runner_set_name_func (runner, get_name, jobs, NULL);
 * ```
 *
 * Since: 1.0
 */
void
prio_runner_set_name_func (PrioRunner *self, PrioRunnerNameFunc func, gpointer user_data, GDestroyNotify notify)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (func != NULL);
  g_return_if_fail (self->name_func == NULL);

  if (self->run_queue == NULL)
    {
      /* The runner is closed, so no task will run. */
      prio_release_now (notify, user_data);
      return;
    }
  self->name_func = func;
  self->name_data = user_data;
  self->name_notify = notify;
}

/**
 * prio_runner_end:
 *
 * Tells the library that the function of the running task has returned, and calls queued microtasks.  After that, the
 * task's signal can no longer abort it (§2.4.2 of the WICG draft), and no task is running.
 *
 * The function of a runner calls this, on its thread, if the binding needs to know about an abort before it settles the
 * result; otherwise [func@PrioSched.Runner.next] does the same.
 *
 * Returns: whether the task was aborted while it ran
 *
 * Since: 1.0
 */
gboolean
prio_runner_end (void)
{
  return prio_numbers_end ();
}

/**
 * prio_runner_next:
 *
 * Ends the running task, and begins the next task of the main context if it is a task of the same runner and in no
 * group.  The function of a runner calls this, on its thread, and must return if the result is 0.
 *
 * Returns: the number of the task that is running now, or 0 if there is none, or if the time slice is over
 *
 * Since: 1.0
 */
guint
prio_runner_next (void)
{
  return prio_numbers_next ();
}

/**
 * prio_scheduler_run_in_thread_full:
 * @self: a scheduler
 * @worker: (nullable): the worker whose thread runs @func, or %NULL for a thread of the pool
 * @priority: the priority, or %PRIO_TASK_PRIORITY_UNSET for the priority of @signal or, without one, `user-visible`
 * @signal: (nullable): a signal that may abort the task
 * @name: (nullable): the task's name in messages and tools for developers; it is copied
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Runs a function in another thread: [method@PrioSched.Scheduler.run_in_thread], or [method@PrioSched.Worker.run], for
 * a language that cannot free the values that it has put into a structure of options.  Any thread may call this
 * function; @notify is called on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full) (nullable): the task, or %NULL with a wrong argument
 *
 * Since: 1.0
 */
PrioTask *
prio_scheduler_run_in_thread_full (PrioScheduler *self, PrioWorker *worker, gint priority, GCancellable *signal,
                                    const char *name, PrioTaskFunc func, gpointer user_data, GDestroyNotify notify)
{
  PrioTaskOptions options = { .priority = (PrioTaskPriority) priority, .cancellable = signal, .name = name };

  if (worker != NULL)
    return prio_worker_run (worker, self, &options, func, user_data, notify);
  return prio_scheduler_run_in_thread (self, &options, func, user_data, notify);
}
