/* prio-task-cancel.c: aborting one task alone
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "task/prio-task-impl-private.h"

/* Of a task that runs in a thread: takes it back if it has not begun.  Atomic; set before there is one. */
gboolean (*prio_task_take_back) (PrioTask *self);

static void
op_cancel (PrioLoop *loop, const PrioOp *op)
{
  PrioTask *self = op->target;

  switch (prio_entry_get_state (&self->entry))
    {
    case PRIO_ENTRY_DELAYED:
    case PRIO_ENTRY_QUEUED:
      __atomic_store_n (&self->cancelled, TRUE, __ATOMIC_SEQ_CST);
      prio_run_queue_abort_entry (&self->entry);
      break;

    case PRIO_ENTRY_DROPPED:
      /* Its signal was aborted before, and gives the reason. */
      prio_run_queue_abort_entry (&self->entry);
      break;

    case PRIO_ENTRY_RUNNING:
      __atomic_store_n (&self->cancelled, TRUE, __ATOMIC_SEQ_CST);
      prio_run_queue_abort_running (&self->entry);
      prio_run_queue_abort_entry (&self->entry);
      break;

    case PRIO_ENTRY_ABORTED:
      /* So was that of one that runs, which has its result when the abort comes to it, or its function returns. */
      __atomic_store_n (&self->cancelled, TRUE, __ATOMIC_SEQ_CST);
      break;

    default:
      if (prio_task_is_completed (self))
        break;
      /* The task may have deferred its result: prio_task_return_error_if_aborted () finds this. */
      __atomic_store_n (&self->cancelled, TRUE, __ATOMIC_SEQ_CST);
      if (self->next != NULL || (__atomic_load_n (&self->claim, __ATOMIC_RELAXED) & PRIO_TASK_CONTINUING) != 0 ||
          (self->entry.use == PRIO_ENTRY_IN_THREAD && __atomic_load_n (&prio_task_take_back, __ATOMIC_ACQUIRE) (self)))
        {
          prio_task_abort (self);
          return;
        }
      break;
    }
  prio_loop_defer_release (loop, g_object_unref, self);
}

/**
 * prio_task_cancel:
 * @self: a task
 *
 * Cancels this task alone: its result is %G_IO_ERROR_CANCELLED.
 *
 * A task that is delayed or queued, or waits for a thread, leaves its queue.  If its function is running, it goes on,
 * but the task has the error as its result at once.  A task that has deferred its result, and
 * whose function has returned, and one whose function runs in another thread are not ended by the call: they hear of it when they call
 * [method@PrioSched.Task.return_error_if_aborted].  One that is taken in steps,
 * [method@PrioSched.Scheduler.post_steps], is as one that is queued or runs.  For a completed task the call does nothing.
 *
 * Any thread may call it.  A call from a thread other than the one that runs the scheduler's main
 * context takes effect when that thread comes to it: at the end of the running task at the latest.
 *
 * Since: 1.0
 */
void
prio_task_cancel (PrioTask *self)
{
  PrioOp op = { .apply = op_cancel, .target = self };

  g_return_if_fail (PRIO_IS_POSTED (self));

  g_object_ref (self);
  prio_loop_submit (self->entry.run_queue->loop, &op);
}

/* The same, but the caller, or the next dispatch, releases what that leaves. */
void
prio_task_cancel_quietly (PrioTask *self)
{
  PrioOp op = { .apply = op_cancel, .target = g_object_ref (self) };

  prio_loop_submit_quietly (self->entry.run_queue->loop, &op);
}
