/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dex-future.c: a task as a future */

#include "prio-dex-private.h"

/* Returns whether dex_init () has been called, which registers libdex's types and creates the scheduler of the main
 * thread. */
gboolean
prio_dex_is_ready (const char *function)
{
  if (dex_scheduler_get_default () != NULL)
    return TRUE;

  g_critical ("%s: libdex is not initialized: call dex_init () first, on the main thread", function);
  return FALSE;
}

/* Settles @promise with the result of @task. */
static void
settle (DexPromise *promise, PrioTask *task)
{
  g_auto (GValue) value = G_VALUE_INIT;
  GError *error = NULL;

  /* If the future was discarded, the result stays in the task: a pointer can be taken from there only once. */
  if (g_cancellable_is_cancelled (dex_promise_get_cancellable (promise)))
    dex_promise_reject (promise, g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, "The future was discarded"));
  else if (!prio_task_propagate_value (task, &value, &error))
    dex_promise_reject (promise, error);
  else if (G_IS_VALUE (&value))
    dex_promise_resolve (promise, &value);
  else
    dex_promise_resolve_boolean (promise, TRUE);
}

static void
on_completed (GObject *source_object G_GNUC_UNUSED, GAsyncResult *result, gpointer promise)
{
  settle (promise, PRIO_TASK (result));
}

/* Releases a promise.  Rejects it if on_completed () was not called, because the main context was destroyed. */
static void
release_promise (gpointer promise)
{
  if (dex_future_is_pending (DEX_FUTURE (promise)))
    dex_promise_reject (promise, g_error_new_literal (PRIO_ERROR, PRIO_ERROR_CLOSED,
                                                      "The main context of the task has gone"));
  dex_unref (promise);
}

/* Returns (transfer full) a signal that is aborted when @promise or @given, which may be NULL, is cancelled. */
static PrioTaskSignal *
signal_for (DexPromise *promise, GCancellable *given)
{
  GCancellable *both[] = { dex_promise_get_cancellable (promise), given };

  if (given != NULL && PRIO_IS_TASK_SIGNAL (given))
    return prio_task_signal_new_any_following (both, 2, PRIO_TASK_SIGNAL (given));
  return prio_task_signal_new_any (both, given != NULL ? 2 : 1, PRIO_TASK_PRIORITY_USER_VISIBLE);
}

/**
 * prio_dex_post:
 * @scheduler: a scheduler
 * @options: (nullable): the task's options, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): the task's function
 * @user_data: data for @func
 * @notify: (nullable): releases @user_data
 *
 * Posts a task, as [method@PrioSched.Scheduler.post_task] does, and returns a future for its result.
 *
 * The future resolves to the task's result, or to %TRUE if the task has none; it rejects with the task's error, or with
 * the reason of its abort.  Values of every type are passed on.  If the result is a pointer, the code that awaits the
 * future owns it, and frees it.
 *
 * When libdex discards the future, the task is aborted.  libdex discards a future when the last fiber or chained future
 * that waits for it drops it, as dex_future_first() may do.  The task's function notices the abort by
 * [method@PrioSched.Task.get_cancellable], and so does all work that inherits that signal.  A future that is never
 * awaited does not abort the task.
 *
 * ```c
 * static DexFuture *
 * find (gpointer rows)
 * {
 *   g_autoptr (GError) error = NULL;
 *   int row = dex_await_int (prio_dex_post (prio_scheduler_get_default (),
 *                                           &PRIO_TASK_OPTIONS (.priority = PRIO_TASK_PRIORITY_USER_BLOCKING),
 *                                           find_row, rows, NULL),
 *                            &error);
 *   …
 * }
 * ```
 *
 * Any thread may call it, once dex_init() has been called on the main thread.
 *
 * Returns: (transfer full) (nullable): the future, or %NULL if an argument is wrong, which logs a critical message
 *
 * Since: 1.0
 */
