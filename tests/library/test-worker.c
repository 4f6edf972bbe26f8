/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-worker.c: threads with their own main context and scheduler */

#include "helpers.h"
#include "tsan-suppressions.h"

/* The data that the threads share. */
typedef struct
{
  Fixture f;
  PrioWorker *worker;
  GThread *main, *thread;
  gint n_begun, may_go_on, n_ran, n_freed; /* atomic */
} World;

static void
set_up (World *w, gconstpointer data)
{
  fixture_set_up (&w->f, data);
  w->main = g_thread_self ();
  w->worker = prio_worker_new ("worker");
}

static void
tear_down (World *w, gconstpointer data)
{
  if (w->worker != NULL)
    {
      prio_worker_stop (w->worker, PRIO_WORKER_STOP_ABORT);
      prio_worker_join (w->worker);
      g_clear_object (&w->worker);
    }
  fixture_tear_down (&w->f, data);
}

static void
iterate_until (World *w, gboolean (*is_so) (World *w))
{
  while (!is_so (w))
    g_main_context_iteration (w->f.context, TRUE);
}

static void
freed (gpointer data)
{
  g_atomic_int_inc (&((World *) data)->n_freed);
}

/* Keeps the worker busy until go_on (). */
static void
hold (PrioTask *task, gpointer data)
{
  World *w = data;

  g_atomic_int_inc (&w->n_begun);
  while (!g_atomic_int_get (&w->may_go_on))
    g_usleep (100);
  prio_task_return_boolean (task, TRUE);
}

static void
go_on (World *w)
{
  g_atomic_int_set (&w->may_go_on, TRUE);
}

static PrioTask *
run_in_worker (World *w, PrioTaskFunc func, GCancellable *signal)
{
  return prio_worker_run (w->worker, w->f.scheduler, &PRIO_TASK_OPTIONS (.cancellable = signal), func, w,
                                       freed);
}

static PrioTask *
hold_worker (World *w)
{
  PrioTask *task = run_in_worker (w, hold, NULL);

  while (g_atomic_int_get (&w->n_begun) == 0)
    g_usleep (100);
  return task;
}

static void
wait_for (World *w, PrioTask *task)
{
  while (prio_task_get_state (task) < PRIO_TASK_STATE_FULFILLED)
    g_main_context_iteration (w->f.context, TRUE);
}

static void
count (PrioTask *task, gpointer data)
{
  World *w = data;

  g_atomic_int_inc (&w->n_ran);
  prio_task_return_int (task, 42);
}

static void
say_where (PrioTask *task, gpointer data)
{
  World *w = data;

  w->thread = g_thread_self ();
  prio_task_return_int (task, 42);
}

static void
came_home (GObject *source, GAsyncResult *result, gpointer data)
{
  World *w = data;

  g_assert_true (g_thread_self () == w->main);
  g_assert_true (g_thread_self () != w->thread);
  g_assert_cmpint (prio_task_propagate_int (PRIO_TASK (result), NULL), ==, 42);
  w->n_ran++;
}

static gboolean
has_come_home (World *w)
{
  return w->n_ran == 1 && g_atomic_int_get (&w->n_freed) == 1;
}

static void
test_a_result_comes_home (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) task = run_in_worker (w, say_where, NULL);

  prio_task_wait_async (task, NULL, came_home, w);
  iterate_until (w, has_come_home);
  g_assert_true (w->thread != w->main);
}

typedef struct
{
  World *w;
  char letter;
} Letter;

static void
log_letter (PrioTask *task G_GNUC_UNUSED, gpointer data)
{
  Letter *self = data;

  g_string_append_c (self->w->f.log, self->letter);
}

static gboolean
write_letter (gpointer data)
{
  log_letter (NULL, data);
  return G_SOURCE_REMOVE;
}

/* Other tasks wait for the letter that comes last. */
static void
test_they_run_by_priority (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) held G_GNUC_UNUSED = hold_worker (w);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Letter letters[] = { { w, 'a' }, { w, 'b' }, { w, 'c' }, { w, 'd' } };
  g_autoptr (PrioTask) a = NULL, b = NULL, c = NULL;

  a = prio_worker_run (w->worker, w->f.scheduler, &PRIO_TASK_OPTIONS (.priority = BACKGROUND), log_letter,
                                    &letters[0], NULL);
  b = prio_worker_run (w->worker, w->f.scheduler, NULL, log_letter, &letters[1], NULL);
  c = prio_worker_run (w->worker, w->f.scheduler, &PRIO_TASK_OPTIONS (.signal = signal_of (controller)),
                                    log_letter, &letters[2], NULL);
  prio_scheduler_post (prio_worker_get_scheduler (w->worker), USER_VISIBLE, write_letter, &letters[3], NULL);
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  go_on (w);
  wait_for (w, a);
  g_assert_cmpstr (w->f.log->str, ==, "cbda");
}

