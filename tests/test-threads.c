/* test-threads.c: calls from any thread
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "helpers.h"

#define N 20000

static gint n_ran, n_freed, next_id;

static gboolean
count_on_worker (gpointer data)
{
  Worker *worker = data;

  g_assert_true (g_thread_self () == worker->thread);
  g_atomic_int_inc (&n_ran);
  return G_SOURCE_REMOVE;
}

static void
count_freed (gpointer data)
{
  g_atomic_int_inc (&n_freed);
}

static gpointer
post_many (gpointer data)
{
  Worker *worker = data;

  for (guint i = 0; i < N; i++)
    prio_scheduler_post (worker->scheduler, BACKGROUND + i % 3, count_on_worker, worker, count_freed);
  return NULL;
}

static void
test_post (Fixture *f, gconstpointer data)
{
  GThread *posters[3];
  Worker worker;

  n_ran = n_freed = 0;
  worker_start (&worker);
  for (guint i = 0; i < G_N_ELEMENTS (posters); i++)
    posters[i] = g_thread_new ("poster", post_many, &worker);
  for (guint i = 0; i < G_N_ELEMENTS (posters); i++)
    g_thread_join (posters[i]);
  worker_stop (&worker);

  g_assert_cmpint (n_ran, ==, 3 * N);
  g_assert_cmpint (n_freed, ==, 3 * N);
}

/* What a thread posts is run in the order in which it posted. */
static gboolean
check_id (gpointer data)
{
  g_assert_cmpint (GPOINTER_TO_INT (data), ==, next_id);
  next_id++;
  return G_SOURCE_REMOVE;
}

static void
test_order_of_a_thread_is_kept (Fixture *f, gconstpointer data)
{
  Worker worker;

  next_id = 0;
  worker_start (&worker);
  for (gint i = 0; i < N; i++)
    prio_scheduler_post (worker.scheduler, USER_VISIBLE, check_id, GINT_TO_POINTER (i), NULL);
  worker_stop (&worker);
  g_assert_cmpint (next_id, ==, N);
}

/* Whatever another thread has posted before it says so comes before what we post. */
static gpointer
post_first (gpointer data)
{
  post_letter (data, USER_VISIBLE, 'a');
  return NULL;
}

static void
test_order_between_threads_is_that_of_time (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 100; i++)
    {
      g_thread_join (g_thread_new ("poster", post_first, f));
      post_letter (f, USER_VISIBLE, 'b');
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "ab");
      g_string_truncate (f->log, 0);
    }
}

/* Home: the creator's until another thread runs the context. */
static void
test_posts_race_with_a_new_owner (Fixture *f, gconstpointer data)
{
  for (guint round = 0; round < 200; round++)
    {
      Worker worker;

      n_ran = 0;
      worker_start (&worker);
      for (guint i = 0; i < 100; i++)
        prio_scheduler_post (worker.scheduler, USER_VISIBLE, count_on_worker, &worker, NULL);
      worker_stop (&worker);
      g_assert_cmpint (n_ran, ==, 100);
    }
}

typedef struct
{
  Worker *worker;
  PrioTaskController **controllers;
  guint n_controllers;
} Meddler;

static gpointer
change_priorities (gpointer data)
{
  Meddler *meddler = data;

  for (guint i = 0; i < 20000; i++)
    prio_task_controller_set_priority (meddler->controllers[i % meddler->n_controllers], BACKGROUND + i / 7 % 3, NULL);
  return NULL;
}

static gpointer
abort_all (gpointer data)
{
  Meddler *meddler = data;

  for (guint i = 0; i < meddler->n_controllers; i++)
    {
      prio_task_controller_abort (meddler->controllers[i], NULL);
      g_thread_yield ();
    }
  return NULL;
}

