/* prio-scheduler-post.c: how a task comes in
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-scheduler-private.h"

#include "prio-bond-private.h"
#include "prio-dependence-private.h"
#include "prio-id-queue-private.h"
#include "prio-options-private.h"
#include "prio-task-impl-private.h"
#include "prio-util-private.h"

static void
job_came (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_core_append_job (op->target, prio_effective ((PrioTaskPriority) op->priority, FALSE), op->func,
                        op->data, op->notify);
}

/* The way of most posts: on the home thread, with a record at hand and tasks in the
 * queue already.  It calls nothing, which saves as much as it does. */
static inline gboolean
append_in_passing (PrioCore *core, PrioTaskPriority priority, GSourceFunc func, gpointer data,
                   GDestroyNotify notify)
{
  PrioLoop *loop = core->loop;
  PrioQueue *queue = &core->jobs[prio_effective (priority, FALSE)];
  PrioJob *job;

  if (G_UNLIKELY (!prio_bias_enter_quickly (&loop->bias)))
    return FALSE;

  if (G_UNLIKELY (queue->tail == NULL || prio_inbox_state (&loop->inbox) != PRIO_INBOX_EMPTY ||
                  (job = prio_slab_alloc_quickly (&loop->jobs)) == NULL))
    {
      prio_loop_leave (loop);
      return FALSE;
    }

  prio_core_fill_job (core, job, func, data, notify);
  prio_queue_append (queue, job);
  prio_loop_leave (loop);
  return TRUE;
}

static G_GNUC_NO_INLINE void
post_job (PrioScheduler *self, PrioTaskPriority priority, GSourceFunc func, gpointer data,
          GDestroyNotify notify)
{
  static const char function[] G_GNUC_UNUSED = "prio_scheduler_post";
  PrioOp op = { .apply = job_came, .func = func, .data = data, .notify = notify,
                .priority = (gint8) priority };

  prio_return_if_wrong (prio_check_scheduler (function, self));
  prio_return_if_wrong (prio_check_priority (function, (gint) priority));
  prio_return_if_wrong (prio_check_callable (function, "func", func != NULL, NULL));

  op.target = self->core;
  prio_loop_submit (self->core->loop, &op);
}

/**
 * prio_scheduler_post:
 * @self: a scheduler
 * @priority: how urgent it is; %PRIO_PRIORITY_UNSET, and a priority of GLib's, such as
 *   %G_PRIORITY_DEFAULT, are none
 * @func: (scope notified) (closure user_data) (destroy notify): what to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task and forgets it, in the shape of [func@GLib.idle_add_full].
 *
 * @func is called on the thread that runs the scheduler's main context.  If it
 * returns %G_SOURCE_CONTINUE it is called again, as a continuation: before other
 * tasks of its priority, after those of the next.
 *
 * This is the cheapest way to have something done: 40 bytes, and no lock on the
 * thread that runs the main context.  Any thread may call it.
 *
 * Who gives something wrong is told so, as everywhere, in a critical message: then nothing is
 * posted, and @notify is not called.
 *
 * Since: 1.0
 */
void
prio_scheduler_post (PrioScheduler *self, PrioTaskPriority priority, GSourceFunc func,
                     gpointer user_data, GDestroyNotify notify)
{
  if (G_UNLIKELY (!prio_scheduler_check (self) || !PRIO_IS_PRIORITY (priority) || func == NULL ||
                  !append_in_passing (self->core, priority, func, user_data, notify)))
    post_job (self, priority, func, user_data, notify);
}

/* What a new entry is bound to. */
static void
bind (PrioEntry *entry, PrioBond *bond, PrioTaskPriority priority)
{
  entry->abort = prio_bond_group (bond);
  if (priority != PRIO_PRIORITY_UNSET)
    {
      entry->priority = (guint8) priority;
    }
  else if (bond != NULL && bond->hub->is_task_signal)
    {
      entry->follows = &bond->group;
      prio_bond_hold (bond);
    }
  else
    {
      entry->priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
    }
}

/* The bond for the signal in @op, whose reference is used up; NULL if there is no
 * signal, or it is aborted, or the context has gone. */
