/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-post-task.c: posts tasks that have a result */

#include "config.h"

#include "post/prio-scheduler-post-private.h"

#include "scheduler/prio-options-private.h"
#include "signal/prio-dependence-private.h"
#include "task/prio-task-impl-private.h"

typedef struct
{
  PrioOp op;            /* @op.target is the task */
  PrioSignalNode *node;     /* the signal's node, with a reference to the signal, or NULL */
  PrioSignalNode *followed; /* the node of a signal whose priority the task follows, but which does not abort the task,
                             * with a reference to the signal; or NULL */
  gint64 due;
  PrioTaskPriority priority;
} PostTaskOp;

static void
op_post_task (PrioLoop *loop, const PrioOp *op)
{
  const PostTaskOp *self = (const PostTaskOp *) op;
  PrioTask *task = op->target;
  PrioEntry *entry = prio_task_get_entry (task);
  GCancellable *signal = self->node != NULL ? self->node->signal : NULL;
  GCancellable *followed = self->followed != NULL ? self->followed->signal : NULL;
  PrioRegistration *registration = NULL, *follows = NULL;
  PrioTaskPriority priority = self->priority;
  gboolean aborted = prio_loop_is_dead (loop);

  if (self->node != NULL && !aborted)
    registration = prio_registration_acquire (entry->run_queue, self->node, &signal, &aborted);
  if (self->followed != NULL && !aborted)
    {
      gboolean is_aborted;

      /* An aborted signal gets no registration: the task then keeps the priority that the signal has now. */
      priority = prio_signal_node_get_priority (self->followed);
      follows = prio_registration_acquire (entry->run_queue, self->followed, &followed, &is_aborted);
    }
  if (signal != NULL)
    prio_loop_defer_release (loop, g_object_unref, signal);
  if (followed != NULL)
    prio_loop_defer_release (loop, g_object_unref, followed);
  if (aborted)
    {
      prio_task_refuse (task);
      return;
    }

  prio_entry_bind (entry, registration, priority);
  if (follows != NULL)
    entry->follows = prio_registration_group (follows);
  prio_run_queue_add (entry, self->due);
}

/* Posts @task, which @signal can abort, and takes over the caller's reference to @task.  If @followed is not NULL, the
 * task follows the priority of @followed, and @priority is ignored.  @due is when the delay is over, or 0. */
void
prio_scheduler_submit_task (PrioTask *task, GCancellable *signal, GCancellable *followed, PrioTaskPriority priority, gint64 due)
{
  PostTaskOp post = { { .apply = op_post_task, .target = task, .size = sizeof post }, NULL, NULL, due, priority };

  if (signal != NULL)
    {
      post.node = prio_signal_node_for (signal);
      prio_signal_node_undo_reset (post.node);
      g_object_ref (signal);
    }
  if (followed != NULL)
    {
      post.followed = prio_signal_node_for (followed);
      g_object_ref (followed);
    }
  prio_loop_submit (prio_task_get_entry (task)->run_queue->loop, &post.op);
}

/* Posts a task from the loop's pool, and returns it (transfer full) (nullable).  Returns NULL, and posts nothing, on
 * threads other than the owner, or if the pool is empty. */
static PrioTask *
post_pooled_task (PrioRunQueue *run_queue, PrioTaskFunc func, gpointer data, GDestroyNotify notify,
                  PrioTaskPriority priority, gint64 due)
{
  PrioLoop *loop = run_queue->loop;
  PrioTask *task;

  if (!prio_loop_enter (loop))
    return NULL;

  task = prio_task_pool_take (loop);
  if (task != NULL)
    {
      task->entry.run_queue = run_queue;
      task->priority = (gint8) priority;
      prio_task_set_func (task, func);
      task->entry.job.data = data;
      task->entry.job.notify = notify;
      prio_run_queue_hold (run_queue);
      prio_entry_bind (&task->entry, NULL, priority);
      prio_run_queue_add (&task->entry, due);
      /* No other code has the task yet, so taking a reference runs no user code while the loop is entered. */
      g_object_ref (task);
    }
  prio_loop_leave (loop);

  return task;
}

