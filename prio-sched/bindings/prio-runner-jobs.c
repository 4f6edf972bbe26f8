/* prio-runner-jobs.c: an interpreter's own source for its jobs, beside tasks that run those jobs too
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-runner.h"

#include "loop/prio-context-private.h"
#include "loop/prio-jobs-private.h"

/**
 * prio_runner_guard_jobs:
 * @source: the source in whose dispatch an interpreter runs its jobs
 *
 * Runs the jobs of an interpreter between two tasks, and lets main loops go on that are run by jobs.
 *
 * It is for bindings of an interpreter that has a queue of jobs, a source that is ready while there are any, and a function that
 * runs them all, and does nothing where it is called by one of them. A task may call that function as well. If a job
 * that it calls runs a main loop, @source is left alone there, as GLib leaves alone a source that is being dispatched,
 * and jobs go on when that loop has ended.
 *
 * What the callbacks of other sources have queued is run before the next task of @source's main context begins, by
 * the dispatch function of @source, and outside of that task: if such a job aborts the task's signal, the task does not run.
 *
 * Call it on the thread that dispatches @source, for sources of one kind only: for one of another kind
 * nothing is done.
 *
 * Returns: whether @source is guarded
 *
 * Since: 1.0
 */
gboolean
prio_runner_guard_jobs (GSource *source)
{
  GMainContext *context;
  PrioLoop *loop;

  g_return_val_if_fail (source != NULL, FALSE);

  if (!prio_jobs_guard (source))
    return FALSE;
  context = g_source_is_destroyed (source) ? NULL : g_source_get_context (source);
  if (context == NULL)
    return TRUE;

  loop = prio_loop_for_context (context);
  if (prio_loop_enter (loop))
    {
      prio_jobs_add (loop, source);
      prio_loop_leave (loop);
    }
  prio_loop_release (loop);
  return TRUE;
}
