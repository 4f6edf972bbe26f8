/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-group-threads.c: functions in threads that share the places of a group */

#include "helpers.h"
#include "tsan-suppressions.h"

#include <pthread.h>

/* The threads' work, which this thread checks. */
typedef struct
{
  Fixture *f;
  pthread_mutex_t lock; /* a kind that ThreadSanitizer sees */
  pthread_cond_t changed;
  GString *begun;             /* under the lock */
  gint n_let_go;              /* under the lock: how many may end */
  guint n_running, max_running; /* under the lock */
  guint n_ended;              /* under the lock */
  GThread *thread;            /* under the lock: the last thread */
  guint n_threads;            /* under the lock: how often the thread changed */
  GPtrArray *deferred;        /* tasks, under the lock */
  GString *outcomes;
  guint n_freed;              /* under the lock */
} Yard;

typedef struct
{
  Yard *yard;
  char letter;
} Work;

static void
yard_init (Yard *yard, Fixture *f)
{
  *yard = (Yard) { .f = f };
  pthread_mutex_init (&yard->lock, NULL);
  pthread_cond_init (&yard->changed, NULL);
  yard->begun = g_string_new (NULL);
  yard->outcomes = g_string_new (NULL);
  yard->deferred = g_ptr_array_new_with_free_func (g_object_unref);
  /* A program that runs its main loop owns the context; otherwise any thread may act as its owner. */
  g_assert_true (g_main_context_acquire (f->context));
}

static void
yard_clear (Yard *yard)
{
  g_main_context_release (yard->f->context);
  pthread_mutex_destroy (&yard->lock);
  pthread_cond_destroy (&yard->changed);
  g_string_free (yard->begun, TRUE);
  g_string_free (yard->outcomes, TRUE);
  g_ptr_array_unref (yard->deferred);
}

static void
begin (Yard *yard, char letter)
{
  g_string_append_c (yard->begun, letter);
  yard->n_threads += yard->thread != g_thread_self ();
  yard->thread = g_thread_self ();
  yard->n_running++;
  yard->max_running = MAX (yard->max_running, yard->n_running);
  pthread_cond_broadcast (&yard->changed);
}

/* Runs until the test lets it end. */
static void
work_run (PrioTask *task, gpointer data)
{
  Work *work = data;
  Yard *yard = work->yard;

  pthread_mutex_lock (&yard->lock);
  begin (yard, work->letter);
  while (yard->n_let_go == 0)
    pthread_cond_wait (&yard->changed, &yard->lock);
  yard->n_let_go--;
  yard->n_running--;
  yard->n_ended++;
  pthread_cond_broadcast (&yard->changed);
  pthread_mutex_unlock (&yard->lock);
  if (!prio_task_return_error_if_aborted (task))
    prio_task_return_int (task, work->letter);
}

/* Returns before the task has its result. */
static void
work_defer (PrioTask *task, gpointer data)
{
  Work *work = data;

  prio_task_defer (task);
  pthread_mutex_lock (&work->yard->lock);
  begin (work->yard, work->letter);
  work->yard->n_running--;
  g_ptr_array_add (work->yard->deferred, g_object_ref (task));
  pthread_mutex_unlock (&work->yard->lock);
}

static void
work_here (PrioTask *task, gpointer data)
{
  Work *work = data;

  g_assert_true (g_main_context_is_owner (work->yard->f->context));
  pthread_mutex_lock (&work->yard->lock);
  g_string_append_c (work->yard->begun, work->letter);
  pthread_mutex_unlock (&work->yard->lock);
}

static void
work_free (gpointer data)
{
  Work *work = data;

  pthread_mutex_lock (&work->yard->lock);
  work->yard->n_freed++;
  pthread_cond_broadcast (&work->yard->changed);
  pthread_mutex_unlock (&work->yard->lock);
  g_free (work);
}

static void
ended (GObject *source, GAsyncResult *result, gpointer data)
{
  Yard *yard = data;
  g_autoptr (GError) error = NULL;

  g_assert_true (g_main_context_is_owner (yard->f->context));
  if (prio_task_wait_finish (PRIO_TASK (source), result, &error))
    g_string_append_c (yard->outcomes, (char) prio_task_propagate_int (PRIO_TASK (source), NULL));
  else
    g_string_append_c (yard->outcomes, g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) ? '-' : '!');
}