static void
test_an_abort_ends_what_waits_at_once (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) held = hold_worker (w);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  g_autoptr (PrioTask) task = run_in_worker (w, count, cancellable_of (controller));
  g_autoptr (PrioTask) other = run_in_worker (w, count, plain);
  g_autoptr (PrioTask) third = run_in_worker (w, count, NULL);

  prio_task_controller_abort (controller, NULL);
  g_cancellable_cancel (plain);
  prio_task_cancel (third);
  wait_for (w, task);
  wait_for (w, other);
  wait_for (w, third);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpint (prio_task_get_state (other), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpint (prio_task_get_state (third), ==, PRIO_TASK_STATE_ABORTED);
  fixture_run (&w->f);
  g_assert_cmpint (w->n_freed, ==, 3);
  go_on (w);
  wait_for (w, held);
  g_assert_cmpint (w->n_ran, ==, 0);
}

static void
test_an_abort_reaches_what_runs (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) task = run_in_worker (w, hold, cancellable_of (controller));
  g_autoptr (PrioTask) aborted = NULL;

  while (g_atomic_int_get (&w->n_begun) == 0)
    g_usleep (100);
  prio_task_controller_abort (controller, NULL);
  aborted = run_in_worker (w, count, cancellable_of (controller));
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_RUNNING);
  go_on (w);
  wait_for (w, task);
  wait_for (w, aborted);
  g_assert_cmpint (prio_task_get_state (aborted), ==, PRIO_TASK_STATE_ABORTED);
}

static void
test_it_aborts_what_is_queued_when_it_stops (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) held = hold_worker (w);
  g_autoptr (PrioTask) task = run_in_worker (w, count, NULL);
  g_autoptr (GError) error = NULL;

  prio_worker_stop (w->worker, PRIO_WORKER_STOP_ABORT);
  go_on (w);
  prio_worker_join (w->worker);
  wait_for (w, task);
  g_assert_cmpint (prio_task_propagate_int (task, &error), ==, -1);
  g_assert_error (error, PRIO_ERROR, PRIO_ERROR_CLOSED);
  fixture_run (&w->f);
  g_assert_true (prio_task_propagate_boolean (held, NULL));
  g_assert_cmpint (w->n_freed, ==, 2);
  g_assert_cmpint (w->n_ran, ==, 0);
}

static gboolean
again (gpointer data)
{
  World *w = data;

  return g_atomic_int_add (&w->n_ran, 1) < 99;
}

static void
test_it_finishes_first_what_is_queued (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) held G_GNUC_UNUSED = hold_worker (w);
  PrioScheduler *scheduler = prio_worker_get_scheduler (w->worker);
  g_autoptr (PrioTask) task = run_in_worker (w, count, NULL);

  prio_scheduler_post (scheduler, BACKGROUND, again, w, freed);
  prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.delay = 5), again, w, freed);
  prio_worker_stop (w->worker, PRIO_WORKER_STOP_FINISH);
  prio_worker_stop (w->worker, PRIO_WORKER_STOP_FINISH);
  go_on (w);
  prio_worker_join (w->worker);
  fixture_run (&w->f);
  g_assert_cmpint (w->n_ran, >=, 101);
  g_assert_cmpint (w->n_freed, ==, 4);
  g_assert_cmpint (prio_task_propagate_int (task, NULL), ==, 42);
}

/* Would never end by itself. */
static gboolean
for_ever (gpointer data G_GNUC_UNUSED)
{
  return G_SOURCE_CONTINUE;
}

static gboolean
count_once (gpointer data)
{
  g_atomic_int_inc (&((World *) data)->n_ran);
  return G_SOURCE_REMOVE;
}

/* The worker finishes earlier posts even if the thread has not started. */
static void
test_it_finishes_what_was_posted_at_once (World *w, gconstpointer data G_GNUC_UNUSED)
{
  for (guint i = 0; i < 50; i++)
    {
      g_autoptr (PrioWorker) worker = prio_worker_new (NULL);

      prio_scheduler_post (prio_worker_get_scheduler (worker), BACKGROUND, count_once, w, NULL);
      prio_worker_stop (worker, PRIO_WORKER_STOP_FINISH);
      prio_worker_join (worker);
    }
  g_assert_cmpint (w->n_ran, ==, 50);
}

