/* prio-scheduler-post.c: posts tasks
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "signal/prio-registration-private.h"
#include "signal/prio-dependence-private.h"
#include "loop/prio-id-queue-private.h"
#include "scheduler/prio-options-private.h"
#include "task/prio-task-impl-private.h"
#include "signal/prio-util-private.h"

static void
op_post_job (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_run_queue_append_job (op->target, prio_effective ((PrioTaskPriority) op->priority, FALSE), op->func,
                             op->data, op->notify);
}

/* Appends in the common case: owner thread, spare record, queue not empty.  It calls no function, which halves its
 * cost. */
static inline gboolean
append_quickly (PrioRunQueue *run_queue, PrioTaskPriority priority, GSourceFunc func, gpointer data,
                   GDestroyNotify notify)
{
  PrioLoop *loop = run_queue->loop;
  PrioQueue *queue = &run_queue->jobs[prio_effective (priority, FALSE)];
  PrioJob *job;

  if (G_UNLIKELY (!prio_biased_lock_enter_quickly (&loop->lock)))
    return FALSE;

  if (G_UNLIKELY (queue->tail == NULL || prio_mailbox_state (&loop->mailbox) != PRIO_MAILBOX_EMPTY ||
                  (job = prio_slab_alloc_quickly (&loop->jobs)) == NULL))
    {
      prio_loop_leave (loop);
      return FALSE;
    }

  prio_run_queue_fill_job (run_queue, job, func, data, notify);
  prio_queue_append (queue, job);
  prio_loop_leave (loop);
  return TRUE;
}

static G_GNUC_NO_INLINE void
post_job (PrioScheduler *self, PrioTaskPriority priority, GSourceFunc func, gpointer data,
          GDestroyNotify notify)
{
  static const char function[] G_GNUC_UNUSED = "prio_scheduler_post";
  PrioOp op = { .apply = op_post_job, .func = func, .data = data, .notify = notify,
                .priority = (gint8) priority };

  prio_return_if_wrong (prio_check_scheduler (function, self));
  prio_return_if_wrong (prio_check_priority (function, (gint) priority));
  prio_return_if_wrong (prio_check_callable (function, "func", func != NULL, NULL));

  op.target = self->run_queue;
  prio_loop_submit (self->run_queue->loop, &op);
}

/**
 * prio_scheduler_post:
 * @self: a scheduler
 * @priority: how urgent it is; neither %PRIO_PRIORITY_UNSET nor a priority of GLib's, such
 *   as %G_PRIORITY_DEFAULT, is valid
 * @func: (scope notified) (closure user_data) (destroy notify): what to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task without a result, like [func@GLib.idle_add_full].
 *
 * @func is called on the thread that runs the scheduler's main context.  If it
 * returns %G_SOURCE_CONTINUE it is called again, as a continuation: before other
 * tasks of its priority, after those of the next.
 *
 * This is the cheapest way to post work: a task takes 40 bytes, and no lock on the
 * thread that runs the main context.  Any thread may call it.
 *
 * With a wrong argument it logs a critical message, posts nothing, and does not call @notify.
 *
 * Since: 1.0
 */
void
prio_scheduler_post (PrioScheduler *self, PrioTaskPriority priority, GSourceFunc func,
                     gpointer user_data, GDestroyNotify notify)
{
  if (G_UNLIKELY (!prio_scheduler_check (self) || !PRIO_IS_PRIORITY (priority) || func == NULL ||
                  !append_quickly (self->run_queue, priority, func, user_data, notify)))
    post_job (self, priority, func, user_data, notify);
}

/* Sets the signal and the priority of a new entry. */
static void
bind (PrioEntry *entry, PrioRegistration *registration, PrioTaskPriority priority)
{
  entry->abort = prio_registration_group (registration);
  if (priority != PRIO_PRIORITY_UNSET)
    {
      entry->priority = (guint8) priority;
    }
  else if (registration != NULL && registration->node->is_task_signal)
    {
      entry->follows = &registration->group;
      prio_registration_hold (registration);
    }
  else
    {
      entry->priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
    }
}

/* Returns the registration for the signal of @op, or NULL if there is no signal, the signal is aborted, or the context
 * is destroyed.  Drops the operation's reference to the signal. */
static PrioRegistration *
registration_for_op (PrioLoop *loop, PrioRunQueue *run_queue, const PrioOp *op, gboolean *aborted)
{
  GCancellable *signal = op->signal;
  PrioRegistration *registration = NULL;

  *aborted = prio_loop_is_dead (loop);
  if (signal == NULL)
    return NULL;

  if (!*aborted)
    registration = prio_registration_acquire (run_queue, prio_signal_node_for (signal), &signal, aborted);
  if (signal != NULL)
    prio_loop_defer_release (loop, g_object_unref, signal);
  return registration;
}

