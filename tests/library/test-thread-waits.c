/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-thread-waits.c: threads that wait for a task of a main loop */

#include "helpers.h"
#include "tsan-suppressions.h"

#include <prio-sched-threads.h>

#include <sys/wait.h>
#include <unistd.h>

typedef struct
{
  Fixture f;
  GThread *main;
  PrioTaskController *controller;
  PrioTask *task;
  gint n_over, n_asked; /* atomic */
} World;

static void
set_up (World *w, gconstpointer data)
{
  fixture_set_up (&w->f, data);
  w->main = g_thread_self ();
  w->controller = prio_task_controller_new (USER_BLOCKING);
}

static void
tear_down (World *w, gconstpointer data)
{
  g_clear_object (&w->task);
  g_clear_object (&w->controller);
  fixture_tear_down (&w->f, data);
}

/* Reports that the thread's work is done. */
static gpointer
is_over (World *w)
{
  g_atomic_int_inc (&w->n_over);
  g_main_context_wakeup (w->f.context);
  return NULL;
}

static void
answer (PrioTask *task, gpointer data)
{
  g_assert_true (g_thread_self () == ((World *) data)->main);
  prio_task_return_int (task, 42);
}

/* Returns the tasks, so that this thread does not drop their last references: ThreadSanitizer does not see the order of
 * such drops. */
static gpointer
ask (gpointer data)
{
  World *w = data;
  GPtrArray *tasks = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < times (1000); i++)
    {
      PrioTask *task = prio_scheduler_post_task (w->f.scheduler, NULL, answer, w, NULL);
      g_autoptr (GError) error = NULL;

      g_ptr_array_add (tasks, task);
      g_assert_true (prio_task_wait (task, -1, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpint (prio_task_propagate_int (task, &error), ==, 42);
      g_assert_true (prio_task_wait (task, 1, NULL, NULL)); /* again, at once */
    }
  is_over (w);
  return tasks;
}

static void
test_answer (World *w, gconstpointer data)
{
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("asks", ask, w);
  fixture_run_until (&w->f, &w->n_over, G_N_ELEMENTS (threads));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_ptr_array_unref (g_thread_join (threads[i]));
}

static void
fail (PrioTask *task, gpointer data)
{
  prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no");
}

/* How a wait ends. */
typedef struct
{
  World *w;
  gint64 timeout;
  GCancellable *cancellable;
  GQuark domain;
  gint code;
} Wait;

static gpointer
wait_for (gpointer data)
{
  Wait *wait = data;
  World *w = wait->w;
  g_autoptr (GError) error = NULL;

  g_atomic_int_inc (&w->n_asked);
  g_assert_false (prio_task_wait (w->task, wait->timeout, wait->cancellable, &error));
  g_assert_error (error, wait->domain, wait->code);
  g_atomic_int_inc (&w->n_over);
  return NULL;
}

static GThread *
begin (World *w, Wait *wait, PrioTaskFunc func)
{
  GThread *thread;

  wait->w = w;
  w->task = prio_scheduler_post_task (
      w->f.scheduler, &PRIO_TASK_OPTIONS (.signal = prio_task_controller_get_signal (w->controller)), func, w, NULL);
  thread = g_thread_new ("waits", wait_for, wait);
  while (g_atomic_int_get (&w->n_asked) == 0)
    g_thread_yield ();
  return thread;
}

static void
test_error (World *w, gconstpointer data)
{
  Wait wait = { .timeout = -1, .domain = G_IO_ERROR, .code = G_IO_ERROR_NOT_FOUND };
  GThread *thread = begin (w, &wait, fail);

  while (prio_task_get_state (w->task) != PRIO_TASK_STATE_FAILED)
    g_main_context_iteration (w->f.context, TRUE);
  g_thread_join (thread);
}

static void
test_abort (World *w, gconstpointer data)
{
  Wait wait = { .timeout = -1, .domain = G_IO_ERROR, .code = G_IO_ERROR_CANCELLED };
  GThread *thread = begin (w, &wait, answer);

  prio_task_controller_abort (w->controller, NULL);
  g_thread_join (thread);
  assert_ran (&w->f, "");
}

/* Cancels a wait, but not its task; a signal gives its reason. */
static void
test_cancellable (World *w, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "later");
  GCancellable *const cancellables[] = { cancellable, (GCancellable *) prio_task_controller_get_signal (controller) };
  const GIOErrorEnum codes[] = { G_IO_ERROR_CANCELLED, G_IO_ERROR_BUSY };

  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    {
      Wait wait = { .timeout = -1, .cancellable = cancellables[i], .domain = G_IO_ERROR, .code = codes[i] };
      GThread *thread = begin (w, &wait, answer);

      if (i == 0)
        g_cancellable_cancel (cancellable);
      else
        prio_task_controller_abort (controller, reason);
      g_thread_join (thread);
      while (prio_task_get_state (w->task) != PRIO_TASK_STATE_FULFILLED)
        g_main_context_iteration (w->f.context, TRUE);
      if (i == 0)
        g_clear_object (&w->task);
      w->n_asked = 0;
    }
}

