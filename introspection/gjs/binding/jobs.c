/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jobs.c: lets GJS's source for its jobs run alongside tasks that also run those jobs
 *
 * GLib blocks a source while it is dispatched, so a main loop that the source's function runs continues without the source.  But
 * the overrides run the jobs themselves, within a task, in the dispatch of another source.  If one of these jobs runs a main loop,
 * GJS's source has the highest priority in that loop and is always ready, but does nothing, because its jobs are running already:
 * the loop would spin.  So functions of this file are called in place of the source's functions: as long as a task runs jobs, the
 * source is not ready.
 *
 * The scheduler's source is dispatched before GJS's source.  So the scheduler has the queued jobs run before it chooses a task: an
 * abort in such a job still reaches that task, and the job is not part of the task.
 *
 * After `System.exit ()` in a job GJS silently runs no more jobs: the program would continue without its promises, and spin if one
 * of them settled.  To notice this, a job is queued before the main loop sleeps again, at most every INTERVAL: any source may have
 * run the job that called `System.exit ()`, as the sources of setTimeout () do.  If GJS's source then leaves jobs in its queue,
 * either the program is to end, or a job runs the main loop.  If the source has run jobs in this loop before, no job runs the loop,
 * so the program ends.
 */

#include "prio-sched-gjs.h"

/* The functions of GJS's source for jobs, which are the same in all contexts.  They are set once, under the lock. */
static GMutex lock;
static const GSourceFuncs *original;
static GSourceFuncs guarded;

/* The shortest time between two of the jobs that are queued to see whether jobs still run, in milliseconds; also the time after
 * which the source is dispatched again if it has left jobs in its queue. */
#define INTERVAL 20

/* The state of the job source of a thread's interpreter. */
typedef struct
{
  GSource *source;
  GObject *prober;    /* queues a job when its property `id` is set, and learns by `left` that jobs are left in the queue */
  gint64 probed;      /* when `id` was last set, in microseconds */
  gboolean is_probed; /* whether the main loop has dispatched no source since then */
  gint64 stuck;       /* when the source last left jobs in its queue, or 0 if it has since run them */
  gpointer loop;      /* a stack address, which identifies the main loop in which the source last ran jobs */
  gint depth;         /* g_main_depth () in a main loop that no job runs, until that loop dispatches the source; then 0 */
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

/* The PrioJobs of the thread's last interpreter.  A thread has one interpreter at a time. */
static GPrivate jobs_here = G_PRIVATE_INIT (jobs_unref);

static PrioJobs *
jobs_of (GSource *source)
{
  PrioJobs *jobs = g_private_get (&jobs_here);

  return jobs != NULL && jobs->source == source ? jobs : NULL;
}

/* Returns whether INTERVAL has passed since @time; if not, @timeout becomes the remaining time. */
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

/* Runs the queued jobs.  If there are none, first queues a job, to see whether jobs still run.  The last job may have queued other
 * jobs, so the function of the source is called once more.  Jobs that are left after that are jobs that the source could not
 * run. */
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

/* Dispatches the source of jobs.  If jobs are left, records that the running task runs jobs.  If no task is running, and jobs are
 * left in a main loop in which the source has run jobs before, ends the program if GJS was asked to exit.  A main loop calls this
 * function at the same stack address each time, so the address identifies the loop. */
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
  if (are_left && jobs != NULL)
    g_object_set (jobs->prober, "left", 1, NULL);
  if (prio_runner_set_runs_jobs (are_left) || jobs == NULL)
    return again;
  jobs->stuck = are_left ? g_get_monotonic_time () : 0;
  if (!are_left)
    jobs->loop = loop;
  else if (jobs->loop == loop)
    prio_sched_gjs_exit ();
  return again;
}

/* Makes GLib call this file's functions in place of the functions of @source.  Returns FALSE if @source is of another kind than
 * earlier sources, or lacks one of the functions. */
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

/* Runs the queued jobs between two tasks, as the source would.  The library calls this until the source has been destroyed. */
static gboolean
run_jobs (gpointer data)
{
  PrioJobs *jobs = data;

  if (g_source_is_destroyed (jobs->source))
    return G_SOURCE_REMOVE;
  if (has_jobs (jobs->source) || is_ready (jobs->source))
    prio_runner_set_runs_jobs (dispatch (jobs->source, NULL, NULL) && has_jobs (jobs->source));
  /* The next task may run jobs, so the result of an earlier probe no longer counts. */
  jobs->is_probed = FALSE;
  return G_SOURCE_CONTINUE;
}

/**
 * prio_sched_gjs_guard_jobs:
 * @source: the source in whose dispatch GJS runs its jobs
 * @prober: an object with two properties that are numbers: it queues a job when `id` is set, and `left` is set when the source leaves
 *   jobs in the queue, because a job runs the main loop
 *
 * Runs GJS's jobs between two tasks, lets main loops that jobs run continue, and ends the program if a job has asked GJS to exit.
 *
 * GJS has a queue of jobs, a source that is ready while the queue has jobs, and a function that runs all of them, and does nothing
 * if a job calls it.  A task may call that function as well.  If a job that the function runs for a task runs a main loop, that
 * loop skips @source, as GLib skips a source that is being dispatched, and the other jobs run after that loop.
 *
 * Jobs that callbacks of other sources have queued run before the next task of @source's main context, outside of that task: if such
 * a job aborts the task's signal, the task does not run.
 *
 * Call this function on the thread that dispatches @source.  If @source has no main context, or is of another kind than sources of
 * earlier calls, the function does nothing.
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
  /* If the queue is empty, no job is running. */
  if (g_main_current_source () == source || !has_jobs (source))
    jobs->depth = g_main_depth ();
  g_private_replace (&jobs_here, g_atomic_rc_box_acquire (jobs));
  prio_runner_add_checkpoint_func (context, run_jobs, jobs, jobs_unref);
  return TRUE;
}