/* Owner thread: adds a closure of the user, or a task id. */
static void
add_entry (PrioRunQueue *run_queue, const PrioOp *op, PrioRegistration *registration)
{
  PrioEntry *entry = op->id != 0 ? prio_id_queue_new_entry (op->data, op->id, op->flag)
                                 : prio_run_queue_new_entry (run_queue, op->func, op->data, op->notify);

  bind (entry, registration, (PrioTaskPriority) op->priority);
  prio_run_queue_add (entry, op->due);
}

static void
op_post_entry (PrioLoop *loop, const PrioOp *op)
{
  gboolean aborted;
  PrioRegistration *registration = registration_for_op (loop, op->target, op, &aborted);

  if (!aborted)
    add_entry (op->target, op, registration);
  else if (op->notify != NULL)
    prio_loop_defer_release (loop, op->notify, op->data);
}

/* The same for a task id; drops the operation's reference to its queue. */
static void
op_post_id (PrioLoop *loop, const PrioOp *op)
{
  PrioIdQueue *ids = op->data;
  gboolean aborted;
  PrioRegistration *registration;

  if (ids->run_queue != NULL)
    {
      registration = registration_for_op (loop, ids->run_queue, op, &aborted);
      if (aborted)
        ids->funcs->rejected (ids, op->id);
      else
        add_entry (ids->run_queue, op, registration);
    }
  else if (op->signal != NULL)
    {
      prio_loop_defer_release (loop, g_object_unref, op->signal);
    }
  prio_loop_defer_release (loop, ids->funcs->unref, ids);
}

/* The result of an attempt to post on the owner thread. */
typedef enum
{
  POSTED,
  REJECTED,          /* the signal is aborted, or the queue is closed */
  NOT_OWNER,         /* this is not the owner thread */
  NEEDS_REGISTRATION /* there is none yet; making one takes a reference to the signal */
} PostResult;

static PostResult
post_on_owner_thread (PrioLoop *loop, const PrioOp *op, PrioSignalNode *node, GCancellable **signal)
{
  PostResult result = POSTED;
  PrioRegistration *registration = NULL;
  PrioRunQueue *run_queue;
  gboolean aborted;

  if (!prio_loop_enter (loop))
    return NOT_OWNER;

  run_queue = op->id != 0 ? ((PrioIdQueue *) op->data)->run_queue : op->target;
  if (run_queue == NULL)
    {
      result = REJECTED;
    }
  else if (node != NULL)
    {
      registration = prio_registration_acquire (run_queue, node, signal, &aborted);
      if (registration == NULL)
        result = aborted ? REJECTED : NEEDS_REGISTRATION;
    }

  if (result == POSTED)
    add_entry (run_queue, op, registration);
  prio_loop_leave (loop);
  return result;
}

/* Any thread: posts what @op describes.  Returns FALSE if @signal is aborted, or the queue is closed. */
static gboolean
post_entry (PrioLoop *loop, PrioOp *op, GCancellable *signal)
{
  PrioSignalNode *node = signal != NULL ? prio_signal_node_for (signal) : NULL;
  g_autoptr (GCancellable) owned = NULL;
  PostResult result;

  if (node != NULL)
    prio_signal_node_undo_reset (node);
  /* A million tasks may share a signal.  They take one reference, with the first registration. */
  if (node != NULL && !prio_signal_node_has_registrations (node))
    owned = g_object_ref (signal);

  result = post_on_owner_thread (loop, op, node, &owned);
  if (result == NEEDS_REGISTRATION)
    {
      owned = g_object_ref (signal);
      result = post_on_owner_thread (loop, op, node, &owned);
    }
  if (result == NOT_OWNER &&
      ((node != NULL && prio_signal_node_is_aborted (node)) || (op->id != 0 && prio_loop_has_gone (loop))))
    result = REJECTED;

  if (result == NOT_OWNER)
    {
      op->signal = signal != NULL ? g_object_ref (signal) : NULL;
      /* A pending operation holds its queue.  This thread may have been the owner before, but need not be now. */
      if (op->id != 0)
        ((PrioIdQueue *) op->data)->funcs->ref (op->data);
      prio_loop_submit (loop, op);
    }
  return result != REJECTED;
}

/* Posts a closure without a signal.  Returns FALSE if this is not the owner thread. */
static gboolean
post_closure_on_owner_thread (PrioRunQueue *run_queue, PrioTaskPriority priority, gint64 due, GSourceFunc func,
                              gpointer data, GDestroyNotify notify)
{
  PrioEntry *entry;

  if (!prio_loop_enter (run_queue->loop))
    return FALSE;

  entry = prio_run_queue_new_entry (run_queue, func, data, notify);
  bind (entry, NULL, priority);
  prio_run_queue_add (entry, due);
  prio_loop_leave (run_queue->loop);
  return TRUE;
}

