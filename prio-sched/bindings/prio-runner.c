/* prio-runner.c: runs tasks that are identified by numbers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"

#include "loop/prio-dispatch-private.h"
#include "scheduler/prio-scheduler-private.h"
#include "signal/prio-util-private.h"

G_DEFINE_BOXED_TYPE (PrioRunner, prio_runner, prio_runner_ref, prio_runner_unref)

/* Owner thread: opens the id queue, which keeps the runner until its scheduler has gone. */
static void
op_add_runner (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_id_queue_open (&((PrioRunner *) op->target)->ids);
}

static PrioRunner *
runner_of (PrioIdQueue *ids)
{
  return (gpointer) ((gchar *) ids - G_STRUCT_OFFSET (PrioRunner, ids));
}

/* @id is that of a task or of an idle callback, or 0 if tasks have been rejected. */
static void
run (PrioIdQueue *ids, guint id)
{
  PrioRunner *runner = runner_of (ids);

  if (G_LIKELY (runner->func != NULL))
    runner->func (id, runner->data);
}

/* A task of another scheduler. */
static gboolean
tell_rejected (gpointer data)
{
  PrioRunner *runner = data;

  runner->told (0, runner->data);
  return G_SOURCE_REMOVE;
}

static void
told_rejected (gpointer data)
{
  PrioRunner *runner = data;

  runner->notify (runner->data);
  prio_runner_unref (runner);
}

/* Outside, on any thread: the context has gone, with tasks in it. */
static void
tell_at_home (gpointer data)
{
  PrioRunner *runner = data;
  g_autoptr (PrioScheduler) home = g_weak_ref_get (runner->home);

  if (home != NULL)
    prio_scheduler_post (home, PRIO_TASK_PRIORITY_USER_BLOCKING, tell_rejected, runner, told_rejected);
  else
    told_rejected (runner);
}

/* No task runs any more, and none can be posted. */
static void
closed (PrioIdQueue *ids)
{
  PrioRunner *runner = runner_of (ids);

  runner->told = g_steal_pointer (&runner->func);
  runner->name_func = NULL;
  if (runner->name_notify != NULL)
    prio_loop_defer_release (runner->loop, g_steal_pointer (&runner->name_notify), runner->name_data);
  if (runner->home != NULL && runner->rejected->len > 0)
    prio_loop_defer_release (runner->loop, tell_at_home, prio_runner_ref (runner));
  else if (runner->notify != NULL)
    prio_loop_defer_release (runner->loop, g_steal_pointer (&runner->notify), runner->data);
  prio_loop_defer_release (runner->loop, (GDestroyNotify) prio_runner_unref, runner);
}

static void
op_release_ids (PrioLoop *loop, const PrioOp *op)
{
  PrioRunner *runner = op->target;

  prio_id_queue_release (&runner->ids);
  prio_loop_defer_release (loop, (GDestroyNotify) prio_runner_unref, runner);
}

/* Outside: the microtask is over, or was dropped with the context. */
static void
release_ids (gpointer runner)
{
  PrioOp op = { .apply = op_release_ids, .target = runner };

  prio_loop_submit (((PrioRunner *) runner)->loop, &op);
}

/* A microtask: runs at the next checkpoint.  It is a user of the id queue, which would otherwise be closed with its scheduler before
 * that. */
static void
notify_rejected (gpointer data)
{
  PrioRunner *runner = data;

  if (runner->rejected->len > 0)
    run (&runner->ids, 0);
}

/* The task @id will not run. */
static void
rejected (PrioIdQueue *ids, guint id)
{
  PrioRunner *runner = runner_of (ids);

  g_array_append_val (runner->rejected, id);
  if (runner->rejected->len == 1 && !prio_loop_is_dead (runner->loop))
    {
      PrioMicrotask microtask = { .func = notify_rejected, .data = prio_runner_ref (runner), .notify = release_ids };

      prio_id_queue_hold (ids);
      prio_loop_queue_microtask (runner->loop, &microtask);
    }
}

static char *
get_name (PrioIdQueue *ids, guint id)
{
  PrioRunner *runner = runner_of (ids);

  return runner->name_func != NULL ? runner->name_func (id, runner->name_data) : NULL;
}

static void
ref (PrioIdQueue *ids)
{
  prio_runner_ref (runner_of (ids));
}

static void
unref (gpointer ids)
{
  prio_runner_unref (runner_of (ids));
}

