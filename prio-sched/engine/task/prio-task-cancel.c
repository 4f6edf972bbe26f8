/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-cancel.c: cancels one task */

#include "config.h"

#include "task/prio-task-impl-private.h"

#include "signal/prio-dependence-private.h"

/* Removes the function of a task from the queue for threads.  Returns FALSE if the function has begun, or was removed
 * before.  Atomic; set before the first function waits for a thread. */
gboolean (*prio_task_take_back) (PrioTask *self);

static G_DEFINE_QUARK (prio-sched-abort-listener, listener)

/* Connects a task whose return-on-abort is TRUE to its signal.  The task owns the listener until the task is
 * finalized. */
typedef struct
{
  GWeakRef task;
  GCancellable *signal; /* owned */
  gulong id; /* of the handler */
} Listener;

/* Returns whether an abort has to end @self at once: its return-on-abort is TRUE, and its function runs in another
 * thread, or has returned without a result.  Called only on the owner thread. */
static gboolean
returns_now (PrioTask *self)
{
  if (!prio_task_get_return_on_abort (self) || prio_task_is_completed (self))
    return FALSE;
  if (self->entry.use == PRIO_ENTRY_IN_THREAD)
    return __atomic_load_n (&self->state, __ATOMIC_RELAXED) == PRIO_TASK_STATE_RUNNING;
  return prio_entry_get_state (&self->entry) == PRIO_ENTRY_DONE;
}

static void
op_return_aborted (PrioLoop *loop, const PrioOp *op)
{
  if (returns_now (op->target))
    prio_task_abort (op->target);
  else
    prio_loop_defer_release (loop, g_object_unref, op->target);
}

/* Ends @self, which has been aborted, if returns_now () is TRUE on the owner thread.  Takes ownership of the reference.
 * Any thread may call this function. */
static void
return_aborted (PrioTask *self)
{
  prio_loop_submit_post (self->entry.run_queue->loop, &(PrioOp) { .apply = op_return_aborted, .target = self });
}

/* Ends @self if return-on-abort is TRUE and an abort has come already.  Any thread may call this function. */
void
prio_task_process_abort (PrioTask *self)
{
  if (prio_task_get_return_on_abort (self) &&
      (__atomic_load_n (&self->cancelled, __ATOMIC_SEQ_CST) || prio_loop_has_gone (self->entry.run_queue->loop) ||
       (self->signal != NULL && prio_signal_node_is_aborted (prio_signal_node_for (self->signal)))))
    return_aborted (g_object_ref (self));
}

/* Ends the task, and leaves callbacks and releases to the next dispatch: GLib may hold the cancellable's lock here. */
static void
signal_cancelled (GCancellable *signal G_GNUC_UNUSED, Listener *self)
{
  PrioTask *task = g_weak_ref_get (&self->task);

  if (task != NULL)
    return_aborted (task);
  prio_before_unref (self); /* another thread may soon free @self with the closure */
}

static void
listener_free (gpointer data, GClosure *closure G_GNUC_UNUSED)
{
  Listener *self = data;

  prio_in_finalize (self);
  g_weak_ref_clear (&self->task);
  g_object_unref (self->signal);
  g_free (self);
}

static void
stop_listening (gpointer data)
{
  Listener *self = data;

  prio_before_unref (self);
  g_signal_handler_disconnect (self->signal, self->id);
}

void
prio_task_apply_return_on_abort (PrioTask *self, gboolean return_on_abort)
{
  __atomic_store_n (&self->return_on_abort, return_on_abort, __ATOMIC_RELAXED);
  if (!return_on_abort || prio_task_is_completed (self))
    return;

  if (self->signal != NULL && g_object_get_qdata (G_OBJECT (self), listener_quark ()) == NULL)
    {
      Listener *listener = g_new (Listener, 1);

      g_weak_ref_init (&listener->task, self);
      listener->signal = g_object_ref (self->signal);
      listener->id = g_signal_connect_data (self->signal, "cancelled", G_CALLBACK (signal_cancelled), listener, listener_free, 0);
      g_object_set_qdata_full (G_OBJECT (self), listener_quark (), listener, stop_listening);
    }
  prio_task_process_abort (self);
}

/**
 * prio_task_get_return_on_abort: (get-property return-on-abort)
 * @self: a task
 *
 * Gets whether an abort ends the task at once.  Any thread may call this function.
 *
 * ```c
 * gboolean waits_for_server = !prio_task_get_return_on_abort (task);
 * ```
 *
 * Returns: whether an abort ends the task at once
 *
 * Since: 1.0
 */