/* Any thread: posts a closure.  Returns FALSE if @signal is aborted. */
static gboolean
post_closure (PrioRunQueue *run_queue, PrioTaskPriority priority, GCancellable *signal, gint64 due, GSourceFunc func,
              gpointer data, GDestroyNotify notify)
{
  PrioOp op = { .apply = op_post_entry, .target = run_queue, .func = func, .data = data, .notify = notify,
                .priority = (gint8) priority, .due = due };

  return post_entry (run_queue->loop, &op, signal);
}

/* Posts a task id to @ids.  The caller has set the id, the priority and the flag in @op; this sets the rest. */
gboolean
prio_run_queue_post_id (PrioLoop *loop, PrioIdQueue *ids, PrioOp *op, GCancellable *signal, guint64 delay)
{
  op->apply = op_post_id;
  op->data = ids;
  op->due = prio_due_after (delay);

  return post_entry (loop, op, signal);
}

/**
 * prio_scheduler_post_full:
 * @self: a scheduler
 * @options: (nullable): what to post it with, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): what to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task without a result, with all options of `postTask()` (§2.2, §2.4.2 of the
 * draft).
 *
 * ```c
 * prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .signal = signal, .delay = 100 },
 *                           index_files, index, NULL);
 * ```
 *
 * If the signal is aborted before the task runs, @notify is called, and @func is not.
 * A source object, a tag and a name are ignored, as they belong to a result.
 *
 * With a wrong argument it logs a critical message, posts nothing, and does not call @notify.
 *
 * Any thread may call it; @func is called on the thread that runs the scheduler's
 * main context.
 *
 * Returns: %FALSE if the signal is aborted already; then nothing is posted, and
 *   @notify has been called
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_post_full (PrioScheduler *self, const PrioTaskOptions *options, GSourceFunc func, gpointer user_data,
                          GDestroyNotify notify)
{
  PrioTaskPriority priority;
  GCancellable *signal;
  gboolean posted;
  gint64 due;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), FALSE);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options), FALSE);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, NULL), FALSE);

  if (options == NULL)
    options = &prio_no_task_options;
  priority = options->priority;
  signal = options->signal;
  due = prio_due_after (options->delay);

  /* For who observes the loop. */
  if (G_UNLIKELY (options->name != NULL))
    prio_thread.posting_name = options->name;
  posted = (signal == NULL && post_closure_on_owner_thread (self->run_queue, priority, due, func, user_data, notify)) ||
           post_closure (self->run_queue, priority, signal, due, func, user_data, notify);
  if (G_UNLIKELY (options->name != NULL))
    prio_thread.posting_name = NULL;
  if (posted)
    return TRUE;

  if (notify != NULL)
    notify (user_data);
  return FALSE;
}

static void
op_post_task (PrioLoop *loop, const PrioOp *op)
{
  PrioTask *task = op->target;
  PrioEntry *entry = prio_task_get_entry (task);
  gboolean aborted;
  PrioRegistration *registration = registration_for_op (loop, entry->run_queue, op, &aborted);

  if (aborted)
    {
      prio_task_abort (task);
      return;
    }

  bind (entry, registration, (PrioTaskPriority) op->priority);
  prio_run_queue_add (entry, op->due);
}

/* Posts @task, and takes over the reference to it. */
void
prio_scheduler_submit_task (PrioScheduler *self, PrioTask *task, GCancellable *signal,
                            PrioTaskPriority priority, gint64 due)
{
  PrioOp op = { .apply = op_post_task, .target = task, .priority = (gint8) priority, .due = due };

  if (signal != NULL)
    {
      prio_signal_node_undo_reset (prio_signal_node_for (signal));
      op.signal = g_object_ref (signal);
    }
  prio_loop_submit (self->run_queue->loop, &op);
}

/* Posts a task from the loop's pool.
 *
 * Returns: (transfer full) (nullable): the task, or %NULL if the pool is empty or this is not the owner thread */
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
      task->func = func;
      task->entry.job.data = data;
      task->entry.job.notify = notify;
      prio_run_queue_hold (run_queue);
      bind (&task->entry, NULL, priority);
      prio_run_queue_add (&task->entry, due);
      /* Nobody else has the task, so this reference runs no user code under the lock. */
      g_object_ref (task);
    }
  prio_loop_leave (loop);

  return task;
}

/* A new task with all options, not posted yet. */
PrioTask *
prio_scheduler_make_task (PrioScheduler *self, const PrioTaskOptions *options)
{
  PrioTask *task = prio_task_new (self->run_queue, PRIO_ENTRY_TASK, options->signal, options->priority);

  if (options->name != NULL)
    prio_task_set_name (task, options->name);
  prio_task_set_source (task, options->source_object, options->source_tag);
  return task;
}