static const PrioIdQueueFuncs id_queue_funcs = {
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
  PrioOp op = { .apply = op_add_runner };

  g_return_val_if_fail (PRIO_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (func != NULL, NULL);

  self = g_new0 (PrioRunner, 1);
  self->refs = 2; /* the caller's, and that of all users of the id queue */
  self->rejected = g_array_new (FALSE, FALSE, sizeof (guint));
  self->loop = prio_loop_ref (scheduler->run_queue->loop);
  self->func = func;
  self->data = user_data;
  self->notify = notify;
  prio_id_queue_init (&self->ids, scheduler->run_queue, &id_queue_funcs);

  op.target = self;
  prio_loop_submit (self->loop, &op);
  return self;
}

typedef struct
{
  GObject *target;
  const char *property; /* the name of its GParamSpec */
  gboolean tells;       /* by the property, which is not 0 as long as the setter runs */
  PrioRunnerStoppedFunc stopped; /* or NULL */
  gpointer data;
  GDestroyNotify notify;
} Setter;

/* Whether the setter has come to its end.  It has if it has asked for tasks until there was none; what else it was called for it
 * tells itself. */
static gboolean
has_ended (Setter *setter, guint told)
{
  PrioBatch *batch = prio_thread.batch;
  guint id = 0;

  /* In the checkpoint of a task the setter is told of rejected ones: that of the task is looked at when it returns. */
  if (batch != NULL && batch->ids != NULL && batch->running)
    return told == 0;
  if (setter->tells && (batch == NULL || batch->ids == NULL))
    g_object_get (setter->target, setter->property, &id, NULL);
  return id == 0;
}

static void
set_property (guint id, gpointer user_data)
{
  Setter *setter = user_data;
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_UINT);
  g_value_set_uint (&value, id);
  g_object_set_property (setter->target, setter->property, &value);
  if (setter->stopped != NULL && !has_ended (setter, id))
    setter->stopped (setter->data);
}

static void
setter_free (gpointer data)
{
  Setter *setter = data;

  if (setter->notify != NULL)
    setter->notify (setter->data);
  g_object_unref (setter->target);
  g_free (setter);
}

/**
 * prio_runner_new_for_property:
 * @scheduler: a scheduler
 * @target: an object with @property
 * @property: a writable property of type `guint`
 *
 * Makes a runner that does not call a function, but sets a property to the number of the
 * task to run first.
 *
 * It is for bindings whose closures cannot be called at all times, but whose properties can
 * always be set: GJS blocks closures while its garbage collector works.  @target is kept
 * alive until the destroy notify of [ctor@PrioSched.Runner.new] would be called.
 *
 * A readable property must be 0 again when the setter has ended: see [method@PrioSched.Runner.set_stopped_func].
 *
 * If the main context of @scheduler is destroyed with tasks in it, the property is set to 0 once more, by a task of the
 * scheduler that was the thread's default in this call, and [method@PrioSched.Runner.take_rejected] returns their numbers.
 *
 * Any thread may call it.
 *
 * Returns: (transfer full): a new runner
 *
 * Since: 1.0
 */
PrioRunner *
prio_runner_new_for_property (PrioScheduler *scheduler, GObject *target, const char *property)
{
  g_autoptr (PrioScheduler) home = NULL;
  PrioRunner *self;
  Setter *setter;
  GParamSpec *pspec;

  g_return_val_if_fail (PRIO_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (G_IS_OBJECT (target), NULL);
  g_return_val_if_fail (property != NULL, NULL);
  pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (target), property);
  g_return_val_if_fail (pspec != NULL && pspec->value_type == G_TYPE_UINT, NULL);
  g_return_val_if_fail ((pspec->flags & G_PARAM_WRITABLE) != 0, NULL);

  setter = g_new0 (Setter, 1);
  setter->target = g_object_ref (target);
  setter->property = pspec->name;
  setter->tells = (pspec->flags & G_PARAM_READABLE) != 0;
  self = prio_runner_new (scheduler, set_property, setter, setter_free);
  home = prio_scheduler_ref_thread_default ();
  if (home->run_queue->loop != self->loop)
    {
      self->home = g_new (GWeakRef, 1);
      g_weak_ref_init (self->home, home);
    }
  return self;
}

/**
 * prio_runner_set_stopped_func: (skip)
 * @self: a runner that sets a property
 * @func: called when a setter has been stopped
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed, with the property's object
 *
 * Tells a binding when a setter has not come to its end: the property, if it is readable, is not 0, or the setter has not asked for
 * tasks until there was none.
 *
 * It is for interpreters that end all functions when the program is to exit, and then return to the main loop as if nothing had
 * happened: @func ends the program.
 *
 * Call it once, on the thread that runs the main context, before the first task is posted.
 *
 * Since: 1.0
 */
void
prio_runner_set_stopped_func (PrioRunner *self, PrioRunnerStoppedFunc func, gpointer user_data, GDestroyNotify notify)
{
  Setter *setter;

  g_return_if_fail (self != NULL);
  g_return_if_fail (func != NULL);

  if (self->ids.run_queue == NULL)
    {
      /* Nothing will run any more. */
      prio_release_now (notify, user_data);
      return;
    }
  g_return_if_fail (self->func == set_property);
  setter = self->data;
  g_return_if_fail (setter->stopped == NULL);
  setter->stopped = func;
  setter->data = user_data;
  setter->notify = notify;
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
  if (self->home != NULL)
    g_weak_ref_clear (self->home);
  g_free (self->home);
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

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (n_rejected != NULL, NULL);

  *n_rejected = 0;
  if (prio_loop_enter (self->loop))
    {
      rejected = g_array_steal (self->rejected, n_rejected);
      prio_loop_leave (self->loop);
      return rejected;
    }

  prio_lock_lock (&self->loop->mailbox.lock);
  if (prio_loop_is_dead (self->loop))
    rejected = g_array_steal (self->rejected, n_rejected);
  prio_lock_unlock (&self->loop->mailbox.lock);
  return rejected;
}

/**
 * prio_runner_is_owner:
 * @self: a runner
 *
 * Tells whether the calling thread is the one that runs the main context: whoever has run it last or, before that, made its
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
