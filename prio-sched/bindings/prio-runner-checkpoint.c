/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-runner-checkpoint.c: runs the jobs of an interpreter between tasks */

#include "config.h"

#include "prio-runner.h"

#include "base/prio-thread-private.h"
#include "prio-numbers.h"

/* A function that runs an interpreter's jobs.  The array holds a reference, and so does each call, because the function
 * may be removed during the call. */
typedef struct
{
  GSourceFunc func;
  gpointer data;
  GDestroyNotify notify;
} CheckpointFunc;

static void
clear (gpointer data)
{
  CheckpointFunc *self = data;

  prio_release_now (self->notify, self->data);
}

static void
release (gpointer self)
{
  g_rc_box_release_full (self, clear);
}

/* The functions that a loop calls between tasks.  The function that was added last is called first. */
typedef struct
{
  GPtrArray *all; /* NULL before the first function is added, and after the end of the context */
} CheckpointFuncs;

static void
checkpoint_funcs_clear (gpointer record)
{
  g_clear_pointer (&((CheckpointFuncs *) record)->all, g_ptr_array_unref);
}

/* Removes all functions at the end of the context.  The caller has entered no loop (prio-loop-private.h). */
static void
checkpoint_funcs_end (gpointer loop, gpointer record)
{
  prio_loop_set_checkpoint_func (loop, NULL);
  checkpoint_funcs_clear (record);
}

static CheckpointFuncs *
checkpoint_funcs_of (PrioLoop *loop)
{
  static const PrioSlotFuncs funcs = { .size = sizeof (CheckpointFuncs), .ends = checkpoint_funcs_end, .clear = checkpoint_funcs_clear };

  return prio_loop_ensure_slot (loop, PRIO_SLOT_BINDINGS, &funcs);
}

static void
call (PrioLoop *loop)
{
  GPtrArray *all = checkpoint_funcs_of (loop)->all;

  for (guint i = all->len; i-- > 0;)
    {
      CheckpointFunc *self = g_rc_box_acquire (g_ptr_array_index (all, i));

      if (!self->func (self->data))
        g_ptr_array_remove (all, self);
      release (self);
      /* Stays within the array, because a nested main loop in the function may have removed functions. */
      i = MIN (i, all->len);
    }
  prio_thread.runs_jobs = FALSE;
}

static void
add (PrioLoop *loop, gpointer func)
{
  CheckpointFuncs *self = checkpoint_funcs_of (loop);

  if (self->all == NULL)
    self->all = g_ptr_array_new_with_free_func (release);
  g_ptr_array_add (self->all, func);
  prio_loop_set_checkpoint_func (loop, call);
}

/**
 * prio_runner_add_checkpoint_func: (skip)
 * @context: (nullable): a main context; %NULL for the global default one
 * @func: called between two tasks; returns whether to call it again
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed: when @func has returned %FALSE, or the last
 *   scheduler or the main context has gone
 *
 * Adds a function that is called each time before the next task of a main context is chosen.
 *
 * This is for the binding of an interpreter that has a queue of jobs, such as JavaScript's promise reactions.  @func
 * runs the jobs that callbacks of other sources have queued, so that these jobs are not part of the next task.  If a
 * job aborts the signal of that task, the task does not run.
 *
 * @func is called on the thread that runs @context, and may run a main loop.  @func is not called between two tasks of
 * one runner, because the runner's function runs its jobs itself.
 *
 * Any thread may call this function.  The main context must have a scheduler.  The function is removed with the last
 * scheduler.
 *
 * Since: 1.0
 */
void
prio_runner_add_checkpoint_func (GMainContext *context, GSourceFunc func, gpointer user_data, GDestroyNotify notify)
{
  CheckpointFunc *self;
  PrioLoop *loop;

  g_return_if_fail (func != NULL);

  self = g_rc_box_new (CheckpointFunc);
  *self = (CheckpointFunc) { func, user_data, notify };
  loop = prio_loop_for_context (context != NULL ? context : g_main_context_default ());
  prio_observed_call (loop, add, self);
  prio_loop_release (loop);
}

/**
 * prio_runner_set_runs_jobs: (skip)
 * @runs_jobs: whether the running task runs jobs of an interpreter
 *
 * Records whether the running task runs the jobs of an interpreter.  If that task then runs a main loop, other code of
 * the binding can ask [func@PrioSched.Runner.get_runs_jobs], and leave the jobs to the task.
 *
 * The library resets the flag when the task's function ends, and before it calls another function.  Any thread may call
 * this.
 *
 * Returns: %TRUE, or %FALSE if the calling thread runs no task
 *
 * Since: 1.0
 */
gboolean
prio_runner_set_runs_jobs (gboolean runs_jobs)
{
  if (prio_thread.batch == NULL)
    return FALSE;
  prio_thread.runs_jobs = runs_jobs;
  return TRUE;
}

/**
 * prio_runner_get_runs_jobs: (skip)
 *
 * Returns whether the running task runs the jobs of an interpreter: see [func@PrioSched.Runner.set_runs_jobs].  Any
 * thread may call this function.
 *
 * Returns: whether the running task runs jobs
 *
 * Since: 1.0
 */
gboolean
prio_runner_get_runs_jobs (void)
{
  return prio_thread.runs_jobs;
}
