/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-runner-lend.c: tasks with numbers wait for each other, and lend each other their priority */

#include <prio-sched-bindings.h>
#include "helpers.h"

/* A runner whose tasks log the letter of their number. */
typedef struct
{
  Fixture *f;
  PrioRunner *runner;
  guint lenders[128]; /* by letter */
  char yields;        /* whether this task continues as 'y' */
  char ends;          /* task in which 'l' gets its result, or 0 */
} Run;

static void
run_tasks (guint id, gpointer user_data)
{
  Run *run = user_data;

  for (; id != 0; id = prio_runner_next ())
    {
      g_string_append_c (run->f->log, (gchar) id);
      if (id == (guint) run->yields)
        {
          prio_runner_yield (run->runner, 'y');
          prio_runner_begin_wait_for_id (run->runner, run->lenders[id], 'y');
        }
      if (id == (guint) run->ends)
        {
          prio_runner_remove_lender (run->runner, run->lenders['l']);
          run->lenders['l'] = 0;
        }
    }
}

static void
set_up (Run *run, Fixture *f)
{
  *run = (Run) { .f = f };
  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
  run->runner = prio_runner_new (f->scheduler, run_tasks, run, NULL);
}

static void
post (Run *run, char id, gint priority, gpointer signal)
{
  g_assert_cmpint (prio_runner_post_full (run->runner, (guint) id, priority, signal, 0, 0, FALSE), !=,
                   PRIO_POST_RESULT_REJECTED);
  run->lenders[(guint) id] = prio_runner_add_lender (run->runner, (guint) id, PRIO_TASK_PRIORITY_UNSET, NULL);
  g_assert_cmpuint (run->lenders[(guint) id], !=, 0);
}

static void
end (Run *run, char id)
{
  prio_runner_remove_lender (run->runner, run->lenders[(guint) id]);
}

/* Starts a wait of the form "ab": a waits for b. */
static void
begin_wait (Run *run, const char *wait)
{
  prio_runner_begin_wait (run->runner, run->lenders[(guint) wait[0]], run->lenders[(guint) wait[1]]);
}

static void
end_wait (Run *run, const char *wait)
{
  prio_runner_end_wait (run->runner, run->lenders[(guint) wait[0]], run->lenders[(guint) wait[1]]);
}

/* Runs the queued tasks, and expects this order. */
static void
finish (Run *run, const char *order)
{
  fixture_run (run->f);
  g_assert_cmpstr (run->f->log->str, ==, order);
  for (guint id = 'a'; id < 'y'; id++)
    {
      if (run->lenders[id] != 0)
        end (run, (char) id);
    }
  g_clear_pointer (&run->runner, prio_runner_unref);
}

/* Starts a task, which waits. */
static void
begin (Run *run, char id, gint priority, gpointer signal)
{
  run->lenders[(guint) id] = prio_runner_add_lender (run->runner, 0, priority, signal);
  g_assert_cmpuint (run->lenders[(guint) id], !=, 0);
}

static void
post_three (Run *run)
{
  post (run, 'l', BACKGROUND, NULL);
  post (run, 'm', BACKGROUND, NULL);
  post (run, 'n', USER_VISIBLE, NULL);
}

static void
test_waits (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  post_three (&run);
  begin (&run, 'h', USER_BLOCKING, NULL);
  begin_wait (&run, "hm");
  finish (&run, "mnl");
}

static void
test_ended_waits (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  post_three (&run);
  begin (&run, 'h', USER_BLOCKING, NULL);
  begin (&run, 'i', USER_BLOCKING, NULL);
  begin_wait (&run, "hm");
  begin_wait (&run, "hl");
  begin_wait (&run, "il");
  end_wait (&run, "hm");
  end_wait (&run, "hm");
  end (&run, 'i');
  /* None of these numbers is in use any more. */
  begin_wait (&run, "im");
  end_wait (&run, "il");
  run.lenders['i'] = 0;
  finish (&run, "lnm");
}