static PrioTask *
post_new_task (PrioScheduler *self, const PrioTaskOptions *options, PrioTaskFunc func, gpointer data,
               GDestroyNotify notify)
{
  PrioTask *task = prio_scheduler_make_task (self, options);

  prio_task_set_work (task, func, data, notify);
  prio_scheduler_submit_task (self, g_object_ref (task), options->signal, options->priority,
                              prio_due_after (options->delay));

  return task;
}

/**
 * prio_scheduler_post_task:
 * @self: a scheduler
 * @options: (nullable): what to post it with, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task that has a result: the draft's `postTask()` (§2.2, §2.4.2).
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
 *                                    &(PrioTaskOptions) { .signal = cancellable,
 *                                                         .source_object = G_OBJECT (self),
 *                                                         .source_tag = thing_load_async },
 *                                    load, g_object_ref (self), g_object_unref);
 *   prio_task_then (task, callback, user_data, NULL);
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
 * With a wrong argument it logs a critical message, posts nothing, and does not call @notify.
 *
 * Any thread may call it; @func is called on the thread that runs the scheduler's
 * main context.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_scheduler_post_task (PrioScheduler *self, const PrioTaskOptions *options, PrioTaskFunc func, gpointer user_data,
                          GDestroyNotify notify)
{
  PrioTask *task;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options), NULL);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL,
                                                 options != NULL ? options->name : NULL), NULL);

  if (options == NULL)
    options = &prio_no_task_options;

  if (options->signal == NULL && options->name == NULL && options->source_object == NULL && options->source_tag == NULL)
    {
      task = post_pooled_task (self->run_queue, func, user_data, notify, options->priority, prio_due_after (options->delay));
      if (task != NULL)
        return task;
    }
  return post_new_task (self, options, func, user_data, notify);
}

/**
 * prio_scheduler_post_task_async:
 * @self: a scheduler
 * @options: (nullable): what to post it with, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 * @callback: (nullable) (scope async) (closure callback_data): called when the task has
 *   completed
 * @callback_data: data for @callback
 *
 * Posts a task, and calls @callback with its result, in the manner of GIO: the same as
 * [method@PrioSched.Scheduler.post_task] followed by [method@PrioSched.Task.then].
 *
 * With a wrong argument it logs a critical message, posts nothing, and calls neither @notify
 * nor @callback.
 *
 * Any thread may call it; both functions are called on the thread that runs the
 * scheduler's main context.
 *
 * Since: 1.0
 */
void
prio_scheduler_post_task_async (PrioScheduler *self, const PrioTaskOptions *options, PrioTaskFunc func,
                                gpointer user_data, GDestroyNotify notify, GAsyncReadyCallback callback,
                                gpointer callback_data)
{
  g_autoptr (PrioTask) task = NULL;

  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_task_options (G_STRFUNC, options));
  prio_return_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, options != NULL ? options->name : NULL));

  task = prio_scheduler_post_task (self, options, func, user_data, notify);
  prio_task_then (task, callback, callback_data, NULL);
}

/**
 * prio_scheduler_post_task_finish:
 * @self: what the callback was given: the scheduler, or %NULL if it is gone
 * @result: what the callback was given
 * @value: (out caller-allocates) (optional): return location for the result, to be
 *   unset when no longer needed; not set if the task has none
 * @error: return location for a `GError`
 *
 * Gets the result of a task, of any type, as [method@PrioSched.Task.propagate_value] does.  If
 * @value is given, the ownership of a pointer passes to the caller.
 *
 * Fails with the error of the task, or the reason of its abort.  For the result of a yield it
 * logs a critical message and returns %FALSE.
 *
 * A task that was posted with a source object has that as what the callback was given: it is
 * finished by that object's own `_finish` function, with `prio_task_is_valid()` and one of
 * the `prio_task_propagate_…` functions.
 *
 * Any thread may call it; it is meant for the callback.
 *
 * Returns: %TRUE if the task was fulfilled, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_post_task_finish (PrioScheduler *self, GAsyncResult *result, GValue *value, GError **error)
{
  g_auto (GValue) unwanted = G_VALUE_INIT;
  PrioTask *task;

  prio_return_val_if_wrong (self == NULL || prio_check_scheduler (G_STRFUNC, self), FALSE);
  g_return_val_if_fail (PRIO_IS_TASK (result), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  task = PRIO_TASK (result);
  if (prio_task_get_entry (task)->continuation)
    {
      g_critical ("%s: what the callback was given is the result of a yield, which prio_scheduler_yield_finish() gets",
                  G_STRFUNC);
      return FALSE;
    }
  /* A pointer that the caller does not want stays with the task. */
  if (value == NULL && prio_task_get_state (task) == PRIO_TASK_STATE_FULFILLED)
    return TRUE;
  return prio_task_propagate_value_for (task, value != NULL ? value : &unwanted, error, G_STRFUNC);
}
