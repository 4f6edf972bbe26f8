/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-runner-interlude.c: an interpreter's own jobs, beside tasks that run those jobs too */

#include "config.h"

#include "prio-runner.h"

#include "base/prio-thread-private.h"
#include "prio-numbers.h"

/* Referenced by the array, and by a call of the function, in which it may be removed. */
typedef struct
{
  GSourceFunc func;
  gpointer data;
  GDestroyNotify notify;
} Interlude;

static void
clear (gpointer data)
{
  Interlude *self = data;

  prio_release_now (self->notify, self->data);
}

static void
release (gpointer self)
{
  g_rc_box_release_full (self, clear);
}

/* The record of a loop: the last interlude is called first. */
typedef struct
{
  GPtrArray *all; /* NULL before the first, and after the end of the context */
} Interludes;

static void
interludes_clear (gpointer record)
{
  g_clear_pointer (&((Interludes *) record)->all, g_ptr_array_unref);
}

/* Removes all interludes at the end of the context.  Outside. */
static void
interludes_end (gpointer loop, gpointer record)
{
  prio_loop_set_interlude (loop, NULL);
  interludes_clear (record);
}

static Interludes *
interludes_of (PrioLoop *loop)
{
  static const PrioSlotFuncs funcs = { .size = sizeof (Interludes), .ends = interludes_end, .clear = interludes_clear };

  return prio_loop_ensure_record (loop, PRIO_SLOT_BINDINGS, &funcs);
}

static void
call (PrioLoop *loop)
{
  GPtrArray *all = interludes_of (loop)->all;

  for (guint i = all->len; i-- > 0;)
    {
      Interlude *self = g_rc_box_acquire (g_ptr_array_index (all, i));

      if (!self->func (self->data))
        g_ptr_array_remove (all, self);
      release (self);
      /* The function may run a main loop, and so this one. */
      i = MIN (i, all->len);
    }
  prio_thread.runs_jobs = FALSE;
}

/* Adds an interlude.  Inside. */
static void
add (PrioLoop *loop, gpointer interlude)
{
  Interludes *self = interludes_of (loop);

  if (self->all == NULL)
    self->all = g_ptr_array_new_with_free_func (release);
  g_ptr_array_add (self->all, interlude);
  prio_loop_set_interlude (loop, call);
}

/**
 * prio_runner_add_interlude: (skip)
 * @context: (nullable): a main context; %NULL for the global default one
 * @func: called between two tasks; returns whether to call it again
 * @data: data for @func
 * @notify: (nullable): called when @data is no longer needed: when @func has returned %FALSE, or the main context is
 *   destroyed
 *
 * Adds a function that is called before the next task of a main context is chosen.
 *
 * It is for bindings of an interpreter that has a queue of jobs: @func runs the jobs that callbacks of other sources
 * have queued.  So these jobs are not part of the task, and if one aborts the task's signal, the task does not run.
 *
 * @func is called on the thread that runs @context, and may run a main loop.  It is not called between two tasks of one runner,
 * whose function runs its jobs itself.
 *
 * Any thread may call it.  The main context needs a scheduler, and the function is removed with the last one.
 *
 * Since: 1.0
 */
void
prio_runner_add_interlude (GMainContext *context, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  Interlude *self;
  PrioLoop *loop;

  g_return_if_fail (func != NULL);

  self = g_rc_box_new (Interlude);
  *self = (Interlude) { func, data, notify };
  loop = prio_loop_for_context (context != NULL ? context : g_main_context_default ());
  prio_observed_call (loop, add, self);
  prio_loop_release (loop);
}

/**
 * prio_runner_set_runs_jobs: (skip)
 * @runs_jobs: whether the running task runs jobs of an interpreter
 *
 * Records that the running task runs the jobs of an interpreter, so that nothing else in a main loop that it runs can
 * run them.
 *
 * The library resets this when the function of the task ends, and before it calls another function.
 * Any thread may call it.
 *
 * Returns: %TRUE if it was recorded; %FALSE if the calling thread runs no task
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
 * Returns whether the running task runs the jobs of an interpreter: see [func@PrioSched.Runner.set_runs_jobs].
 * Any thread may call it.
 *
 * Returns: whether it does
 *
 * Since: 1.0
 */
gboolean
prio_runner_get_runs_jobs (void)
{
  return prio_thread.runs_jobs;
}
