/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-pool.c: tasks that run in threads of the pool */

#define _GNU_SOURCE /* RTLD_NEXT */

#include <prio-sched-bindings.h>

#include "helpers.h"
#include "tsan-suppressions.h"

#include <dlfcn.h>
#include <pthread.h>

/* The maximum number of the pool's threads, as it was last set; atomic. */
static gint max_threads;

/* Replaces GLib's function. */
gboolean
g_thread_pool_set_max_threads (GThreadPool *pool, gint n, GError **error)
{
  gboolean (*set) (GThreadPool *, gint, GError **);

  *(gpointer *) &set = dlsym (RTLD_NEXT, "g_thread_pool_set_max_threads");
  g_atomic_int_set (&max_threads, n);
  return set (pool, n, error);
}

/* The threads' work, which this thread checks. */
typedef struct
{
  Fixture *f;
  pthread_mutex_t lock; /* a kind that ThreadSanitizer sees */
  pthread_cond_t changed;
  guint n_blocked, n_let_go; /* under the lock */
  gboolean open;             /* under the lock: whether blocked functions may end */
  GString *ran;              /* under the lock */
  guint n_run, n_done, n_destroyed, n_aborted, n_failed;
  gssize last;
} Pool;

typedef struct
{
  Pool *pool;
  char letter;
} Work;

static void
pool_init (Pool *pool, Fixture *f)
{
  *pool = (Pool) { .f = f };
  pthread_mutex_init (&pool->lock, NULL);
  pthread_cond_init (&pool->changed, NULL);
  pool->ran = g_string_new (NULL);
  /* A program that runs its main loop owns the context; otherwise any thread may act as its owner. */
  g_assert_true (g_main_context_acquire (f->context));
}

static void
pool_clear (Pool *pool)
{
  while (pool->n_destroyed < pool->n_run)
    g_main_context_iteration (pool->f->context, TRUE);
  g_assert_cmpuint (pool->n_done, ==, pool->n_run);
  g_main_context_release (pool->f->context);
  pthread_mutex_destroy (&pool->lock);
  pthread_cond_destroy (&pool->changed);
  g_string_free (pool->ran, TRUE);
}

static void
work_free (gpointer data)
{
  Work *work = data;

  g_assert_true (g_main_context_is_owner (work->pool->f->context));
  work->pool->n_destroyed++;
  g_free (work);
}

static void
done (GObject *source, GAsyncResult *result, gpointer data)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;
  Pool *pool = data;

  g_assert_true (g_main_context_is_owner (pool->f->context));
  if (prio_task_propagate_value (PRIO_TASK (result), &value, &error))
    pool->last = G_IS_VALUE (&value) ? g_value_get_int64 (&value) : -1;
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    pool->n_aborted++;
  else
    pool->n_failed++;
  pool->n_done++;
}

static void
run_work (PrioTask *task, gpointer data)
{
  Work *work = data;
  Pool *pool = work->pool;

  g_assert_false (g_main_context_is_owner (pool->f->context));
  pthread_mutex_lock (&pool->lock);
  g_string_append_c (pool->ran, work->letter);
  pthread_mutex_unlock (&pool->lock);
  prio_task_return_int (task, work->letter);
}

/* Blocks a thread, until the test lets it end. */
static void
block (PrioTask *task, gpointer data)
{
  Pool *pool = ((Work *) data)->pool;
  guint number;

  pthread_mutex_lock (&pool->lock);
  number = pool->n_blocked++;
  pthread_cond_broadcast (&pool->changed);
  while (pool->n_let_go <= number && !pool->open)
    pthread_cond_wait (&pool->changed, &pool->lock);
  pthread_mutex_unlock (&pool->lock);
}

/* Waits for the task, and drops it. */
static void
wait_for (PrioTask *task, GAsyncReadyCallback callback, gpointer data)
{
  prio_task_wait_async (task, NULL, callback, data);
  g_object_unref (task);
}

static void
run_in_thread (Pool *pool, PrioTaskFunc func, char letter, PrioTaskPriority priority, gpointer signal)
{
  Work *work = g_new (Work, 1);

  pool->n_run++;
  *work = (Work) { pool, letter };
  wait_for (prio_scheduler_run_in_thread (pool->f->scheduler,
                                          &(PrioTaskOptions) { .priority = priority, .cancellable = signal }, func,
                                          work, work_free), done, pool);
}

static void
run_until (Pool *pool, guint n_done)
{
  while (pool->n_done < n_done)
    g_main_context_iteration (pool->f->context, TRUE);
  fixture_run (pool->f);
}

