/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-post.c: posts tasks */

#include "config.h"

#include "post/prio-scheduler-post-private.h"

#include "loop/prio-current-private.h"
#include "loop/prio-lending-private.h"
#include "loop/prio-number-private.h"
#include "loop/prio-observer-private.h"
#include "loop/prio-traits-private.h"
#include "open/prio-engine.h"
#include "scheduler/prio-options-private.h"
#include "signal/prio-dependence-private.h"

typedef struct
{
  PrioOp op; /* @op.target is the run queue, and @op.data the user data */
  GSourceFunc func;
  GDestroyNotify notify;
  PrioTaskPriority priority;
} PostJobOp;

static void
op_post_job (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  const PostJobOp *self = (const PostJobOp *) op;

  prio_run_queue_append_job (op->target, prio_effective (self->priority, FALSE), self->func, op->data, self->notify);
}

/* Appends a job in the common case: this is the owner thread, no operations of other threads wait, there is a spare
 * record, and the queue is not empty.  Returns FALSE otherwise.  Makes no function call while a batch is running. */
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
  PostJobOp post = { { .apply = op_post_job, .data = data, .size = sizeof post }, func, notify, priority };

  prio_return_if_wrong (prio_check_scheduler (function, self));
  prio_return_if_wrong (prio_check_priority (function, (gint) priority));
  prio_return_if_wrong (prio_check_callable (function, "func", func != NULL));

  post.op.target = self->run_queue;
  prio_loop_submit_post (self->run_queue->loop, &post.op);
}

/**
 * prio_scheduler_post:
 * @self: a scheduler
 * @priority: the task's priority; neither %PRIO_TASK_PRIORITY_UNSET nor a priority of GLib, such as
 *   %G_PRIORITY_DEFAULT, is valid
 * @func: (scope notified) (closure user_data) (destroy notify): the function to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task without a result, like [func@GLib.idle_add_full].
 *
 * @func is called on the thread that runs the scheduler's main context.  If @func returns %G_SOURCE_CONTINUE, it is
 * called again, as a continuation: before new tasks of its priority, and after more urgent tasks.
 *
 * This is the cheapest way to post work: a task takes 40 bytes.  Any thread may call this function.  With a wrong
 * argument, the call logs a critical message, posts nothing, and does not call @notify.
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

/* A task without a result that is about to be posted.  The options are read once, into this record.  If the calling
 * thread is not the owner thread, the record is sent to the owner thread. */
typedef struct
{
  PrioOp op;            /* @op.target is the run queue, or NULL for a runner's task */
  PrioSignalNode *node; /* the signal's node, or NULL */
  gint64 due;           /* when the delay is over, µs, or 0 without a delay */
  gint64 expiry;        /* when the timeout expires, µs, or PRIO_NO_EXPIRY */
  const char *name;     /* the task's name for observers, or NULL; not sent to another thread */
  PrioJob job;          /* the task's function and data; in a runner's task, prio_number_func () and the id */
  gint8 priority;       /* PrioTaskPriority */
  guint8 turn;          /* PrioEntryTurn */
} PrioPost;

static void
add_post (const PrioPost *self, PrioRunQueue *run_queue, PrioRegistration *registration)
{
  PrioRunner *numbers = prio_numbers_of (&self->job);
  PrioEntry *entry;

  prio_thread.posting_name = self->name;
  /* Queues only the id of a runner's simple task, unless schedulers lend priorities: an id cannot borrow one. */
  if (numbers != NULL && registration == NULL && self->due == 0 && self->expiry == PRIO_NO_EXPIRY &&
      self->turn <= PRIO_ENTRY_GOES_ON && !prio_lending_is_used (run_queue->loop))
    {
      prio_numbers_append (numbers, self->job.id,
                           prio_effective ((PrioTaskPriority) self->priority, self->turn & PRIO_ENTRY_GOES_ON));
      prio_thread.posting_name = NULL;
      return;
    }

  entry = numbers != NULL ? prio_numbers_new_entry (numbers, self->job.id)
                          : prio_run_queue_new_entry (run_queue, self->job.func, self->job.data, self->job.notify);
  entry->turn = self->turn;
  if (self->expiry != PRIO_NO_EXPIRY)
    prio_entry_set_expiry (entry, self->expiry);
  prio_entry_bind (entry, registration, (PrioTaskPriority) self->priority);
  prio_run_queue_add (entry, self->due);
  prio_thread.posting_name = NULL;
}

typedef enum
{
  POSTED,
  REJECTED,          /* the signal is aborted, the runner is closed, or the context is destroyed */
  NEEDS_REGISTRATION /* the caller has to pass a reference to the signal for a new registration */
} PostResult;