static void
test_abort_and_change (Fixture *f, gconstpointer data)
{
  PrioTaskController *controllers[50];
  Worker worker;
  Meddler meddler = { &worker, controllers, G_N_ELEMENTS (controllers) };
  GThread *changer, *aborter;
  guint n_posted = 0;

  n_ran = n_freed = 0;
  for (guint i = 0; i < G_N_ELEMENTS (controllers); i++)
    controllers[i] = prio_task_controller_new (BACKGROUND + i % 3);
  worker_start (&worker);

  changer = g_thread_new ("changer", change_priorities, &meddler);
  aborter = g_thread_new ("aborter", abort_all, &meddler);
  for (guint i = 0; i < N; i++)
    {
      n_posted++;
      prio_scheduler_post_full (worker.scheduler,
                                &(PrioTaskOptions) {
                                  .signal = signal_of (controllers[i % G_N_ELEMENTS (controllers)]),
                                  .delay = i % 5 == 0,
                                },
                                count_on_worker, &worker, count_freed);
    }
  g_thread_join (changer);
  g_thread_join (aborter);
  worker_stop (&worker);

  g_assert_cmpint (n_freed, ==, n_posted);
  g_assert_cmpint (n_ran, <=, n_posted);
  for (guint i = 0; i < G_N_ELEMENTS (controllers); i++)
    g_object_unref (controllers[i]);
}

/* A burst from another thread wakes the context once. */
static gpointer
post_burst (gpointer data)
{
  Fixture *f = data;

  for (guint i = 0; i < 1000; i++)
    post_letter (f, USER_VISIBLE, 'x');
  return NULL;
}

static void
test_one_wakeup_per_burst (Fixture *f, gconstpointer data)
{
  /* The context has prepared itself to sleep, and does not look meanwhile. */
  g_assert_true (g_main_context_acquire (f->context));
  for (guint burst = 1; burst <= 3; burst++)
    {
      GPollFD fds[4];
      gint timeout, priority, n_fds, n_ready;

      fixture_run (f);
      g_main_context_prepare (f->context, &priority);
      n_fds = g_main_context_query (f->context, priority, &timeout, fds, G_N_ELEMENTS (fds));
      g_assert_cmpint (timeout, ==, -1);
      g_thread_join (g_thread_new ("poster", post_burst, f));
      n_ready = g_poll (fds, n_fds, 0);
      g_assert_cmpint (n_ready, ==, 1);
      g_main_context_check (f->context, priority, fds, n_fds);
      g_main_context_dispatch (f->context);

      /* Acknowledged once, and nothing is left of it. */
      g_main_context_prepare (f->context, &priority);
      n_fds = g_main_context_query (f->context, priority, &timeout, fds, G_N_ELEMENTS (fds));
      g_assert_cmpint (g_poll (fds, n_fds, 0), ==, 0);
      g_main_context_check (f->context, priority, fds, n_fds);
      g_main_context_dispatch (f->context);
      fixture_run (f);
      g_assert_cmpuint (f->log->len, ==, burst * 1000);
    }
  g_main_context_release (f->context);
}

/* A result that comes from another thread. */
static gpointer
return_later (gpointer data)
{
  g_autoptr (PrioTask) task = data;

  prio_task_return_int (task, 42);
  return NULL;
}

static void
defer_to_thread (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
  g_thread_unref (g_thread_new ("result", return_later, g_object_ref (task)));
}

static void
got_result (GObject *source, GAsyncResult *result, gpointer data)
{
  *(gssize *) data = prio_task_propagate_int (PRIO_TASK (result), NULL);
}

static void
test_result_from_another_thread (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 100; i++)
    {
      gssize got = 0;
      g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler,
                                                            &(PrioTaskOptions) { .priority = USER_VISIBLE },
                                                            defer_to_thread, NULL, NULL);

      prio_task_then (task, got_result, &got, NULL);
      while (got == 0)
        g_main_context_iteration (f->context, TRUE);
      g_assert_cmpint (got, ==, 42);
    }
}