/* Blocks every thread of the pool.
 *
 * Returns: their number */
static guint
block_all (Pool *pool)
{
  guint n = MAX (g_get_num_processors (), 10);

  for (guint i = 0; i < n; i++)
    run_in_thread (pool, block, ' ', USER_BLOCKING, NULL);
  pthread_mutex_lock (&pool->lock);
  while (pool->n_blocked < n)
    pthread_cond_wait (&pool->changed, &pool->lock);
  pthread_mutex_unlock (&pool->lock);
  return n;
}

/* Lets the first blocked thread end its function: the thread then runs all waiting tasks. */
static void
let_one_go (Pool *pool)
{
  pthread_mutex_lock (&pool->lock);
  pool->n_let_go = 1;
  pthread_cond_broadcast (&pool->changed);
  pthread_mutex_unlock (&pool->lock);
}

static void
let_all_go (Pool *pool)
{
  pthread_mutex_lock (&pool->lock);
  pool->open = TRUE;
  pthread_cond_broadcast (&pool->changed);
  pthread_mutex_unlock (&pool->lock);
}

static void
test_result_comes_back (Fixture *f, gconstpointer data)
{
  Pool pool;

  pool_init (&pool, f);
  run_in_thread (&pool, run_work, 'a', PRIO_TASK_PRIORITY_UNSET, NULL);
  run_until (&pool, 1);
  g_assert_cmpint (pool.last, ==, 'a');
  pool_clear (&pool);
}

/* A free thread takes the most urgent task at that time, the oldest among equals. */
static void
test_order (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) later = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTaskController) sooner = prio_task_controller_new (USER_BLOCKING);
  Pool pool;
  guint n;

  pool_init (&pool, f);
  n = block_all (&pool);
  run_in_thread (&pool, run_work, 'b', BACKGROUND, NULL);
  run_in_thread (&pool, run_work, 'l', PRIO_TASK_PRIORITY_UNSET, cancellable_of (later));
  run_in_thread (&pool, run_work, 's', PRIO_TASK_PRIORITY_UNSET, cancellable_of (sooner));
  run_in_thread (&pool, run_work, 'v', PRIO_TASK_PRIORITY_UNSET, NULL);
  run_in_thread (&pool, run_work, 'u', USER_BLOCKING, NULL);
  run_in_thread (&pool, run_work, 'w', USER_VISIBLE, cancellable_of (later));
  prio_task_controller_set_priority (sooner, BACKGROUND, NULL);
  prio_task_controller_set_priority (later, USER_BLOCKING, NULL);

  let_one_go (&pool);
  run_until (&pool, 1 + 6);
  g_assert_cmpstr (pool.ran->str, ==, "luvwbs");
  let_all_go (&pool);
  run_until (&pool, n + 6);
  pool_clear (&pool);
}

/* An abort ends a waiting task at once, and its function does not run. */
static void
test_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  Pool pool;
  guint n;

  pool_init (&pool, f);
  n = block_all (&pool);
  run_in_thread (&pool, run_work, 'a', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller));
  run_in_thread (&pool, run_work, 'b', PRIO_TASK_PRIORITY_UNSET, NULL);
  run_in_thread (&pool, run_work, 'c', PRIO_TASK_PRIORITY_UNSET, plain);
  prio_task_controller_abort (controller, NULL);
  g_cancellable_cancel (plain);
  run_in_thread (&pool, run_work, 'd', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller));
  fixture_run (f);
  g_assert_cmpuint (pool.n_aborted, ==, 3);
  g_assert_cmpuint (pool.n_destroyed, ==, 3);
  let_all_go (&pool);
  run_until (&pool, n + 4);
  g_assert_cmpstr (pool.ran->str, ==, "b");
  pool_clear (&pool);
}

static void
fail_if_cancelled (PrioTask *task, gpointer data)
{
  block (task, data);
  g_assert_true (prio_task_return_error_if_aborted (task));
}

/* Once a thread has taken a task, the function can ask whether the task was aborted. */
static void
test_abort_while_it_runs (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Pool pool;

  pool_init (&pool, f);
  run_in_thread (&pool, fail_if_cancelled, 'a', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller));
  pthread_mutex_lock (&pool.lock);
  while (pool.n_blocked < 1)
    pthread_cond_wait (&pool.changed, &pool.lock);
  pthread_mutex_unlock (&pool.lock);
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpuint (pool.n_done, ==, 0);
  let_all_go (&pool);
  run_until (&pool, 1);
  g_assert_cmpuint (pool.n_aborted, ==, 1);
  pool_clear (&pool);
}

