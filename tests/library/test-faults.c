/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-faults.c: fork (), and very long chains of objects
 *
 * Links the library's own objects, so that a thread can stay inside the library for long.
 */

#include "config.h"

#include "helpers.h"
#include "scheduler/prio-scheduler-private.h"
#include "stay-inside.h"

#include <sys/wait.h>
#include <unistd.h>

/* A child of fork () has the parent's tasks, and continues them. */

/* Ends the child.  It does not exit normally: a leak checker would report the objects of threads that do not exist in
 * the child. */
static void G_GNUC_NORETURN
end_child (gboolean success)
{
  execlp (success ? "true" : "false", "child", NULL);
  _exit (1);
}

static void
assert_child_succeeds (pid_t child)
{
  gint status;

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
}

static void
step_fork (Step *step)
{
  pid_t child = fork ();

  if (child == 0)
    g_string_append_c (step->f->log, '!');
  else
    assert_child_succeeds (child);
}

static void
test_fork_in_a_task (Fixture *f, gconstpointer data)
{
  step_n_freed = 0;
  post_letter (f, BACKGROUND, 'c');
  post_step (f, USER_BLOCKING, 'a', step_fork, NULL);
  post_letter (f, USER_VISIBLE, 'b');
  fixture_run (f);

  if (strchr (f->log->str, '!') != NULL)
    end_child (g_str_equal (f->log->str, "a!bc") && step_n_freed == 3);
  g_assert_cmpstr (f->log->str, ==, "abc");
  g_assert_cmpuint (step_n_freed, ==, 3);
}

/* Another thread runs tasks: the child does not have that thread, and makes a new scheduler. */
static void
test_fork_beside_a_thread (Fixture *f, gconstpointer data)
{
  Worker worker;
  pid_t child;

  worker_start (&worker);
  prio_scheduler_post (worker.scheduler, BACKGROUND, step_run, step_new (f, 'a', NULL, NULL), step_free);
  child = fork ();
  if (child == 0)
    {
      Fixture own;

      fixture_set_up (&own, NULL);
      post_letter (&own, BACKGROUND, 'b');
      fixture_run (&own);
      end_child (g_str_equal (own.log->str, "b"));
    }

  assert_child_succeeds (child);
  worker_stop (&worker);
  g_assert_cmpstr (f->log->str, ==, "a");
}

/* While threads are inside the library at every moment, a child continues with all objects that do not belong to such a
 * thread. */
enum { N_LOOKS = 20000, MAX_PENDING = 20000, PATIENCE = 20 };

static gint is_busy, stop_busy, n_pending;

/* Stays inside the context's record nearly all the time; this thread ran the context last. */
static gpointer
be_inside (gpointer data)
{
  Fixture *f = data;
  g_main_context_iteration (f->context, FALSE);
  g_atomic_int_set (&is_busy, TRUE);
  while (!g_atomic_int_get (&stop_busy))
    stay_inside (f->scheduler->run_queue->loop, N_LOOKS);
  return NULL;
}

static gboolean
uncount (gpointer data)
{
  g_atomic_int_add (&n_pending, -1);
  return G_SOURCE_REMOVE;
}

/* Stays in the mailbox. */
static gpointer
keep_posting (gpointer data)
{
  Fixture *f = data;

  g_atomic_int_set (&is_busy, TRUE);
  while (!g_atomic_int_get (&stop_busy))
    {
      if (g_atomic_int_get (&n_pending) < MAX_PENDING)
        {
          g_atomic_int_inc (&n_pending);
          prio_scheduler_post (f->scheduler, BACKGROUND, uncount, NULL, NULL);
        }
    }
  return NULL;
}

static gboolean
post_again (gpointer scheduler)
{
  if (!g_atomic_int_get (&stop_busy))
    prio_scheduler_post (scheduler, BACKGROUND, post_again, scheduler, NULL);
  return G_SOURCE_REMOVE;
}

