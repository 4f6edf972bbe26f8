/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-runner-post.c: posts and cancels tasks of a runner, their continuations, and idle callbacks */

#include "config.h"

#include "prio-runner.h"

#include "base/prio-check-private.h"
#include "prio-engine.h"

/**
 * prio_runner_post:
 * @self: a runner
 * @id: the number that identifies the task; not 0
 * @priority: a [enum@PrioSched.TaskPriority]
 *
 * Posts a task without a signal (§2.2, §2.4.2 of the WICG draft).  Only [method@PrioSched.Runner.cancel] or the end of
 * the main context can end the task before it runs.  Any thread may call this function.
 *
 * Returns: (type gint): a [enum@PrioSched.PostResult]: whether the task will run, and whether it was posted from a task
 *
 * Since: 1.0
 */
PrioPostResult
prio_runner_post (PrioRunner *self, guint id, gint priority)
{
  g_return_val_if_fail (self != NULL, PRIO_POST_RESULT_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POST_RESULT_REJECTED);
  prio_return_val_if_wrong (prio_check_priority (G_STRFUNC, priority), PRIO_POST_RESULT_REJECTED);

  return prio_numbers_post (self, id, (PrioTaskPriority) priority);
}

/**
 * prio_runner_post_full:
 * @self: a runner
 * @id: the number that identifies the task; not 0
 * @priority: a [enum@PrioSched.TaskPriority], or %PRIO_TASK_PRIORITY_UNSET for the priority of @signal or, if @signal
 *   has none, %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @signal: (nullable): a [class@PrioSched.TaskSignal], or any other cancellable, that may abort the task
 * @delay: milliseconds to wait before the task is queued
 * @timeout: milliseconds from now, or from the end of the delay, after which the task precedes all tasks whose timeout
 *   has not expired; 0 for none
 * @takes_turns: whether the task's continuations wait behind tasks of the same priority that are queued already
 *
 * Posts a task, with all options of `postTask()` (§2.2, §2.4.2 of the WICG draft), and with a timeout: see
 * [struct@PrioSched.TaskOptions].  Any thread may call this function.
 *
 * Returns: (type gint): a [enum@PrioSched.PostResult]: whether the task will run, and whether it was posted from a
 *   task; a task that is rejected here is not reported by [method@PrioSched.Runner.take_rejected]
 *
 * Since: 1.0
 */
PrioPostResult
prio_runner_post_full (PrioRunner *self, guint id, gint priority, GCancellable *signal, guint64 delay, gint timeout,
                       gboolean takes_turns)
{
  PrioTaskOptions options = { .priority = (PrioTaskPriority) priority, .cancellable = signal, .delay = delay,
                              .timeout = timeout, .takes_turns = takes_turns };

  g_return_val_if_fail (self != NULL, PRIO_POST_RESULT_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POST_RESULT_REJECTED);
  g_return_val_if_fail (PRIO_IS_PRIORITY_OR_UNSET (priority), PRIO_POST_RESULT_REJECTED);
  g_return_val_if_fail (signal == NULL || G_IS_CANCELLABLE (signal), PRIO_POST_RESULT_REJECTED);

  return prio_numbers_post_full (self, id, &options, NULL);
}

/**
 * prio_runner_yield:
 * @self: a runner
 * @id: the number that identifies the continuation; not 0
 *
 * Posts the continuation of the running task after a yield.  The continuation inherits that task's signal and priority
 * (§2.2, §2.4.2 of the WICG draft), its timeout, and whether it takes turns.  If no task of the scheduler is running,
 * the priority is %PRIO_TASK_PRIORITY_USER_VISIBLE, and there is no signal.  Any thread may call this function.
 *
 * Returns: (type gint): a [enum@PrioSched.PostResult]: whether the continuation will run, and whether it was posted
 *   from a task; a continuation that is rejected here is not reported by [method@PrioSched.Runner.take_rejected]
 *
 * Since: 1.0
 */
PrioPostResult
prio_runner_yield (PrioRunner *self, guint id)
{
  g_return_val_if_fail (self != NULL, PRIO_POST_RESULT_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POST_RESULT_REJECTED);

  return prio_numbers_yield (self, id);
}