/* Returns a new task that has all @options except the delay and the timeout, and is not posted yet. */
PrioTask *
prio_run_queue_make_task (PrioRunQueue *run_queue, const PrioTaskOptions *options)
{
  PrioTask *task = prio_task_make (run_queue, options->takes_turns ? PRIO_ENTRY_TAKES_TURNS : PRIO_ENTRY_IS_NEW,
                                   PRIO_CANCELLABLE_OF (options), options->priority);

  if (options->name != NULL)
    prio_task_set_name (task, options->name);
  prio_task_set_source (task, options->source_object, options->source_tag);
  return task;
}

static PrioTask *
post_new_task (PrioRunQueue *run_queue, const PrioTaskOptions *options, PrioTaskFunc func, gpointer data,
               GDestroyNotify notify)
{
  PrioTask *task = prio_run_queue_make_task (run_queue, options);
  gint64 due = prio_due_after (options->delay);

  if (options->timeout != 0)
    prio_entry_set_expiry (prio_task_get_entry (task), prio_expiry_after (due, options->timeout));
  prio_task_set_work (task, func, data, notify);
  prio_scheduler_submit_task (g_object_ref (task), PRIO_CANCELLABLE_OF (options), NULL, options->priority, due);

  return task;
}

/**
 * prio_scheduler_post_task:
 * @self: a scheduler
 * @options: (nullable): the options, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed, which may be before or after the callbacks of waits
 *
 * Posts a task that has a result: the WICG draft's `postTask()` (§2.2, §2.4.2).
 *
 * If the signal is aborted already, the task is aborted too, and is never queued.
 *
 * Like a [class@Gio.Task], a task can be the result of your own `_async` function: set the
 * source object and the tag in @options.
 *
 * ```c
 * void
 * thing_load_async (Thing *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
 * {
 *   g_autoptr (PrioTask) task = NULL;
 *
 *   task = prio_scheduler_post_task (self->scheduler,
 *                                    &PRIO_TASK_OPTIONS (.cancellable = cancellable,
 *                                                        .source_object = G_OBJECT (self),
 *                                                        .source_tag = thing_load_async),
 *                                    load, g_object_ref (self), g_object_unref);
 *   prio_task_wait_async (task, NULL, callback, user_data);
 * }
 *
 * gboolean
 * thing_load_finish (Thing *self, GAsyncResult *result, GError **error)
 * {
 *   g_return_val_if_fail (prio_task_is_valid (result, self, thing_load_async), FALSE);
 *
 *   return prio_task_propagate_boolean (PRIO_TASK (result), error);
 * }
 * ```
 *
 * With a wrong argument, the call logs a critical message, posts nothing, does not call @notify, and returns %NULL.
 * Any thread may call this function; @func is called on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_scheduler_post_task (PrioScheduler *self, const PrioTaskOptions *options, PrioTaskFunc func, gpointer user_data,
                          GDestroyNotify notify)
{
  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options, func != NULL), NULL);

  return prio_run_queue_post_task (self->run_queue, options != NULL ? options : &prio_no_task_options, func, user_data, notify);
}

PrioTask *
prio_run_queue_post_task (PrioRunQueue *run_queue, const PrioTaskOptions *options, PrioTaskFunc func, gpointer data,
                          GDestroyNotify notify)
{
  PrioTask *task;

  if (PRIO_CANCELLABLE_OF (options) == NULL && options->name == NULL && options->source_object == NULL &&
      options->source_tag == NULL && options->timeout == 0 && !options->takes_turns)
    {
      task = post_pooled_task (run_queue, func, data, notify, options->priority, prio_due_after (options->delay));
      if (task != NULL)
        return task;
    }
  return post_new_task (run_queue, options, func, data, notify);
}