/* Tasks that are posted, asked and cancelled, and dropped for the last time, anywhere. */
static void
got_nothing (GObject *source, GAsyncResult *result, gpointer data)
{
  n_freed++;
}

static gpointer
cancel_tasks_elsewhere (gpointer data)
{
  Worker *worker = data;

  for (guint i = 0; i < 2000; i++)
    {
      g_autoptr (PrioTask) task = prio_scheduler_post_task (worker->scheduler,
                                                            &(PrioTaskOptions) {
                                                              .priority = BACKGROUND + i % 3,
                                                              .delay = 100000,
                                                              .name = "never",
                                                            },
                                                            defer_to_thread, NULL, NULL);

      prio_task_then (task, got_nothing, NULL, count_freed);
      prio_task_cancel (task);
      prio_scheduler_queue_microtask (worker->scheduler, count_freed, NULL, NULL);
    }
  return NULL;
}

static void
test_tasks_from_another_thread (Fixture *f, gconstpointer data)
{
  Worker worker;

  n_freed = 0;
  worker_start (&worker);
  g_thread_join (g_thread_new ("poster", cancel_tasks_elsewhere, &worker));
  worker_stop (&worker);
  g_assert_cmpint (n_freed, ==, 6000);
}

/* Posting to a context while the last reference to it goes elsewhere. */
static gpointer
post_and_drop (gpointer data)
{
  PrioScheduler *scheduler = data;

  for (guint i = 0; i < 50; i++)
    prio_scheduler_post (scheduler, USER_VISIBLE, count_on_worker, NULL, count_freed);
  g_object_unref (scheduler);
  return NULL;
}

static void
test_context_ends_while_others_post (Fixture *f, gconstpointer data)
{
  n_freed = 0;
  for (guint i = 0; i < 300; i++)
    {
      GMainContext *context = g_main_context_new ();
      PrioScheduler *scheduler = prio_scheduler_new (context);
      GThread *thread = g_thread_new ("poster", post_and_drop, scheduler);

      g_main_context_unref (context);
      g_thread_join (thread);
    }
  g_assert_cmpint (n_freed, ==, 300 * 50);
}

static gpointer
post_with_aborted_signal (gpointer data)
{
  Fixture *f = data;
  g_autoptr (PrioTaskSignal) aborted = prio_task_signal_new_aborted (NULL);

  return GUINT_TO_POINTER (prio_scheduler_post_full (f->scheduler,
                                                     &(PrioTaskOptions) {
                                                       .priority = USER_VISIBLE,
                                                       .signal = G_CANCELLABLE (aborted),
                                                     },
                                                     step_run, step_new (f, 'x', NULL, NULL), step_free));
}

/* Another thread is told at once, too. */
static void
test_already_aborted (Fixture *f, gconstpointer data)
{
  guint freed_before = step_n_freed;
  GThread *thread = g_thread_new ("poster", post_with_aborted_signal, f);

  g_assert_false (GPOINTER_TO_UINT (g_thread_join (thread)));
  g_assert_cmpuint (step_n_freed, ==, freed_before + 1);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
}

static gpointer
return_and_drop (gpointer task)
{
  prio_task_return_int (task, 42);
  g_object_unref (task);
  return NULL;
}

static void
defer_and_cancel (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
  prio_task_cancel (task);
}

/* A result that is on its way when the last reference to its task is dropped. */
static void
test_result_of_an_aborted_task (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 10; i++)
    {
      PrioTask *task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND },
                                                 defer_and_cancel, NULL, NULL);
      GThread *thread;

      fixture_run (f);
      thread = g_thread_new ("result", return_and_drop, task);
      g_thread_join (thread);
      g_object_unref (prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND },
                                                step_run_task, step_new (f, 'a', NULL, NULL), step_free));
      fixture_run (f);
    }
  g_assert_cmpstr (f->log->str, ==, "aaaaaaaaaa");
}