/**
 * prio_runner_yield_full:
 * @self: a runner
 * @id: the number that identifies the continuation; not 0
 * @priority: a [enum@PrioSched.TaskPriority], or %PRIO_TASK_PRIORITY_UNSET for the priority of @signal or, if @signal
 *   has none, %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @signal: (nullable): a [class@PrioSched.TaskSignal], or any other cancellable, that may abort the continuation
 * @delay: milliseconds to wait before the continuation is queued
 * @expiry: when the timeout of the task passes, in microseconds of g_get_monotonic_time(); -1 if it has none
 * @takes_turns: whether the continuation waits behind tasks of the same priority that are queued already
 *
 * Posts the continuation of a task.  The continuation runs before new tasks of its priority, unless @takes_turns is
 * set, and inherits nothing.  Use this function when the binding knows the task and the library does not, such as
 * after an `await` of a promise.  Otherwise use [method@PrioSched.Runner.yield], which inherits signal and priority.
 * Any thread may call this function.
 *
 * Returns: (type gint): a [enum@PrioSched.PostResult], as [method@PrioSched.Runner.post_full] does
 *
 * Since: 1.0
 */
PrioPostResult
prio_runner_yield_full (PrioRunner *self, guint id, gint priority, GCancellable *signal, guint64 delay, gint64 expiry,
                        gboolean takes_turns)
{
  PrioTaskOptions options = { .priority = (PrioTaskPriority) priority, .cancellable = signal, .delay = delay,
                              .takes_turns = takes_turns };

  g_return_val_if_fail (self != NULL, PRIO_POST_RESULT_REJECTED);
  g_return_val_if_fail (id != 0, PRIO_POST_RESULT_REJECTED);
  g_return_val_if_fail (PRIO_IS_PRIORITY_OR_UNSET (priority), PRIO_POST_RESULT_REJECTED);
  g_return_val_if_fail (signal == NULL || G_IS_CANCELLABLE (signal), PRIO_POST_RESULT_REJECTED);

  return prio_numbers_post_full (self, id, &options, &expiry);
}

/**
 * prio_runner_cancel:
 * @self: a runner
 * @id: the number of a task
 *
 * Cancels one task that is delayed or queued, as [method@PrioSched.Task.cancel] does: the task leaves its queue at
 * once, and [method@PrioSched.Runner.take_rejected] reports its number.
 *
 * ```c
 * prio_runner_post_full (runner, id, PRIO_TASK_PRIORITY_BACKGROUND, NULL, 10000, 0, FALSE);
 * …
 * if (!prio_runner_cancel (runner, id))
 *   forget_when_it_runs (id);
 * ```
 *
 * A task without a signal, delay and timeout is found only if at most a thousand older tasks have its priority.  Call
 * this function on the thread that runs the main context; on others it does nothing.
 *
 * Returns: %TRUE if the task was cancelled; %FALSE if it runs, if its signal has been aborted, or if it is not found
 *
 * Since: 1.0
 */
gboolean
prio_runner_cancel (PrioRunner *self, guint id)
{
  gboolean cancelled;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (id != 0, FALSE);

  if (!prio_numbers_enter (self->loop))
    return FALSE;
  cancelled = prio_numbers_cancel (self, id);
  prio_numbers_leave (self->loop);
  if (cancelled)
    prio_loop_flush_releases (self->loop);
  return cancelled;
}

/**
 * prio_runner_request_idle_callback:
 * @self: a runner
 * @timeout: milliseconds after which the function is called in any case, or 0 for never
 *
 * Calls the runner's function once, with the returned number, when the main context has nothing else to do.  The call
 * is not for a task, so the function must not call [func@PrioSched.Runner.next].
 *
 * Otherwise this is like [method@PrioSched.Scheduler.request_idle_callback]; [func@PrioSched.IdleDeadline.dup_current]
 * returns the deadline.  The numbers may equal numbers of the runner's tasks, so a binding uses a separate runner for
 * idle callbacks.  Any thread may call this function.  If the runner is closed, because the scheduler was finalized and
 * its tasks have run, nothing is called.
 *
 * Returns: a number above 0, for [method@PrioSched.Scheduler.cancel_idle_callback]
 *
 * Since: 1.0
 */
guint
prio_runner_request_idle_callback (PrioRunner *self, guint timeout)
{
  g_return_val_if_fail (self != NULL, 0);

  return prio_numbers_request_idle (self, timeout);
}