static PrioBond *
bond_for_op (PrioLoop *loop, PrioCore *core, const PrioOp *op, gboolean *refused)
{
  GCancellable *signal = op->signal;
  PrioBond *bond = NULL;

  *refused = prio_loop_is_dead (loop);
  if (signal == NULL)
    return NULL;

  if (!*refused)
    bond = prio_bond_acquire (core, prio_hub_for (signal), &signal, refused);
  if (signal != NULL)
    prio_loop_bury (loop, g_object_unref, signal);
  return bond;
}

/* Home: a closure of the user's, or a token. */
static void
admit_op (PrioCore *core, const PrioOp *op, PrioBond *bond)
{
  PrioEntry *entry = op->id != 0 ? prio_id_queue_new_entry (op->data, op->id, op->flag)
                                 : prio_core_new_entry (core, op->func, op->data, op->notify);

  bind (entry, bond, (PrioTaskPriority) op->priority);
  prio_core_admit (entry, op->due);
}

static void
entry_came (PrioLoop *loop, const PrioOp *op)
{
  gboolean refused;
  PrioBond *bond = bond_for_op (loop, op->target, op, &refused);

  if (!refused)
    admit_op (op->target, op, bond);
  else if (op->notify != NULL)
    prio_loop_bury (loop, op->notify, op->data);
}

/* The same for a token, whose queue's reference is used up. */
static void
token_came (PrioLoop *loop, const PrioOp *op)
{
  PrioIdQueue *ids = op->data;
  gboolean refused;
  PrioBond *bond;

  if (ids->core != NULL)
    {
      bond = bond_for_op (loop, ids->core, op, &refused);
      if (refused)
        ids->funcs->rejected (ids, op->id);
      else
        admit_op (ids->core, op, bond);
    }
  else if (op->signal != NULL)
    {
      prio_loop_bury (loop, g_object_unref, op->signal);
    }
  prio_loop_bury (loop, ids->funcs->unref, ids);
}

/* What came of an attempt to post at home. */
typedef enum
{
  POSTED,
  REFUSED,   /* the signal is aborted, or the queue closed */
  NOT_HERE,  /* this is not the home thread */
  NEEDS_BOND /* one has to be made, with a reference to the signal */
} PostResult;

static PostResult
post_at_home (PrioLoop *loop, const PrioOp *op, PrioHub *hub, GCancellable **signal)
{
  PostResult result = POSTED;
  PrioBond *bond = NULL;
  PrioCore *core;
  gboolean aborted;

  if (!prio_loop_enter (loop))
    return NOT_HERE;

  core = op->id != 0 ? ((PrioIdQueue *) op->data)->core : op->target;
  if (core == NULL)
    {
      result = REFUSED;
    }
  else if (hub != NULL)
    {
      bond = prio_bond_acquire (core, hub, signal, &aborted);
      if (bond == NULL)
        result = aborted ? REFUSED : NEEDS_BOND;
    }

  if (result == POSTED)
    admit_op (core, op, bond);
  prio_loop_leave (loop);
  return result;
}

/* Posts what @op says, on whichever thread this is.  Returns FALSE if @signal is
 * aborted, or the queue closed. */
static gboolean
post_entry (PrioLoop *loop, PrioOp *op, GCancellable *signal)
{
  PrioHub *hub = signal != NULL ? prio_hub_for (signal) : NULL;
  g_autoptr (GCancellable) owned = NULL;
  PostResult result;

  if (hub != NULL)
    prio_hub_undo_reset (hub);
  /* A million tasks may share a signal, and take one reference to it. */
  if (hub != NULL && !prio_hub_has_bonds (hub))
    owned = g_object_ref (signal);

  result = post_at_home (loop, op, hub, &owned);
  if (result == NEEDS_BOND)
    {
      owned = g_object_ref (signal);
      result = post_at_home (loop, op, hub, &owned);
    }
  if (result == NOT_HERE && ((hub != NULL && prio_hub_is_aborted (hub)) || (op->id != 0 && prio_loop_has_gone (loop))))
    result = REFUSED;

  if (result == NOT_HERE)
    {
      op->signal = signal != NULL ? g_object_ref (signal) : NULL;
      /* An operation on its way holds its queue; who was at home before may not be now. */
      if (op->id != 0)
        ((PrioIdQueue *) op->data)->funcs->ref (op->data);
      prio_loop_submit (loop, op);
    }
  return result != REFUSED;
}

