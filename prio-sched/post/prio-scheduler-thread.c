/* prio-scheduler-thread.c: tasks that run in a thread of a pool
 *
 * The threads are GLib's.  What waits for one of them waits here, in a heap by priority and age: each item in the pool's own
 * queue only stands for "the most urgent one".
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "base/prio-heap-private.h"
#include "prio-task-signal.h"
#include "signal/prio-signal-node-private.h"
#include "task/prio-task-impl-private.h"

/* The threads may wait for disks and networks, so there are more than processors: as many as GTask's. */
#define MIN_THREADS 10
/* Those that functions in the threads have run in threads have more of them, up to as many as GTask's: the functions may wait. */
#define MAX_THREADS 330

typedef struct
{
  gint refs; /* atomic: the heap or the thread, and each handler */
  PrioTask *task; /* held */
  PrioTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  PrioTaskPriority fixed; /* or PRIO_PRIORITY_UNSET */
  gulong cancelled, priority_changed; /* handlers of the task's signal */
  gboolean is_nested; /* a function in a thread of the pool has asked for it */

  /* Under the lock. */
  PrioHeapNode node;
  gboolean is_waiting; /* in the heap */
} PrioWork;

static PrioLock work_lock = PRIO_LOCK_INIT;
static PrioHeap waiting; /* under the lock: by priority and age */
static guint64 next_order; /* under the lock */
static guint n_nested; /* under the lock: works that have a thread more */
static PRIO_TLS gboolean is_in_pool;

static PrioWork *
work_ref (PrioWork *work)
{
  g_atomic_int_inc (&work->refs);
  return work;
}

static void
do_nothing (gpointer data G_GNUC_UNUSED)
{
}

static void
op_call (PrioLoop *loop, const PrioOp *op)
{
  PrioMicrotask microtask = { .func = do_nothing, .data = op->data, .notify = op->notify };

  if (prio_loop_is_dead (loop))
    prio_loop_defer_release (loop, op->notify, op->data);
  else
    prio_loop_queue_microtask (loop, &microtask);
}

/* Has @notify called with @data by the thread that runs the context; here only if that has gone. */
static void
call_on_loop (PrioLoop *loop, GDestroyNotify notify, gpointer data)
{
  PrioOp op = { .apply = op_call, .notify = notify, .data = data };

  prio_loop_submit (loop, &op);
}

static void
work_unref (gpointer data)
{
  PrioWork *work = data;

  if (g_atomic_int_dec_and_test (&work->refs))
    g_free (work);
}

static void
closure_unref (gpointer data, GClosure *closure G_GNUC_UNUSED)
{
  prio_in_finalize (data);
  work_unref (data);
}

static void
op_notify_state (PrioLoop *loop, const PrioOp *op)
{
  PrioMicrotask microtask = { .func = (GSourceOnceFunc) (gpointer) prio_task_notify_state, .data = op->target };

  if (!prio_loop_is_dead (loop))
    prio_loop_queue_microtask (loop, &microtask);
}

static void
drop_task (gpointer task)
{
  prio_before_unref (task);
  g_object_unref (task);
}

/* Nothing runs the work any more: disconnects from the signal, and releases the user's data and the task. */
static void
work_end (PrioWork *work)
{
  PrioTask *task = work->task;
  PrioLoop *loop = prio_loop_ref (task->entry.run_queue->loop);

  if (work->cancelled != 0)
    g_signal_handler_disconnect (task->signal, work->cancelled);
  if (work->priority_changed != 0)
    g_signal_handler_disconnect (task->signal, work->priority_changed);
  if (work->notify != NULL)
    call_on_loop (loop, work->notify, work->data);
  /* The task may be the last to hold the loop. */
  call_on_loop (loop, drop_task, task);
  prio_loop_unref (loop);
  work_unref (work);
}

static guint64
key_of (PrioWork *work)
{
  GCancellable *signal = work->task->signal;
  PrioTaskPriority priority = work->fixed;

  if (priority == PRIO_PRIORITY_UNSET)
    priority = PRIO_IS_TASK_SIGNAL (signal) ? prio_task_signal_get_priority (PRIO_TASK_SIGNAL (signal))
                                            : PRIO_TASK_PRIORITY_USER_VISIBLE;
  return PRIO_TASK_PRIORITY_USER_BLOCKING - priority;
}