/* Returns: (transfer none): the task, which lives until it has ended */
static PrioTask *
run_with (Yard *yard, PrioTaskGroup *group, PrioTaskFunc func, char letter, const PrioTaskOptions *options)
{
  Work *work = g_new (Work, 1);
  PrioTask *task;

  *work = (Work) { yard, letter };
  task = prio_task_group_run_in_thread (group, options, func, work, work_free);
  prio_task_wait_async (task, NULL, ended, yard);
  g_object_unref (task);
  return task;
}

static void
run (Yard *yard, PrioTaskGroup *group, const char *letters)
{
  for (guint i = 0; letters[i] != '\0'; i++)
    run_with (yard, group, work_run, letters[i], NULL);
}

static void
post_here (Yard *yard, PrioTaskGroup *group, char letter, PrioTaskPriority priority)
{
  Work *work = g_new (Work, 1);

  *work = (Work) { yard, letter };
  g_object_unref (prio_task_group_post_task (group, &(PrioTaskOptions) { .priority = priority }, work_here, work, work_free));
}

static void
let_go (Yard *yard, guint n)
{
  pthread_mutex_lock (&yard->lock);
  yard->n_let_go += (gint) n;
  pthread_cond_broadcast (&yard->changed);
  pthread_mutex_unlock (&yard->lock);
}

/* Waits until tasks have started, without running the main loop. */
static void
wait_until_begun (Yard *yard, const char *letters)
{
  pthread_mutex_lock (&yard->lock);
  while (yard->begun->len < strlen (letters))
    pthread_cond_wait (&yard->changed, &yard->lock);
  g_assert_cmpstr (yard->begun->str, ==, letters);
  pthread_mutex_unlock (&yard->lock);
}

static void
wait_until_ended (Yard *yard, guint n)
{
  pthread_mutex_lock (&yard->lock);
  while (yard->n_ended < n)
    pthread_cond_wait (&yard->changed, &yard->lock);
  pthread_mutex_unlock (&yard->lock);
}

static void
assert_begun (Yard *yard, const char *letters)
{
  pthread_mutex_lock (&yard->lock);
  g_assert_cmpstr (yard->begun->str, ==, letters);
  pthread_mutex_unlock (&yard->lock);
}

static guint
count_freed (Yard *yard)
{
  guint n;

  pthread_mutex_lock (&yard->lock);
  n = yard->n_freed;
  pthread_mutex_unlock (&yard->lock);
  return n;
}

/* Runs the main loop until the group has no tasks, and all data are freed. */
static void
finish (Yard *yard, PrioTaskGroup *group, guint n)
{
  guint n_freed;

  while ((n_freed = count_freed (yard)) < n || prio_task_group_get_n_tasks (group) > 0)
    g_main_context_iteration (yard->f->context, TRUE);
  fixture_run (yard->f);
  g_assert_cmpuint (n_freed, ==, n);
}

/* A limited number of functions runs at a time.  The next one starts in the thread of a function that has ended, even
 * while the main loop does nothing. */
static void
test_next_begins_at_once (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  Yard yard;

  yard_init (&yard, f);
  run (&yard, group, "abcdefgh");
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 8);
  wait_until_begun (&yard, "a");
  let_go (&yard, 8);
  wait_until_ended (&yard, 8);
  g_assert_cmpuint (yard.outcomes->len, ==, 0);
  g_assert_cmpuint (yard.max_running, ==, 1);
  g_assert_cmpuint (yard.n_threads, ==, 1);
  finish (&yard, group, 8);
  g_assert_cmpstr (yard.begun->str, ==, "abcdefgh");
  g_assert_cmpstr (yard.outcomes->str, ==, "abcdefgh");

  /* The place is free again. */
  run (&yard, group, "i");
  wait_until_begun (&yard, "abcdefghi");
  let_go (&yard, 1);
  finish (&yard, group, 9);
  yard_clear (&yard);
}

static void
test_limit (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 3, BACKGROUND);
  Yard yard;

  yard_init (&yard, f);
  run (&yard, group, "aaaaaaaaaaaa");
  wait_until_begun (&yard, "aaa");
  prio_task_group_set_limit (group, 5);
  wait_until_begun (&yard, "aaaaa");
  fixture_run (f);
  /* Running tasks continue, and their places are not given away. */
  prio_task_group_set_limit (group, 1);
  let_go (&yard, 4);
  wait_until_ended (&yard, 4);
  fixture_run (f);
  assert_begun (&yard, "aaaaa");
  yard.max_running = 0;
  let_go (&yard, 8);
  finish (&yard, group, 12);
  g_assert_cmpuint (yard.max_running, ==, 1);
  g_assert_cmpuint (yard.outcomes->len, ==, 12);
  yard_clear (&yard);
}

