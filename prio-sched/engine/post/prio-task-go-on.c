/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-go-on.c: continues a task with another function after its function has returned */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

#include "loop/prio-current-private.h"
#include "loop/prio-yield-private.h"
#include "open/prio-engine.h"
#include "signal/prio-dependence-private.h"
#include "task/prio-task-impl-private.h"

/* The next function of a task, with a reference count.  One reference belongs to the task or, once the function is
 * queued, to the continuation; slice_begin () holds another. */
typedef struct
{
  PrioTaskNext base;
  PrioTask *task; /* owned once slice_begin () has been called */
  PrioTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  gint64 due; /* when to call the function, µs, or 0 */
  gboolean is_called;
} Slice;

static gboolean
is_aborted (PrioTask *self)
{
  PrioSignalNode *node = self->signal != NULL ? prio_signal_node_for (self->signal) : NULL;

  return node != NULL && prio_signal_node_is_aborted (node);
}

gboolean
prio_task_may_go_on (PrioTask *task, gboolean *should_yield)
{
  PrioRunQueue *run_queue = task->entry.run_queue;
  guint claim;

  /* Carries out operations of other threads, which may end the task, before the checks below. */
  *should_yield = prio_loop_should_yield (run_queue->loop, run_queue, prio_thread.state);
  claim = __atomic_load_n (&task->claim, __ATOMIC_ACQUIRE);
  return __atomic_load_n (&task->state, __ATOMIC_ACQUIRE) == PRIO_TASK_STATE_RUNNING && (claim & PRIO_TASK_RETURNED) == 0 &&
         (claim & (PRIO_TASK_DEFERRED | PRIO_TASK_CONTINUING)) != PRIO_TASK_DEFERRED && !is_aborted (task);
}

gboolean
prio_task_is_deferred (PrioTask *task)
{
  guint claim = __atomic_load_n (&task->claim, __ATOMIC_ACQUIRE);

  return (claim & (PRIO_TASK_DEFERRED | PRIO_TASK_CONTINUING | PRIO_TASK_RETURNED)) == PRIO_TASK_DEFERRED;
}

/* Ends a task that cannot continue: aborts the task, unless it has a result.  Takes the operation's reference to the
 * task. */
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
  prio_loop_submit (self->entry.run_queue->loop, &(PrioOp) { .apply = op_end, .target = g_object_ref (self) });
}

/* Completes a task that does not continue: fulfils or aborts the task, unless its result is deferred. */
static void
complete (PrioTask *self)
{
  PrioResult none = { .kind = PRIO_RESULT_NONE };
  guint claim = __atomic_fetch_and (&self->claim, (guint8) ~PRIO_TASK_CONTINUING, __ATOMIC_ACQ_REL);

  if ((claim & PRIO_TASK_CONTINUING) == 0)
    return;
  if (is_aborted (self))
    end (self);
  else if ((__atomic_fetch_or (&self->claim, PRIO_TASK_RETURNED, __ATOMIC_ACQ_REL) & PRIO_TASK_RETURNED) == 0)
    prio_task_return (self, &none);
}

/* Calls the next function, unless the task has completed.  If the continuation was aborted, ends the task instead. */
static void
slice_turn (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Slice *slice = data;
  PrioTask *task = slice->task;

  slice->is_called = TRUE;
  task->next = NULL;
  slice->base.waits = NULL;
  if (!prio_scheduler_yield_finish (NULL, result, NULL))
    {
      end (task);
    }
  else if (!prio_task_is_completed (task))
    {
      __atomic_fetch_or (&task->claim, PRIO_TASK_CONTINUING, __ATOMIC_ACQ_REL);
      slice->func (task, slice->data);
      if (task->next != NULL)
        task->next->begin (task->next, task);
      else
        complete (task);
    }
}

static void
slice_clear (gpointer data)
{
  Slice *slice = data;

  slice->notify (slice->data);
}

static void
slice_unref (gpointer slice)
{
  g_atomic_rc_box_release_full (slice, slice_clear);
}

static void
slice_end (gpointer data)
{
  Slice *slice = data;
  PrioTask *task = slice->task;

  slice->base.waits = NULL;
  if (!slice->is_called)
    end (task);
  slice_unref (slice);
  prio_object_unref (task);
}

/* Queues the next function after the previous one has returned.  If the task belongs to a group, the continuation is
 * queued outside of the group, whose queue may be waiting for this task to end. */
static void
slice_begin (PrioTaskNext *base, PrioTask *task)
{
  Slice *slice = g_atomic_rc_box_acquire ((Slice *) base);
  PrioRunQueue *run_queue = task->entry.run_queue;
  const PrioState *outer = prio_thread.state;
  PrioState state = base->state;
  g_autofree char *name = prio_task_dup_name (task);
  PrioYieldOptions options = prio_no_yield_options;

  slice->task = g_object_ref (task);
  base->has_begun = TRUE;
  options.name = name;
  state.depth = g_main_depth ();
  prio_thread.state = &state;
  prio_run_queue_continue (run_queue->outer != NULL ? run_queue->outer : run_queue, &options, prio_scheduler_yield_async, slice->due,
                           slice_turn, slice, slice_end, &base->waits);
  prio_thread.state = outer;
  prio_state_release (&state);

  /* Cancels the continuation if another thread, or a destroy notify called above, has ended the task meanwhile. */
  if (base->waits != NULL && task->next != base)
    prio_task_cancel (base->waits);
  slice_unref (slice);
}

void
prio_task_go_on (PrioTask *task, gint64 due, PrioTaskFunc func, gpointer data, GDestroyNotify notify)
{
  Slice *slice = g_atomic_rc_box_new (Slice);

  *slice = (Slice) { .base = { .begin = slice_begin, .release = slice_unref, .state = *prio_state_of_thread () },
                     .func = func, .data = data, .notify = notify, .due = due };
  prio_state_hold (&slice->base.state);
  task->next = &slice->base;
  __atomic_fetch_or (&task->claim, PRIO_TASK_DEFERRED, __ATOMIC_ACQ_REL);
  __atomic_fetch_and (&task->claim, (guint8) ~PRIO_TASK_CONTINUING, __ATOMIC_ACQ_REL);
}
