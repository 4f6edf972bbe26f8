/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-checkpoint-funcs.c: callbacks of bindings between two tasks, and their notes about the running task */

#include <prio-sched-bindings.h>
#include "frozen-fixture.h"

typedef struct
{
  Fixture *f;
  char letter;
  guint left; /* number of remaining calls */
  gboolean (*then) (gpointer func);
  gpointer data;
  guint n_freed;
} CheckpointFunc;

static gboolean
run_func (gpointer data)
{
  CheckpointFunc *self = data;

  g_assert_cmpuint (self->n_freed, ==, 0);
  g_assert_false (prio_runner_get_runs_jobs ());
  g_string_append_c (self->f->log, self->letter);
  if (self->then != NULL)
    self->then (self);
  /* The job that has just run may have been the last. */
  if (self->left > 0)
    self->left--;
  return self->left > 0;
}

static void
freed (gpointer data)
{
  ((CheckpointFunc *) data)->n_freed++;
}

static void
add_func (CheckpointFunc *self)
{
  prio_runner_add_checkpoint_func (self->f->context, run_func, self, freed);
}

/* The callback is called before the next task is chosen, as often as it requests; of several, the last one is called
 * first. */
static void
test_order (Fixture *f, gconstpointer data)
{
  CheckpointFunc one = { f, '1', 2 }, two = { f, '2', 3 };

  add_func (&one);
  add_func (&two);
  for (char letter = 'a'; letter <= 'd'; letter++)
    post_letter (f, BACKGROUND, letter);
  assert_ran (f, "21a21b2cd");
  g_assert_cmpuint (one.n_freed, ==, 1);
  g_assert_cmpuint (two.n_freed, ==, 1);
}

static gboolean
abort_first (gpointer data)
{
  prio_task_controller_abort (((CheckpointFunc *) data)->data, NULL);
  return G_SOURCE_REMOVE;
}

/* A task that the callback aborts does not run. */
static void
test_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  CheckpointFunc aborts = { f, '1', 1, abort_first, controller };

  add_func (&aborts);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, prio_task_controller_get_signal (controller), 'a', NULL, NULL);
  post_letter (f, BACKGROUND, 'b');
  assert_ran (f, "1b");
}

static gboolean
post_again (gpointer data)
{
  post_letter (((CheckpointFunc *) data)->f, USER_BLOCKING, 'x');
  return G_SOURCE_REMOVE;
}

static gboolean
iterate (gpointer data)
{
  CheckpointFunc *self = data;

  self->then = post_again;
  while (self->left > 0)
    g_main_context_iteration (self->f->context, TRUE);
  g_assert_cmpuint (self->n_freed, ==, 0);
  return G_SOURCE_REMOVE;
}

/* The callback runs a main loop, in which it is removed: it is freed when the outer call has ended. */
static void
test_nested_loop (Fixture *f, gconstpointer data)
{
  CheckpointFunc one = { f, '1', 9 }, two = { f, '2', 1, iterate };

  two.left = 2;
  add_func (&one);
  add_func (&two);
  post_letter (f, BACKGROUND, 'b');
  post_letter (f, BACKGROUND, 'c');
  fixture_run (f);
  g_assert_cmpuint (two.n_freed, ==, 1);
  g_assert_cmpuint (one.n_freed, ==, 0);
  g_assert_true (g_str_has_prefix (f->log->str, "22"));
  fixture_drop_context (f);
  g_assert_cmpuint (one.n_freed, ==, 1);
}

/* The callback is removed with the main context, even if the context has never run. */
static void
test_context_goes (Fixture *f, gconstpointer data)
{
  CheckpointFunc one = { f, '1', 9 };

  prio_runner_add_checkpoint_func (f->context, run_func, &one, NULL);
  add_func (&one);
  fixture_drop_context (f);
  g_assert_cmpstr (f->log->str, ==, "");
  g_assert_cmpuint (one.n_freed, ==, 1);
}

/* The callback is removed with the last scheduler, even if the main context still has references. */
static void
test_scheduler_goes (Fixture *f, gconstpointer data)
{
  CheckpointFunc one = { f, '1', 9 };

  add_func (&one);
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
  prio_runner_add_checkpoint_func (worker.context, count, &n, NULL);
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

/* A binding's note about a task is valid until the task ends. */
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
  add ("/checkpoint-funcs/order", test_order);
  add ("/checkpoint-funcs/abort", test_abort);
  add ("/checkpoint-funcs/nested-loop", test_nested_loop);
  add ("/checkpoint-funcs/context-goes", test_context_goes);
  add ("/checkpoint-funcs/scheduler-goes", test_scheduler_goes);
  add ("/checkpoint-funcs/other-thread", test_other_thread);
  add ("/checkpoint-funcs/runs-jobs", test_runs_jobs);
  return g_test_run ();
}
