/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-threads.c: calls from any thread */

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

/* The tasks of a thread run in the order in which it posted them. */
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

/* A task that another thread has posted before it signals runs before this thread's later posts. */
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

/* A context belongs to its creator until another thread runs it. */
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
  /* The context has prepared to sleep, and does not look at its sources meanwhile. */
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

      /* One acknowledgement leaves nothing to read. */
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

/* Returns a result from another thread. */
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

/* Tasks are posted, queried and cancelled on any thread, which may also drop their last reference. */
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

/* Posts to a context while another thread drops the last reference to it. */
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
                                                       .signal = aborted,
                                                     },
                                                     step_run, step_new (f, 'x', NULL, NULL), step_free));
}

/* A callback of another thread is called at once, too. */
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

/* Posts more at once than the owner thread usually accepts. */
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

  prio_scheduler_yield_async (((Fixture *) data)->scheduler, NULL, resumed_on_owner_thread, data);
  post_with_signal (data, BACKGROUND, signal, 'c', NULL, NULL);
  return NULL;
}

/* The yield is outside any task, so it is a user-visible continuation. */
static void
test_yield (Fixture *f, gconstpointer data)
{
  post_letter (f, USER_BLOCKING, 'a');
  post_letter (f, USER_VISIBLE, 'b');
  g_thread_join (g_thread_new ("poster", yield_from_thread, f));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "aybc");
}

static GThread *notified_on; /* atomic */

static gboolean
nothing (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static void
note_thread (gpointer data)
{
  g_atomic_pointer_set (&notified_on, g_thread_self ());
}

static gpointer
run_until_notified (gpointer context)
{
  while (g_atomic_pointer_get (&notified_on) == NULL)
    g_main_context_iteration (context, TRUE);
  return NULL;
}

/* Posts a task to a context that no thread has run yet, and ends it. */
static void
post_and_end (PrioScheduler *scheduler, gboolean alone)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  PrioTaskOptions options = { .signal = signal_of (controller) };
  g_autoptr (PrioTask) task = NULL;

  if (alone)
    {
      task = prio_scheduler_post_task (scheduler, &options, step_run_task, NULL, note_thread);
      prio_task_cancel (task);
      return;
    }
  prio_scheduler_post_full (scheduler, &options, nothing, NULL, note_thread);
  prio_task_controller_abort (controller, NULL);
}

/* A thread that creates a context for another thread does not release that thread's data, even before that thread
 * runs. */
static void
test_notify_of_a_context_for_another (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GMainContext) context = g_main_context_new ();
      g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
      GThread *thread;

      notified_on = NULL;
      post_and_end (scheduler, i != 0);
      g_assert_null (g_atomic_pointer_get (&notified_on));
      thread = g_thread_ref (g_thread_new ("runner", run_until_notified, context));
      g_thread_join (thread);
      g_assert_true (notified_on == thread);
      g_thread_unref (thread);
    }
}

/* A thread is about to run its own context, and releases its data. */
static void
test_notify_of_an_own_context (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      notified_on = NULL;
      post_and_end (f->scheduler, i != 0);
      g_assert_true (notified_on == g_thread_self ());
    }
}

/* A thread that posts may hold a lock that a destroy notify takes: in the waker of a channel, or a handler of
 * "cancelled". */
static gboolean is_posting;

static void
count_outside (gpointer data)
{
  g_assert_false (is_posting);
  count_freed (data);
}

static gboolean
never (gpointer data)
{
  g_assert_not_reached ();
}

static gpointer
abort_controller (gpointer controller)
{
  prio_task_controller_abort (controller, NULL);
  return NULL;
}

static void
test_post_releases_nothing (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));

      n_freed = 0;
      prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.cancellable = signal), never, NULL, count_outside);
      g_thread_join (g_thread_new ("aborts", abort_controller, controller));
      is_posting = TRUE;
      if (i == 0)
        prio_scheduler_post (f->scheduler, BACKGROUND, nothing, NULL, NULL);
      else
        prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.timeout = 1000), nothing, NULL, NULL);
      is_posting = FALSE;
      fixture_run (f);
      g_assert_cmpint (n_freed, ==, 1);
    }
}

enum { N_PAUSES = 100000 };

typedef struct
{
  PrioScheduler *scheduler;
  gint round, n_done; /* atomic */
} Pausing;

static gpointer
pause_each_round (gpointer data)
{
  Pausing *pausing = data;

  for (gint round = 1; round <= (gint) times (N_PAUSES); round++)
    {
      while (g_atomic_int_get (&pausing->round) < round)
        g_thread_yield ();
      prio_scheduler_pause (pausing->scheduler);
      prio_scheduler_resume (pausing->scheduler);
      g_atomic_int_inc (&pausing->n_done);
    }
  return NULL;
}

/* When each thread has resumed as often as it has paused, the scheduler runs, whichever thread was last. */
static void
test_pauses (Fixture *f, gconstpointer data)
{
  Pausing pausing = { .scheduler = f->scheduler };
  GThread *threads[2];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("pauses", pause_each_round, &pausing);
  for (gint round = 1; round <= (gint) times (N_PAUSES); round++)
    {
      g_atomic_int_inc (&pausing.round);
      while (g_atomic_int_get (&pausing.n_done) < 2 * round)
        g_thread_yield ();
      post_letter (f, USER_VISIBLE, 'a');
      fixture_run (f);
      g_assert_cmpint (f->log->len, ==, round);
    }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
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
  add_test ("/threads/burst-of-cancelled-tasks", test_burst_of_cancelled_tasks);
  add_test ("/threads/yield", test_yield);
  add_test ("/threads/pauses", test_pauses);
  add_test ("/threads/notify/context-for-another", test_notify_of_a_context_for_another);
  add_test ("/threads/notify/own-context", test_notify_of_an_own_context);
  add_test ("/threads/notify/not-within-a-post", test_post_releases_nothing);

  return g_test_run ();
}
