/* prio-scheduler-steps.c: tasks of steps: a function that is called again and again
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "post/prio-scheduler-steps-private.h"

#include "loop/prio-current-private.h"
#include "loop/prio-yield-private.h"
#include "scheduler/prio-options-private.h"
#include "signal/prio-dependence-private.h"
#include "task/prio-task-impl-private.h"

/* Held by the task, and by each continuation, whose step may end the task. */
struct _PrioSteps
{
  PrioStepFunc func;
  gpointer data;
  GDestroyNotify notify;
};

/* The next slice.  Counted: one reference belongs to the task or, once it has begun, to the continuation;
 * slice_begin () has another. */
typedef struct
{
  PrioTaskNext base;
  PrioTask *task; /* held once it has begun */
  PrioSteps *steps;
  gint64 due; /* when its turn is, µs, or 0 */
  gboolean is_called;
} Slice;

/* The step that runs on this thread.  There are several if a step runs a main loop. */
typedef struct _Making Making;

struct _Making
{
  Making *outer;
  PrioTask *task;
  gint64 due; /* of the next step, if it is delayed: µs, or 0 */
  gboolean is_delayed;
};

static PRIO_TLS Making *making;

static void prepare_slice (PrioTask *task, PrioSteps *steps, gint64 due);

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

/* Returns whether the signal of @self is aborted. */
static gboolean
is_aborted (PrioTask *self)
{
  PrioSignalNode *node = self->signal != NULL ? prio_signal_node_for (self->signal) : NULL;

  return node != NULL && prio_signal_node_is_aborted (node);
}

/* Returns whether another step is to run: neither the last step nor an abort has ended the task. */
static gboolean
goes_on (PrioTask *task)
{
  guint claim = __atomic_load_n (&task->claim, __ATOMIC_ACQUIRE);

  return prio_task_get_state (task) == PRIO_TASK_STATE_RUNNING && (claim & PRIO_TASK_RETURNED) == 0 &&
         (claim & (PRIO_TASK_DEFERRED | PRIO_TASK_CONTINUING)) != PRIO_TASK_DEFERRED && !is_aborted (task);
}

static gboolean
is_deferred (PrioTask *task)
{
  guint claim = __atomic_load_n (&task->claim, __ATOMIC_ACQUIRE);

  return (claim & (PRIO_TASK_DEFERRED | PRIO_TASK_CONTINUING | PRIO_TASK_RETURNED)) == PRIO_TASK_DEFERRED;
}

static gboolean
should_yield (PrioTask *task)
{
  PrioRunQueue *run_queue = task->entry.run_queue;

  /* Entering also takes in operations of other threads. */
  if (!prio_loop_enter (run_queue->loop))
    return FALSE;
  prio_loop_leave (run_queue->loop);
  return prio_loop_should_yield (run_queue->loop, run_queue, prio_thread.state);
}

/* Makes steps as long as the task need not yield.  Returns whether it then goes on, and when. */
static gboolean
run_slice (PrioTask *task, PrioSteps *steps, gint64 *due)
{
  Making self = { .outer = making, .task = task };
  gboolean more, yields;

  do
    {
      making = &self;
      more = steps->func (task, steps->data);
      making = self.outer;
      /* This may notice that another thread has ended the task. */
      yields = more && should_yield (task);
      more = more && goes_on (task);
    }
  while (more && !yields && !self.is_delayed);
  if (G_UNLIKELY (self.is_delayed) && is_deferred (task))
    prio_task_complain (task, "prio_task_delay_step", "is deferred, and makes no step after the delay");
  *due = self.due;
  return more;
}

/* Ends a task that cannot go on: it is aborted, unless it has a result.  Takes the reference to the task. */
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

/* Completes the task after the last step: unless its result is deferred, the task is fulfilled, or aborted. */
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

/* Runs a slice when its turn has come, or when it has been aborted. */
static void
slice_turn (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Slice *slice = data;
  PrioTask *task = slice->task;
  gint64 due;

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
      if (run_slice (task, slice->steps, &due))
        {
          prepare_slice (task, slice->steps, due);
          task->next->begin (task->next, task);
        }
      else
        {
          complete (task);
        }
    }
}

