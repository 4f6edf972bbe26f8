/* prio-scheduler-post.c: posts tasks
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "post/prio-scheduler-post-private.h"

#include "loop/prio-id-queue-private.h"
#include "loop/prio-lending-private.h"
#include "scheduler/prio-options-private.h"
#include "signal/prio-dependence-private.h"
#include "signal/prio-util-private.h"

static void
op_post_job (PrioLoop *loop, const PrioOp *op)
{
  PrioRunQueue *run_queue = op->target;
  PrioEffective effective = prio_effective ((PrioTaskPriority) op->priority, FALSE);

  prio_run_queue_append_job (run_queue, effective, op->func, op->data, op->notify);
}

/* Appends in the common case: owner thread, spare record, queue not empty.  In a batch it calls no function. */
static inline gboolean
append_quickly (PrioRunQueue *run_queue, PrioTaskPriority priority, GSourceFunc func, gpointer data,
                GDestroyNotify notify)
{
  PrioLoop *loop = run_queue->loop;
  PrioQueue *queue = &run_queue->jobs[prio_effective (priority, FALSE)];
  PrioJob *job;

  if (G_UNLIKELY (!prio_loop_enter_only (loop)))
    return FALSE;

  if (G_UNLIKELY (queue->tail == NULL || prio_loop_is_behind (loop) ||
                  (job = prio_loop_alloc_job_quickly (loop)) == NULL))
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
  prio_loop_submit_post (self->run_queue->loop, &op);
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
 * @func is called on the thread that runs the scheduler's main context.  If it returns %G_SOURCE_CONTINUE it is called
 * again, as a continuation: before other tasks of its priority, after those of the next.
 *
 * This is the cheapest way to post work: a task takes 40 bytes.  Any thread may call it.
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

/* Returns the registration for the signal of @op, or NULL if there is no signal, the signal is aborted, or the context
 * is destroyed.  Drops the operation's reference to the signal. */
PrioRegistration *
prio_registration_for_op (PrioLoop *loop, PrioRunQueue *run_queue, const PrioOp *op, gboolean *aborted)
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
void
prio_run_queue_add_op (PrioRunQueue *run_queue, const PrioOp *op, PrioRegistration *registration)
{
  gboolean is_plain = registration == NULL && op->due == 0 && op->expiry == PRIO_NO_EXPIRY && op->flag <= PRIO_ENTRY_GOES_ON;
  PrioEntry *entry;

  /* What may be lent a priority has an entry. */
  if (op->id != 0 && is_plain && !prio_lending_is_used (run_queue->loop))
    {
      prio_id_queue_append (op->data, op->id, prio_effective ((PrioTaskPriority) op->priority, op->flag & PRIO_ENTRY_GOES_ON));
      return;
    }

  entry = op->id != 0 ? prio_id_queue_new_entry (op->data, op->id)
                      : prio_run_queue_new_entry (run_queue, op->func, op->data, op->notify);
  entry->turn = op->flag;
  if (op->expiry != PRIO_NO_EXPIRY)
    prio_entry_set_expiry (entry, op->expiry);
  prio_entry_bind (entry, registration, (PrioTaskPriority) op->priority);
  prio_run_queue_add (entry, op->due);
}

static void
op_post_entry (PrioLoop *loop, const PrioOp *op)
{
  gboolean aborted;
  PrioRegistration *registration = prio_registration_for_op (loop, op->target, op, &aborted);

  if (!aborted)
    prio_run_queue_add_op (op->target, op, registration);
  else if (op->notify != NULL)
    prio_loop_defer_release (loop, op->notify, op->data);
}

/* Posts a task id, and drops the operation's reference to its queue. */
static void
op_post_id (PrioLoop *loop, const PrioOp *op)
{
  PrioIdQueue *ids = op->data;
  gboolean aborted;
  PrioRegistration *registration;

  if (ids->run_queue != NULL)
    {
      registration = prio_registration_for_op (loop, ids->run_queue, op, &aborted);
      if (aborted)
        ids->funcs->rejected (ids, op->id);
      else
        prio_run_queue_add_op (ids->run_queue, op, registration);
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
    prio_run_queue_add_op (run_queue, op, registration);
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
      prio_loop_submit_post (loop, op);
    }
  return result != REJECTED;
}

/* Posts a task id to @ids.  The caller has set the id, the priority, the flag, when it is due and when it expires in @op; this
 * sets the rest. */
gboolean
prio_run_queue_post_id (PrioLoop *loop, PrioIdQueue *ids, PrioOp *op, GCancellable *signal)
{
  op->apply = op_post_id;
  op->data = ids;

  return post_entry (loop, op, signal);
}

/* Any thread: posts a closure, or releases it if its signal is aborted. */
static inline gboolean
post_closure (PrioRunQueue *run_queue, const PrioTaskOptions *options, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  gint64 due = prio_due_after (options->delay);
  PrioOp op = { .apply = op_post_entry, .target = run_queue, .func = func, .data = data, .notify = notify,
                .priority = (gint8) options->priority, .flag = prio_task_options_turn (options), .due = due,
                .expiry = prio_task_options_expiry (options, due) };

  if (post_entry (run_queue->loop, &op, options->signal))
    return TRUE;

  prio_thread.posting_name = NULL;
  prio_release_now (notify, data);
  return FALSE;
}

/* Posts a closure with options that are wrong, or with a timeout, or a name, which is of use to who observes the loop. */
static G_GNUC_NO_INLINE gboolean
post_rare (PrioRunQueue *run_queue, const PrioTaskOptions *options, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  static const char function[] G_GNUC_UNUSED = "prio_scheduler_post_full";
  gboolean posted;

  prio_return_val_if_wrong (prio_check_task_options (function, options), FALSE);
  prio_return_val_if_wrong (prio_check_callable (function, "func", func != NULL, NULL), FALSE);

  prio_thread.posting_name = options->name;
  posted = post_closure (run_queue, options, func, data, notify);
  prio_thread.posting_name = NULL;
  return posted;
}

/**
 * prio_scheduler_post_full:
 * @self: a scheduler
 * @options: (nullable): what to post it with, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): what to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task without a result, with all options of `postTask()` (§2.2, §2.4.2 of the draft).
 *
 * ```c
 * prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.signal = signal, .delay = 100),
 *                           index_files, index, NULL);
 * ```
 *
 * If the signal is aborted before the task runs, @notify is called, and @func is not.
 * A source object and a tag are ignored, as they belong to a result; the name is what traces, the monitor and what
 * tells of long tasks call the task.
 *
 * With a wrong argument it logs a critical message, posts nothing, and does not call @notify.
 *
 * Any thread may call it; @func is called on the thread that runs the scheduler's main context.
 *
 * Returns: %FALSE if the signal is aborted already; then nothing is posted, and @notify has been called
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_post_full (PrioScheduler *self, const PrioTaskOptions *options, GSourceFunc func, gpointer user_data,
                          GDestroyNotify notify)
{
  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), FALSE);
  if (options == NULL)
    options = &prio_no_task_options;
  if (G_UNLIKELY (!prio_task_options_are_plain (options)))
    return post_rare (self->run_queue, options, func, user_data, notify);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, NULL), FALSE);

  return post_closure (self->run_queue, options, func, user_data, notify);
}