/* The priorities when a place is free decide, and then the age. */
static void
test_order (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  g_autoptr (PrioTaskController) row = prio_task_controller_new (BACKGROUND);
  Yard yard;

  yard_init (&yard, f);
  run (&yard, group, "abc");
  run_with (&yard, group, work_run, 'r', &(PrioTaskOptions) { .signal = signal_of (row) });
  run_with (&yard, group, work_run, 'v', &(PrioTaskOptions) { .priority = USER_VISIBLE });
  wait_until_begun (&yard, "a");
  prio_task_controller_set_priority (row, USER_BLOCKING, NULL);
  let_go (&yard, 1);
  wait_until_begun (&yard, "ar");
  prio_task_group_set_priority (group, USER_BLOCKING, NULL);
  let_go (&yard, 4);
  wait_until_begun (&yard, "arbcv");
  finish (&yard, group, 5);
  yard_clear (&yard);
}

/* Tasks of the main loop and functions in threads share the places, by priority and age. */
static void
test_with_tasks_of_the_loop (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  Yard yard;

  yard_init (&yard, f);
  run (&yard, group, "a");
  wait_until_begun (&yard, "a");
  post_here (&yard, group, 'L', BACKGROUND);
  run (&yard, group, "b");
  run_with (&yard, group, work_run, 'u', &(PrioTaskOptions) { .priority = USER_BLOCKING });
  post_here (&yard, group, 'M', BACKGROUND);
  post_here (&yard, group, 'V', USER_VISIBLE);
  fixture_run (f);
  let_go (&yard, 3);
  finish (&yard, group, 6);
  g_assert_cmpstr (yard.begun->str, ==, "auVLbM");
  g_assert_cmpuint (yard.max_running, ==, 1);
  yard_clear (&yard);
}

static void
test_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  Yard yard;

  yard_init (&yard, f);
  run (&yard, group, "abc");
  post_here (&yard, group, 'L', BACKGROUND);
  run (&yard, group, "d");
  wait_until_begun (&yard, "a");
  prio_task_group_abort (group, NULL);
  run (&yard, group, "z");
  fixture_run (f);
  g_assert_cmpstr (yard.outcomes->str, ==, "---");
  assert_begun (&yard, "a");
  let_go (&yard, 2);
  finish (&yard, group, 6);
  g_assert_cmpstr (yard.begun->str, ==, "az");
  g_assert_cmpstr (yard.outcomes->str, ==, "----z");
  yard_clear (&yard);
}

static gpointer
abort_elsewhere (gpointer controller)
{
  prio_task_controller_abort (controller, NULL);
  return NULL;
}

/* One task is cancelled, by the task or its signal, and from another thread; running tasks continue. */
static void
test_cancel (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  g_autoptr (PrioTaskController) row = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTask) first = NULL, third = NULL;
  Yard yard;

  yard_init (&yard, f);
  first = g_object_ref (run_with (&yard, group, work_run, 'a', NULL));
  run_with (&yard, group, work_run, 'b', &(PrioTaskOptions) { .signal = signal_of (row) });
  third = g_object_ref (run_with (&yard, group, work_run, 'c', NULL));
  run (&yard, group, "d");
  wait_until_begun (&yard, "a");
  prio_task_cancel (third);
  g_assert_cmpint (prio_task_get_state (third), ==, PRIO_TASK_STATE_ABORTED);
  prio_task_cancel (first);
  g_assert_cmpint (prio_task_get_state (first), ==, PRIO_TASK_STATE_RUNNING);
  g_thread_join (g_thread_new ("abort", abort_elsewhere, row));
  let_go (&yard, 2);
  wait_until_begun (&yard, "ad");
  finish (&yard, group, 4);
  g_assert_cmpuint (yard.outcomes->len, ==, 4);
  g_assert_cmpint (prio_task_get_state (first), ==, PRIO_TASK_STATE_ABORTED);

  run (&yard, group, "efg");
  wait_until_begun (&yard, "ade");
  prio_task_group_cancel_pending (group);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 1);
  let_go (&yard, 1);
  finish (&yard, group, 7);
  g_assert_cmpstr (yard.begun->str, ==, "ade");

  /* The signal of a task was aborted before its post. */
  run_with (&yard, group, work_run, 'x', &(PrioTaskOptions) { .signal = signal_of (row) });
  run (&yard, group, "y");
  let_go (&yard, 1);
  finish (&yard, group, 9);
  g_assert_cmpstr (yard.begun->str, ==, "adey");
  yard_clear (&yard);
}

