/* SPDX-License-Identifier: LGPL-2.1-or-later */
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
 * After `System.exit ()` in a job GJS runs no job any more and says so to nobody: the program would go on without its promises, and spin
 * if one of them settled.  Anything that the main loop dispatches may run jobs, as the functions of setTimeout () do.  So one more is
 * queued before the main loop sleeps again, at most every INTERVAL.  Jobs that the source leaves in the queue mean that the program is
 * to end, or that the main loop is run by a job: in a loop in which the source has run jobs before, it is the former.
 */

#include "prio-sched-gjs.h"

/* The functions of the sources of all contexts of GJS: one kind in a process.  Set once, under the lock. */
static GMutex lock;
static const GSourceFuncs *original;
static GSourceFuncs guarded;

/* Milliseconds. */
#define INTERVAL 20

/* The source of a thread's interpreter. */
typedef struct
{
  GSource *source;
  GObject *prober;    /* queues a job when its property `id` is set */
  gint64 probed;      /* when it last was, in microseconds */
  gboolean is_probed; /* whether the main loop has dispatched nothing since */
  gint64 stuck;       /* when the source last left jobs in its queue, or 0 if it has run them since */
  gpointer loop;      /* where on the stack the main loop is that has last run jobs by the source */
  gint depth;         /* the depth of a main loop that no job runs, until it dispatches the source, or 0 */
} PrioJobs;

static void
jobs_clear (gpointer data)
{
  PrioJobs *jobs = data;

  g_source_unref (jobs->source);
  g_object_unref (jobs->prober);
}

static void
jobs_unref (gpointer jobs)
{
  g_atomic_rc_box_release_full (jobs, jobs_clear);
}

/* Of the last interpreter of the thread, which has one at a time. */
static GPrivate jobs_here = G_PRIVATE_INIT (jobs_unref);

static PrioJobs *
jobs_of (GSource *source)
{
  PrioJobs *jobs = g_private_get (&jobs_here);

  return jobs != NULL && jobs->source == source ? jobs : NULL;
}

/* Whether INTERVAL has passed since @time; if not yet, @timeout becomes what is left of it. */
static gboolean
has_passed (gint64 time, gint *timeout)
{
  gint64 passed = (g_get_monotonic_time () - time) / 1000;

  if (passed >= INTERVAL)
    return TRUE;
  *timeout = INTERVAL - (gint) passed;
  return FALSE;
}

static gboolean
jobs_prepare (GSource *source, gint *timeout)
{
  PrioJobs *jobs = jobs_of (source);
  gboolean is_probed;

  if (prio_runner_get_runs_jobs ())
    return FALSE;
  if (original->prepare (source, timeout))
    return jobs == NULL || jobs->stuck == 0 || has_passed (jobs->stuck, timeout);
  if (jobs == NULL)
    return FALSE;
  is_probed = jobs->is_probed;
  jobs->is_probed = FALSE;
  return !is_probed && has_passed (jobs->probed, timeout);
}

static gboolean
is_ready (GSource *source)
{
  gint timeout = -1;

  return !g_source_is_destroyed (source) && jobs_prepare (source, &timeout);
}

static gboolean
has_jobs (GSource *source)
{
  gint timeout = -1;

  return !g_source_is_destroyed (source) && original->prepare (source, &timeout);
}

/* Runs what is queued, or, if that is nothing, one job, in order to see whether jobs still run.  Jobs that are left are what the source
 * could not run, or what its end has queued.  A second call runs these. */
static gboolean
dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  PrioJobs *jobs = jobs_of (source);
  gboolean again;

  if (jobs != NULL && !has_jobs (source))
    {
      jobs->probed = g_get_monotonic_time ();
      jobs->is_probed = TRUE;
      g_object_set (jobs->prober, "id", 1, NULL);
    }
  again = original->dispatch (source, callback, data);
  if (again && has_jobs (source))
    again = original->dispatch (source, callback, data);
  return again;
}

/* Called by a main loop, from one place on the stack as long as that runs.  A note of jobs that are left holds for as long as the
 * task runs. */
static gboolean
jobs_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  gpointer loop = __builtin_frame_address (0);
  gboolean again = dispatch (source, callback, data), are_left = again && has_jobs (source);
  PrioJobs *jobs = jobs_of (source);

  if (jobs != NULL && jobs->depth == g_main_depth ())
    {
      jobs->depth = 0;
      jobs->loop = loop;
    }
  if (prio_runner_set_runs_jobs (are_left) || jobs == NULL)
    return again;
  jobs->stuck = are_left ? g_get_monotonic_time () : 0;
  if (!are_left)
    jobs->loop = loop;
  else if (jobs->loop == loop)
    prio_sched_gjs_exit ();
  return again;
}

/* Calls the functions here before the functions of @source.  Returns FALSE if it is of another kind than one before. */
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
run_jobs (gpointer data)
{
  PrioJobs *jobs = data;

  if (g_source_is_destroyed (jobs->source))
    return G_SOURCE_REMOVE;
  if (has_jobs (jobs->source) || is_ready (jobs->source))
    prio_runner_set_runs_jobs (dispatch (jobs->source, NULL, NULL) && has_jobs (jobs->source));
  /* The task may run jobs. */
  jobs->is_probed = FALSE;
  return G_SOURCE_CONTINUE;
}

/**
 * prio_sched_gjs_guard_jobs:
 * @source: the source in whose dispatch GJS runs its jobs
 * @prober: an object with the property `id`, a number, which queues a job when it is set
 *
 * Runs GJS's jobs between two tasks, lets main loops go on that are run by jobs, and ends the program if a job has asked GJS to exit.
 *
 * GJS has a queue of jobs, a source that is ready while there are any, and a function that runs them all, and does nothing
 * if a job calls it. A task may call that function as well. If a job that it calls runs a main loop, @source
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
prio_sched_gjs_guard_jobs (GSource *source, GObject *prober)
{
  GMainContext *context;
  PrioJobs *jobs;

  g_return_val_if_fail (source != NULL, FALSE);
  g_return_val_if_fail (G_IS_OBJECT (prober), FALSE);

  if (source->source_funcs == &guarded)
    return TRUE;
  context = g_source_is_destroyed (source) ? NULL : g_source_get_context (source);
  if (context == NULL || !guard (source))
    return FALSE;
  jobs = g_atomic_rc_box_new0 (PrioJobs);
  *jobs = (PrioJobs) { .source = g_source_ref (source), .prober = g_object_ref (prober) };
  /* The queue is empty only where no job runs. */
  if (g_main_current_source () == source || !has_jobs (source))
    jobs->depth = g_main_depth ();
  g_private_replace (&jobs_here, g_atomic_rc_box_acquire (jobs));
  prio_runner_add_interlude (context, run_jobs, jobs, jobs_unref);
  return TRUE;
}
