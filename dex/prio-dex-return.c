/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dex-return.c: a future as the result of a task */

#include "prio-dex-private.h"

/* A task that waits for a future.  The future's result or an abort claims the wait, whichever comes first. */
typedef struct
{
  gint refs;    /* atomic */
  gint claimed; /* atomic */
  PrioTask *task;

  /* A separate signal that follows the task's signal: it emits `cancelled` while GLib holds no lock. */
  PrioTaskSignal *signal; /* or NULL */

  GMutex lock;
  DexFuture *future; /* the awaited future, and then the future of on_settled (); NULL when the wait has ended;
                      * protected by @lock */
} Wait;

static Wait *
wait_ref (Wait *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

static void
wait_unref (gpointer data)
{
  Wait *self = data;

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;

  g_clear_object (&self->signal);
  g_object_unref (self->task);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static void
wait_unref_closure (gpointer data, GClosure *closure G_GNUC_UNUSED)
{
  wait_unref (data);
}

/* Replaces the future with @future.  Returns (transfer full) (nullable) the previous one. */
static DexFuture *
exchange (Wait *self, DexFuture *future)
{
  DexFuture *former;

  g_mutex_lock (&self->lock);
  former = self->future;
  self->future = future;
  g_mutex_unlock (&self->lock);
  return former;
}

static gboolean
claim (Wait *self)
{
  if (!g_atomic_int_compare_and_exchange (&self->claimed, FALSE, TRUE))
    return FALSE;

  if (self->signal != NULL)
    g_signal_handlers_disconnect_by_data (self->signal, self);
  return TRUE;
}

/* Drops the future.  libdex discards it if no other code waits for it. */
static void
let_go (Wait *self)
{
  DexFuture *future = exchange (self, NULL);

  if (future != NULL)
    dex_unref (future);
}

/* Ends the wait with the result of @future.  Called on a thread that has a DexScheduler. */
static DexFuture *
on_settled (DexFuture *future, gpointer data)
{
  Wait *self = data;
  const GValue *value;
  GError *error = NULL;

  if (!claim (self))
    return NULL;

  value = dex_future_get_value (future, &error);
  if (prio_task_return_error_if_aborted (self->task))
    g_clear_error (&error);
  else if (value != NULL)
    prio_task_return_value (self->task, value);
  else
    prio_task_return_error (self->task, error);

  let_go (self);
  return NULL;
}

static void
on_aborted (GCancellable *signal G_GNUC_UNUSED, gpointer data)
{
  Wait *self = wait_ref (data);

  if (claim (self))
    {
      if (!prio_task_return_error_if_aborted (self->task))
        prio_task_return_error (self->task, prio_task_signal_dup_reason (self->signal));
      let_go (self);
    }
  wait_unref (self);
}

/* Starts to wait.  Called on a thread that has a DexScheduler. */
static void
listen (gpointer data)
{
  Wait *self = data;
  DexFuture *future = exchange (self, NULL);
  g_autoptr (DexFuture) listener = NULL;

  if (future != NULL)
    listener = dex_future_finally (future, on_settled, wait_ref (self), wait_unref);
  if (listener != NULL)
    exchange (self, dex_ref (listener));
  /* An abort may have claimed the wait meanwhile, and not have seen @listener. */
  if (g_atomic_int_get (&self->claimed))
    let_go (self);
  wait_unref (self);
}

static void
follow_signal (Wait *self)
{
  GCancellable *signal = prio_task_get_cancellable (self->task);

  if (signal == NULL)
    return;

  self->signal = prio_task_signal_new_any (&signal, 1, PRIO_TASK_PRIORITY_USER_VISIBLE);
  g_signal_connect_data (self->signal, "cancelled", G_CALLBACK (on_aborted), wait_ref (self), wait_unref_closure,
                         G_CONNECT_DEFAULT);
  if (prio_task_signal_is_aborted (self->signal))
    on_aborted (NULL, self);
}

/**
 * prio_dex_task_return:
 * @task: a task, in its function
 * @future: (transfer full): a future of the task's result
 *
 * Defers the task's result, as [method@PrioSched.Task.defer] does, until @future completes.  The value or the error of
 * @future is then the task's result.  Values of every type are passed on.
 *
 * An abort of the task's signal ends the task at once with the reason, and drops @future, so that libdex discards it if
 * no other code waits for it.  After [method@PrioSched.Task.cancel], the task is aborted when @future completes.
 *
 * ```c
 * static void
 * load (PrioTask *task, gpointer file)
 * {
 *   prio_dex_task_return (task, dex_file_load_contents_bytes (file));
 * }
 * ```
 *
 * The task's function must not use its task afterwards.  Call this on the thread that runs the task.  Only the main
 * thread and libdex's own threads have a DexScheduler: for a task on another thread, the main thread waits for @future.
 *
 * Since: 1.0
 */
void
prio_dex_task_return (PrioTask *task, DexFuture *future)
{
  Wait *self;

  g_return_if_fail (PRIO_IS_TASK (task));
  g_return_if_fail (DEX_IS_FUTURE (future));

  prio_task_defer (task);

  self = g_new0 (Wait, 1);
  self->refs = 1;
  self->task = g_object_ref (task);
  self->future = future;
  g_mutex_init (&self->lock);

  follow_signal (self);
  if (dex_scheduler_get_thread_default () != NULL)
    listen (self);
  else
    dex_scheduler_push (dex_scheduler_get_default (), listen, self);
}