static void
test_an_abort_follows_a_finish (World *w, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_post (prio_worker_get_scheduler (w->worker), BACKGROUND, for_ever, w, freed);
  prio_worker_stop (w->worker, PRIO_WORKER_STOP_FINISH);
  prio_worker_stop (w->worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_stop (w->worker, PRIO_WORKER_STOP_FINISH);
  prio_worker_join (w->worker);
  prio_worker_join (w->worker);
  g_assert_cmpint (w->n_freed, ==, 1);
}

static void
stop_from_inside (PrioTask *task, gpointer data)
{
  World *w = data;

  assert_told ("*the thread of a worker cannot wait for its own end", prio_worker_join (w->worker));
  prio_worker_stop (w->worker, PRIO_WORKER_STOP_ABORT);
  prio_task_return_boolean (task, TRUE);
}

static void
test_it_is_stopped_by_its_own_task (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) held G_GNUC_UNUSED = hold_worker (w);
  g_autoptr (PrioTask) stops = run_in_worker (w, stop_from_inside, NULL);
  g_autoptr (PrioTask) task = run_in_worker (w, count, NULL);

  go_on (w);
  wait_for (w, task);
  prio_worker_join (w->worker);
  g_assert_true (prio_task_propagate_boolean (stops, NULL));
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpint (w->n_ran, ==, 0);
}

static void G_GNUC_NORETURN
idle (PrioIdleDeadline *deadline G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  g_assert_not_reached ();
}

/* Calls every function of a scheduler whose thread has ended. */
static void
test_a_scheduler_of_a_stopped_worker (World *w, gconstpointer data G_GNUC_UNUSED)
{
  PrioScheduler *scheduler = prio_worker_get_scheduler (w->worker);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) task = NULL, home = NULL, threaded = NULL;
  g_autoptr (GError) error = NULL;

  prio_worker_stop (w->worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_join (w->worker);

  prio_scheduler_post (scheduler, USER_VISIBLE, for_ever, w, freed);
  prio_scheduler_post_full (scheduler, NULL, for_ever, w, freed);
  prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.signal = signal_of (controller)), for_ever, w, freed);
  prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.delay = 1, .timeout = 1, .takes_turns = TRUE), for_ever, w, freed);
  g_assert_cmpint (w->n_freed, ==, 4);

  task = prio_scheduler_post_task (scheduler, &PRIO_TASK_OPTIONS (.signal = signal_of (controller)), count, w, freed);
  g_assert_false (prio_task_propagate_boolean (task, &error));
  g_assert_error (error, PRIO_ERROR, PRIO_ERROR_CLOSED);
  g_assert_cmpint (w->n_freed, ==, 5);

  threaded = prio_scheduler_run_in_thread (scheduler, NULL, count, w, NULL);
  while (prio_task_get_state (threaded) < PRIO_TASK_STATE_FULFILLED)
    g_usleep (1000);
  prio_scheduler_queue_microtask (scheduler, step_run_once, w, freed);
  prio_scheduler_request_idle_callback (scheduler, 0, idle, w, freed);
  g_assert_cmpint (w->n_freed, ==, 7);
  prio_scheduler_set_time_slice (scheduler, 1);
  prio_scheduler_pause (scheduler);
  prio_scheduler_post (scheduler, USER_VISIBLE, for_ever, w, freed);
  g_assert_cmpint (w->n_freed, ==, 8);
  prio_scheduler_resume (scheduler);
  prio_scheduler_set_lends_priority (scheduler, TRUE);
  g_assert_false (prio_scheduler_should_yield (scheduler));
  prio_task_controller_set_priority (controller, BACKGROUND, NULL);
  prio_task_controller_abort (controller, NULL);

  home = run_in_worker (w, count, NULL);
  wait_for (w, home);
  g_clear_error (&error);
  g_assert_cmpint (prio_task_propagate_int (home, &error), ==, -1);
  g_assert_error (error, PRIO_ERROR, PRIO_ERROR_CLOSED);
  fixture_run (&w->f);
}

G_GNUC_NORETURN static void
run_number (guint id, gpointer data)
{
  g_assert_not_reached ();
}