/* Posts a closure that no signal aborts, if this is the home thread. */
static gboolean
post_closure_at_home (PrioCore *core, PrioTaskPriority priority, gint64 due, GSourceFunc func, gpointer data,
                      GDestroyNotify notify)
{
  PrioEntry *entry;

  if (!prio_loop_enter (core->loop))
    return FALSE;

  entry = prio_core_new_entry (core, func, data, notify);
  bind (entry, NULL, priority);
  prio_core_admit (entry, due);
  prio_loop_leave (core->loop);
  return TRUE;
}

/* The same with a signal, and from any thread.  Returns FALSE if @signal is aborted. */
static gboolean
post_closure (PrioCore *core, PrioTaskPriority priority, GCancellable *signal, gint64 due, GSourceFunc func,
              gpointer data, GDestroyNotify notify)
{
  PrioOp op = { .apply = entry_came, .target = core, .func = func, .data = data, .notify = notify,
                .priority = (gint8) priority, .due = due };

  return post_entry (core->loop, &op, signal);
}

/* Posts a token of @ids, as far as @op says. */
gboolean
prio_core_post_token (PrioLoop *loop, PrioIdQueue *ids, PrioOp *op, GCancellable *signal, guint64 delay)
{
  op->apply = token_came;
  op->data = ids;
  op->due = prio_due_after (delay);

  return post_entry (loop, op, signal);
}

/**
 * prio_scheduler_post_full:
 * @self: a scheduler
 * @options: (nullable): with what to post it, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): what to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task and forgets it, with all that `postTask()` may be given (§2.2,
 * §2.4.2 of the draft).
 *
 * ```c
 * prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .signal = signal, .delay = 100 },
 *                           index_files, index, NULL);
 * ```
 *
 * If the signal is aborted before the task runs, @notify is called, and @func is not.
 * There is no result, and so no use for a source object, a tag or a name.
 *
 * Who gives something wrong is told so in a critical message: then nothing is posted, and
 * @notify is not called.
 *
 * Any thread may call it; @func is called on the thread that runs the scheduler's
 * main context.
 *
 * Returns: %FALSE if the signal is aborted already: then nothing is posted, and
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
  gint64 due;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), FALSE);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options), FALSE);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, NULL), FALSE);

  if (options == NULL)
    options = &prio_no_task_options;
  priority = options->priority;
  signal = options->signal;
  due = prio_due_after (options->delay);

  if (signal == NULL && post_closure_at_home (self->core, priority, due, func, user_data, notify))
    return TRUE;
  if (post_closure (self->core, priority, signal, due, func, user_data, notify))
    return TRUE;

  if (notify != NULL)
    notify (user_data);
  return FALSE;
}

static void
task_came (PrioLoop *loop, const PrioOp *op)
{
  PrioTask *task = op->target;
  PrioEntry *entry = prio_task_get_entry (task);
  gboolean refused;
  PrioBond *bond = bond_for_op (loop, entry->core, op, &refused);

  if (refused)
    {
      prio_task_abort (task);
      return;
    }

  bind (entry, bond, (PrioTaskPriority) op->priority);
  prio_core_admit (entry, op->due);
}

/* Posts @task, whose reference it takes. */
void
prio_scheduler_submit_task (PrioScheduler *self, PrioTask *task, GCancellable *signal,
                            PrioTaskPriority priority, gint64 due)
{
  PrioOp op = { .apply = task_came, .target = task, .priority = (gint8) priority, .due = due };

  if (signal != NULL)
    {
      prio_hub_undo_reset (prio_hub_for (signal));
      op.signal = g_object_ref (signal);
    }
  prio_loop_submit (self->core->loop, &op);
}

/* Posts a task that has been used before, if this is the home thread and there is
 * one.
 *
 * Returns: (transfer full) (nullable): the task */
static PrioTask *
post_used_task (PrioCore *core, PrioTaskFunc func, gpointer data, GDestroyNotify notify,
                PrioTaskPriority priority, gint64 due)
{
  PrioLoop *loop = core->loop;
  PrioTask *task;

  if (!prio_loop_enter (loop))
    return NULL;

  task = prio_task_pool_take (loop);
  if (task != NULL)
    {
      task->entry.core = core;
      task->priority = (gint8) priority;
      task->func = func;
      task->entry.job.data = data;
      task->entry.job.notify = notify;
      prio_core_hold (core);
      bind (&task->entry, NULL, priority);
      prio_core_admit (&task->entry, due);
      /* Nobody else knows the task, so that a reference calls nothing. */
      g_object_ref (task);
    }
  prio_loop_leave (loop);

  return task;
}

