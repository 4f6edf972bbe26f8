/* prio-jobs.c: an interpreter's own source for its jobs, beside tasks that run those jobs too
 *
 * GLib blocks a source while it is dispatched, so a main loop that its function runs goes on without it.  A binding that runs the
 * jobs itself, within a task, does so in the dispatch of another source.  If one of them runs a main loop, the
 * interpreter's source has the highest priority there, is always ready and does nothing, since its jobs run already.  So it is
 * asked through the functions here, which leave it alone as GLib would.
 *
 * The governor goes before the interpreter's source.  So a batch runs what is queued before it chooses a task: an abort in such a job
 * still reaches that task, and the job is no part of it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-jobs-private.h"

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

/* Puts the functions here before those of @source.  Returns FALSE if it is of another kind than one before. */
gboolean
prio_jobs_guard (GSource *source)
{
  const GSourceFuncs *funcs = source->source_funcs;

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

/* Inside: from now on the batches of @loop run the jobs of @source, which is guarded, before their tasks. */
void
prio_jobs_add (PrioLoop *loop, GSource *source)
{
  if (loop->job_sources == NULL)
    loop->job_sources = g_ptr_array_new_with_free_func ((GDestroyNotify) g_source_unref);
  if (!g_ptr_array_find (loop->job_sources, source, NULL))
    g_ptr_array_add (loop->job_sources, g_source_ref (source));
}

/* Between two tasks: runs the jobs that are queued, as the sources would. */
void
prio_jobs_run (PrioLoop *loop)
{
  for (guint i = loop->job_sources->len; i-- > 0;)
    {
      g_autoptr (GSource) source = g_source_ref (g_ptr_array_index (loop->job_sources, i));

      if (g_source_is_destroyed (source))
        g_ptr_array_remove (loop->job_sources, source);
      else if (has_jobs (source))
        jobs_dispatch (source, NULL, NULL);
      /* A job may run a main loop, and so this function. */
      i = MIN (i, loop->job_sources->len);
    }
  prio_thread.runs_jobs = FALSE;
}

void
prio_jobs_free (PrioLoop *loop)
{
  g_clear_pointer (&loop->job_sources, g_ptr_array_unref);
}
