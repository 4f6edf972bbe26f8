/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-new.c: tasks that are in no queue */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "signal/prio-dependence-private.h"
#include "task/prio-task-impl-private.h"
#include "prio-engine.h"

/* Submits the new task @task, and hides it from observers.  If @due is PRIO_NEVER, the task is in no queue, and the
 * loop keeps the task alive until it has a result, is aborted, or its context is destroyed.  Then @notify is called. */
void
prio_task_submit_hidden (PrioTask *task, PrioTaskPriority priority, gint64 due, PrioTaskFunc func, gpointer data, GDestroyNotify notify)
{
  prio_task_set_work (task, func, data, notify);
  task->entry.use = PRIO_ENTRY_OF_LIBRARY;
  prio_scheduler_submit_task (g_object_ref (task), task->signal, NULL, priority, due);
}

PrioTask *
prio_scheduler_post_hidden (PrioScheduler *self, const PrioTaskOptions *options, gint64 due, PrioTaskFunc func, gpointer data,
                            GDestroyNotify notify)
{
  PrioTask *task = prio_run_queue_make_task (self->run_queue, options);

  prio_task_submit_hidden (task, options->priority, due, func, data, notify);
  return task;
}

void
prio_task_fulfil (PrioTask *task)
{
  prio_task_return (task, &(PrioResult) { .kind = PRIO_RESULT_NONE });
}

/**
 * prio_task_new:
 * @scheduler: the scheduler in whose main context callbacks are called
 * @options: (nullable): the options, or %NULL for the defaults; a delay or a timeout is refused
 *
 * Creates a task that is not posted, for your own asynchronous functions: the counterpart of [ctor@Gio.Task.new].
 *
 * The task has no function, and is in no queue.  It is %PRIO_TASK_STATE_RUNNING until the code that does the work gives
 * it a result with one of the `prio_task_return_…` functions, once, on any thread.  Then its callbacks are called: see
 * [method@PrioSched.Task.wait_async].
 *
 * ```c
 * static void
 * read_done (GObject *stream, GAsyncResult *result, gpointer user_data)
 * {
 *   g_autoptr (PrioTask) task = user_data;
 *   GError *error = NULL;
 *   gssize n = g_input_stream_read_finish (G_INPUT_STREAM (stream), result, &error);
 *
 *   if (error == NULL)
 *     prio_task_return_int (task, n);
 *   else
 *     prio_task_return_error (task, error);
 * }
 *
 * void
 * reader_fill_async (Reader *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
 * {
 *   PrioTaskOptions options = PRIO_TASK_OPTIONS (.cancellable = cancellable, .source_object = G_OBJECT (self),
 *                                                .source_tag = reader_fill_async);
 *   PrioTask *task = prio_task_new (self->scheduler, &options);
 *
 *   prio_task_wait_async (task, NULL, callback, user_data);
 *   g_input_stream_read_async (self->stream, self->buffer, SIZE, G_PRIORITY_DEFAULT, cancellable, read_done, task);
 * }
 *
 * gssize
 * reader_fill_finish (Reader *self, GAsyncResult *result, GError **error)
 * {
 *   g_return_val_if_fail (prio_task_is_valid (result, self, reader_fill_async), -1);
 *
 *   return prio_task_propagate_int (PRIO_TASK (result), error);
 * }
 * ```
 *
 * An abort of the signal, or [method@PrioSched.Task.cancel], ends the task at once: its state is
 * %PRIO_TASK_STATE_ABORTED, and its error is the reason.  A result that is returned later is released.  Set
 * [property@PrioSched.Task:return-on-abort] to %FALSE if the task should still wait for its operation.
 *
 * The library holds no reference to the task before it has its result: the code that will give the result holds one.
 * If the last reference is dropped first, on any thread, the library logs a warning that names the task, and the task
 * fails with %PRIO_ERROR_DROPPED.
 *
 * If the main context is destroyed first, callbacks are released and not called.  A result, or an abort, still ends the
 * task.  A task for a main context that is destroyed already, such as a stopped worker's, is aborted at once with
 * %PRIO_ERROR_CLOSED.  A wrong argument gives a critical message, and %NULL.  Any thread may call this function.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_task_new (PrioScheduler *scheduler, const PrioTaskOptions *options)
{
  PrioTask *task;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, scheduler), NULL);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options, TRUE), NULL);
  prio_return_val_if_wrong (prio_check_no_delay (G_STRFUNC, options), NULL);

  task = prio_run_queue_make_task (scheduler->run_queue, options != NULL ? options : &prio_no_task_options);
  /* The task begins in the state of a task whose function has returned and deferred its result. */
  task->entry.stored_state = PRIO_ENTRY_DONE;
  task->claim = PRIO_TASK_DEFERRED;
  task->state = PRIO_TASK_STATE_RUNNING;
  if (task->signal != NULL)
    prio_signal_node_undo_reset (prio_signal_node_for (task->signal));
  prio_task_apply_return_on_abort (task, TRUE);
  return task;
}
