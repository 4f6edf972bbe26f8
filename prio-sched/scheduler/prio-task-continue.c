/* prio-task-continue.c: a task that goes on with another function
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-current-private.h"
#include "prio-error.h"
#include "scheduler/prio-options-private.h"
#include "task/prio-task-impl-private.h"

#include <glib/gi18n-lib.h>

typedef struct
{
  PrioTask *task; /* owned */
  PrioTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  gboolean is_called;
} Next;

/* The function has returned: unless it gives the result later, or goes on with another function, the task is fulfilled. */
static void
complete (PrioTask *self)
{
  PrioResult none = { .kind = PRIO_RESULT_NONE };
  guint claim = __atomic_fetch_and (&self->claim, ~(guint) PRIO_TASK_CONTINUING, __ATOMIC_ACQ_REL);

  if ((claim & PRIO_TASK_CONTINUING) != 0 &&
      (__atomic_fetch_or (&self->claim, PRIO_TASK_RETURNED, __ATOMIC_ACQ_REL) & PRIO_TASK_RETURNED) == 0)
    prio_task_return (self, &none);
}

/* Nobody else gives the result of a task that is to go on. */
static void
go_on (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Next *next = data;
  PrioTask *task = next->task;
  GError *error = NULL;

  next->is_called = TRUE;
  if (!prio_scheduler_yield_finish (NULL, result, &error))
    {
      prio_task_return_error (task, error);
    }
  else if (!prio_task_is_completed (task))
    {
      __atomic_fetch_or (&task->claim, PRIO_TASK_CONTINUING, __ATOMIC_ACQ_REL);
      next->func (task, next->data);
      complete (task);
    }
}

static void
next_free (gpointer data)
{
  Next *next = data;

  if (!next->is_called)
    prio_task_return_error (next->task, g_error_new_literal (PRIO_ERROR, PRIO_ERROR_CLOSED,
                                                             _("The main context of the task has been destroyed")));
  if (next->notify != NULL)
    next->notify (next->data);
  g_object_unref (next->task);
  g_free (next);
}

static const PrioTaskOrigin origin = { .tag = prio_scheduler_yield_full_async, .is_constant = TRUE };

/**
 * prio_task_continue_with:
 * @self: a task, in its function
 * @func: (scope notified) (closure user_data) (destroy notify): what the task goes on with
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Lets the task go on with another function, when this one has returned: as in React's Scheduler, where the
 * function that a callback returns is its continuation.
 *
 * @func is called as a continuation: with the priority, the signal and the timeout of the task, before new tasks of that
 * priority and after what is more urgent.  It gives the task its result, defers that, or goes on with a
 * function in turn; if it does nothing of this, the task is fulfilled without a value.
 *
 * ```c
 * static void
 * parse (PrioTask *task, gpointer document)
 * {
 *   if (parse_some (document))
 *     prio_task_continue_with (task, parse, document, NULL);
 *   else
 *     prio_task_continue_with (task, lay_out, document, NULL);
 * }
 * ```
 *
 * If the task is aborted or cancelled meanwhile, @func is not called, and the task fails with the
 * reason; if its scheduler or the main context has gone, with %PRIO_ERROR_CLOSED.  @notify is called in any case.
 *
 * It defers the result: see [method@PrioSched.Task.defer].  A task without a result,
 * of [method@PrioSched.Scheduler.post], keeps what to call next in its data, and returns %G_SOURCE_CONTINUE.
 *
 * Call it in the task's function, or in @func, on the thread that runs it.  Elsewhere it logs a critical message,
 * and does not call @notify.
 *
 * Since: 1.0
 */
void
prio_task_continue_with (PrioTask *self, PrioTaskFunc func, gpointer user_data, GDestroyNotify notify)
{
  g_autoptr (PrioScheduler) scheduler = NULL;
  PrioTaskState state;
  Next *next;

  g_return_if_fail (PRIO_IS_POSTED (self));
  prio_return_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, NULL));

  state = prio_task_get_state (self);
  if ((state != PRIO_TASK_STATE_RUNNING && state != PRIO_TASK_STATE_ABORTED) || !prio_state_is_current (self->entry.run_queue->loop) ||
      (__atomic_load_n (&self->claim, __ATOMIC_ACQUIRE) & PRIO_TASK_RETURNED) != 0)
    {
      prio_task_complain (self, G_STRFUNC, "is not in its function, and cannot go on with another one");
      return;
    }

  if (state == PRIO_TASK_STATE_RUNNING)
    prio_task_defer (self);
  next = g_new (Next, 1);
  *next = (Next) { g_object_ref (self), func, user_data, notify, FALSE };
  scheduler = g_weak_ref_get (&self->entry.run_queue->scheduler);
  if (scheduler != NULL)
    prio_scheduler_continue (scheduler, &prio_no_yield_options, &origin, 0, go_on, next, next_free);
  else
    next_free (next);
}
