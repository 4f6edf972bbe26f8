/* prio-task-continue.c: a task that goes on with another function
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "base/prio-unref-private.h"
#include "loop/prio-current-private.h"
#include "scheduler/prio-options-private.h"
#include "signal/prio-dependence-private.h"
#include "task/prio-task-impl-private.h"

/* Counted: one reference is that of the task or, once it has begun, of the continuation; next_begin () has another. */
typedef struct
{
  PrioTaskNext base;
  PrioTask *task; /* held once it has begun */
  PrioTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  gboolean is_called;
} Next;

static const PrioTaskOrigin origin = { .tag = prio_scheduler_yield_async, .is_constant = TRUE };

/* Takes the reference to the task, which goes on no more: it is aborted, unless it has a result. */
static void
op_end (PrioLoop *loop, const PrioOp *op)
{
  PrioTask *self = op->target;

  self->next = NULL;
  if (self->has_result || prio_task_is_completed (self))
    prio_loop_defer_release (loop, g_object_unref, self);
  else
    prio_task_abort (self);
}

static void
end (PrioTask *self)
{
  PrioOp op = { .apply = op_end, .target = g_object_ref (self) };

  prio_loop_submit (self->entry.run_queue->loop, &op);
}

/* Whether its signal is. */
gboolean
prio_task_is_aborted (PrioTask *self)
{
  PrioSignalNode *node = self->signal != NULL ? prio_signal_node_for (self->signal) : NULL;

  return node != NULL && prio_signal_node_is_aborted (node);
}

/* A function that is no continuation any more has returned: unless it gives the result later, the task is fulfilled, or aborted. */
static void
complete (PrioTask *self)
{
  PrioResult none = { .kind = PRIO_RESULT_NONE };
  guint claim = __atomic_fetch_and (&self->claim, (guint8) ~PRIO_TASK_CONTINUING, __ATOMIC_ACQ_REL);

  if ((claim & PRIO_TASK_CONTINUING) == 0)
    return;
  if (prio_task_is_aborted (self))
    end (self);
  else if ((__atomic_fetch_or (&self->claim, PRIO_TASK_RETURNED, __ATOMIC_ACQ_REL) & PRIO_TASK_RETURNED) == 0)
    prio_task_return (self, &none);
}

/* The turn of a continuation has come, or it has been aborted. */
static void
go_on (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Next *next = data;
  PrioTask *task = next->task;

  next->is_called = TRUE;
  task->next = NULL;
  next->base.waits = NULL;
  if (!prio_scheduler_yield_finish (NULL, result, NULL))
    {
      end (task);
    }
  else if (!prio_task_is_completed (task))
    {
      __atomic_fetch_or (&task->claim, PRIO_TASK_CONTINUING, __ATOMIC_ACQ_REL);
      next->func (task, next->data);
      if (task->next != NULL)
        task->next->begin (task->next, task);
      else
        complete (task);
    }
}

static void
next_clear (gpointer data)
{
  Next *next = data;

  if (next->notify != NULL)
    next->notify (next->data);
}

static void
next_unref (gpointer next)
{
  g_atomic_rc_box_release_full (next, next_clear);
}

/* The same for one that has begun. */
static void
next_end (gpointer data)
{
  Next *next = data;
  PrioTask *task = next->task;

  next->base.waits = NULL;
  if (!next->is_called)
    end (task);
  next_unref (next);
  prio_before_unref (task);
  g_object_unref (task);
}

/* The function has returned.  A task of a group goes on outside of that, whose tasks wait for its place. */
static void
next_begin (PrioTaskNext *base, PrioTask *task)
{
  Next *next = g_atomic_rc_box_acquire ((Next *) base);
  PrioRunQueue *run_queue = task->entry.run_queue;
  const PrioState *outer = prio_thread.state;
  PrioState state = base->state;
  g_autofree char *name = prio_task_dup_name (task);
  PrioYieldOptions options = prio_no_yield_options;

  next->task = g_object_ref (task);
  base->has_begun = TRUE;
  options.name = name;
  state.depth = g_main_depth ();
  prio_thread.state = &state;
  prio_run_queue_continue (run_queue->outer != NULL ? run_queue->outer : run_queue, &options, &origin, 0, go_on, next,
                           next_end, &base->waits);
  prio_thread.state = outer;
  prio_state_release (&state);

  /* Another thread's call, or what has been released on the way, may have given the task its result meanwhile. */
  if (base->waits != NULL && task->next != base)
    prio_task_cancel (base->waits);
  next_unref (next);
}

/* In the function of @self, whose state is current: the task goes on with @func when that has returned. */
void
prio_task_go_on_with (PrioTask *self, PrioTaskFunc func, gpointer data, GDestroyNotify notify)
{
  Next *next = g_atomic_rc_box_new (Next);

  *next = (Next) { .base = { .begin = next_begin, .release = next_unref, .state = *prio_state_of_thread () },
                   .func = func, .data = data, .notify = notify };
  prio_state_hold (&next->base.state);
  self->next = &next->base;
  __atomic_fetch_or (&self->claim, PRIO_TASK_DEFERRED, __ATOMIC_ACQ_REL);
  __atomic_fetch_and (&self->claim, (guint8) ~PRIO_TASK_CONTINUING, __ATOMIC_ACQ_REL);
}

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
 * If the task is aborted or cancelled before @func is called, it is not called, and the task is aborted; so it is with
 * %PRIO_ERROR_CLOSED if the main context goes.  While @func runs, [method@PrioSched.Task.cancel] ends the task at once, and an
 * abort of the signal when @func returns, unless that has given it a result.  Whoever holds the task may give it a result
 * meanwhile, as one that has deferred it: then it does not go on.  @notify is called in any case.
 *
 * A task goes on with one function at a time: after a first call, and after [method@PrioSched.Task.defer], another one
 * is a mistake.  A task without a result, of [method@PrioSched.Scheduler.post], keeps what to call next in its data, and
 * returns %G_SOURCE_CONTINUE.
 *
 * Call it in the task's function, or in @func, on the thread that runs it.  Where it is a mistake, it logs a critical
 * message, and does not call @notify.
 *
 * Since: 1.0
 */
void
prio_task_continue_with (PrioTask *self, PrioTaskFunc func, gpointer user_data, GDestroyNotify notify)
{
  PrioTaskState state;
  const char *wrong = NULL;
  guint claim;

  g_return_if_fail (PRIO_IS_POSTED (self));
  prio_return_if_wrong (prio_check_callable (G_STRFUNC, "func", func != NULL, NULL));

  state = prio_task_get_state (self);
  claim = __atomic_load_n (&self->claim, __ATOMIC_ACQUIRE);
  if ((state != PRIO_TASK_STATE_RUNNING && state != PRIO_TASK_STATE_ABORTED) ||
      !prio_state_is_current (self->entry.run_queue->loop) || (claim & PRIO_TASK_RETURNED) != 0)
    wrong = "is not in its function, and cannot go on with another one";
  else if (prio_task_goes_on (self))
    wrong = "goes on with another function already";
  else if ((claim & (PRIO_TASK_DEFERRED | PRIO_TASK_CONTINUING)) == PRIO_TASK_DEFERRED)
    wrong = "has deferred its result, and cannot go on with another function";

  if (wrong != NULL)
    prio_task_complain (self, G_STRFUNC, "%s", wrong);
  else if (state == PRIO_TASK_STATE_RUNNING)
    prio_task_go_on_with (self, func, user_data, notify);
  else if (notify != NULL)
    notify (user_data);
}