/* The runner is notified of the end, though its scheduler still exists. */
static void
test_a_runner_of_a_stopped_worker (World *w, gconstpointer data G_GNUC_UNUSED)
{
  PrioScheduler *scheduler = prio_worker_get_scheduler (w->worker);
  PrioRunner *runner = prio_runner_new (scheduler, run_number, w, freed), *late;

  prio_worker_stop (w->worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_join (w->worker);
  g_assert_cmpint (w->n_freed, ==, 1);
  g_assert_cmpint (prio_runner_post (runner, 1, USER_VISIBLE), ==, PRIO_POST_RESULT_REJECTED);

  late = prio_runner_new (scheduler, run_number, w, freed);
  g_assert_cmpint (w->n_freed, ==, 2);
  g_assert_cmpint (prio_runner_yield (late, 1), ==, PRIO_POST_RESULT_REJECTED);
  g_assert_cmpuint (prio_runner_request_idle_callback (late, 0), !=, 0);

  g_clear_object (&w->worker);
  prio_runner_unref (runner);
  prio_runner_unref (late);
  g_assert_cmpint (w->n_freed, ==, 2);
}

/* A thread cannot return the result to a stopped worker. */
static void
test_a_function_in_a_thread_for_a_stopped_worker (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) task = NULL;
  g_autoptr (GError) error = NULL;

  prio_worker_stop (w->worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_join (w->worker);

  task = prio_scheduler_run_in_thread (prio_worker_get_scheduler (w->worker), NULL, count, w, freed);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_false (prio_task_propagate_boolean (task, &error));
  g_assert_error (error, PRIO_ERROR, PRIO_ERROR_CLOSED);
  g_assert_cmpint (w->n_ran, ==, 0);
  g_assert_cmpint (w->n_freed, ==, 1);
}

/* Such a group has neither tasks nor a main loop. */
static void
test_a_group_for_a_stopped_worker (World *w, gconstpointer data G_GNUC_UNUSED)
{
  gpointer group, scheduler = g_object_ref (prio_worker_get_scheduler (w->worker));

  prio_worker_stop (w->worker, PRIO_WORKER_STOP_ABORT);
  prio_worker_join (w->worker);

  group = prio_task_group_new (scheduler, 1, USER_VISIBLE);
  assert_told ("*main context*has gone*", g_assert_null (prio_task_group_post_task (group, NULL, count, w, freed)));
  assert_told ("*main context*has gone*", g_assert_null (prio_task_group_run_in_thread (group, NULL, count, w, freed)));
  g_object_add_weak_pointer (group, &group);
  g_object_add_weak_pointer (scheduler, &scheduler);
  g_object_unref (group);
  g_assert_null (group);
  g_clear_object (&w->worker);
  g_object_unref (scheduler);
  g_assert_null (scheduler);
}

static void
test_the_last_reference_stops_it (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) held = hold_worker (w);
  g_autoptr (PrioTask) task = run_in_worker (w, count, NULL);

  g_clear_object (&w->worker);
  go_on (w);
  wait_for (w, held);
  wait_for (w, task);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  while (g_atomic_int_get (&w->n_freed) < 2)
    g_main_context_iteration (w->f.context, TRUE);
}

static void
test_the_caller_has_gone (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) held G_GNUC_UNUSED = hold_worker (w);
  g_autoptr (PrioTask) task = run_in_worker (w, count, NULL);
  g_autoptr (GError) error = NULL;

  fixture_drop_context (&w->f);
  g_assert_cmpint (prio_task_propagate_int (task, &error), ==, -1);
  g_assert_error (error, PRIO_ERROR, PRIO_ERROR_CLOSED);
  go_on (w);
  prio_worker_stop (w->worker, PRIO_WORKER_STOP_FINISH);
  prio_worker_join (w->worker);
  g_assert_cmpint (w->n_freed, ==, 2);
  g_assert_cmpint (w->n_ran, ==, 0);
}

static void
ask_for_default (PrioTask *task, gpointer data)
{
  World *w = data;
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_ref_thread_default ();

  prio_task_return_boolean (task, scheduler == prio_worker_get_scheduler (w->worker));
}

static void
test_its_scheduler_is_the_default_one_there (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) task = run_in_worker (w, ask_for_default, NULL);

  wait_for (w, task);
  g_assert_true (prio_task_propagate_boolean (task, NULL));
}

static gpointer
join (gpointer data)
{
  prio_worker_join (((World *) data)->worker);
  return NULL;
}