/* C3: who returns a deferred result holds the task, and nobody else may.  Of several that do, one is heard; a thread
 * of its own for each, which are let go at the same time. */
enum { N_RETURNERS = 2, N_ROUNDS = 5000, NO_MORE_ROUNDS = G_MAXINT };

typedef struct
{
  PrioTaskController *controller;
  PrioTask *task;
  gint64 end;
  gint round; /* atomic: may be returned in, or NO_MORE_ROUNDS */
  gint ready; /* atomic: how many have returned */
} Returning;

static void
wait_for (gint *counter, gint value)
{
  for (guint i = 1; g_atomic_int_get (counter) < value; i++)
    {
      if (i % 10000 == 0)
        g_thread_yield ();
    }
}

static void
spin (guint n)
{
  for (volatile guint i = 0; i < n; i++)
    ;
}

static gpointer
return_each (gpointer data)
{
  Returning *returning = data;

  for (guint i = 1;; i++)
    {
      wait_for (&returning->round, (gint) i);
      if (g_atomic_int_get (&returning->round) == NO_MORE_ROUNDS)
        return NULL;
      spin (i * 13 % 300);
      prio_task_return_int (returning->task, (gssize) i);
      if (returning->controller != NULL)
        g_object_unref (returning->task);
      g_atomic_int_inc (&returning->ready);
    }
}

static void
defer_and_abort (PrioTask *task, gpointer data)
{
  Returning *returning = data;

  prio_task_defer (task);
  returning->task = g_object_ref (task);
  prio_task_controller_abort (returning->controller, NULL);
  g_atomic_int_inc (&returning->round);
  spin ((guint) returning->round * 7 % 300);
}

/* The task is aborted in its function, after which nobody but who returns knows it.  Before, one
 * run in three met one that was freed meanwhile, within some hundred rounds. */
static void
test_result_while_it_is_aborted (Fixture *f, gconstpointer data)
{
  Returning returning = { .end = g_get_monotonic_time () + 2 * G_USEC_PER_SEC };
  GThread *thread = g_thread_new ("returner", return_each, &returning);

  for (guint i = 1; i <= N_ROUNDS && g_get_monotonic_time () < returning.end; i++)
    {
      returning.controller = prio_task_controller_new (USER_VISIBLE);
      g_object_unref (prio_scheduler_post_task (f->scheduler,
                                                &(PrioTaskOptions) {
                                                  .priority = USER_VISIBLE,
                                                  .signal = signal_of (returning.controller),
                                                },
                                                defer_and_abort, &returning, NULL));
      while (g_atomic_int_get (&returning.ready) < (gint) i)
        g_main_context_iteration (f->context, FALSE);
      while (g_main_context_iteration (f->context, FALSE))
        ;
      g_object_unref (returning.controller);
    }
  g_atomic_int_set (&returning.round, NO_MORE_ROUNDS);
  g_thread_join (thread);
}

static gint n_criticals; /* atomic */

static void
count_criticals (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  g_atomic_int_inc (&n_criticals);
}

static void
defer_and_tell (PrioTask *task, gpointer data)
{
  Returning *returning = data;

  prio_task_defer (task);
  returning->task = task;
  g_atomic_int_inc (&returning->round);
}

/* One is heard, the others are told so, and nothing is freed under them while somebody holds
 * the task. */
