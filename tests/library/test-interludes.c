/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-interludes.c: callbacks of bindings between two tasks, and their notes about the running task */

#include <prio-sched-bindings.h>
#include "frozen-fixture.h"

typedef struct
{
  Fixture *f;
  char letter;
  guint left; /* number of remaining calls */
  gboolean (*then) (gpointer interlude);
  gpointer data;
  guint n_freed;
} Interlude;

static gboolean
run_interlude (gpointer data)
{
  Interlude *self = data;

  g_assert_cmpuint (self->n_freed, ==, 0);
  g_assert_false (prio_runner_get_runs_jobs ());
  g_string_append_c (self->f->log, self->letter);
  if (self->then != NULL)
    self->then (self);
  /* A job that it has run may have been the last. */
  if (self->left > 0)
    self->left--;
  return self->left > 0;
}

static void
freed (gpointer data)
{
  ((Interlude *) data)->n_freed++;
}

static void
add_interlude (Interlude *self)
{
  prio_runner_add_interlude (self->f->context, run_interlude, self, freed);
}

/* It is called before the next task is chosen, as often as it requests, the last one first. */
static void
test_order (Fixture *f, gconstpointer data)
{
  Interlude one = { f, '1', 2 }, two = { f, '2', 3 };

  add_interlude (&one);
  add_interlude (&two);
  for (char letter = 'a'; letter <= 'd'; letter++)
    post_letter (f, BACKGROUND, letter);
  assert_ran (f, "21a21b2cd");
  g_assert_cmpuint (one.n_freed, ==, 1);
  g_assert_cmpuint (two.n_freed, ==, 1);
}

static gboolean
abort_first (gpointer data)
{
  prio_task_controller_abort (((Interlude *) data)->data, NULL);
  return G_SOURCE_REMOVE;
}

/* A task that it aborts does not run. */
static void
test_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  Interlude aborts = { f, '1', 1, abort_first, controller };

  add_interlude (&aborts);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, prio_task_controller_get_signal (controller), 'a', NULL, NULL);
  post_letter (f, BACKGROUND, 'b');
  assert_ran (f, "1b");
}

static gboolean
post_again (gpointer data)
{
  post_letter (((Interlude *) data)->f, USER_BLOCKING, 'x');
  return G_SOURCE_REMOVE;
}

static gboolean
iterate (gpointer data)
{
  Interlude *self = data;

  self->then = post_again;
  while (self->left > 0)
    g_main_context_iteration (self->f->context, TRUE);
  g_assert_cmpuint (self->n_freed, ==, 0);
  return G_SOURCE_REMOVE;
}

/* It runs a main loop, in which it is removed: it is freed when the outer call has ended. */
static void
test_nested_loop (Fixture *f, gconstpointer data)
{
  Interlude one = { f, '1', 9 }, two = { f, '2', 1, iterate };

  two.left = 2;
  add_interlude (&one);
  add_interlude (&two);
  post_letter (f, BACKGROUND, 'b');
  post_letter (f, BACKGROUND, 'c');
  fixture_run (f);
  g_assert_cmpuint (two.n_freed, ==, 1);
  g_assert_cmpuint (one.n_freed, ==, 0);
  g_assert_true (g_str_has_prefix (f->log->str, "22"));
  fixture_drop_context (f);
  g_assert_cmpuint (one.n_freed, ==, 1);
}

/* It is removed with the main context, even if that has never run. */
static void
test_context_goes (Fixture *f, gconstpointer data)
{
  Interlude one = { f, '1', 9 };

  prio_runner_add_interlude (f->context, run_interlude, &one, NULL);
  add_interlude (&one);
  fixture_drop_context (f);
  g_assert_cmpstr (f->log->str, ==, "");
  g_assert_cmpuint (one.n_freed, ==, 1);
}

/* It is removed with the last scheduler, even if the main context still has references. */
static void
test_scheduler_goes (Fixture *f, gconstpointer data)
{
  Interlude one = { f, '1', 9 };

  add_interlude (&one);
  g_clear_object (&f->scheduler);
  fixture_run (f);
  g_assert_cmpuint (one.n_freed, ==, 1);
}

static gboolean
count (gpointer n)
{
  (*(guint *) n)++;
  return G_SOURCE_CONTINUE;
}

static void
test_other_thread (Fixture *f, gconstpointer data)
{
  Worker worker;
  guint n = 0;

  worker_start (&worker);
  prio_runner_add_interlude (worker.context, count, &n, NULL);
  worker_stop (&worker);
  g_assert_cmpuint (n, >=, 1);
}

static void
note (Step *step)
{
  g_assert_false (prio_runner_get_runs_jobs ());
  g_assert_true (prio_runner_set_runs_jobs (TRUE));
  g_assert_true (prio_runner_get_runs_jobs ());
}

static void
note_and_take_back (Step *step)
{
  note (step);
  g_assert_true (prio_runner_set_runs_jobs (FALSE));
  g_assert_false (prio_runner_get_runs_jobs ());
}

/* A note is valid as long as the task runs. */
static void
test_runs_jobs (Fixture *f, gconstpointer data)
{
  g_assert_false (prio_runner_set_runs_jobs (TRUE));
  g_assert_false (prio_runner_get_runs_jobs ());
  post_step (f, BACKGROUND, 'a', note, NULL);
  post_step (f, BACKGROUND, 'b', note_and_take_back, NULL);
  post_step (f, USER_BLOCKING, 'c', note, NULL);
  assert_ran (f, "cab");
  g_assert_false (prio_runner_get_runs_jobs ());
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add (path, Fixture, NULL, frozen_set_up, func, fixture_tear_down)
  add ("/interludes/order", test_order);
  add ("/interludes/abort", test_abort);
  add ("/interludes/nested-loop", test_nested_loop);
  add ("/interludes/context-goes", test_context_goes);
  add ("/interludes/scheduler-goes", test_scheduler_goes);
  add ("/interludes/other-thread", test_other_thread);
  add ("/interludes/runs-jobs", test_runs_jobs);
  return g_test_run ();
}