/* Runs tasks in a batch of another context. */
static gpointer
keep_running_tasks (gpointer data G_GNUC_UNUSED)
{
  Fixture own;

  fixture_set_up (&own, NULL);
  post_again (own.scheduler);
  g_atomic_int_set (&is_busy, TRUE);
  while (!g_atomic_int_get (&stop_busy))
    g_main_context_iteration (own.context, FALSE);
  fixture_run (&own);
  fixture_tear_down (&own, NULL);
  return NULL;
}

/* Stays among the signals. */
static gpointer
keep_asking (gpointer data)
{
  PrioTaskSignal *signal = data;

  g_atomic_int_set (&is_busy, TRUE);
  while (!g_atomic_int_get (&stop_busy))
    g_assert_false (prio_task_signal_is_aborted (signal));
  return NULL;
}

/* Uses everything in the child; an alarm ends it if a lock is held for ever. */
G_GNUC_NORETURN static void
use_everything (Fixture *f)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  Fixture own;

  alarm (PATIENCE);
  g_string_truncate (f->log, 0);
  /* Unfinished work of the other thread is not done. */
  prio_scheduler_pause (f->scheduler);
  prio_scheduler_resume (f->scheduler);
  post_letter (f, USER_VISIBLE, 'v');
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, prio_task_controller_get_signal (controller), 'b', NULL, NULL);
  while (strlen (f->log->str) < 2)
    g_main_context_iteration (f->context, FALSE);

  prio_task_controller_abort (controller, NULL);
  fixture_set_up (&own, NULL);
  post_letter (&own, BACKGROUND, 'c');
  fixture_run (&own);
  end_child (g_str_equal (f->log->str, "bv") && g_str_equal (own.log->str, "c"));
}

static void
fork_beside (Fixture *f, GThreadFunc busy, gpointer data)
{
  guint n_children = times (40);
  GThread *thread;

  g_atomic_int_set (&is_busy, FALSE);
  g_atomic_int_set (&stop_busy, FALSE);
  thread = g_thread_new ("busy", busy, data);
  while (!g_atomic_int_get (&is_busy))
    g_thread_yield ();
  for (guint i = 0; i < n_children; i++)
    {
      pid_t child = fork ();

      if (child == 0)
        use_everything (f);
      assert_child_succeeds (child);
      /* Waits until the thread is inside again. */
      if (busy == keep_posting)
        fixture_run (f);
      g_usleep (i % 7);
    }
  g_atomic_int_set (&stop_busy, TRUE);
  g_thread_join (thread);
}

static void
test_fork_while_a_thread_is_inside (Fixture *f, gconstpointer data)
{
  /* The other thread has to own the context. */
  g_main_context_pop_thread_default (f->context);
  fork_beside (f, be_inside, f);
  g_main_context_push_thread_default (f->context);
}

static void
test_fork_while_a_thread_posts (Fixture *f, gconstpointer data)
{
  fork_beside (f, keep_posting, f);
}

static void
test_fork_while_a_thread_runs_tasks (Fixture *f, gconstpointer data)
{
  fork_beside (f, keep_running_tasks, NULL);
}

static void
test_fork_while_a_thread_asks_a_signal (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  fork_beside (f, keep_asking, prio_task_controller_get_signal (controller));
}

/* The depth of calls does not grow with the number of connected objects. */
static guint many = 1000000;

static guint n_queued;

static void
queue_next (gpointer scheduler)
{
  if (++n_queued < many)
    prio_scheduler_queue_microtask (scheduler, queue_next, scheduler, NULL);
}

static void
test_microtasks_in_a_row (Fixture *f, gconstpointer data)
{
  n_queued = 0;
  prio_scheduler_queue_microtask (f->scheduler, queue_next, f->scheduler, NULL);
  fixture_run (f);
  g_assert_cmpuint (n_queued, ==, many);
}

static void
count_microtask (gpointer data)
{
  n_queued++;
}

static void
test_microtasks_at_once (Fixture *f, gconstpointer data)
{
  n_queued = 0;
  for (guint i = 0; i < many; i++)
    prio_scheduler_queue_microtask (f->scheduler, count_microtask, NULL, NULL);
  fixture_run (f);
  g_assert_cmpuint (n_queued, ==, many);
}