static void set_nested (gboolean more);

static void
run (PrioWork *work)
{
  PrioTask *task = work->task;
  PrioResult none = { .kind = PRIO_RESULT_NONE };
  gboolean is_nested = work->is_nested;

  is_in_pool = TRUE;

  __atomic_store_n (&task->state, PRIO_TASK_STATE_RUNNING, __ATOMIC_RELEASE);
  if (prio_task_is_listened_to (task))
    prio_loop_submit (task->entry.run_queue->loop, &(PrioOp) { .apply = op_notify_state, .target = task });
  work->func (task, work->data);

  /* It has neither been given a result, nor will it be later. */
  if (__atomic_load_n (&task->claim, __ATOMIC_ACQUIRE) == 0 &&
      __atomic_fetch_or (&task->claim, PRIO_TASK_RETURNED, __ATOMIC_ACQ_REL) == 0)
    prio_task_return (task, &none);
  is_in_pool = FALSE;
  work_end (work);
  if (is_nested)
    set_nested (FALSE);
}

/* In a thread of the pool: runs what is the most urgent now, if it has not been aborted. */
static void
run_next (gpointer item G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  PrioWork *work = NULL;

  prio_lock_lock (&work_lock);
  if (waiting.n_items > 0)
    {
      work = (gpointer) ((gchar *) prio_heap_first (&waiting)->node - G_STRUCT_OFFSET (PrioWork, node));
      prio_heap_remove (&waiting, &work->node);
      work->is_waiting = FALSE;
    }
  prio_lock_unlock (&work_lock);

  if (work != NULL)
    run (work);
}

static GThreadPool *
get_pool (void)
{
  static gsize pool;

  if (g_once_init_enter (&pool))
    {
      guint n = MAX (g_get_num_processors (), MIN_THREADS);

      prio_loop_add_leaf_lock (&work_lock);
      g_once_init_leave (&pool, (gsize) g_thread_pool_new (run_next, NULL, (gint) n, FALSE, NULL));
    }
  return (GThreadPool *) pool;
}

/* One more, or one less, of the works that have a thread more. */
static void
set_nested (gboolean more)
{
  guint n = MAX (g_get_num_processors (), MIN_THREADS);

  prio_lock_lock (&work_lock);
  n_nested += more ? 1 : G_MAXUINT;
  g_thread_pool_set_max_threads (get_pool (), (gint) MIN (n + n_nested, MAX (n, MAX_THREADS)), NULL);
  prio_lock_unlock (&work_lock);
}

/* Returns: whether the work was waiting: then the caller ends it */
static gboolean
take_back (PrioWork *work)
{
  gboolean was_waiting;

  prio_lock_lock (&work_lock);
  was_waiting = work->is_waiting;
  work->is_waiting = FALSE;
  if (was_waiting)
    prio_heap_remove (&waiting, &work->node);
  prio_lock_unlock (&work_lock);

  return was_waiting;
}

static void
op_abort (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_task_abort (op->target);
}

/* The abort rejects the task before its function begins.  GLib may hold the lock of the cancellable, so the handlers are
 * disconnected later. */
static void
abort_taken (PrioWork *work)
{
  PrioTask *task = work->task;
  PrioLoop *loop = task->entry.run_queue->loop;
  PrioOp abort = { .apply = op_abort, .target = task };
  PrioOp end = { .apply = op_call, .data = work, .notify = (GDestroyNotify) work_end };

  if (work->is_nested)
    set_nested (FALSE);
  g_object_ref (task);
  prio_loop_submit_quietly (loop, &abort);
  prio_loop_submit_quietly (loop, &end);
}

static void
abort_work (PrioWork *work)
{
  if (take_back (work))
    abort_taken (work);
}

/* What list_work () needs. */
typedef struct
{
  PrioLoop *loop;
  GPtrArray *works;
} Listing;

/* Under the lock: adds the work of @item if its task is of the loop. */
static void
list_work (PrioHeapItem *item, gpointer data)
{
  PrioWork *work = (gpointer) ((gchar *) item->node - G_STRUCT_OFFSET (PrioWork, node));
  Listing *listing = data;

  if (work->task->entry.run_queue->loop == listing->loop)
    g_ptr_array_add (listing->works, work);
}