static void
test_several_threads_wait_for_its_end (World *w, gconstpointer data G_GNUC_UNUSED)
{
  GThread *threads[3];

  g_autoptr (PrioTask) held G_GNUC_UNUSED = hold_worker (w);

  prio_worker_stop (w->worker, PRIO_WORKER_STOP_FINISH);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("waits", join, w);
  go_on (w);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

static void
test_bad_input (World *w, gconstpointer data G_GNUC_UNUSED)
{
  if (!HAS_CHECKS)
    return;
  assert_told ("*NULL is not a PrioWorker", prio_worker_stop (NULL, PRIO_WORKER_STOP_ABORT));
  assert_told ("*NULL is not a PrioWorker", prio_worker_join (NULL));
  assert_told ("*the worker is not stopped*", prio_worker_join (w->worker));
  assert_told ("*NULL is not a PrioWorker", prio_worker_get_scheduler (NULL));
  assert_told ("*NULL is not a PrioWorker", g_assert_null (prio_worker_run (NULL, w->f.scheduler, NULL, count, w, NULL)));
  assert_told ("*a PrioScheduler is not a PrioWorker",
               g_assert_null (prio_worker_run ((gpointer) w->f.scheduler, w->f.scheduler, NULL, count, w, NULL)));
  assert_told ("*func is NULL*", g_assert_null (prio_worker_run (w->worker, w->f.scheduler, NULL, NULL, w, NULL)));
  assert_told ("*a delay of 5 ms*",
               g_assert_null (prio_worker_run (w->worker, w->f.scheduler, &PRIO_TASK_OPTIONS (.delay = 5), count, w, NULL)));
}

/* A thousand posts from several threads come while the worker stops: each task ends once. */
static gpointer
post_many (gpointer data)
{
  World *w = data;

  for (guint i = 0; i < times (1000); i++)
    g_object_unref (run_in_worker (w, count, NULL));
  return NULL;
}

static void
test_it_stops_while_it_is_full (World *w, gconstpointer data G_GNUC_UNUSED)
{
  gint n_all = 3 * (gint) times (1000);
  GThread *threads[3];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("posts", post_many, w);
  prio_worker_stop (w->worker, PRIO_WORKER_STOP_ABORT);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  prio_worker_join (w->worker);
  while (g_atomic_int_get (&w->n_freed) < n_all)
    g_main_context_iteration (w->f.context, TRUE);
  g_assert_cmpint (w->n_freed, ==, n_all);
}

/* The worker's thread is not mistaken for another thread, however soon it asks. */
static void
test_its_thread_owns_the_context_from_the_start (World *w, gconstpointer data)
{
  for (guint i = 0; i < times (200); i++)
    {
      PrioWorker *worker = prio_worker_new ("worker");
      GMainContext *context = prio_scheduler_get_context (prio_worker_get_scheduler (worker));

      g_assert_false (g_main_context_acquire (context));
      prio_worker_stop (worker, PRIO_WORKER_STOP_ABORT);
      prio_worker_join (worker);
      g_object_unref (worker);
    }
}

#define add(path, func) g_test_add ("/worker/" path, World, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add ("a-result-comes-home", test_a_result_comes_home);
  add ("they-run-by-priority", test_they_run_by_priority);
  add ("an-abort-ends-what-waits-at-once", test_an_abort_ends_what_waits_at_once);
  add ("an-abort-reaches-what-runs", test_an_abort_reaches_what_runs);
  add ("it-aborts-what-is-queued-when-it-stops", test_it_aborts_what_is_queued_when_it_stops);
  add ("it-finishes-first-what-is-queued", test_it_finishes_first_what_is_queued);
  add ("it-finishes-what-was-posted-at-once", test_it_finishes_what_was_posted_at_once);
  add ("an-abort-follows-a-finish", test_an_abort_follows_a_finish);
  add ("it-is-stopped-by-its-own-task", test_it_is_stopped_by_its_own_task);
  add ("a-scheduler-of-a-stopped-worker", test_a_scheduler_of_a_stopped_worker);
  add ("a-runner-of-a-stopped-worker", test_a_runner_of_a_stopped_worker);
  add ("a-function-in-a-thread-for-a-stopped-worker", test_a_function_in_a_thread_for_a_stopped_worker);
  add ("a-group-for-a-stopped-worker", test_a_group_for_a_stopped_worker);
  add ("the-last-reference-stops-it", test_the_last_reference_stops_it);
  add ("the-caller-has-gone", test_the_caller_has_gone);
  add ("its-scheduler-is-the-default-one-there", test_its_scheduler_is_the_default_one_there);
  add ("its-thread-owns-the-context-from-the-start", test_its_thread_owns_the_context_from_the_start);
  add ("several-threads-wait-for-its-end", test_several_threads_wait_for_its_end);
  add ("bad-input", test_bad_input);
  add ("it-stops-while-it-is-full", test_it_stops_while_it_is_full);
  return g_test_run ();
}
