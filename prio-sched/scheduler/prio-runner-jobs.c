/* prio-runner-jobs.c: an interpreter's own source for its jobs, beside tasks that run those jobs too
 *
 * GLib blocks a source while it is dispatched, so a main loop that its function runs goes on without it.  A binding that runs the
 * jobs itself, within a task, does so in the dispatch of another source.  If one of them runs a main loop, the
 * interpreter's source has the highest priority there, is always ready and does nothing, since its jobs run already.  So it is
 * asked through the functions here, which leave it alone as GLib would.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-runner.h"

#include "base/prio-thread-private.h"

/* The functions of all interpreters' sources: one kind in a process.  Set once. */
static const GSourceFuncs *original;
static GSourceFuncs guarded;

static gboolean
jobs_prepare (GSource *source, gint *timeout)
{
  return !prio_thread.runs_jobs && original->prepare (source, timeout);
}

static gboolean
has_jobs (GSource *source)
{
  gint timeout = -1;

  return !g_source_is_destroyed (source) && original->prepare (source, &timeout);
}

/* Jobs that are left are what the source could not run, or what its end has queued.  Those a second call runs.  What has been noted holds
 * for as long as the task runs; if none does, nothing is known. */
static gboolean
jobs_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  gboolean again = original->dispatch (source, callback, data);

  if (prio_thread.batch == NULL || !again || !has_jobs (source))
    return again;
  again = original->dispatch (source, callback, data);
  prio_thread.runs_jobs = again && has_jobs (source);
  return again;
}

/**
 * prio_runner_guard_jobs:
 * @source: the source in whose dispatch an interpreter runs its jobs
 *
 * Lets main loops go on that are run by jobs which tasks run.
 *
 * It is for bindings of an interpreter that has a queue of jobs, a source that is ready while there are any, and a function that
 * runs them all, and does nothing where it is called by one of them. A task may call that function as well. If a job
 * that it calls runs a main loop, @source is left alone there, as GLib leaves alone a source that is being dispatched,
 * and jobs go on when that loop has ended.
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
  const GSourceFuncs *funcs;

  g_return_val_if_fail (source != NULL, FALSE);

  funcs = source->source_funcs;
  if (funcs == &guarded)
    return TRUE;
  if (funcs->prepare == NULL || funcs->dispatch == NULL)
    return FALSE;
  if (g_atomic_pointer_compare_and_exchange (&original, NULL, funcs))
    {
      guarded = *funcs;
      guarded.prepare = jobs_prepare;
      guarded.dispatch = jobs_dispatch;
    }
  else if (g_atomic_pointer_get (&original) != funcs)
    {
      return FALSE;
    }
  source->source_funcs = &guarded;
  return TRUE;
}