gboolean
prio_task_get_return_on_abort (PrioTask *self)
{
  g_return_val_if_fail (PRIO_IS_TASK (self), FALSE);

  return __atomic_load_n (&self->return_on_abort, __ATOMIC_RELAXED);
}

/**
 * prio_task_set_return_on_abort: (set-property return-on-abort)
 * @self: a task
 * @return_on_abort: whether an abort is to end the task at once
 *
 * Sets whether an abort, now or earlier, ends the task at once even if its function has returned and deferred its
 * result, or runs in a thread: see [property@PrioSched.Task:return-on-abort].  Any thread may call this function.
 *
 * ```c
 * static void
 * ask (PrioTask *task, gpointer server)
 * {
 *   prio_task_set_return_on_abort (task, TRUE); // the server may never answer
 *   prio_task_defer (task);
 *   server_ask_async (server, answered, g_object_ref (task));
 * }
 * ```
 *
 * Since: 1.0
 */
void
prio_task_set_return_on_abort (PrioTask *self, gboolean return_on_abort)
{
  g_return_if_fail (PRIO_IS_TASK (self));

  g_object_set (self, "return-on-abort", return_on_abort, NULL);
}

static void
op_cancel (PrioLoop *loop, const PrioOp *op)
{
  PrioTask *self = op->target;
  PrioEntryState state = prio_entry_get_state (&self->entry);

  /* The signal of a DROPPED task was aborted before this cancellation, and determines the reason. */
  if (state != PRIO_ENTRY_DROPPED && !prio_task_is_completed (self))
    __atomic_store_n (&self->cancelled, TRUE, __ATOMIC_SEQ_CST);

  switch (state)
    {
    case PRIO_ENTRY_RUNNING:
      prio_entry_move (&self->entry, PRIO_ENTRY_ABORTED);
      G_GNUC_FALLTHROUGH;

    case PRIO_ENTRY_DELAYED:
    case PRIO_ENTRY_QUEUED:
    case PRIO_ENTRY_DROPPED:
      prio_run_queue_abort_entry (&self->entry);
      break;

    case PRIO_ENTRY_ABORTED:
      /* The task gets its result when the abort is processed, or when its function returns. */
      break;

    default:
      /* Other deferred tasks, and other functions in threads, continue: see prio_task_return_error_if_aborted (). */
      if (!prio_task_is_completed (self) &&
          (self->next != NULL || returns_now (self) || (__atomic_load_n (&self->claim, __ATOMIC_RELAXED) & PRIO_TASK_CONTINUING) != 0 ||
           (self->entry.use == PRIO_ENTRY_IN_THREAD && __atomic_load_n (&prio_task_take_back, __ATOMIC_ACQUIRE) (self))))
        {
          prio_task_abort (self);
          return;
        }
    }
  prio_loop_defer_release (loop, g_object_unref, self);
}

/**
 * prio_task_cancel:
 * @self: a task
 *
 * Cancels this task only: its result is %G_IO_ERROR_CANCELLED.
 *
 * A task that is delayed or queued, or waits for a thread, leaves its queue.  If its function is running, the function
 * continues, but the task has the error as its result at once.  A task whose function runs in another thread, or has
 * returned and deferred its result, ends at once only with [property@PrioSched.Task:return-on-abort].  Otherwise it
 * continues, and may call [method@PrioSched.Task.return_error_if_aborted].  A task of
 * [method@PrioSched.Scheduler.post_steps] behaves like a queued task between steps, and like a running task in a step.
 * For a completed task the call does nothing.
 *
 * Any thread may call this function.  On another thread, it takes effect by the end of the task that runs then.
 *
 * Since: 1.0
 */
void
prio_task_cancel (PrioTask *self)
{
  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));

  prio_loop_submit (self->entry.run_queue->loop, &(PrioOp) { .apply = op_cancel, .target = g_object_ref (self) });
}

/* Cancels the task, but calls no destroy notify: the caller, or the next dispatch, calls the deferred notifies. */
void
prio_task_cancel_quietly (PrioTask *self)
{
  prio_loop_submit_quietly (self->entry.run_queue->loop, &(PrioOp) { .apply = op_cancel, .target = g_object_ref (self) });
}