DexFuture *
prio_dex_post (PrioScheduler *scheduler, const PrioTaskOptions *options, PrioTaskFunc func, gpointer user_data,
               GDestroyNotify notify)
{
  /* Large enough for the options of later versions, so that their additional fields are copied too. */
  union { PrioTaskOptions options; guint8 bytes[512]; } copy = { .options = PRIO_TASK_OPTIONS () };
  PrioTaskOptions *own = &copy.options;
  g_autoptr (DexPromise) promise = NULL;
  g_autoptr (PrioTaskSignal) signal = NULL;
  g_autoptr (PrioTask) task = NULL;
  GCancellable *given;

  if (!prio_dex_is_ready (G_STRFUNC))
    return NULL;

  promise = dex_promise_new_cancellable ();
  if (options != NULL)
    memcpy (&copy, options, MIN (sizeof copy, options->size != 0 ? options->size : G_STRUCT_OFFSET (PrioTaskOptions, reserved) + 4));
  given = own->signal != NULL ? (GCancellable *) own->signal : own->cancellable;
  /* A wrong signal, or both a signal and a cancellable, are passed on: prio_scheduler_post_task () rejects them. */
  if ((own->signal == NULL || own->cancellable == NULL) && (given == NULL || G_IS_CANCELLABLE (given)))
    {
      signal = signal_for (promise, given);
      own->signal = signal;
      own->cancellable = NULL;
    }

  task = prio_scheduler_post_task (scheduler, own, func, user_data, notify);
  if (task == NULL)
    return NULL;

  prio_task_then (task, on_completed, dex_ref (promise), release_promise);
  return DEX_FUTURE (g_steal_pointer (&promise));
}

/* Protects the futures that tasks keep.  A task keeps its future as long as it lives, so that all callers wait for the
 * same future: libdex discards it when the last of them has stopped waiting. */
static GMutex futures_lock;

static void
free_weak_task (gpointer data, GClosure *closure G_GNUC_UNUSED)
{
  g_weak_ref_clear (data);
  g_free (data);
}

/* Cancels the task, on any thread.  GLib may hold the lock of @cancellable, which prio_task_cancel () does not use. */
static void
on_discarded (GCancellable *cancellable G_GNUC_UNUSED, gpointer weak_task)
{
  g_autoptr (PrioTask) task = g_weak_ref_get (weak_task);

  if (task != NULL)
    prio_task_cancel (task);
}

static DexPromise *
promise_of (PrioTask *task)
{
  DexPromise *promise = dex_promise_new_cancellable ();
  GWeakRef *weak_task = g_new0 (GWeakRef, 1);

  g_weak_ref_init (weak_task, task);
  g_signal_connect_data (dex_promise_get_cancellable (promise), "cancelled", G_CALLBACK (on_discarded), weak_task,
                         free_weak_task, G_CONNECT_DEFAULT);
  return promise;
}

/**
 * prio_dex_future_new:
 * @task: a task
 *
 * Returns a future for a task that has been posted.  The future resolves and rejects like the one from
 * [func@PrioSchedDex.post].
 *
 * A task has one future, and each call returns a new reference to it.  When libdex discards the future, because the
 * last waiting fiber or chained future has dropped it, the task is cancelled, as with [method@PrioSched.Task.cancel],
 * even if callbacks of [method@PrioSched.Task.then] wait for the task.
 *
 * The future does not hold the task. If the task's result is a pointer, the code that awaits the future owns it, and
 * frees it.  So only one fiber may await such a task.
 *
 * ```c
 * DexFuture *both = dex_future_all (prio_dex_future_new (parse), prio_dex_future_new (highlight), NULL);
 * ```
 *
 * Any thread may call it, once dex_init() has been called on the main thread.
 *
 * Returns: (transfer full) (nullable): the future, or %NULL if @task is not a task, which logs a critical message
 *
 * Since: 1.0
 */
DexFuture *
prio_dex_future_new (PrioTask *task)
{
  static GQuark quark;
  g_autoptr (DexPromise) promise = NULL;
  gboolean is_new;

  g_return_val_if_fail (PRIO_IS_TASK (task), NULL);
  if (!prio_dex_is_ready (G_STRFUNC))
    return NULL;

  g_mutex_lock (&futures_lock);
  if (quark == 0)
    quark = g_quark_from_static_string ("prio-dex-future");
  promise = g_object_get_qdata (G_OBJECT (task), quark);
  is_new = promise == NULL;
  if (is_new)
    {
      promise = promise_of (task);
      g_object_set_qdata_full (G_OBJECT (task), quark, promise, dex_unref);
    }
  dex_ref (promise);
  g_mutex_unlock (&futures_lock);

  if (is_new)
    prio_task_then (task, on_completed, dex_ref (promise), release_promise);
  return DEX_FUTURE (g_steal_pointer (&promise));
}