static void
test_context_ends (World *w, gconstpointer data)
{
  Wait wait = { .timeout = -1, .domain = PRIO_ERROR, .code = PRIO_ERROR_CLOSED };
  GThread *thread = begin (w, &wait, answer);
  g_autoptr (GError) error = NULL;

  fixture_drop_context (&w->f);
  g_thread_join (thread);
  /* A later wait fails at once. */
  g_assert_false (prio_task_wait (w->task, -1, NULL, &error));
  g_assert_error (error, PRIO_ERROR, PRIO_ERROR_CLOSED);
}

/* A task whose result is deferred stays as it is at the end of the context; the wait ends. */
static void
test_context_of_a_deferred_task_ends (World *w, gconstpointer data)
{
  Wait wait = { .timeout = -1, .w = w, .domain = PRIO_ERROR, .code = PRIO_ERROR_CLOSED };
  GThread *thread;

  w->task = prio_task_new (w->f.scheduler, NULL);
  thread = g_thread_new ("waits", wait_for, &wait);
  while (g_atomic_int_get (&w->n_asked) == 0)
    g_thread_yield ();
  fixture_drop_context (&w->f);
  g_thread_join (thread);
  /* A later wait fails at once. */
  g_thread_join (g_thread_new ("waits", wait_for, &wait));
  prio_task_return_boolean (w->task, TRUE);
}

static void
test_never_runs (World *w, gconstpointer data)
{
  Wait wait = { .timeout = 20, .domain = G_IO_ERROR, .code = G_IO_ERROR_TIMED_OUT };
  GThread *thread = begin (w, &wait, answer);

  g_thread_join (thread);
  /* The task itself continues. */
  while (prio_task_get_state (w->task) != PRIO_TASK_STATE_FULFILLED)
    g_main_context_iteration (w->f.context, TRUE);
}

/* A timeout of 0 asks whether the task has completed, and the largest timeout does not overflow. */
static void
test_only_asks (World *w, gconstpointer data)
{
  Wait asks = { .timeout = 0, .domain = G_IO_ERROR, .code = G_IO_ERROR_TIMED_OUT };
  Wait waits = { .timeout = G_MAXINT64, .domain = G_IO_ERROR, .code = G_IO_ERROR_CANCELLED };
  GThread *thread = begin (w, &asks, answer);

  g_thread_join (thread);
  while (prio_task_get_state (w->task) != PRIO_TASK_STATE_FULFILLED)
    g_main_context_iteration (w->f.context, TRUE);
  g_assert_true (prio_task_wait (w->task, 0, NULL, NULL));

  g_clear_object (&w->task);
  w->n_asked = 0;
  thread = begin (w, &waits, answer);
  prio_task_controller_abort (w->controller, NULL);
  g_thread_join (thread);
}