/* Each signal depends on the previous one, and follows its priority. */
static void
test_dependents_in_a_row (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (GPtrArray) chain = g_ptr_array_new_full (many, g_object_unref);

  g_ptr_array_add (chain, g_object_ref (prio_task_controller_get_signal (controller)));
  while (chain->len < many)
    {
      GCancellable *last = chain->pdata[chain->len - 1];

      g_ptr_array_add (chain, prio_task_signal_new_any_following (&last, 1, PRIO_TASK_SIGNAL (last)));
    }

  g_assert_true (prio_task_controller_set_priority (controller, USER_BLOCKING, NULL));
  g_assert_cmpint (prio_task_signal_get_priority (chain->pdata[many - 1]), ==, USER_BLOCKING);
  prio_task_controller_abort (controller, NULL);
  g_assert_true (prio_task_signal_is_aborted (chain->pdata[many - 1]));
}

/* Each task has a destroy notify that aborts the next task, and a notify that runs a nested loop. */
static guint n_links = 100000;

typedef struct
{
  Fixture *f;
  PrioTaskController *controller;
} Link;

static guint n_released;

static void
release_link (gpointer data)
{
  Link *link = data;

  gboolean half = ++n_released == n_links / 2;

  if (n_released < n_links)
    prio_task_controller_abort (link[1].controller, NULL);
  if (half)
    fixture_run (link->f);
}

static gboolean
run_link (gpointer data)
{
  g_string_append_c (((Link *) data)->f->log, '?');
  return G_SOURCE_REMOVE;
}

static void
test_releases_in_a_row (Fixture *f, gconstpointer data)
{
  g_autofree Link *links = g_new (Link, n_links);

  n_released = 0;
  for (guint i = 0; i < n_links; i++)
    {
      links[i] = (Link) { f, prio_task_controller_new (BACKGROUND) };
      prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (links[i].controller) },
                                run_link, &links[i], release_link);
    }

  prio_task_controller_abort (links[0].controller, NULL);
  g_assert_cmpuint (n_released, ==, n_links);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
  for (guint i = 0; i < n_links; i++)
    g_object_unref (links[i].controller);
}

static void
return_too (GObject *source, GAsyncResult *result, gpointer next)
{
  prio_task_return_int (next, prio_task_propagate_int (PRIO_TASK (result), NULL) + 1);
}

static void
wait_for_it (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
}

/* Each task waits for the previous one. */
static void
test_results_in_a_row (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) first = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND },
                                                         wait_for_it, NULL, NULL);
  PrioTask *last = g_object_ref (first);

  for (guint i = 1; i < many; i++)
    {
      PrioTask *next = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND },
                                                 wait_for_it, NULL, NULL);

      prio_task_then (last, return_too, g_object_ref (next), g_object_unref);
      g_object_unref (last);
      last = next;
    }

  fixture_run (f);
  prio_task_return_int (first, 1);
  fixture_run (f);
  g_assert_cmpint (prio_task_propagate_int (last, NULL), ==, many);
  g_object_unref (last);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  many = times (many);
  n_links = times (n_links);

  add_test ("/faults/fork/in-a-task", test_fork_in_a_task);
  add_test ("/faults/fork/beside-a-thread", test_fork_beside_a_thread);
  add_test ("/faults/fork/while-a-thread-is-inside", test_fork_while_a_thread_is_inside);
  add_test ("/faults/fork/while-a-thread-posts", test_fork_while_a_thread_posts);
  add_test ("/faults/fork/while-a-thread-runs-tasks", test_fork_while_a_thread_runs_tasks);
  add_test ("/faults/fork/while-a-thread-asks-a-signal", test_fork_while_a_thread_asks_a_signal);
  add_test ("/faults/many/microtasks-in-a-row", test_microtasks_in_a_row);
  add_test ("/faults/many/microtasks-at-once", test_microtasks_at_once);
  add_test ("/faults/many/dependents-in-a-row", test_dependents_in_a_row);
  add_test ("/faults/many/releases-in-a-row", test_releases_in_a_row);
  add_test ("/faults/many/results-in-a-row", test_results_in_a_row);

  return g_test_run ();
}
