/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-wait.c: waits for a task, with an `_async` and a `_finish` function */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"
#include "task/prio-task-impl-private.h"

/**
 * prio_task_wait_async:
 * @self: a task
 * @cancellable: (nullable): a cancellable that ends the wait, but not the task, or %NULL
 * @callback: (nullable) (scope async) (closure user_data): called when the task has completed, or the wait is cancelled
 * @user_data: data for @callback
 *
 * Waits for the task.
 *
 * ```c
 * static void
 * counted (GObject *source, GAsyncResult *result, gpointer label)
 * {
 *   g_autoptr (GError) error = NULL;
 *   gssize n = prio_task_propagate_int (PRIO_TASK (result), &error);
 *   g_autofree char *text = g_strdup_printf ("%" G_GSSIZE_FORMAT " words", n);
 *
 *   gtk_label_set_text (label, error != NULL ? error->message : text);
 * }
 *
 * g_autoptr (PrioTask) task = prio_scheduler_post_task (scheduler, NULL, count_words, text, g_free);
 *
 * prio_task_wait_async (task, NULL, counted, label);
 * ```
 *
 * The callback's result is the task.  So your own `_async` function can end with this call, and its `_finish` function
 * calls [func@PrioSched.Task.is_valid] and one of the `prio_task_propagate_…` functions: see
 * [method@PrioSched.Scheduler.post_task].  The source object of the result is the source object of the task's options
 * or, if they have none, the task.  The callback gets this object, not the task, as its first argument.  All waits
 * for a task have the same result, so [method@Gio.AsyncResult.get_user_data] returns the data of the first wait.
 *
 * Any number of callers may wait for one task, and each callback is called once, in the order of the calls.  If the
 * task has completed already, @callback is called soon, but never within this call.
 *
 * If @cancellable is cancelled first, @callback is called soon, too, but its result is a different task, whose error is
 * %G_IO_ERROR_CANCELLED or the reason of the abort: your `_finish` function fails with that error.  The awaited task
 * continues, and keeps a priority lent to it.  If it completes in the same iteration, either result is possible.
 *
 * @callback runs in a microtask: after the function that completes the task, and before the next task.  Its yields and
 * microtasks inherit the signal and the priority of the task that has made this call.  The waiting task may lend its
 * priority to the awaited task ([property@PrioSched.Scheduler:lends-priority]).
 *
 * If the main context is destroyed first, @callback is not called.  Any thread may call this function; @callback is
 * called on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_task_wait_async (PrioTask *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  PrioReaction reaction = { .callback = callback, .data = user_data };

  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  if (cancellable != NULL && callback != NULL)
    {
      reaction.wait = prio_task_make (self->entry.run_queue, PRIO_ENTRY_IS_NEW, cancellable, PRIO_TASK_PRIORITY_UNSET);
      prio_task_submit_hidden (reaction.wait, PRIO_TASK_PRIORITY_UNSET, PRIO_NEVER, NULL, NULL, NULL);
    }
  prio_task_add_reaction (self, NULL, &reaction);
}

/**
 * prio_task_wait_finish:
 * @self: the task that was waited for
 * @result: the result that the callback was called with
 * @error: return location for a `GError`
 *
 * Finishes a wait, and returns whether the task was fulfilled.
 *
 * The task keeps its result, which the `prio_task_propagate_…` functions get.
 *
 * ```c
 * static void
 * saved (GObject *task, GAsyncResult *result, gpointer window)
 * {
 *   g_autoptr (GError) error = NULL;
 *
 *   if (prio_task_wait_finish (PRIO_TASK (task), result, &error))
 *     gtk_window_close (window);
 *   else if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
 *     show_error (window, error);
 * }
 * ```
 *
 * The call fails with the task's error, the reason of the task's abort or, if the wait was cancelled, the reason of that
 * cancellation.  Any thread may call this function, usually in the callback.
 *
 * Returns: %TRUE if the task was fulfilled, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_task_wait_finish (PrioTask *self, GAsyncResult *result, GError **error)
{
  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), FALSE);
  g_return_val_if_fail ((gpointer) result == self || (PRIO_IS_TASK (result) && PRIO_TASK (result)->awaited == self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return prio_task_succeeds (PRIO_TASK (result), error, G_STRFUNC);
}