/* A task keeps its place until it has its result, even if its function has returned. */
static void
test_deferred (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  Yard yard;

  yard_init (&yard, f);
  run_with (&yard, group, work_defer, 'a', NULL);
  run (&yard, group, "b");
  while (count_freed (&yard) == 0)
    g_main_context_iteration (f->context, TRUE);
  fixture_run (f);
  assert_begun (&yard, "a");
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 2);
  prio_task_return_int (yard.deferred->pdata[0], 'A');
  let_go (&yard, 1);
  finish (&yard, group, 2);
  g_assert_cmpstr (yard.begun->str, ==, "ab");
  g_assert_cmpstr (yard.outcomes->str, ==, "Ab");

  /* The task never gets a result. */
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "*has no result yet, and the last reference*");
  run_with (&yard, group, work_defer, 'c', NULL);
  run (&yard, group, "d");
  while (count_freed (&yard) < 3)
    g_main_context_iteration (f->context, TRUE);
  g_ptr_array_set_size (yard.deferred, 0);
  let_go (&yard, 1);
  finish (&yard, group, 4);
  g_assert_cmpstr (yard.outcomes->str, ==, "Ab!d");
  g_test_assert_expected_messages ();
  yard_clear (&yard);
}

static void
waited (GObject *group, GAsyncResult *result, gpointer log)
{
  g_autoptr (GError) error = NULL;

  prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, NULL, &error);
  g_string_append (log, error == NULL ? "waited" : error->message);
}

/* Functions in threads count as other tasks do: a wait for all tasks of a group ends with the last of them. */
static void
test_waits (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Yard yard;

  yard_init (&yard, f);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_ALL, NULL, waited, f->log);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "waited");

  run (&yard, group, "ab");
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_ALL, NULL, waited, f->log);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "waited");
  let_go (&yard, 2);
  finish (&yard, group, 2);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "waitedwaited");
  yard_clear (&yard);
}

/* The group is dropped, and its tasks continue. */
static void
test_dropped (Fixture *f, gconstpointer data)
{
  PrioTaskGroup *group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  Yard yard;

  yard_init (&yard, f);
  run (&yard, group, "abc");
  g_object_add_weak_pointer (G_OBJECT (group), (gpointer *) &group);
  g_object_unref (group);
  let_go (&yard, 3);
  while (group != NULL)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpstr (yard.outcomes->str, ==, "abc");
  yard_clear (&yard);
}

/* Tasks that wait for a place end with the context; running tasks continue. */
static void
test_context_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (scheduler, 2, BACKGROUND);
  g_autoptr (GPtrArray) tasks = g_ptr_array_new_with_free_func (g_object_unref);
  Yard yard;

  yard_init (&yard, f);
  for (guint i = 0; i < 6; i++)
    g_ptr_array_add (tasks, g_object_ref (run_with (&yard, group, work_run, 'a', NULL)));
  wait_until_begun (&yard, "aa");
  while (g_main_context_iteration (context, FALSE))
    ;
  g_clear_object (&scheduler);
  g_clear_pointer (&context, g_main_context_unref);
  pthread_mutex_lock (&yard.lock);
  g_assert_cmpuint (yard.n_freed, ==, 4);
  pthread_mutex_unlock (&yard.lock);
  for (guint i = 2; i < 6; i++)
    g_assert_error (prio_task_get_error (tasks->pdata[i]), PRIO_ERROR, PRIO_ERROR_CLOSED);
  let_go (&yard, 2);
  pthread_mutex_lock (&yard.lock);
  while (yard.n_freed < 6)
    pthread_cond_wait (&yard.changed, &yard.lock);
  pthread_mutex_unlock (&yard.lock);
  g_assert_cmpuint (yard.outcomes->len, ==, 0);
  if (HAS_CHECKS)
    assert_told ("*has gone*", g_assert_null (prio_task_group_run_in_thread (group, NULL, work_run, NULL, NULL)));
  yard_clear (&yard);
}

static void
end_by_chance (PrioTask *task, gpointer data)
{
  Work *work = data;

  if (work->letter % 3 == 0)
    g_usleep (50);
  if (!prio_task_return_error_if_aborted (task))
    prio_task_return_int (task, 'x');
}