static void
test_own_loop (World *w, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  w->task = prio_scheduler_post_task (w->f.scheduler, NULL, answer, w, NULL);
  g_assert_false (prio_task_wait (w->task, -1, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
  while (prio_task_get_state (w->task) != PRIO_TASK_STATE_FULFILLED)
    g_main_context_iteration (w->f.context, TRUE);
  g_assert_true (prio_task_wait (w->task, -1, NULL, NULL));
}

static void
wait_in_notify (gpointer data)
{
  World *w = data;
  g_autoptr (GError) error = NULL;

  g_assert_false (prio_task_wait (w->task, -1, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
  g_atomic_int_inc (&w->n_over);
}

static gboolean
nothing (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static void
test_destroy_notify (World *w, gconstpointer data)
{
  w->task = prio_task_new (w->f.scheduler, NULL);
  prio_scheduler_post (w->f.scheduler, USER_VISIBLE, nothing, w, wait_in_notify);
  fixture_run_until (&w->f, &w->n_over, 1);
  prio_task_return_boolean (w->task, TRUE);
}

static PrioScheduler *home;

/* Runs in the worker: the main thread waits for this task, so this task may not wait for the main thread. */
static void
ask_back (PrioTask *task, gpointer data)
{
  World *w = data;
  PrioTask *question = w->task = prio_scheduler_post_task (home, NULL, answer, w, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (prio_task_wait (question, -1, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
  g_atomic_int_inc (&w->n_over);
  prio_task_return_int (task, 7);
}

static void
test_circle (World *w, gconstpointer data)
{
  g_autoptr (PrioWorker) worker = prio_worker_new ("other");
  g_autoptr (PrioTask) task = NULL;
  g_autoptr (GError) error = NULL;

  home = w->f.scheduler;
  while (g_main_context_iteration (w->f.context, FALSE))
    ;
  /* The worker begins when the main thread waits, or fails at once; here it is posted with a delay. */
  task = prio_scheduler_post_task (prio_worker_get_scheduler (worker), &PRIO_TASK_OPTIONS (.delay = 50), ask_back, w, NULL);
  g_assert_true (prio_task_wait (task, -1, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (w->n_over, ==, 1);
  prio_worker_stop (worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_join (worker);
  while (g_main_context_iteration (w->f.context, FALSE))
    ;
}

/* The worker's task waits before the main thread joins the worker, or after that. */
static void
test_joined_worker (World *w, gconstpointer data)
{
  home = w->f.scheduler;
  for (guint delay = 0; delay <= 50; delay += 50)
    {
      g_autoptr (PrioWorker) worker = prio_worker_new ("joined");
      g_autoptr (PrioTask) task = NULL;

      task = prio_scheduler_post_task (prio_worker_get_scheduler (worker), &PRIO_TASK_OPTIONS (.delay = delay), ask_back, w, NULL);
      while (delay == 0 && prio_scheduler_count_pending (home) == 0)
        g_thread_yield ();
      prio_worker_stop (worker, PRIO_WORKER_STOP_FINISH);
      prio_worker_join (worker);
      g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, 7);
      while (prio_task_get_state (w->task) != PRIO_TASK_STATE_FULFILLED)
        g_main_context_iteration (w->f.context, TRUE);
      g_clear_object (&w->task);
    }
}

/* Runs in the worker, which owns another loop, while no thread waits for it. */
static void
ask_home (PrioTask *task, gpointer data)
{
  World *w = data;
  PrioTask *question = w->task = prio_scheduler_post_task (home, NULL, answer, w, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (prio_task_wait (question, -1, NULL, &error));
  g_assert_no_error (error);
  prio_task_return_int (task, prio_task_propagate_int (question, NULL));
  is_over (w);
}

static void
test_other_loop (World *w, gconstpointer data)
{
  g_autoptr (PrioWorker) worker = prio_worker_new ("other");
  g_autoptr (PrioTask) task = NULL;

  home = w->f.scheduler;
  task = prio_scheduler_post_task (prio_worker_get_scheduler (worker), NULL, ask_home, w, NULL);
  fixture_run_until (&w->f, &w->n_over, 1);
  g_assert_true (prio_task_wait (task, -1, NULL, NULL));
  g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, 42);
  prio_worker_stop (worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_join (worker);
}

/* A call into a loop that has ended before the call, and whose scheduler is still there. */
static void
test_stopped_worker (World *w, gconstpointer data)
{
  g_autoptr (PrioWorker) worker = prio_worker_new ("stopped");
  g_autoptr (PrioScheduler) scheduler = g_object_ref (prio_worker_get_scheduler (worker));
  Wait wait = { .timeout = -1, .w = w, .domain = PRIO_ERROR, .code = PRIO_ERROR_CLOSED };

  prio_worker_stop (worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_join (worker);
  w->task = prio_scheduler_post_task (scheduler, NULL, answer, w, NULL);
  g_thread_join (g_thread_new ("waits", wait_for, &wait));
  g_clear_object (&w->task);
  w->task = prio_task_new (scheduler, NULL);
  g_thread_join (g_thread_new ("waits", wait_for, &wait));
  g_assert_cmpint (w->n_over, ==, 2);
}

static void
test_fork (World *w, gconstpointer data)
{
  GThread *thread = g_thread_new ("asks", ask, w);

  for (guint i = 0; i < 10; i++)
    {
      int status;
      pid_t child = fork ();

      if (child == 0)
        {
          g_autoptr (PrioTask) task = prio_scheduler_post_task (w->f.scheduler, NULL, answer, w, NULL);
          GError *error = NULL;
          gboolean works = !prio_task_wait (task, -1, NULL, &error) && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);

          execlp (works ? "true" : "false", "child", NULL);
          _exit (1);
        }
      g_assert_cmpint (waitpid (child, &status, 0), ==, child);
      g_assert_cmpint (status, ==, 0);
      g_main_context_iteration (w->f.context, FALSE);
    }
  fixture_run_until (&w->f, &w->n_over, 1);
  g_ptr_array_unref (g_thread_join (thread));
}

/* A dependent signal emits its abort in its own main context, which is the blocked thread's. */
static gpointer
cancel_source (gpointer source)
{
  g_cancellable_cancel (source);
  return NULL;
}

static void
test_dependent_signal (World *w, gconstpointer data)
{
  g_autoptr (PrioWorker) worker = prio_worker_new ("other");

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTask) task = prio_task_new (prio_worker_get_scheduler (worker), NULL);
      g_autoptr (GCancellable) source = g_cancellable_new ();
      g_autoptr (PrioTaskSignal) dependent = prio_task_signal_new_any (&source, 1, USER_VISIBLE);
      g_autoptr (GThread) canceller = g_thread_new ("canceller", cancel_source, source);
      g_autoptr (GError) error = NULL;

      if (i == 1)
        g_thread_join (g_steal_pointer (&canceller));
      g_assert_false (prio_task_wait (task, -1, G_CANCELLABLE (dependent), &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      if (canceller != NULL)
        g_thread_join (g_steal_pointer (&canceller));
      prio_task_return_boolean (task, TRUE);
    }
  prio_worker_stop (worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_join (worker);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define TEST(name, func) g_test_add ("/thread-waits/" name, World, NULL, set_up, func, tear_down)
  TEST ("answer", test_answer);
  TEST ("error", test_error);
  TEST ("abort", test_abort);
  TEST ("cancellable", test_cancellable);
  TEST ("context-ends", test_context_ends);
  TEST ("context-of-a-deferred-task-ends", test_context_of_a_deferred_task_ends);
  TEST ("never-runs", test_never_runs);
  TEST ("only-asks", test_only_asks);
  TEST ("own-loop", test_own_loop);
  TEST ("destroy-notify", test_destroy_notify);
  TEST ("circle", test_circle);
  TEST ("joined-worker", test_joined_worker);
  TEST ("other-loop", test_other_loop);
  TEST ("dependent-signal", test_dependent_signal);
  TEST ("stopped-worker", test_stopped_worker);
  TEST ("fork", test_fork);

  return g_test_run ();
}