static void
fail_in_thread (PrioTask *task, gpointer data)
{
  prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
}

static void
end_without_a_result (PrioTask *task, gpointer data)
{
}

static gboolean
return_later (gpointer task)
{
  prio_task_return_int (task, 'l');
  return G_SOURCE_REMOVE;
}

static void
defer_further (PrioTask *task, gpointer data)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  prio_task_defer (task);
  g_source_set_callback (source, return_later, g_object_ref (task), g_object_unref);
  g_source_attach (source, ((Work *) data)->pool->f->context);
}

static void
test_ways_to_end (Fixture *f, gconstpointer data)
{
  Pool pool;

  pool_init (&pool, f);
  run_in_thread (&pool, fail_in_thread, ' ', PRIO_TASK_PRIORITY_UNSET, NULL);
  run_until (&pool, 1);
  g_assert_cmpuint (pool.n_failed, ==, 1);
  run_in_thread (&pool, end_without_a_result, ' ', PRIO_TASK_PRIORITY_UNSET, NULL);
  run_until (&pool, 2);
  g_assert_cmpint (pool.last, ==, -1);
  run_in_thread (&pool, defer_further, ' ', PRIO_TASK_PRIORITY_UNSET, NULL);
  run_until (&pool, 3);
  g_assert_cmpint (pool.last, ==, 'l');
  pool_clear (&pool);
}

/* Aborts and changes are made while threads take tasks: each task ends once, and each notify is called once. */
static void
test_crossing (Fixture *f, gconstpointer data)
{
  enum { N_ROUNDS = 200, N_TASKS = 20 };
  Pool pool;

  pool_init (&pool, f);
  for (guint round = 1; round <= N_ROUNDS; round++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

      for (guint i = 0; i < N_TASKS; i++)
        run_in_thread (&pool, run_work, 'a', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller));
      prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
      for (volatile guint i = 0; i < round * 100; i++)
        ;
      prio_task_controller_abort (controller, NULL);
      run_until (&pool, round * N_TASKS);
      g_string_truncate (pool.ran, 0);
    }
  pool_clear (&pool);
}

/* A separate context, in which tasks are queued for threads. */
typedef struct
{
  Pool *pool;
  GMainContext *context;
  PrioScheduler *scheduler;
  guint n_freed; /* under the lock of the pool */
  GThread *thread;
} Short;

static void
short_free (gpointer data)
{
  Short *short_lived = data;

  pthread_mutex_lock (&short_lived->pool->lock);
  short_lived->n_freed++;
  short_lived->thread = g_thread_self ();
  pthread_cond_broadcast (&short_lived->pool->changed);
  pthread_mutex_unlock (&short_lived->pool->lock);
}

G_GNUC_NORETURN static void
never_run (PrioTask *task, gpointer data)
{
  g_assert_not_reached ();
}

G_GNUC_NORETURN static void
not_called (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_not_reached ();
}

static void
short_begin (Short *short_lived, Pool *pool)
{
  *short_lived = (Short) { .pool = pool, .context = g_main_context_new () };
  short_lived->scheduler = prio_scheduler_new (short_lived->context);
}

static void
short_end (Short *short_lived)
{
  g_clear_object (&short_lived->scheduler);
  g_clear_pointer (&short_lived->context, g_main_context_unref);
}

/* Tasks that wait for a thread end with their context, on the thread that destroys it, even if all threads stay busy.
 * Earlier aborts leave gaps among the waiting tasks. */
static void
test_context_goes_while_tasks_wait (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTaskController) doomed = prio_task_controller_new (BACKGROUND);
  gpointer signals[] = { cancellable_of (controller), NULL, cancellable_of (doomed), NULL };
  Short short_lived;
  Pool pool;
  guint n;

  pool_init (&pool, f);
  n = block_all (&pool);
  short_begin (&short_lived, &pool);
  for (guint i = 0; i < 20; i++)
    wait_for (prio_scheduler_run_in_thread (short_lived.scheduler,
                                            &(PrioTaskOptions) { .cancellable = signals[i % G_N_ELEMENTS (signals)] }, never_run,
                                            &short_lived, short_free), not_called, NULL);
  prio_task_controller_abort (doomed, NULL);
  run_in_thread (&pool, run_work, 'a', PRIO_TASK_PRIORITY_UNSET, NULL);
  short_end (&short_lived);
  g_assert_cmpuint (short_lived.n_freed, ==, 20);
  g_assert_true (short_lived.thread == g_thread_self ());
  prio_task_controller_abort (controller, NULL);
  let_all_go (&pool);
  run_until (&pool, n + 1);
  g_assert_cmpstr (pool.ran->str, ==, "a");
  pool_clear (&pool);
}