static void
join (gpointer thread)
{
  g_thread_join (thread);
}

/* Posts, aborts, limits and priorities change at once. */
static void
test_crossing (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, BACKGROUND);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GPtrArray) threads = g_ptr_array_new_with_free_func (join);
  PrioTaskController *row = prio_task_controller_new (BACKGROUND);
  guint n = 0;
  Yard yard;

  yard_init (&yard, f);
  g_ptr_array_add (rows, row);
  for (guint i = 0; i < times (3000); i++)
    {
      gint32 what = g_test_rand_int_range (0, 16);

      if (what == 0)
        prio_task_group_set_limit (group, (guint) g_test_rand_int_range (1, 5));
      else if (what == 1)
        prio_task_group_set_priority (group, (PrioTaskPriority) g_test_rand_int_range (BACKGROUND, USER_BLOCKING + 1), NULL);
      else if (what == 2 && i % 7 == 0)
        prio_task_group_abort (group, NULL);
      else if (what == 3)
        prio_task_group_cancel_pending (group);
      else if (what == 4)
        g_ptr_array_add (threads, g_thread_new ("abort", abort_elsewhere, row));
      else if (what == 5)
        {
          row = prio_task_controller_new (USER_VISIBLE);
          g_ptr_array_add (rows, row);
        }
      else if (what < 8)
        post_here (&yard, group, 'L', (PrioTaskPriority) g_test_rand_int_range (PRIO_TASK_PRIORITY_UNSET,
                                                                                USER_BLOCKING + 1)), n++;
      else if (what < 10)
        prio_task_cancel (run_with (&yard, group, end_by_chance, (char) what, NULL)), n++;
      else if (what < 14)
        run_with (&yard, group, end_by_chance, (char) what, what % 2 ? NULL : &(PrioTaskOptions) { .signal = signal_of (row) }), n++;
      else
        g_main_context_iteration (f->context, FALSE);
    }
  finish (&yard, group, n);
  prio_task_group_set_limit (group, 1);
  yard.max_running = 0;
  let_go (&yard, 4);
  run (&yard, group, "wxyz");
  finish (&yard, group, n + 4);
  g_assert_cmpuint (yard.max_running, ==, 1);
  yard_clear (&yard);
}

static gpointer
count_pending (gpointer group)
{
  return GUINT_TO_POINTER (prio_task_group_get_n_tasks (group));
}

/* Any thread may ask for the number of pending tasks. */
static void
test_pending (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, BACKGROUND);
  Yard yard;

  yard_init (&yard, f);
  /* Two threads may start in any order, so their letters are equal. */
  run (&yard, group, "aaaa");
  wait_until_begun (&yard, "aa");
  g_assert_cmpuint (GPOINTER_TO_UINT (g_thread_join (g_thread_new ("count", count_pending, group))), ==, 4);
  let_go (&yard, 4);
  finish (&yard, group, 4);
  g_assert_cmpuint (GPOINTER_TO_UINT (g_thread_join (g_thread_new ("count", count_pending, group))), ==, 0);
  yard_clear (&yard);
}

static void
test_bad_input (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);

  if (!HAS_CHECKS)
    return;

  assert_told ("*func is NULL*", g_assert_null (prio_task_group_run_in_thread (group, NULL, NULL, NULL, NULL)));
  assert_told ("*a delay of 5 ms*",
               g_assert_null (prio_task_group_run_in_thread (group, &(PrioTaskOptions) { .delay = 5 }, work_run, NULL, NULL)));
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/group-threads/next-begins-at-once", test_next_begins_at_once);
  add_test ("/group-threads/limit", test_limit);
  add_test ("/group-threads/order", test_order);
  add_test ("/group-threads/with-tasks-of-the-loop", test_with_tasks_of_the_loop);
  add_test ("/group-threads/abort", test_abort);
  add_test ("/group-threads/cancel", test_cancel);
  add_test ("/group-threads/deferred", test_deferred);
  add_test ("/group-threads/waits", test_waits);
  add_test ("/group-threads/dropped", test_dropped);
  add_test ("/group-threads/context-goes", test_context_goes);
  add_test ("/group-threads/crossing", test_crossing);
  add_test ("/group-threads/pending", test_pending);
  add_test ("/group-threads/bad-input", test_bad_input);

  return g_test_run ();
}
