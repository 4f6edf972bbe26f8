/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-steps.c: tasks that call a function repeatedly
 *
 * Such a task runs steps until it should yield, and continues in a later slice. */

#include "config.h"

#include "base/prio-check-private.h"
#include "base/prio-thread-private.h"
#include "prio-engine.h"
#include "prio-task-group.h"

/* The function of a task.  The task and each continuation own a reference, because a step may end the task. */
typedef struct
{
  PrioStepFunc func;
  gpointer data;
  GDestroyNotify notify;
} Steps;

/* A step that is running on this thread.  With nested main loops there may be several. */
typedef struct _Making Making;

struct _Making
{
  Making *outer;
  PrioTask *task;
  gint64 due; /* when the next step may run, in µs, or 0 */
  gboolean is_delayed;
};

static PRIO_TLS Making *making;

static Steps *
steps_new (PrioStepFunc func, gpointer data, GDestroyNotify notify)
{
  Steps *self = g_atomic_rc_box_new (Steps);

  *self = (Steps) { func, data, notify };
  return self;
}

static void
clear (gpointer data)
{
  Steps *self = data;

  if (self->notify != NULL)
    self->notify (self->data);
}

static void
steps_unref (gpointer self)
{
  g_atomic_rc_box_release_full (self, clear);
}

/* Calls the function until the task should yield, ends or is delayed.  Runs in the task, and in each continuation. */
static void
run (PrioTask *task, gpointer data)
{
  Making self = { .outer = making, .task = task };
  Steps *steps = data;
  gboolean more, yields = FALSE;

  do
    {
      making = &self;
      more = steps->func (task, steps->data);
      making = self.outer;
      more = more && prio_task_may_go_on (task, &yields);
    }
  while (more && !yields && !self.is_delayed);
  if (G_UNLIKELY (self.is_delayed) && prio_task_is_deferred (task))
    prio_task_complain (task, "prio_task_delay_step", "is deferred, and makes no step after the delay");
  if (more)
    prio_task_go_on (task, self.due, run, g_atomic_rc_box_acquire (steps), steps_unref);
}

/**
 * prio_task_delay_step: (skip)
 * @self: a task, in a step of its function
 * @delay: how long to wait before the next step, in milliseconds
 *
 * Delays the next step of a task, for example while a lock is taken or a device is busy.
 *
 * The step should then return %G_SOURCE_CONTINUE.  During the delay an abort ends the task at once, as in
 * [method@PrioSched.Scheduler.sleep_async].  If a step calls this more than once, the last call counts.  If the step
 * also defers the result, there is no next step, and a critical message says so.
 *
 * ```c
 * static gboolean
 * render_page (PrioTask *task, gpointer data)
 * {
 *   Document *document = data;
 *
 *   if (!g_mutex_trylock (&document->lock))
 *     {
 *       prio_task_delay_step (task, 5); // a thread is using it: again in 5 ms
 *       return G_SOURCE_CONTINUE;
 *     }
 *   document_render_next_page (document);
 *   g_mutex_unlock (&document->lock);
 *   return document_has_more_pages (document);
 * }
 * ```
 *
 * Call this function in a step of @self, that is in a function that [method@PrioSched.Scheduler.post_steps] or
 * [method@PrioSched.TaskGroup.post_steps] calls.  Otherwise, the call logs a critical message, and does nothing.
 *
 * Since: 1.0
 */
void
prio_task_delay_step (PrioTask *self, guint64 delay)
{
  prio_return_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_TASK));
  if (making == NULL || making->task != self)
    {
      prio_task_complain (self, G_STRFUNC, "makes no step now, which could be delayed");
      return;
    }

  making->is_delayed = TRUE;
  making->due = prio_due_after (delay);
}

/**
 * prio_scheduler_post_steps: (skip)
 * @self: a scheduler
 * @options: (nullable): the options, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): does one step of the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task of steps: @func is called repeatedly until it returns %G_SOURCE_REMOVE.
 *
 * When [method@PrioSched.Scheduler.should_yield] would return %TRUE, because the time slice is over or a more urgent
 * task waits, the task yields.  It continues later, with its priority, signal and timeout, before new tasks of that
 * priority, unless the options set `takes_turns`.  A step should be short, and need not check the clock.
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
 * task = prio_scheduler_post_steps (scheduler, &PRIO_TASK_OPTIONS (.signal = signal), index_row, index, index_free);
 * ```
 *
 * A step that gives the task its result or an error, or defers the result, is the last step, whatever it returns.
 * Otherwise the task is fulfilled without a value after the last step.  Between two steps an abort,
 * [method@PrioSched.Task.cancel] or a result from other code ends the task: @func is not called any more.  The task is
 * in the state %PRIO_TASK_STATE_RUNNING from its first step to its end; each slice is a run in statistics and traces.
 *
 * Bindings offer generators instead.  With a wrong argument, the call logs a critical message, posts nothing, and does
 * not call @notify.  Any thread may call this function; @func is called on the thread that runs the scheduler's main
 * context.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_scheduler_post_steps (PrioScheduler *self, const PrioTaskOptions *options, PrioStepFunc func, gpointer user_data,
                           GDestroyNotify notify)
{
  PrioTask *task;

  prio_return_val_if_wrong (prio_check_type (G_STRFUNC, self, PRIO_TYPE_SCHEDULER), NULL);
  prio_return_val_if_wrong (prio_check_options (G_STRFUNC, options, func != NULL), NULL);

  task = prio_scheduler_post_task (self, options, run, steps_new (func, user_data, notify), steps_unref);
  prio_task_set_program_func (task, (gpointer) func);
  return task;
}

/**
 * prio_task_group_post_steps: (skip)
 * @self: a group
 * @options: (nullable): the options, or %NULL for the defaults
 * @func: (scope notified) (closure user_data) (destroy notify): does one step of the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task of steps like [method@PrioSched.Scheduler.post_steps], but starts it only when the group's limit allows
 * another task.  The task counts toward the limit until it ends, even between its steps.
 *
 * ```c
 * for (guint i = 0; i < n_folders; i++)
 *   g_object_unref (prio_task_group_post_steps (group, NULL, index_some, index_new (folders[i]), index_free));
 * ```
 *
 * With a wrong argument, the call logs a critical message, posts nothing, and does not call @notify.  Call this
 * function on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_task_group_post_steps (PrioTaskGroup *self, const PrioTaskOptions *options, PrioStepFunc func, gpointer user_data,
                            GDestroyNotify notify)
{
  PrioTask *task;

  prio_return_val_if_wrong (prio_check_task_group (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_options (G_STRFUNC, options, func != NULL), NULL);

  task = prio_task_group_post_task (self, options, run, steps_new (func, user_data, notify), steps_unref);
  prio_task_set_program_func (task, (gpointer) func);
  return task;
}