/* Posts @self.  Takes the reference in *@signal if a registration is created.  The caller has entered the loop. */
static inline PostResult
post_inside (const PrioPost *self, PrioLoop *loop, GCancellable **signal)
{
  PrioRunner *numbers = prio_numbers_of (&self->job);
  PrioRunQueue *run_queue = numbers != NULL ? numbers->run_queue : self->op.target;
  PrioRegistration *registration = NULL;
  gboolean aborted = run_queue == NULL || prio_loop_is_dead (loop);

  if (self->node != NULL && !aborted)
    {
      registration = prio_registration_acquire (run_queue, self->node, signal, &aborted);
      if (registration == NULL && !aborted)
        return NEEDS_REGISTRATION;
    }
  if (aborted)
    return REJECTED;

  add_post (self, run_queue, registration);
  return POSTED;
}

static void
op_post (PrioLoop *loop, const PrioOp *op)
{
  const PrioPost *self = (const PrioPost *) op;
  PrioRunner *numbers = prio_numbers_of (&self->job);
  GCancellable *signal = self->node != NULL ? self->node->signal : NULL;
  gboolean posted = post_inside (self, loop, &signal) == POSTED;

  if (signal != NULL)
    prio_loop_defer_release (loop, g_object_unref, signal);
  if (numbers != NULL)
    {
      if (!posted && numbers->run_queue != NULL)
        prio_numbers_reject (numbers, self->job.id);
      prio_loop_defer_release (loop, prio_numbers_unref, numbers);
    }
  else if (!posted)
    {
      prio_loop_defer_release (loop, self->job.notify, self->job.data);
    }
}

/* Sends @self to the owner thread.  Returns FALSE if the signal is aborted, or the context of a runner is destroyed. */
static gboolean
send (PrioPost *self, PrioLoop *loop)
{
  PrioRunner *numbers = prio_numbers_of (&self->job);

  if ((self->node != NULL && prio_signal_node_is_aborted (self->node)) || (numbers != NULL && prio_loop_has_gone (loop)))
    return FALSE;

  self->op.apply = op_post;
  self->op.size = sizeof *self;
  self->name = NULL;
  if (self->node != NULL)
    g_object_ref (self->node->signal);
  /* The operation holds a reference to the runner.  This is not the owner thread, so the count is atomic. */
  if (numbers != NULL)
    g_atomic_int_inc (&numbers->refs);
  prio_loop_submit_post (loop, &self->op);
  return TRUE;
}

/* Posts @self from any thread.  Returns FALSE if the post is rejected at once; the owner thread may reject it later. */
static gboolean
submit_post (PrioPost *self, PrioLoop *loop)
{
  PrioSignalNode *node = self->node;
  g_autoptr (GCancellable) owned = NULL;
  PostResult result = POSTED;

  if (node != NULL)
    prio_signal_node_undo_reset (node);
  /* A new registration will need a reference to the signal, which may be taken only before the loop is entered. */
  if (node != NULL && !prio_signal_node_has_registrations (node))
    result = NEEDS_REGISTRATION;

  do
    {
      if (result == NEEDS_REGISTRATION)
        owned = g_object_ref (node->signal);
      if (!prio_loop_enter (loop))
        return send (self, loop);
      result = post_inside (self, loop, &owned);
      prio_loop_leave (loop);
    }
  while (result == NEEDS_REGISTRATION);
  return result == POSTED;
}

/* Reads @options, which are valid; NULL stands for the defaults.  Fills in @self directly, because copying the record
 * would cost more than filling it. */
static inline void
read_options (PrioPost *self, const PrioTaskOptions *options)
{
  GCancellable *cancellable;

  if (options == NULL)
    options = &prio_no_task_options;
  cancellable = PRIO_CANCELLABLE_OF (options);
  self->node = cancellable != NULL ? prio_signal_node_for (cancellable) : NULL;
  self->due = prio_due_after (options->delay);
  self->expiry = prio_expiry_after (self->due, options->timeout);
  self->name = options->name;
  self->priority = (gint8) options->priority;
  if (cancellable == NULL && options->priority == PRIO_TASK_PRIORITY_UNSET)
    self->priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
  self->turn = options->takes_turns ? PRIO_ENTRY_TAKES_TURNS : PRIO_ENTRY_IS_NEW;
}

