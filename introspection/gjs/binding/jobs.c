/* jobs.c: GJS's own source for its jobs, beside tasks that run those jobs too
 *
 * GLib blocks a source while it is dispatched, so a main loop that its function runs goes on without it.  The overrides run the
 * jobs themselves, within a task, in the dispatch of another source.  If one of the jobs runs a main loop, GJS's source has the
 * highest priority there, is always ready and does nothing, since its jobs run already.  So it is asked through the functions
 * here, which leave it alone as GLib would.
 *
 * The scheduler goes before GJS's source.  So it has what is queued run before it chooses a task: an abort in such a job still
 * reaches that task, and the job is not part of it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "prio-sched-gjs.h"

/* The functions of the sources of all contexts of GJS: one kind in a process.  Set once, under the lock. */
static GMutex lock;
static const GSourceFuncs *original;
static GSourceFuncs guarded;

static gboolean
jobs_prepare (GSource *source, gint *timeout)
{
  return !prio_runner_get_runs_jobs () && original->prepare (source, timeout);
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

  if (!again || !has_jobs (source) || !prio_runner_set_runs_jobs (FALSE))
    return again;
  again = original->dispatch (source, callback, data);
  prio_runner_set_runs_jobs (again && has_jobs (source));
  return again;
}

/* Puts the functions here before those of @source.  Returns FALSE if it is of another kind than one before. */
static gboolean
guard (GSource *source)
{
  const GSourceFuncs *funcs = source->source_funcs;
  gboolean is_mine;

  if (funcs->prepare == NULL || funcs->dispatch == NULL)
    return FALSE;
  g_mutex_lock (&lock);
  if (original == NULL)
    {
      guarded = *funcs;
      guarded.prepare = jobs_prepare;
      guarded.dispatch = jobs_dispatch;
      original = funcs;
    }
  is_mine = original == funcs;
  g_mutex_unlock (&lock);
  if (is_mine)
    source->source_funcs = &guarded;
  return is_mine;
}

/* Between two tasks: runs the jobs that are queued, as the source would. */
static gboolean
run_jobs (gpointer source)
{
  if (g_source_is_destroyed (source))
    return G_SOURCE_REMOVE;
  if (has_jobs (source))
    jobs_dispatch (source, NULL, NULL);
  return G_SOURCE_CONTINUE;
}

/**
 * prio_sched_gjs_guard_jobs:
 * @source: the source in whose dispatch GJS runs its jobs
 *
 * Runs GJS's jobs between two tasks, and lets main loops go on that are run by jobs.
 *
 * GJS has a queue of jobs, a source that is ready while there are any, and a function that runs them all, and does nothing where
 * it is called by one of them. A task may call that function as well. If a job that it calls runs a main loop, @source
 * is left alone there, as GLib leaves alone a source that is being dispatched, and jobs go on when that loop has ended.
 *
 * The jobs that callbacks of other sources have queued are run before the next task of @source's main context begins, by
 * the dispatch function of @source, and outside of that task: if such a job aborts the task's signal, the task does not run.
 *
 * Call it on the thread that dispatches @source, for sources of one kind only: for one of another kind
 * nothing is done.
 *
 * Returns: whether @source is guarded
 */
gboolean
prio_sched_gjs_guard_jobs (GSource *source)
{
  GMainContext *context;

  g_return_val_if_fail (source != NULL, FALSE);

  if (source->source_funcs == &guarded)
    return TRUE;
  context = g_source_is_destroyed (source) ? NULL : g_source_get_context (source);
  if (context == NULL || !guard (source))
    return FALSE;
  prio_runner_add_interlude (context, run_jobs, g_source_ref (source), (GDestroyNotify) g_source_unref);
  return TRUE;
}