static void
test_two_results_at_once (Fixture *f, gconstpointer data)
{
  Returning returning = { .end = g_get_monotonic_time () + 2 * G_USEC_PER_SEC };
  GThread *threads[N_RETURNERS];
  GLogLevelFlags fatal = g_log_set_always_fatal (G_LOG_FATAL_MASK);
  guint handler = g_log_set_handler ("PrioSched", G_LOG_LEVEL_CRITICAL, count_criticals, NULL);

  for (guint i = 0; i < N_RETURNERS; i++)
    threads[i] = g_thread_new ("returner", return_each, &returning);

  for (guint i = 1; i <= N_ROUNDS && g_get_monotonic_time () < returning.end; i++)
    {
      PrioTask *task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE },
                                                 defer_and_tell, &returning, NULL);

      while (g_atomic_int_get (&returning.ready) < (gint) i * N_RETURNERS || !prio_task_get_completed (task))
        g_main_context_iteration (f->context, FALSE);
      g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, i);
      g_assert_cmpint (g_atomic_int_get (&n_criticals), ==, i * (N_RETURNERS - 1));
      fixture_run (f);
      g_assert_cmpuint (G_OBJECT (task)->ref_count, ==, 1);
      g_object_unref (task);
    }

  g_atomic_int_set (&returning.round, NO_MORE_ROUNDS);
  for (guint i = 0; i < N_RETURNERS; i++)
    g_thread_join (threads[i]);
  g_log_remove_handler ("PrioSched", handler);
  g_log_set_always_fatal (fatal);
}

/* Posts more at once than the owner thread usually takes in. */
static gpointer
post_and_cancel (gpointer data)
{
  Fixture *f = data;

  for (guint i = 0; i < N; i++)
    {
      g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND },
                                                            step_run_task, step_new (f, 'x', NULL, NULL),
                                                            step_free);

      prio_task_cancel (task);
    }
  return NULL;
}

static void
test_burst_of_cancelled_tasks (Fixture *f, gconstpointer data)
{
  guint freed_before = step_n_freed;

  g_thread_join (g_thread_new ("poster", post_and_cancel, f));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
  g_assert_cmpuint (step_n_freed, ==, freed_before + N);
}

static void
resumed_on_owner_thread (GObject *source, GAsyncResult *result, gpointer data)
{
  Fixture *f = data;

  g_assert_true (g_main_context_is_owner (f->context));
  g_assert_true (prio_scheduler_yield_finish (f->scheduler, result, NULL));
  g_string_append_c (f->log, 'y');
}

static gpointer
yield_from_thread (gpointer data)
{
  g_autoptr (GCancellable) signal = g_cancellable_new ();

  prio_scheduler_yield_async (((Fixture *) data)->scheduler, resumed_on_owner_thread, data);
  post_with_signal (data, BACKGROUND, signal, 'c', NULL, NULL);
  return NULL;
}

/* Outside any task, so a user-visible continuation. */
static void
test_yield (Fixture *f, gconstpointer data)
{
  post_letter (f, USER_BLOCKING, 'a');
  post_letter (f, USER_VISIBLE, 'b');
  g_thread_join (g_thread_new ("poster", yield_from_thread, f));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "aybc");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/threads/post", test_post);
  add_test ("/threads/order-of-a-thread-is-kept", test_order_of_a_thread_is_kept);
  add_test ("/threads/order-between-threads-is-that-of-time", test_order_between_threads_is_that_of_time);
  add_test ("/threads/posts-race-with-a-new-owner", test_posts_race_with_a_new_owner);
  add_test ("/threads/abort-and-change", test_abort_and_change);
  add_test ("/threads/one-wakeup-per-burst", test_one_wakeup_per_burst);
  add_test ("/threads/result-from-another-thread", test_result_from_another_thread);
  add_test ("/threads/tasks-from-another-thread", test_tasks_from_another_thread);
  add_test ("/threads/context-ends-while-others-post", test_context_ends_while_others_post);
  add_test ("/threads/already-aborted", test_already_aborted);
  add_test ("/threads/result-of-an-aborted-task", test_result_of_an_aborted_task);
  add_test ("/threads/result-while-it-is-aborted", test_result_while_it_is_aborted);
  add_test ("/threads/two-results-at-once", test_two_results_at_once);
  add_test ("/threads/burst-of-cancelled-tasks", test_burst_of_cancelled_tasks);
  add_test ("/threads/yield", test_yield);

  return g_test_run ();
}
