/* prio-scheduler-sleep.c: waits for a time, under a signal and a priority
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

static const PrioTaskOrigin sleep_origin = { .tag = prio_scheduler_sleep_async, .is_constant = TRUE };

/**
 * prio_scheduler_sleep_async:
 * @self: a scheduler
 * @delay: how long to wait, in milliseconds; 0 is a yield
 * @options: (nullable): how to continue, or %NULL for the signal and the priority of what is
 *   running
 * @callback: (not nullable) (scope async) (closure user_data): the continuation
 * @user_data: data for @callback
 *
 * Waits, and then goes on as a continuation: a [method@PrioSched.Scheduler.yield_async] that is
 * queued when @delay is over.
 *
 * The continuation inherits the signal and the priority of the running task, as that of a yield
 * does, or has what @options say.  An abort of its signal ends the wait at once:
 * [method@PrioSched.Scheduler.sleep_finish] fails with its reason.  A change of the signal's
 * priority counts until the continuation runs.
 *
 * ```c
 * static void
 * try_again (GObject *scheduler, GAsyncResult *result, gpointer connection)
 * {
 *   g_autoptr (GError) error = NULL;
 *
 *   if (prio_scheduler_sleep_finish (PRIO_SCHEDULER (scheduler), result, &error))
 *     my_connection_open (connection);
 * }
 *
 * prio_scheduler_sleep_async (scheduler, 500, &PRIO_YIELD_OPTIONS (.signal = signal), try_again, connection);
 * ```
 *
 * The largest delays never end, but by an abort.  If the main context goes before the delay is over,
 * @callback is not called, as with a yield.  While the scheduler is paused the delay
 * passes, and the continuation waits.
 *
 * With a wrong argument it logs a critical message, and does not call @callback.
 *
 * Any thread may call it; @callback is called on the thread that runs the
 * scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_scheduler_sleep_async (PrioScheduler *self, guint64 delay, const PrioYieldOptions *options,
                            GAsyncReadyCallback callback, gpointer user_data)
{
  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_yield_options (G_STRFUNC, options));
  prio_return_if_wrong (prio_check_callable (G_STRFUNC, "callback", callback != NULL,
                                             options != NULL ? options->name : NULL));

  prio_run_queue_continue (self->run_queue, options != NULL ? options : &prio_no_yield_options, &sleep_origin, prio_due_after (delay),
                           callback, user_data, NULL, NULL);
}

/**
 * prio_scheduler_sleep_finish:
 * @self: what the callback was given: the scheduler, or %NULL if it is gone
 * @result: what the callback was given
 * @error: return location for a `GError`
 *
 * Ends a [method@PrioSched.Scheduler.sleep_async].
 *
 * Fails with the reason of the abort if the continuation's signal is aborted.
 *
 * Call it in the callback, on its thread.
 *
 * Returns: %TRUE if the delay is over, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_sleep_finish (PrioScheduler *self, GAsyncResult *result, GError **error)
{
  prio_return_val_if_wrong (self == NULL || prio_check_scheduler (G_STRFUNC, self), FALSE);
  g_return_val_if_fail (PRIO_IS_TASK (result), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!g_async_result_is_tagged (result, prio_scheduler_sleep_async))
    {
      g_critical ("%s: what the callback was given is the result of no prio_scheduler_sleep_async()", G_STRFUNC);
      return FALSE;
    }
  return prio_task_propagate_value_for (PRIO_TASK (result), &(GValue) G_VALUE_INIT, error, G_STRFUNC);
}