/* Posts a task of which more is known. */
static PrioTask *
post_new_task (PrioScheduler *self, const PrioTaskOptions *options, PrioTaskFunc func, gpointer data,
               GDestroyNotify notify)
{
  PrioTask *task = prio_task_new (self->core, PRIO_ENTRY_TASK, options->signal, options->priority);

  prio_task_set_work (task, func, data, notify);
  if (options->name != NULL)
    prio_task_set_name (task, options->name);
  prio_task_set_source (task, options->source_object, options->source_tag);
  prio_scheduler_submit_task (self, g_object_ref (task), options->signal, options->priority,
                              prio_due_after (options->delay));

  return task;
}

/* What all is given for has been looked at. */
static inline PrioTask *
post_task (PrioScheduler *self, const PrioTaskOptions *options, PrioTaskFunc func, gpointer data,
           GDestroyNotify notify)
{
  PrioTask *task;

  if (options == NULL)
    options = &prio_no_task_options;

  if (options->signal == NULL && options->name == NULL && options->source_object == NULL && options->source_tag == NULL)
    {
      task = post_used_task (self->core, func, data, notify, options->priority, prio_due_after (options->delay));
      if (task != NULL)
        return task;
    }
  return post_new_task (self, options, func, data, notify);
}

/**
 * prio_scheduler_post_task:
 * @self: a scheduler
 * @options: (nullable): with what to post it, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task that has a result: the draft's `postTask()` (§2.2, §2.4.2).
 *
 * If the signal that is given is aborted already, the task is, and is never queued.
 *
 * A task can be the result of an `_async` function of somebody's own, as a [class@Gio.Task]
 * is: with the object and the tag in @options.
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
 * Who gives something wrong is told so in a critical message: then nothing is posted, and
 * @notify is not called.
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
  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options), NULL);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, options != NULL ? options->name : NULL),
                            NULL);

  return post_task (self, options, func, user_data, notify);
}

/**
 * prio_scheduler_post_task_async:
 * @self: a scheduler
 * @options: (nullable): with what to post it, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 * @callback: (scope async) (closure callback_data): called when the task has
 *   completed
 * @callback_data: data for @callback
 *
 * Posts a task, and waits for its result, in the manner of GIO: as
 * [method@PrioSched.Scheduler.post_task] and [method@PrioSched.Task.then] do.
 *
 * Who gives something wrong is told so in a critical message: then nothing is posted, and
 * neither @notify nor @callback is called.
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
  const char *name G_GNUC_UNUSED = NULL;
  g_autoptr (PrioTask) task = NULL;

  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_task_options (G_STRFUNC, options));
  name = options != NULL ? options->name : NULL;
  prio_return_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, name));
  prio_return_if_wrong (prio_check_callable (G_STRFUNC, "callback", callback != NULL, name));

  task = post_task (self, options, func, user_data, notify);
  prio_task_then (task, callback, callback_data, NULL);
}

/**
 * prio_scheduler_post_task_finish:
 * @self: what the callback was given: the scheduler, or %NULL if that is gone
 * @result: what the callback was given
 * @value: (out caller-allocates) (optional): return location for the result, to be
 *   unset when no longer needed; not set if the task has none
 * @error: return location for a `GError`
 *
 * Gets the result of a task, as [method@PrioSched.Task.propagate_value] does, whatever its type:
 * a pointer is handed over, if @value is given.
 *
 * Fails with the error of the task, or the reason of its abort.  The result of a yield is
 * refused with a critical.
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

  g_return_val_if_fail (self == NULL || PRIO_IS_SCHEDULER (self), FALSE);
  g_return_val_if_fail (PRIO_IS_TASK (result), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  task = PRIO_TASK (result);
  if (prio_task_get_entry (task)->continuation)
    {
      g_critical ("%s: what the callback was given is the result of a yield, which prio_scheduler_yield_finish() gets",
                  G_STRFUNC);
      return FALSE;
    }
  /* A pointer that nobody wants stays the task's. */
  if (value == NULL && prio_task_get_state (task) == PRIO_TASK_STATE_FULFILLED)
    return TRUE;
  return prio_task_propagate_value (task, value != NULL ? value : &unwanted, error);
}