static void
block_short (PrioTask *task, gpointer data)
{
  Work work = { ((Short *) data)->pool, ' ' };

  block (task, &work);
  prio_task_return_pointer (task, g_strdup ("late"), g_free);
}

/* A function ends after its context: its thread releases its result and data. */
static void
test_function_outlives_its_context (Fixture *f, gconstpointer data)
{
  Short short_lived;
  Pool pool;

  pool_init (&pool, f);
  short_begin (&short_lived, &pool);
  for (guint i = 0; i < 4; i++)
    wait_for (prio_scheduler_run_in_thread (short_lived.scheduler, NULL, block_short, &short_lived, short_free), not_called, NULL);
  pthread_mutex_lock (&pool.lock);
  while (pool.n_blocked < 4)
    pthread_cond_wait (&pool.changed, &pool.lock);
  pthread_mutex_unlock (&pool.lock);
  short_end (&short_lived);
  let_all_go (&pool);
  pthread_mutex_lock (&pool.lock);
  while (short_lived.n_freed < 4)
    pthread_cond_wait (&pool.changed, &pool.lock);
  pthread_mutex_unlock (&pool.lock);
  pool_clear (&pool);
}

/* Blocks until all threads run this function; then runs another function in a thread, and waits for it. */
static void
wait_for_another (PrioTask *task, gpointer data)
{
  Pool *pool = ((Work *) data)->pool;
  guint n = MAX (g_get_num_processors (), 10);
  Work *inner = g_new (Work, 1);

  *inner = (Work) { pool, 'i' };
  pthread_mutex_lock (&pool->lock);
  pool->n_blocked++;
  pthread_cond_broadcast (&pool->changed);
  while (pool->n_blocked < n)
    pthread_cond_wait (&pool->changed, &pool->lock);
  pthread_mutex_unlock (&pool->lock);

  wait_for (prio_scheduler_run_in_thread (pool->f->scheduler, NULL, block, inner, g_free), done, pool);
  pthread_mutex_lock (&pool->lock);
  while (pool->n_blocked < 2 * n)
    pthread_cond_wait (&pool->changed, &pool->lock);
  pool->n_let_go = G_MAXUINT;
  pthread_cond_broadcast (&pool->changed);
  pthread_mutex_unlock (&pool->lock);
}

/* Functions in every thread of the pool wait for other functions, which get extra threads. */
static void
test_functions_that_wait_for_functions (Fixture *f, gconstpointer data)
{
  Pool pool;
  guint n = MAX (g_get_num_processors (), 10);

  pool_init (&pool, f);
  for (guint i = 0; i < n; i++)
    run_in_thread (&pool, wait_for_another, ' ', PRIO_TASK_PRIORITY_UNSET, NULL);
  run_until (&pool, 2 * n);
  pool.n_done = n;
  pool_clear (&pool);
}

/* Runs a function in a thread and aborts it while it waits, so that it does not start. */
static void
abort_another (PrioTask *task, gpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Pool *pool = ((Work *) data)->pool;
  Work *inner = g_new (Work, 1);
  guint n = MAX (g_get_num_processors (), 10);

  *inner = (Work) { pool, 'i' };
  prio_task_controller_abort (controller, NULL);
  wait_for (prio_scheduler_run_in_thread (pool->f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, run_work,
                                          inner, g_free), done, pool);
  g_assert_cmpint (g_atomic_int_get (&max_threads), ==, n);
}

/* The extra thread is not used for other tasks. */
static void
test_abort_within_a_function (Fixture *f, gconstpointer data)
{
  Pool pool;

  pool_init (&pool, f);
  run_in_thread (&pool, abort_another, ' ', PRIO_TASK_PRIORITY_UNSET, NULL);
  run_until (&pool, 2);
  g_assert_cmpuint (pool.n_aborted, ==, 1);
  g_assert_cmpuint (pool.ran->len, ==, 0);
  pool.n_done = 1;
  pool_clear (&pool);
}

static void
test_bad_input (Fixture *f, gconstpointer data)
{
  if (!HAS_CHECKS)
    return;

  assert_told ("*a delay of 5 ms, which only tasks that are posted have (task \"slow\")*",
               g_assert_null (prio_scheduler_run_in_thread (f->scheduler, &(PrioTaskOptions) { .delay = 5, .name = "slow" },
                                                            end_without_a_result, NULL, NULL)));
  assert_told ("*func is NULL*", g_assert_null (prio_scheduler_run_in_thread (f->scheduler, NULL, NULL, NULL, NULL)));
}

