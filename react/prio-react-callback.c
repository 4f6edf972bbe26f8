/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-react-callback.c: tasks with one of the five priority levels of React's Scheduler
 *
 * The function of such a task may set another function that continues the task.  Each function is a step of the task. */

#include "prio-react-private.h"

#include <prio-sched-bindings.h>

typedef struct
{
  PrioTaskFunc func; /* NULL for none */
  gpointer data;
  GDestroyNotify notify;
} Callback;

/* The data of a task. */
typedef struct
{
  PrioReactLevel level;
  Callback first; /* valid until the task has ended */
  Callback next;
} Scheduled;

static void
callback_clear (Callback *self)
{
  Callback callback = *self;

  *self = (Callback) { NULL, NULL, NULL };
  if (callback.notify != NULL)
    callback.notify (callback.data);
}

static void
scheduled_free (gpointer data)
{
  Scheduled *self = data;

  callback_clear (&self->next);
  callback_clear (&self->first);
  g_free (self);
}

/* Calls the next function of the task.  Returns whether the task continues. */
static gboolean
call_next (PrioTask *task, gpointer data)
{
  Scheduled *self = data;
  Callback now = self->next;
  PrioReactFrame frame = { .level = self->level, .task = task, .data = self };

  self->next = (Callback) { NULL, NULL, NULL };
  prio_react_enter (&frame);
  now.func (task, now.data);
  prio_react_leave (&frame);

  callback_clear (&now);
  return self->next.func != NULL;
}

/**
 * prio_react_schedule_callback:
 * @scheduler: a scheduler
 * @level: the task's priority level
 * @delay: milliseconds to wait before the task is queued
 * @func: (scope notified) (closure user_data) (destroy notify): the callback
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed, which is when the task has ended
 *
 * Posts a task with a priority level of React: React's `unstable_scheduleCallback()`.
 *
 * The task has the priority and the timeout of @level; the timeout counts from the end of the delay.  In @func,
 * [method@PrioSched.Scheduler.did_timeout] returns whether the timeout has passed.  @func may call
 * prio_react_continue_with() to continue the task with another function, or with @func again; otherwise it returns a
 * result or an error, or defers the result, as in [method@PrioSched.Scheduler.post_task].  React's
 * `unstable_cancelCallback()` is [method@PrioSched.Task.cancel].
 *
 * ```c
 * task = prio_react_schedule_callback (scheduler, PRIO_REACT_LEVEL_NORMAL, 0, parse, document, document_free);
 * ```
 *
 * Tasks of the low and the idle level have the same priority, and the older one runs first, until the timeout of a low-level
 * task has passed.
 *
 * With a wrong argument, the call logs a critical message, posts nothing, and does not call @notify.
 *
 * Any thread may call it; @func is called on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_react_schedule_callback (PrioScheduler *scheduler, PrioReactLevel level, guint64 delay, PrioTaskFunc func, gpointer user_data,
                              GDestroyNotify notify)
{
  PrioTaskOptions options = { .delay = delay };
  Scheduled *self;

  g_return_val_if_fail (PRIO_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (func != NULL, NULL);
  if (!prio_react_check_level (G_STRFUNC, level))
    return NULL;

  options.priority = prio_react_level_get_priority (level);
  options.timeout = prio_react_level_get_timeout (level);
  self = g_new0 (Scheduled, 1);
  self->level = level;
  self->first = (Callback) { func, user_data, notify };
  self->next = (Callback) { func, user_data, NULL };
  return prio_scheduler_post_steps (scheduler, &options, call_next, self, scheduled_free);
}

/**
 * prio_react_continue_with:
 * @task: a task of prio_react_schedule_callback(), in its function
 * @func: (scope notified) (closure user_data) (destroy notify): the next function of the task
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed, which is when @func has returned, or will not be
 *   called
 *
 * Makes the task continue with @func when its current function has returned.  In React's Scheduler, a callback returns
 * its continuation instead.
 *
 * If [method@PrioSched.Scheduler.should_yield] is %FALSE then, @func is called at once.  Otherwise the task yields, and
 * @func is called later as a continuation: with the priority and the timeout of the task, before new tasks of that
 * priority.  @func may give the task its result, defer the result, or continue with another function; otherwise the
 * task is fulfilled without a value.
 *
 * ```c
 * static void
 * parse (PrioTask *task, gpointer document)
 * {
 *   if (parse_some (document))
 *     prio_react_continue_with (task, parse, document, NULL);
 *   else
 *     prio_react_continue_with (task, lay_out, document, NULL);
 * }
 * ```
 *
 * If the task is cancelled before @func is called, @func is not called, and the task is aborted.  If the main context
 * is destroyed, the task is aborted with %PRIO_ERROR_CLOSED.  A task that has a result, or has deferred it, does not
 * continue either.
 *
 * A task continues with one function at a time: a second call before @func is called is refused.  To continue,
 * functions of [method@PrioSched.Scheduler.post] and [method@PrioSched.Scheduler.post_steps] return %G_SOURCE_CONTINUE
 * instead, and keep their next step in their data.
 *
 * Call it in the task's function, or in @func, on the thread that runs the task.  A wrong call logs a critical message,
 * and does not call @notify.
 *
 * Since: 1.0
 */
void
prio_react_continue_with (PrioTask *task, PrioTaskFunc func, gpointer user_data, GDestroyNotify notify)
{
  const char *wrong = NULL;
  PrioReactFrame *frame;
  Scheduled *self;

  g_return_if_fail (PRIO_IS_TASK (task));
  g_return_if_fail (func != NULL);

  frame = prio_react_find (task);
  self = frame != NULL ? frame->data : NULL;
  if (self == NULL)
    wrong = "is not one of prio_react_schedule_callback() that is in its function";
  else if (self->next.func != NULL)
    wrong = "goes on with another function already";

  if (wrong != NULL)
    {
      g_autofree char *name = prio_task_dup_name (task);

      g_critical ("%s(): the task “%s” %s", G_STRFUNC, name != NULL ? name : "", wrong);
    }
  else
    self->next = (Callback) { func, user_data, notify };
}

/**
 * prio_react_dup_first_task:
 * @scheduler: a scheduler
 *
 * Gets the task that runs next: React's `unstable_getFirstCallbackNode()`.
 *
 * It is the oldest task of the highest priority, or the first task whose timeout has passed.  Tasks of groups count if
 * their group's limit allows another task.  The task stays queued; [method@PrioSched.Task.cancel] removes it.  A task
 * with a delay counts when its delay is over.  A paused scheduler has a first task, too.
 *
 * If the next task is a closure of [method@PrioSched.Scheduler.post], or a continuation of a yield, or if there is no
 * task, the result is %NULL.
 *
 * ```c
 * g_autoptr (PrioTask) first = prio_react_dup_first_task (scheduler);
 *
 * if (first != NULL)
 *   prio_task_cancel (first);
 * ```
 *
 * Call it on the thread that runs the scheduler's main context.  On another thread, the call logs a critical message,
 * and returns %NULL.
 *
 * Returns: (transfer full) (nullable): the first task, or %NULL
 *
 * Since: 1.0
 */
PrioTask *
prio_react_dup_first_task (PrioScheduler *scheduler)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (scheduler), NULL);

  return prio_scheduler_dup_first_task (scheduler);
}