/* The context has gone: what still waits for a thread is aborted. */
static void
end_waiting (PrioLoop *loop)
{
  g_autoptr (GPtrArray) works = g_ptr_array_new ();

  prio_lock_lock (&work_lock);
  prio_heap_foreach (&waiting, list_work, &(Listing) { loop, works });
  for (guint i = 0; i < works->len; i++)
    {
      PrioWork *work = works->pdata[i];

      prio_heap_remove (&waiting, &work->node);
      work->is_waiting = FALSE;
    }
  prio_lock_unlock (&work_lock);

  for (guint i = 0; i < works->len; i++)
    abort_taken (works->pdata[i]);
}

static void
cancelled (GCancellable *signal G_GNUC_UNUSED, PrioWork *work)
{
  abort_work (work);
  prio_before_unref (work); /* which the closure holds */
}

static void
priority_changed (PrioTaskSignal *signal G_GNUC_UNUSED, PrioTaskPriority previous G_GNUC_UNUSED, PrioWork *work)
{
  prio_lock_lock (&work_lock);
  if (work->is_waiting)
    prio_heap_rekey (&waiting, &work->node, key_of (work));
  prio_lock_unlock (&work_lock);
  prio_before_unref (work);
}

static void
follow (PrioWork *work)
{
  GCancellable *signal = work->task->signal;

  work->cancelled = g_signal_connect_data (signal, "cancelled", G_CALLBACK (cancelled), work_ref (work), closure_unref, 0);
  if (PRIO_IS_TASK_SIGNAL (signal) && work->fixed == PRIO_PRIORITY_UNSET)
    work->priority_changed = g_signal_connect_data (signal, "priority-change", G_CALLBACK (priority_changed),
                                                    work_ref (work), closure_unref, 0);
}

static void
wait_for_thread (PrioWork *work)
{
  GThreadPool *pool = get_pool ();

  work_ref (work);
  __atomic_store_n (&work->task->entry.run_queue->loop->at_end, end_waiting, __ATOMIC_RELEASE);
  if (work->is_nested)
    set_nested (TRUE);
  prio_lock_lock (&work_lock);
  work->is_waiting = TRUE;
  prio_heap_insert (&waiting, &work->node, key_of (work), next_order++);
  prio_lock_unlock (&work_lock);

  /* What has come before the work was in the heap has not been noticed. */
  if (work->task->signal != NULL)
    {
      priority_changed (NULL, PRIO_PRIORITY_UNSET, work);
      if (g_cancellable_is_cancelled (work->task->signal))
        abort_work (work);
    }
  g_thread_pool_push (pool, GUINT_TO_POINTER (1), NULL);
  work_unref (work);
}

/* Returns @task. */
static PrioTask *
run_in_thread (PrioTask *task, const PrioTaskOptions *options, PrioTaskFunc func, gpointer user_data, GDestroyNotify notify)
{
  PrioWork *work = g_new (PrioWork, 1);

  *work = (PrioWork) { .refs = 1, .task = g_object_ref (task), .func = func, .data = user_data, .notify = notify,
                       .fixed = options->priority, .is_nested = is_in_pool };
  if (options->signal != NULL)
    follow (work);
  wait_for_thread (work);
  return task;
}