static PrioTask *
run_under (Pool *pool, gpointer signal, const char *name)
{
  Work *work = g_new (Work, 1);

  pool->n_run++;
  pool->n_done++; /* this task has no callback */
  *work = (Work) { pool, 'a' };
  return prio_scheduler_run_in_thread_full (pool->f->scheduler, NULL, PRIO_TASK_PRIORITY_UNSET, signal, name,
                                             run_work, work, work_free);
}

/* The task's signal can abort it. */
static void
test_under_a_signal (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  g_autoptr (PrioTask) runs = NULL, aborted = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *name = NULL;
  Pool pool;

  pool_init (&pool, f);
  runs = run_under (&pool, cancellable_of (controller), "decode");
  name = prio_task_dup_name (runs);
  g_assert_cmpstr (name, ==, "decode");
  while (prio_task_get_state (runs) < PRIO_TASK_STATE_FULFILLED)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpint (prio_task_propagate_int (runs, NULL), ==, 'a');

  prio_task_controller_abort (controller, NULL);
  aborted = run_under (&pool, cancellable_of (controller), NULL);
  while (prio_task_get_state (aborted) < PRIO_TASK_STATE_FULFILLED)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpint (prio_task_propagate_int (aborted, &error), ==, -1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpstr (pool.ran->str, ==, "a");
  pool_clear (&pool);
}

/* The record of a task whose function runs in a thread. */
typedef struct
{
  GString *log;
  gint may_return, has_returned; /* atomic */
} Told;

static void
return_when_told (PrioTask *task, gpointer data)
{
  Told *told = data;

  while (!g_atomic_int_get (&told->may_return))
    g_thread_yield ();
  prio_task_return_int (task, 1);
  g_atomic_int_set (&told->has_returned, TRUE);
}

static void
log_state (PrioTask *task, GParamSpec *pspec, Told *told)
{
  PrioTaskState state = prio_task_get_state (task);

  g_string_append (told->log, state == PRIO_TASK_STATE_RUNNING ? "running " : "completed ");
  g_atomic_int_set (&told->may_return, TRUE);
}

static void
log_callback (GObject *source, GAsyncResult *result, gpointer data)
{
  g_string_append (((Told *) data)->log, "callback ");
}

/* A function that has returned before the main loop processes its start is not reported as running. */
static void
test_state_is_notified_once_each (Fixture *f, gconstpointer data)
{
  for (guint returns_first = 0; returns_first < 2; returns_first++)
    {
      Told told = { g_string_new (NULL), (gint) returns_first, FALSE };
      g_autoptr (PrioTask) task = NULL;
      Pool pool;

      /* The task starts once a handler is connected. */
      pool_init (&pool, f);
      block_all (&pool);
      task = prio_scheduler_run_in_thread (f->scheduler, NULL, return_when_told, &told, NULL);
      g_signal_connect (task, "notify::state", G_CALLBACK (log_state), &told);
      prio_task_wait_async (task, NULL, log_callback, &told);
      let_all_go (&pool);
      while (returns_first && !g_atomic_int_get (&told.has_returned))
        g_thread_yield ();
      while (prio_task_get_state (task) < PRIO_TASK_STATE_FULFILLED)
        g_main_context_iteration (f->context, TRUE);
      /* The thread sets a flag after it has returned the result. */
      while (!g_atomic_int_get (&told.has_returned))
        g_thread_yield ();
      pool_clear (&pool);
      g_assert_cmpstr (told.log->str, ==, returns_first ? "callback completed " : "running callback completed ");
      g_string_free (told.log, TRUE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/pool/result-comes-back", test_result_comes_back);
  add_test ("/pool/order", test_order);
  add_test ("/pool/abort", test_abort);
  add_test ("/pool/abort-while-it-runs", test_abort_while_it_runs);
  add_test ("/pool/under-a-signal", test_under_a_signal);
  add_test ("/pool/state-is-notified-once-each", test_state_is_notified_once_each);
  add_test ("/pool/ways-to-end", test_ways_to_end);
  add_test ("/pool/crossing", test_crossing);
  add_test ("/pool/context-goes-while-tasks-wait", test_context_goes_while_tasks_wait);
  add_test ("/pool/function-outlives-its-context", test_function_outlives_its_context);
  /* These tests come first, before other tests leave threads that are still ending. */
  add_test ("/pool/abort-within-a-function", test_abort_within_a_function);
  add_test ("/pool/functions-that-wait-for-functions", test_functions_that_wait_for_functions);
  add_test ("/pool/bad-input", test_bad_input);

  return g_test_run ();
}