static void
test_signals (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
  Run run;

  set_up (&run, f);
  post_three (&run);
  begin (&run, 'h', PRIO_TASK_PRIORITY_UNSET, signal);
  begin_wait (&run, "hm");
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 'm');
  prio_task_controller_abort (controller, NULL);
  g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 'n');
  g_assert_cmpuint (prio_runner_add_lender (run.runner, 0, PRIO_TASK_PRIORITY_UNSET, G_CANCELLABLE (signal)), ==, 0);
  finish (&run, "nlm");
}

static void
test_continuations (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  post_three (&run);
  run.yields = 'l';
  begin (&run, 'h', USER_BLOCKING, NULL);
  begin_wait (&run, "hl");
  finish (&run, "lynm");
}

/* All tasks of a signal wait for each other in a circle, and a task waits for one of them. */
static void
test_rings (Fixture *f, gconstpointer data)
{
  enum { N = 20000 };
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autofree guint *lenders = g_new (guint, N);
  Run run;

  set_up (&run, f);
  post (&run, 'l', BACKGROUND, NULL);
  post (&run, 'm', USER_VISIBLE, NULL);
  for (guint i = 0; i < N; i++)
    lenders[i] = prio_runner_add_lender (run.runner, 0, PRIO_TASK_PRIORITY_UNSET,
                                         G_CANCELLABLE (prio_task_controller_get_signal (controller)));
  for (guint i = 0; i < N; i++)
    prio_runner_begin_wait (run.runner, lenders[i], lenders[(i + 1) % N]);
  prio_runner_begin_wait (run.runner, lenders[N / 2], run.lenders['l']);
  for (guint i = 0; i < 10; i++)
    {
      prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
      g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 'l');
      prio_task_controller_set_priority (controller, BACKGROUND, NULL);
      g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 'm');
    }
  begin (&run, 'h', USER_BLOCKING, NULL);
  prio_runner_begin_wait (run.runner, run.lenders['h'], lenders[0]);
  g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 'l');
  prio_task_controller_abort (controller, NULL);
  g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 'l');
  end (&run, 'h');
  run.lenders['h'] = 0;
  g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 'm');
  for (guint i = 0; i < N; i++)
    prio_runner_remove_lender (run.runner, lenders[i]);
  finish (&run, "ml");
}

/* A task that was lent a priority gets its result in its continuation. */
static void
test_nothing_is_left (Fixture *f, gconstpointer data)
{
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
  Run run;

  set_up (&run, f);
  post (&run, 'l', PRIO_TASK_PRIORITY_UNSET, signal);
  run.yields = 'l';
  run.ends = 'y';
  begin (&run, 'h', USER_BLOCKING, NULL);
  begin_wait (&run, "hl");
  g_object_add_weak_pointer (G_OBJECT (signal), (gpointer *) &signal);
  g_object_unref (controller);
  finish (&run, "ly");
  fixture_run (f);
  g_assert_null (signal);
}

/* A task that waits for a started task lends to the tasks that the started task waits for. */
static void
test_chains (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  post_three (&run);
  begin (&run, 'h', USER_BLOCKING, NULL);
  begin (&run, 'i', BACKGROUND, NULL);
  begin_wait (&run, "im");
  begin_wait (&run, "hi");
  begin_wait (&run, "mi");
  finish (&run, "mnl");
}

/* Random waits of tasks for each other, in circles too. */
enum { N_RANDOM = 9 };

typedef struct
{
  gboolean waits[N_RANDOM][N_RANDOM]; /* whether the first waits for the second */
  PrioTaskPriority priorities[N_RANDOM];
} Graph;

/* Returns the highest priority of @awaited and of all tasks that wait for it, found by a search. */
static PrioTaskPriority
find_level (const Graph *graph, guint awaited, gboolean *seen)
{
  PrioTaskPriority level = graph->priorities[awaited];

  seen[awaited] = TRUE;
  for (guint i = 0; i < N_RANDOM; i++)
    {
      PrioTaskPriority lent = graph->waits[i][awaited] && !seen[i] ? find_level (graph, i,
                                                                                 seen) : PRIO_TASK_PRIORITY_UNSET;

      level = MAX (level, lent);
    }
  return level;
}

