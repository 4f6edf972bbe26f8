/* prio-runner.c: runs tasks that are identified by numbers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"

#include "scheduler/prio-scheduler-private.h"

G_DEFINE_BOXED_TYPE (PrioRunner, prio_runner, prio_runner_ref, prio_runner_unref)

static void
op_hold_run_queue (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_run_queue_hold (op->target);
}

static PrioRunner *
runner_of (PrioNumbers *numbers)
{
  return (gpointer) ((gchar *) numbers - G_STRUCT_OFFSET (PrioRunner, numbers));
}

/* @id is that of a task, or 0 if tasks have been rejected. */
static void
run (PrioNumbers *numbers, guint id)
{
  PrioRunner *runner = runner_of (numbers);

  if (G_LIKELY (runner->func != NULL))
    runner->func (id, runner->data);
}

/* No task runs any more, and none can be posted. */
static void
closed (PrioNumbers *numbers)
{
  PrioRunner *runner = runner_of (numbers);

  runner->func = NULL;
  runner->name_func = NULL;
  if (runner->name_notify != NULL)
    prio_loop_defer_release (runner->loop, g_steal_pointer (&runner->name_notify), runner->name_data);
  if (runner->notify != NULL)
    prio_loop_defer_release (runner->loop, g_steal_pointer (&runner->notify), runner->data);
  prio_loop_defer_release (runner->loop, (GDestroyNotify) prio_runner_unref, runner);
}

static void
op_release (PrioLoop *loop, const PrioOp *op)
{
  PrioRunner *runner = op->target;

  prio_numbers_release (&runner->numbers);
  prio_loop_defer_release (loop, (GDestroyNotify) prio_runner_unref, runner);
}

/* Outside: a user of the numbers, who has a reference too, has gone: a microtask is over, for example, or was dropped with the context. */
void
prio_runner_release (gpointer runner)
{
  PrioOp op = { .apply = op_release, .target = runner };

  prio_loop_submit (((PrioRunner *) runner)->loop, &op);
}

static void
scheduler_gone (gpointer runner, GObject *scheduler G_GNUC_UNUSED)
{
  prio_runner_release (runner);
}

/* A microtask: runs at the next checkpoint.  It is a user of the numbers, which would otherwise be closed with their scheduler before
 * that. */
static void
notify_rejected (gpointer data)
{
  PrioRunner *runner = data;

  if (runner->rejected->len > 0)
    run (&runner->numbers, 0);
}

/* The task @id will not run. */
static void
rejected (PrioNumbers *numbers, guint id)
{
  PrioRunner *runner = runner_of (numbers);

  g_array_append_val (runner->rejected, id);
  if (runner->rejected->len == 1 && !prio_loop_is_dead (runner->loop))
    {
      PrioMicrotask microtask = { .func = notify_rejected, .data = prio_runner_ref (runner), .notify = prio_runner_release };

      prio_numbers_hold (numbers);
      prio_loop_queue_microtask (runner->loop, &microtask);
    }
}

static char *
get_name (PrioNumbers *numbers, guint id)
{
  PrioRunner *runner = runner_of (numbers);

  return runner->name_func != NULL ? runner->name_func (id, runner->name_data) : NULL;
}

static void
ref (PrioNumbers *numbers)
{
  prio_runner_ref (runner_of (numbers));
}

static void
unref (gpointer numbers)
{
  prio_runner_unref (runner_of (numbers));
}

static const PrioNumberFuncs number_funcs = {
  .run = run,
  .rejected = rejected,
  .get_name = get_name,
  .closed = closed,
  .ref = ref,
  .unref = unref,
};

/**
 * prio_runner_new:
 * @scheduler: a scheduler
 * @func: (scope notified) (closure user_data) (destroy notify): runs the tasks
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed: when @scheduler
 *   has gone and the last task has run, or when the main context is destroyed
 *
 * Makes a runner for tasks of @scheduler.
 *
 * A scheduler may have any number of runners.  Any thread may call it; @func is called
 * on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full): a new runner
 *
 * Since: 1.0
 */
PrioRunner *
prio_runner_new (PrioScheduler *scheduler, PrioRunnerFunc func, gpointer user_data, GDestroyNotify notify)
{
  PrioRunner *self;
  PrioOp op = { .apply = op_hold_run_queue };

  g_return_val_if_fail (PRIO_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (func != NULL, NULL);

  self = g_new0 (PrioRunner, 1);
  self->refs = 3; /* the caller's, that of the scheduler, and that which goes when the numbers are closed */
  self->rejected = g_array_new (FALSE, FALSE, sizeof (guint));
  self->loop = prio_loop_ref (scheduler->run_queue->loop);
  self->func = func;
  self->data = user_data;
  self->notify = notify;
  self->numbers = (PrioNumbers) { .funcs = &number_funcs, .run_queue = scheduler->run_queue, .users = 1 };

  op.target = scheduler->run_queue;
  prio_loop_submit (self->loop, &op);
  g_object_weak_ref (G_OBJECT (scheduler), scheduler_gone, self);
  return self;
}

/**
 * prio_runner_ref: (skip)
 * @self: a runner
 *
 * Adds a reference.  Any thread may call it.
 *
 * Returns: (transfer full): @self
 *
 * Since: 1.0
 */
PrioRunner *
prio_runner_ref (PrioRunner *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_int_inc (&self->refs);
  return self;
}

/**
 * prio_runner_unref: (skip)
 * @self: (transfer full): a runner
 *
 * Drops a reference.  Tasks that have been posted still run.  Any thread may call it.
 *
 * Since: 1.0
 */
void
prio_runner_unref (PrioRunner *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;

  prio_loop_unref (self->loop);
  g_array_unref (self->rejected);
  g_free (self);
}

/**
 * prio_runner_take_rejected:
 * @self: a runner
 * @n_rejected: (out): how many there are
 *
 * Takes the numbers of the tasks that were rejected, in that order: they will not run,
 * because their signal has been aborted.
 *
 * The runner's function is called with 0 at the next checkpoint after a task has been
 * rejected; code that aborts a signal may call this at once.  On other threads than the one
 * that runs the main context, the array is empty, unless that has been destroyed.
 *
 * Returns: (transfer full) (array length=n_rejected) (nullable): the numbers
 *
 * Since: 1.0
 */
guint *
prio_runner_take_rejected (PrioRunner *self, gsize *n_rejected)
{
  guint *rejected = NULL;
  gboolean locked;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (n_rejected != NULL, NULL);

  *n_rejected = 0;
  if (prio_loop_enter_or_lock (self->loop, &locked))
    {
      rejected = g_array_steal (self->rejected, n_rejected);
      prio_loop_leave_or_unlock (self->loop, locked);
    }
  return rejected;
}

/**
 * prio_runner_is_owner:
 * @self: a runner
 *
 * Tells whether the calling thread is the one that runs the main context: the last that has run it or, before that, the one that has made its
 * first scheduler.
 *
 * It is for language bindings, which raise an exception where a function that belongs to that thread would log a critical message.
 *
 * Any thread may call it.
 *
 * Returns: whether it is; %FALSE if the main context has gone
 *
 * Since: 1.0
 */
gboolean
prio_runner_is_owner (PrioRunner *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!prio_loop_enter (self->loop))
    return FALSE;
  prio_loop_leave (self->loop);
  return TRUE;
}
