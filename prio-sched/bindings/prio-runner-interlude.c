/* prio-runner-interlude.c: an interpreter's own jobs, beside tasks that run those jobs too
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-runner.h"

#include "base/prio-thread-private.h"
#include "prio-numbers.h"

/* The array's element holds one, and so does the call of its function, which may run a main loop in which it is removed. */
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

/* What a loop keeps: the last that has been added is called first. */
typedef struct
{
  GPtrArray *all; /* NULL until there is one, and when the context has gone */
} Interludes;

static void
interludes_clear (gpointer record)
{
  g_clear_pointer (&((Interludes *) record)->all, g_ptr_array_unref);
}

/* Outside: no batch will run any more. */
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

/* Between two tasks. */
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

/* Inside. */
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
 * @notify: (nullable): called when @data is no longer needed: when @func has returned %FALSE, or the main context has gone
 *
 * Has a function called before the next task of a main context is chosen.
 *
 * It is for bindings of an interpreter that has a queue of jobs: @func runs those that the callbacks of other sources have queued.
 * So they are not part of the task, and if one of them aborts its signal, the task does not run.
 *
 * @func is called on the thread that runs @context, and may run a main loop.  It is not called between two tasks of one runner,
 * whose function runs its jobs itself.
 *
 * Any thread may call it.  The main context needs a scheduler, and the function goes with the last one.
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
 * Notes that the running task runs the jobs of an interpreter, so that nothing else in a main loop that it runs can run them.
 *
 * The library forgets it when the function of the task ends, and before it calls any other.
 *
 * Any thread may call it.
 *
 * Returns: whether the calling thread runs tasks, and it has been noted
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
 * Tells whether [func@PrioSched.Runner.set_runs_jobs] has noted that the running task runs the jobs of an interpreter.
 *
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