/**
 * prio_scheduler_run_in_thread_async:
 * @self: a scheduler
 * @options: (nullable): what to run it with, or %NULL for the defaults; there is no delay and no timeout
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 * @callback: (nullable) (scope async) (closure callback_data): called when the task has completed
 * @callback_data: data for @callback
 *
 * Runs a function in a thread of a pool, and calls @callback with its result: like
 * [method@Gio.Task.run_in_thread], under a priority and a signal.
 *
 * All threads that are waited for are shared out by priority, and then by age.  A priority that
 * changes counts until a thread has taken the task.  An abort until then ends it at once, and later
 * what [method@PrioSched.Task.return_error_if_cancelled] makes of it.
 *
 * ```c
 * static void
 * decode (PrioTask *task, gpointer file)
 * {
 *   GError *error = NULL;
 *   GdkTexture *texture = gdk_texture_new_from_file (file, &error);
 *
 *   if (texture != NULL)
 *     prio_task_return_pointer (task, texture, g_object_unref);
 *   else
 *     prio_task_return_error (task, error);
 * }
 *
 * prio_scheduler_run_in_thread_async (scheduler, &PRIO_TASK_OPTIONS (.signal = row->signal),
 *                                     decode, g_object_ref (file), g_object_unref, decoded, row);
 * ```
 *
 * @func runs in another thread, with no scheduling state, and gives the result there.  If it returns
 * without one, the task is fulfilled with none, unless it has called [method@PrioSched.Task.defer].
 *
 * There are as many threads as processors, at least 10.  A function that waits for something keeps its
 * thread.  What it runs in a thread itself has one more, up to 330 in all, so that it may wait for that;
 * do not let all of them wait for what other threads run there.
 *
 * If the main context goes, what still waits for a thread is aborted with %PRIO_ERROR_CLOSED, and
 * released on the thread that destroys the context.  A function that runs then goes on; @notify is
 * called in its thread when it has ended, and @callback is not called.
 *
 * With a wrong argument it logs a critical message, runs nothing, and calls neither @notify nor
 * @callback.
 *
 * Any thread may call it; @callback and @notify are called on the thread that runs the scheduler's
 * main context.
 *
 * Since: 1.0
 */
void
prio_scheduler_run_in_thread_async (PrioScheduler *self, const PrioTaskOptions *options, PrioTaskFunc func,
                                    gpointer user_data, GDestroyNotify notify, GAsyncReadyCallback callback,
                                    gpointer callback_data)
{
  g_autoptr (PrioTask) task = NULL;

  prio_return_if_wrong (prio_check_scheduler (G_STRFUNC, self));
  prio_return_if_wrong (prio_check_task_options (G_STRFUNC, options));
  prio_return_if_wrong (prio_check_no_delay (G_STRFUNC, options));
  prio_return_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, options != NULL ? options->name : NULL));

  if (options == NULL)
    options = &prio_no_task_options;

  task = prio_scheduler_make_task (self, options);
  prio_task_add_reaction (task, callback, callback_data, NULL);
  run_in_thread (task, options, func, user_data, notify);
}

/**
 * prio_scheduler_run_in_thread_under:
 * @self: a scheduler
 * @signal: (nullable): what may abort the task, and has its priority
 * @name: (nullable): the task's name in messages and tools for developers; it is copied
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Runs a function in a thread of a pool, as [method@PrioSched.Scheduler.run_in_thread_async] does, and returns the task,
 * for a language that cannot let go of what it has put into a structure of options.
 *
 * ```c
 * g_autoptr (PrioTask) task = prio_scheduler_run_in_thread_under (scheduler, signal, "decode", decode, file, g_object_unref);
 *
 * prio_task_then (task, decoded, row, NULL);
 * ```
 *
 * Any thread may call it; @notify is called on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full) (nullable): the task, or %NULL with a wrong argument
 *
 * Since: 1.0
 */
PrioTask *
prio_scheduler_run_in_thread_under (PrioScheduler *self, GCancellable *signal, const char *name, PrioTaskFunc func,
                                    gpointer user_data, GDestroyNotify notify)
{
  PrioTaskOptions options = { .signal = signal, .name = name };

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, &options), NULL);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, name), NULL);

  return run_in_thread (prio_scheduler_make_task (self, &options), &options, func, user_data, notify);
}

/**
 * prio_scheduler_run_in_thread_finish:
 * @self: what the callback was given: the scheduler, or %NULL if it is gone
 * @result: what the callback was given
 * @value: (out caller-allocates) (optional): return location for the result, to be
 *   unset when no longer needed; not set if the task has none
 * @error: return location for a `GError`
 *
 * Gets the result of a task, of any type, as [method@PrioSched.Scheduler.post_task_finish] does.
 *
 * Fails with the error of the task, or the reason of its abort.
 *
 * Any thread may call it; it is meant for the callback.
 *
 * Returns: %TRUE if the task was fulfilled, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_scheduler_run_in_thread_finish (PrioScheduler *self, GAsyncResult *result, GValue *value, GError **error)
{
  return prio_scheduler_post_task_finish (self, result, value, error);
}