/* Returns the oldest task of the highest level. */
static guint
find_first (const Graph *graph)
{
  PrioTaskPriority highest = PRIO_TASK_PRIORITY_UNSET;
  guint first = 0;

  for (guint i = 0; i < N_RANDOM; i++)
    {
      gboolean seen[N_RANDOM] = { FALSE };
      PrioTaskPriority level = find_level (graph, i, seen);

      if (level > highest)
        first = i;
      highest = MAX (level, highest);
    }
  return first;
}

static void
test_random_waits (Fixture *f, gconstpointer data)
{
  PrioTaskController *controllers[N_RANDOM];
  Graph graph = { 0 };
  Run run;

  set_up (&run, f);
  for (guint i = 0; i < N_RANDOM; i++)
    {
      graph.priorities[i] = BACKGROUND;
      controllers[i] = prio_task_controller_new (BACKGROUND);
      post (&run, (char) ('a' + i), PRIO_TASK_PRIORITY_UNSET, prio_task_controller_get_signal (controllers[i]));
    }
  for (guint i = 0; i < 20000; i++)
    {
      guint one = (guint) g_test_rand_int_range (0, N_RANDOM), other = (guint) g_test_rand_int_range (0, N_RANDOM);
      char wait[] = { (char) ('a' + one), (char) ('a' + other) };

      if (g_test_rand_int_range (0, 3) == 0)
        {
          graph.priorities[one] = (PrioTaskPriority) g_test_rand_int_range (BACKGROUND, USER_BLOCKING + 1);
          prio_task_controller_set_priority (controllers[one], graph.priorities[one], NULL);
        }
      else
        {
          graph.waits[one][other] ? end_wait (&run, wait) : begin_wait (&run, wait);
          graph.waits[one][other] = !graph.waits[one][other];
        }
      g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 'a' + find_first (&graph));
    }
  fixture_run (f);
  for (guint i = 0; i < N_RANDOM; i++)
    {
      end (&run, (char) ('a' + i));
      g_object_unref (controllers[i]);
    }
  prio_runner_unref (run.runner);
}

static void
test_others (Fixture *f, gconstpointer data)
{
  Run run;

  run = (Run) { .f = f, .runner = prio_runner_new (f->scheduler, run_tasks, &run, NULL) };
  prio_runner_post (run.runner, 'a', BACKGROUND);
  g_assert_cmpuint (prio_runner_add_lender (run.runner, 'a', PRIO_TASK_PRIORITY_UNSET, NULL), ==, 0);
  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
  g_assert_cmpuint (prio_runner_add_lender (run.runner, 'z', PRIO_TASK_PRIORITY_UNSET, NULL), ==, 0);
  finish (&run, "a");
}

/* Waits that a binding has not ended are freed with the context. */
static void
test_context_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  Run run;

  set_up (&run, f);
  post_three (&run);
  begin (&run, 'h', PRIO_TASK_PRIORITY_UNSET, prio_task_controller_get_signal (controller));
  begin_wait (&run, "hm");
  begin_wait (&run, "mh");
  fixture_drop_context (f);
  end (&run, 'h');
  g_assert_cmpuint (prio_runner_add_lender (run.runner, 0, USER_VISIBLE, NULL), ==, 0);
  g_clear_pointer (&run.runner, prio_runner_unref);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/runner-lend/waits", test_waits);
  add_test ("/runner-lend/ended-waits", test_ended_waits);
  add_test ("/runner-lend/signals", test_signals);
  add_test ("/runner-lend/continuations", test_continuations);
  add_test ("/runner-lend/rings", test_rings);
  add_test ("/runner-lend/nothing-is-left", test_nothing_is_left);
  add_test ("/runner-lend/chains", test_chains);
  add_test ("/runner-lend/random-waits", test_random_waits);
  add_test ("/runner-lend/others", test_others);
  add_test ("/runner-lend/context-goes", test_context_goes);

  return g_test_run ();
}