static void
slice_clear (gpointer data)
{
  prio_steps_unref (((Slice *) data)->steps);
}

static void
slice_unref (gpointer slice)
{
  g_atomic_rc_box_release_full (slice, slice_clear);
}

/* Releases a slice that has begun. */
static void
slice_end (gpointer data)
{
  Slice *slice = data;
  PrioTask *task = slice->task;

  slice->base.waits = NULL;
  if (!slice->is_called)
    end (task);
  slice_unref (slice);
  prio_before_unref (task);
  g_object_unref (task);
}

/* Queues the next slice when the function has returned.  A task of a group goes on outside of the group, whose tasks
 * wait for its place. */
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
  prio_run_queue_continue (run_queue->outer != NULL ? run_queue->outer : run_queue, &options, prio_scheduler_yield_async, slice->due, slice_turn, slice,
                           slice_end, &base->waits);
  prio_thread.state = outer;
  prio_state_release (&state);

  /* Another thread's call, or releases in between, may have given the task its result meanwhile. */
  if (base->waits != NULL && task->next != base)
    prio_task_cancel (base->waits);
  slice_unref (slice);
}

/* Makes @task, whose state is current, go on when its function has returned. */
static void
prepare_slice (PrioTask *task, PrioSteps *steps, gint64 due)
{
  Slice *slice = g_atomic_rc_box_new (Slice);

  *slice = (Slice) { .base = { .begin = slice_begin, .release = slice_unref, .state = *prio_state_of_thread () },
                     .steps = g_atomic_rc_box_acquire (steps), .due = due };
  prio_state_hold (&slice->base.state);
  task->next = &slice->base;
  __atomic_fetch_or (&task->claim, PRIO_TASK_DEFERRED, __ATOMIC_ACQ_REL);
  __atomic_fetch_and (&task->claim, (guint8) ~PRIO_TASK_CONTINUING, __ATOMIC_ACQ_REL);
}

/* The function of the task: runs the first slice. */
void
prio_steps_run (PrioTask *task, gpointer steps)
{
  gint64 due;

  if (run_slice (task, steps, &due))
    prepare_slice (task, steps, due);
}

/**
 * prio_task_delay_step: (skip)
 * @self: a task, in a step of its function
 * @delay: how long to wait before the next step, in milliseconds
 *
 * Delays the next step of a task, such as when a lock is taken or a device is busy.
 *
 * The step then returns %G_SOURCE_CONTINUE.  If it returns %G_SOURCE_REMOVE, the task ends.  Meanwhile an abort ends
 * the task at once, as in [method@PrioSched.Scheduler.sleep_async].  The last call in a step counts.
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
 * Call it in a step of @self, that is in a function that [method@PrioSched.Scheduler.post_steps] or
 * [method@PrioSched.TaskGroup.post_steps] calls.  Elsewhere it logs a critical message, and does nothing.
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
 * @func: (scope notified) (closure user_data) (destroy notify): makes a step
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Posts a task of steps: @func is called again and again until it returns %G_SOURCE_REMOVE.
 *
 * It is called until [method@PrioSched.Scheduler.should_yield] returns %TRUE: the time slice is over, or a more urgent
 * task waits.  Then the task yields, and goes on as a continuation: with its priority, its signal and its timeout,
 * before new tasks of that priority.  A step should be short; it does not have to count or to look at the clock.
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
 * Language bindings make steps of generators.
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
  PrioTask *task;

  prio_return_val_if_wrong (prio_check_scheduler (G_STRFUNC, self), NULL);
  prio_return_val_if_wrong (prio_check_task_options (G_STRFUNC, options, func != NULL), NULL);

  task = prio_scheduler_post_task (self, options, prio_steps_run, prio_steps_new (func, user_data, notify), prio_steps_unref);
  prio_task_set_program_func (task, (gpointer) func);
  return task;
}
