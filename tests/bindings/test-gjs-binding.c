/* test-gjs-binding.c: the library of GJS's binding, without GJS
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "../library/frozen-fixture.h"

#include <prio-sched-gjs.h>

/* An interpreter: its source runs the jobs that are queued, and nothing where one of them runs already. */
typedef struct
{
  GSource source;
  Fixture *f;
  guint n_jobs;
  gboolean running, done;
} Jobs;

static gboolean
jobs_prepare (GSource *source, gint *timeout)
{
  return ((Jobs *) source)->n_jobs > 0;
}

static gboolean
set_done (gpointer jobs)
{
  ((Jobs *) jobs)->done = TRUE;
  return G_SOURCE_REMOVE;
}

static gboolean
jobs_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  Jobs *self = (Jobs *) source;

  if (self->running)
    return G_SOURCE_CONTINUE;
  self->running = TRUE;
  while (self->n_jobs > 0)
    {
      self->n_jobs--;
      g_string_append_c (self->f->log, 'j');
      /* The first one runs a main loop, in which the second one waits for its turn. */
      prio_scheduler_post (self->f->scheduler, BACKGROUND, set_done, self, NULL);
      for (self->done = FALSE; !self->done;)
        g_main_context_iteration (self->f->context, TRUE);
    }
  self->running = FALSE;
  return G_SOURCE_CONTINUE;
}

static GSourceFuncs jobs_funcs = { .prepare = jobs_prepare, .dispatch = jobs_dispatch };
static GSourceFuncs other_funcs = { .prepare = jobs_prepare, .dispatch = jobs_dispatch };
static GSourceFuncs without_prepare = { .dispatch = jobs_dispatch };

static Jobs *
jobs_new (Fixture *f, GSourceFuncs *funcs)
{
  Jobs *jobs = (Jobs *) g_source_new (funcs, sizeof *jobs);

  jobs->f = f;
  return jobs;
}

static gboolean
run_jobs (gpointer jobs)
{
  jobs_dispatch (jobs, NULL, NULL);
  return G_SOURCE_REMOVE;
}

/* A main loop that a job runs goes on, also where a task runs the jobs. */
static void
test_jobs (Fixture *f, gconstpointer data)
{
  Jobs *jobs = jobs_new (f, &jobs_funcs), *other = jobs_new (f, &other_funcs), *bare = jobs_new (f, &without_prepare);

  assert_told ("*assertion*failed*", prio_sched_gjs_guard_jobs (NULL));
  g_source_attach (&bare->source, f->context);
  g_assert_false (prio_sched_gjs_guard_jobs (&bare->source));
  g_source_destroy (&bare->source);
  g_assert_false (prio_sched_gjs_guard_jobs (&bare->source));
  /* It is in no main context yet. */
  g_assert_false (prio_sched_gjs_guard_jobs (&jobs->source));
  g_source_set_priority (&jobs->source, -1000);
  g_source_attach (&jobs->source, f->context);
  g_assert_true (prio_sched_gjs_guard_jobs (&jobs->source));
  g_assert_true (prio_sched_gjs_guard_jobs (&jobs->source));
  g_source_attach (&other->source, f->context);
  g_assert_false (prio_sched_gjs_guard_jobs (&other->source));
  g_source_destroy (&other->source);

  jobs->n_jobs = 2;
  prio_scheduler_post (f->scheduler, USER_BLOCKING, run_jobs, jobs, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "jj");
  jobs->n_jobs = 1;
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "jjj");

  g_source_destroy (&jobs->source);
  g_source_unref (&jobs->source);
  g_source_unref (&other->source);
  g_source_unref (&bare->source);
}

/* Where there is no interpreter that has been told to exit, the program goes on.  web-exit.js has the other. */
static void
test_exit_without_an_interpreter (Fixture *f, gconstpointer data)
{
  prio_sched_gjs_exit ();
  post_letter (f, BACKGROUND, 'a');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add (path, Fixture, NULL, frozen_set_up, func, fixture_tear_down)
  add ("/gjs-binding/exit-without-an-interpreter", test_exit_without_an_interpreter);
  add ("/gjs-binding/jobs", test_jobs);
  return g_test_run ();
}
