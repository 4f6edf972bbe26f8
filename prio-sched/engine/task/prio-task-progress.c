/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-progress.c: the progress of a task */

#include "config.h"

#include "task/prio-task-impl-private.h"

/* Notifies `progress`, in a microtask.  A later change queues another microtask. */
static void
tell (gpointer data)
{
  PrioTask *self = data;

  self->tells_progress = FALSE;
  g_object_notify (G_OBJECT (self), "progress");
}

/* Queues the microtask that notifies `progress`.  Takes the operation's reference to the task. */
static void
op_tell (PrioLoop *loop, const PrioOp *op)
{
  PrioTask *self = op->target;
  PrioMicrotask microtask = { .func = tell, .data = self, .notify = g_object_unref };

  if (self->tells_progress || prio_loop_is_dead (loop))
    {
      prio_loop_defer_release (loop, g_object_unref, self);
      return;
    }
  self->tells_progress = TRUE;
  prio_loop_queue_microtask (loop, &microtask);
}

/**
 * prio_task_get_progress: (get-property progress)
 * @self: a task
 *
 * Gets the task's progress, as set with [method@PrioSched.Task.set_progress].  Any thread may call this function.
 *
 * Returns: the progress, from 0 to 1
 *
 * Since: 1.0
 */
double
prio_task_get_progress (PrioTask *self)
{
  prio_return_val_if_wrong (prio_check_task (G_STRFUNC, self), 0);

  return (double) __atomic_load_n (&self->progress, __ATOMIC_RELAXED) / PRIO_WHOLE_PROGRESS;
}

/**
 * prio_task_set_progress: (set-property progress)
 * @self: a task
 * @progress: the progress, from 0 to 1, with a precision of 1/50,000
 *
 * Sets the task's progress.
 *
 * [property@PrioSched.Task:progress] is notified on the thread that runs the scheduler's main context, in a microtask.
 * A task of [method@PrioSched.Scheduler.post_steps] may call this function in each step: handlers run only once in each
 * time slice.
 *
 * ```c
 * static gboolean
 * index_row (PrioTask *task, gpointer index)
 * {
 *   guint n = index_next (index);
 *
 *   prio_task_set_progress (task, (double) n / n_rows);
 *   return n < n_rows;
 * }
 *
 * g_autoptr (PrioTask) task = prio_scheduler_post_steps (scheduler, NULL, index_row, index, index_free);
 *
 * g_object_bind_property (task, "progress", progress_bar, "fraction", G_BINDING_DEFAULT);
 * ```
 *
 * A value that is out of range is refused with a critical message.  When the task has completed, the call does nothing.
 * Any thread may call this function, such as a thread of [method@PrioSched.Scheduler.run_in_thread].
 *
 * Since: 1.0
 */
void
prio_task_set_progress (PrioTask *self, double progress)
{
  PrioLoop *loop;
  guint16 parts;

  prio_return_if_wrong (prio_check_task (G_STRFUNC, self));

  /* The condition also refuses NaN. */
  if (!(progress >= 0 && progress <= 1))
    {
      g_critical ("%s: the progress is %g, and has to be from 0 to 1", G_STRFUNC, progress);
      return;
    }

  parts = (guint16) (progress * PRIO_WHOLE_PROGRESS + 0.5);
  if (prio_task_is_completed (self) || __atomic_exchange_n (&self->progress, parts, __ATOMIC_RELAXED) == parts ||
      !prio_task_is_listened_to (self))
    return;

  /* Submits nothing in the usual case, in which an earlier call has queued the microtask already. */
  loop = self->entry.run_queue->loop;
  if (prio_loop_is_owner_thread (loop) && self->tells_progress)
    return;
  prio_loop_submit (loop, &(PrioOp) { .apply = op_tell, .target = g_object_ref (self) });
}