/**
 * prio_scheduler_post_full:
 * @self: a scheduler
 * @options: (nullable): the options, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): the function to call
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task without a result, with all options of `postTask()` (§2.2, §2.4.2 of the WICG draft).
 *
 * ```c
 * prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.signal = signal, .delay = 100),
 *                           index_files, index, NULL);
 * ```
 *
 * If the signal is aborted before the task runs, @notify is called, and @func is not.  A source object and a tag are
 * ignored, because the task has no result; the name is for traces, the monitor and reports of long tasks.  With a wrong
 * argument, the call logs a critical message, posts nothing, and does not call @notify.  Any thread may call this
 * function; @func is called on the thread that runs the scheduler's main context.
 *
 * Returns: %FALSE if the signal is aborted already, and @notify has been called, or if an argument is wrong; otherwise
 *   %TRUE, even if @func is never called because the main context is destroyed or its worker is stopped
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_post_full (PrioScheduler *self, const PrioTaskOptions *options, GSourceFunc func, gpointer user_data,
                          GDestroyNotify notify)
{
  PrioPost post = { 0 };

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), FALSE);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options, func != NULL), FALSE);

  read_options (&post, options);
  post.op.target = self->run_queue;
  post.job = (PrioJob) { .func = func, .data = user_data, .notify = notify };
  if (submit_post (&post, self->run_queue->loop))
    return TRUE;

  prio_release_now (notify, user_data);
  return FALSE;
}

/* Returns whether a post was accepted and, if so, whether it came from a task.  The caller must have left the loop. */
static PrioPostResult
posted (PrioRunner *self, gboolean accepted)
{
  if (!accepted)
    return PRIO_POST_RESULT_REJECTED;
  return prio_state_capture (self->loop) != NULL ? PRIO_POST_RESULT_INSIDE : PRIO_POST_RESULT_OUTSIDE;
}

PrioPostResult
prio_numbers_post (PrioRunner *self, guint id, PrioTaskPriority priority)
{
  gboolean accepted;

  if (G_UNLIKELY (prio_loop_is_observed (self->loop) || !prio_loop_enter (self->loop)))
    return prio_numbers_post_full (self, id, &(PrioTaskOptions) { .priority = priority }, NULL);

  accepted = self->run_queue != NULL;
  if (accepted)
    prio_numbers_append (self, id, prio_effective (priority, FALSE));
  prio_loop_leave (self->loop);
  return posted (self, accepted);
}

/* Returns (transfer full) (nullable) the name of the task @id, which is about to be posted, if an observer such as a
 * trace needs names and this is the owner thread.  A continuation without a name gets the name of the running task.
 * The caller must have left the loop. */
static char *
ask_name (PrioRunner *self, guint id, gboolean continuation)
{
  char *name = NULL;

  /* Only the owner thread may call @name_func. */
  if (G_LIKELY (!prio_loop_is_observed (self->loop)) || !prio_observers_hear_posts () || !prio_loop_is_owner_thread (self->loop))
    return NULL;

  if (self->name_func != NULL)
    name = self->name_func (id, self->name_data);
  if (name == NULL && continuation && prio_thread.observed != NULL)
    name = g_strdup (prio_thread.observed->told.name);
  return name;
}

PrioPostResult
prio_numbers_post_full (PrioRunner *self, guint id, const PrioTaskOptions *options, const gint64 *expiry)
{
  g_autofree char *name = ask_name (self, id, expiry != NULL);
  PrioPost post = { 0 };

  read_options (&post, options);
  post.job = (PrioJob) { .func = prio_number_func, .data = self, .id = id };
  post.name = name;
  if (expiry != NULL)
    {
      post.expiry = MAX (*expiry, PRIO_NO_EXPIRY);
      post.turn = prio_turn_of_continuation (options->takes_turns);
    }
  return posted (self, submit_post (&post, self->loop));
}

/* Posts a continuation.  If the running task belongs to the runner's scheduler, the continuation has the task's signal,
 * priority and timeout, and takes turns if the task does.  Otherwise it is user-visible, without a signal. */
PrioPostResult
prio_numbers_yield (PrioRunner *self, guint id)
{
  g_autofree char *name = ask_name (self, id, TRUE);
  PrioPost post = { .job = { .func = prio_number_func, .data = self, .id = id }, .name = name,
                    .priority = PRIO_TASK_PRIORITY_USER_VISIBLE, .turn = PRIO_ENTRY_GOES_ON };
  const PrioState *current = prio_state_of_thread ();
  PostResult result = NEEDS_REGISTRATION;

  if (prio_loop_enter (self->loop))
    {
      if (self->run_queue != NULL && prio_state_is_of (current, self->run_queue))
        {
          post.node = current->group != NULL ? prio_registration_of (current->group)->node : NULL;
          post.priority = current->priority;
          post.turn = prio_turn_of_continuation (current->takes_turns);
          post.expiry = prio_traits_of (current).expiry;
        }
      /* A plain GCancellable that was reset needs a new registration: submit_post () takes a reference for that. */
      if (post.node == NULL || post.node->is_task_signal)
        result = post_inside (&post, self->loop, &(GCancellable *) { NULL });
      prio_loop_leave (self->loop);
    }
  return posted (self, result == NEEDS_REGISTRATION ? submit_post (&post, self->loop) : result == POSTED);
}
