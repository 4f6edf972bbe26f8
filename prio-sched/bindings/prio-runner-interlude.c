/* prio-runner-interlude.c: an interpreter's own jobs, beside tasks that run those jobs too
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-runner.h"

#include "base/prio-thread-private.h"
#include "prio-numbers.h"

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
  PrioLoop *loop;

  g_return_if_fail (func != NULL);

  loop = prio_loop_for_context (context != NULL ? context : g_main_context_default ());
  prio_interludes_add (loop, func, data, notify);
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
