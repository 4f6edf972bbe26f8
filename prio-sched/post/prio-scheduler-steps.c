/* prio-scheduler-steps.c: a function that is called again and again as a task
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "post/prio-scheduler-steps-private.h"

#include "loop/prio-yield-private.h"
#include "scheduler/prio-options-private.h"
#include "signal/prio-dependence-private.h"
#include "task/prio-task-impl-private.h"

/* The task has it, and each continuation of it, whose step may end the task. */
struct _PrioSteps
{
  PrioStepFunc func;
  gpointer data;
  GDestroyNotify notify;
};

PrioSteps *
prio_steps_new (PrioStepFunc func, gpointer data, GDestroyNotify notify)
{
  PrioSteps *self = g_atomic_rc_box_new (PrioSteps);

  *self = (PrioSteps) { func, data, notify };
  return self;
}

static void
clear (gpointer data)
{
  PrioSteps *self = data;

  if (self->notify != NULL)
    self->notify (self->data);
}

void
prio_steps_unref (gpointer self)
{
  g_atomic_rc_box_release_full (self, clear);
}

/* Whether another step is to be made: the last one has not ended the task, nor has an abort. */
static gboolean
goes_on (PrioTask *task)
{
  guint claim = __atomic_load_n (&task->claim, __ATOMIC_ACQUIRE);

  return prio_task_get_state (task) == PRIO_TASK_STATE_RUNNING && (claim & PRIO_TASK_RETURNED) == 0 &&
         (claim & (PRIO_TASK_DEFERRED | PRIO_TASK_CONTINUING)) != PRIO_TASK_DEFERRED && !prio_task_is_aborted (task);
}

static gboolean
should_yield (PrioTask *task)
{
  PrioRunQueue *run_queue = task->entry.run_queue;

  /* Entering takes in what other threads have sent, which counts too. */
  if (!prio_loop_enter (run_queue->loop))
    return FALSE;
  prio_loop_leave (run_queue->loop);
  return prio_loop_should_yield (run_queue->loop, run_queue, prio_thread.state);
}

/* The function of the task, and of each of its continuations. */
void
prio_steps_run (PrioTask *task, gpointer data)
{
  PrioSteps *self = data;
  gboolean more, yields;

  do
    {
      more = self->func (task, self->data);
      /* It may hear that another thread has ended the task. */
      yields = more && should_yield (task);
      more = more && goes_on (task);
    }
  while (more && !yields);

  if (more)
    prio_task_go_on_with (task, prio_steps_run, g_atomic_rc_box_acquire (self), prio_steps_unref);
}

/**
 * prio_scheduler_post_steps: (skip)
 * @self: a scheduler
 * @options: (nullable): what to post it with, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): makes a step
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task that is taken in steps: @func is called again and again until it returns %G_SOURCE_REMOVE.
 *
 * It is called as long as the time slice lasts and nothing more urgent waits, as
 * [method@PrioSched.Scheduler.should_yield] tells.  Then the task yields, and goes on as a continuation: with its priority,
 * its signal and its timeout, before new tasks of that priority.  A step should be short; it does not have to count or
 * to look at the clock.
 *
 * ```c
 * static gboolean
 * index_row (PrioTask *task, gpointer user_data)
 * {
 *   Index *index = user_data;
 *
 *   if (!index_add (index, rows[index->n]))
 *     prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "Row %u is damaged", index->n);
 *   else if (++index->n < n_rows)
 *     return G_SOURCE_CONTINUE;
 *   else
 *     prio_task_return_int (task, index->n_words);
 *   return G_SOURCE_REMOVE;
 * }
 *
 * task = prio_scheduler_post_steps (scheduler, &(PrioTaskOptions) { .signal = signal }, index_row, index, index_free);
 * ```
 *
 * A step that gives the task its result or an error, defers the result, or goes on with another function
 * ([method@PrioSched.Task.continue_with]) is the last one, whatever it returns.  If the last one does nothing of this, the task is
 * fulfilled without a value.  Between two steps an abort or [method@PrioSched.Task.cancel] ends the task, and so does
 * a result from somewhere else: @func is called no more.  The task is in the state %PRIO_TASK_STATE_RUNNING from its first step
 * to its end; each slice is one run of it, for statistics and in a trace.
 *
 * In language bindings generators are taken in steps.
 *
 * With a wrong argument it logs a critical message, posts nothing, and does not call @notify.
 *
 * Any thread may call it; @func is called on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_scheduler_post_steps (PrioScheduler *self, const PrioTaskOptions *options, PrioStepFunc func, gpointer user_data,
                           GDestroyNotify notify)
{
  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options), NULL);
  prio_return_val_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL,
                                                 options != NULL ? options->name : NULL), NULL);

  return prio_scheduler_post_task (self, options, prio_steps_run, prio_steps_new (func, user_data, notify), prio_steps_unref);
}
