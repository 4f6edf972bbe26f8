/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-react.c: timeouts of tasks, as in React's Scheduler
 *
 * Tests are named after the functions of that Scheduler.
 */

#include <prio-sched-bindings.h>
#include "frozen-fixture.h"

/* Posts a step that logs its letter, a capital if its timeout had passed. */
static void
tell (Step *step)
{
  gchar *letter = &step->f->log->str[step->f->log->len - 1];

  if (prio_scheduler_did_timeout (step->f->scheduler))
    *letter = g_ascii_toupper (*letter);
}

static void
tell_then (Step *step)
{
  tell (step);
  ((void (*) (Step *)) step->data) (step);
}

static void
post_timed (Fixture *f, PrioTaskPriority priority, gint timeout, char letter)
{
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = priority, .timeout = timeout }, step_run,
                            step_new (f, letter, tell, NULL), step_free);
}

static void
post_timed_full (Fixture *f, const PrioTaskOptions *options, char letter)
{
  prio_scheduler_post_full (f->scheduler, options, step_run, step_new (f, letter, tell, NULL), step_free);
}

static void
post_timed_step (Fixture *f, PrioTaskPriority priority, gint timeout, char letter, void (*then) (Step *step))
{
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = priority, .timeout = timeout }, step_run,
                            step_new (f, letter, tell_then, then), step_free);
}

/* Without a timeout, the order of priorities is strict, however long a task waits; with a timeout, a task runs at
 * last. */
static void
test_timeout (Fixture *f, gconstpointer data)
{
  post_timed (f, BACKGROUND, 0, 'c');
  post_timed (f, BACKGROUND, 100, 'b');
  post_timed (f, USER_BLOCKING, 0, 'a');
  pass (100);
  assert_ran (f, "Bac");

  post_timed (f, BACKGROUND, 100, 'b');
  post_timed (f, USER_BLOCKING, 0, 'a');
  pass (99);
  assert_ran (f, "ab");
}

/* The clock has not run for as long as the timeout lies back. */
static void
test_timeout_before_the_clock (Fixture *f, gconstpointer data)
{
  post_timed (f, BACKGROUND, -G_MAXINT, 'b');
  post_timed (f, USER_BLOCKING, 0, 'a');
  assert_ran (f, "Ba");
}

/* Delayed tasks wait for their start, and the timeout counts from there. */
static void
test_delay_and_timeout (Fixture *f, gconstpointer data)
{
  post_timed_full (f, &(PrioTaskOptions) { .priority = BACKGROUND, .delay = 50, .timeout = 100 }, 'd');
  pass (49);
  assert_ran (f, "");
  prio_scheduler_pause (f->scheduler);
  pass (100);
  post_timed (f, USER_BLOCKING, 0, 'x');
  fixture_run (f);
  prio_scheduler_resume (f->scheduler);
  assert_ran (f, "xd");

  post_timed_full (f, &(PrioTaskOptions) { .priority = BACKGROUND, .delay = 50, .timeout = 100 }, 'd');
  post_timed (f, USER_BLOCKING, 0, 'x');
  pass (150);
  assert_ran (f, "Dx");
}

/* The sort index is the time at which a timeout passes, and then the age. */
static void
test_order_of_expired (Fixture *f, gconstpointer data)
{
  post_timed (f, USER_BLOCKING, 300, 'd');
  post_timed (f, BACKGROUND, 200, 'b');
  post_timed (f, USER_VISIBLE, 200, 'c');
  post_timed (f, BACKGROUND, 100, 'a');
  pass (300);
  post_timed (f, BACKGROUND, -1, 'f');
  post_timed (f, BACKGROUND, -1, 'g');
  post_timed (f, BACKGROUND, -150, 'y');
  assert_ran (f, "AYBCFGD");
}

/* The order of expired tasks spans several schedulers of a context. */
static void
test_order_over_schedulers (Fixture *f, gconstpointer data)
{
  PrioScheduler *other = prio_scheduler_new (f->context);

  for (guint i = 0; i < 4; i++)
    {
      PrioScheduler *scheduler = i % 2 == 0 ? f->scheduler : other;

      prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .priority = BACKGROUND, .timeout = 10 }, step_run,
                                step_new (f, (char) ('a' + i), tell, NULL), step_free);
      prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING, .timeout = 20 - (gint) i }, step_run,
                                step_new (f, (char) ('h' - i), tell, NULL), step_free);
    }
  pass (20);
  assert_ran (f, "ABCDEFGH");
  g_object_unref (other);
}

static void
step_expire (Step *step)
{
  pass (100);
}

/* workLoop: a task that expires while tasks run is the next. */
static void
test_expires_in_work_loop (Fixture *f, gconstpointer data)
{
  post_timed (f, BACKGROUND, 100, 'c');
  post_step (f, USER_BLOCKING, 'a', step_expire, NULL);
  for (guint i = 0; i < 50; i++)
    post_letter (f, USER_VISIBLE, 'x');
  fixture_run (f);
  g_assert_nonnull (strchr (f->log->str, 'C'));
  g_assert_cmpint (strchr (f->log->str, 'C') - f->log->str, <=, 17);
  g_string_truncate (f->log, 0);
}

static gboolean
step_often (gpointer data)
{
  Step *step = data;
  guint *left = step->data;

  g_string_append_c (step->f->log, step->letter);
  tell (step);
  pass (40);
  return --*left > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

/* workLoop: a continuation keeps the expiry of its task, and did_timeout is set anew. */
static void
test_continuation_keeps_expiry (Fixture *f, gconstpointer data)
{
  guint left = 4;

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND, .timeout = 100 }, step_often,
                            step_new (f, 'a', NULL, &left), step_free);
  assert_ran (f, "aaaA");

  left = 2;
  post_timed (f, USER_VISIBLE, -1, 'b');
  pass (100);
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND, .timeout = -102 }, step_often,
                            step_new (f, 'a', NULL, &left), step_free);
  post_timed (f, USER_VISIBLE, -1, 'c');
  assert_ran (f, "AABC");
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  Step *step = data;

  g_assert_true (prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, NULL));
  g_string_append_c (step->f->log, step->letter);
  tell (step);
}

static void
step_yield (Step *step)
{
  pass (100);
  tell (step);
  prio_scheduler_yield_async (step->f->scheduler, NULL, yielded, step->data);
}

/* A yield inherits the expiry, and did_timeout is set anew after it. */
static void
test_yield_keeps_expiry (Fixture *f, gconstpointer data)
{
  Step after = { f, 'b', NULL, NULL };

  post_letter (f, USER_BLOCKING, 'x');
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING, .timeout = 100 }, step_run,
                            step_new (f, 'a', step_yield, &after), step_free);
  post_letter (f, USER_BLOCKING, 'y');
  assert_ran (f, "xaBy");

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND, .timeout = 101 }, step_run,
                            step_new (f, 'a', step_yield, &after), step_free);
  post_letter (f, BACKGROUND, 'y');
  assert_ran (f, "aby");
}

static void
step_nested (Step *step)
{
  prio_scheduler_post (step->f->scheduler, USER_BLOCKING, step_run, step_new (step->f, 'n', tell, NULL), step_free);
  fixture_run (step->f);
  g_assert_true (prio_scheduler_did_timeout (step->f->scheduler));
}

/* A nested main loop does not change did_timeout of the task, and its callbacks have their own. */
static void
test_nested_loop_has_its_own_answer (Fixture *f, gconstpointer data)
{
  post_timed_step (f, BACKGROUND, -1, 'a', step_nested);
  assert_ran (f, "An");
  g_assert_false (prio_scheduler_did_timeout (f->scheduler));
}

/* A paused scheduler stays paused; when it is resumed, expired tasks run first. */
static void
test_paused_scheduler_stays_paused (Fixture *f, gconstpointer data)
{
  PrioScheduler *other = prio_scheduler_new (f->context);

  post_timed (f, BACKGROUND, 100, 'b');
  post_letter (f, USER_BLOCKING, 'c');
  prio_scheduler_pause (f->scheduler);
  prio_scheduler_post (other, USER_VISIBLE, step_run, step_new (f, 'x', NULL, NULL), step_free);
  pass (100);
  post_timed (f, BACKGROUND, -1, 'a');
  assert_ran (f, "x");
  prio_scheduler_resume (f->scheduler);
  assert_ran (f, "ABc");
  g_object_unref (other);
}

static void
set_priority (PrioTaskController *controller, PrioTaskPriority priority)
{
  g_assert_true (prio_task_controller_set_priority (controller, priority, NULL));
}

/* An expired task keeps its place when its signal's priority changes, and other tasks move. */
static void
test_expires_with_changing_priority (Fixture *f, gconstpointer data)
{
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);
  GCancellable *signal = cancellable_of (controller);

  post_timed_full (f, &(PrioTaskOptions) { .cancellable = signal, .timeout = 100 }, 'a');
  post_timed_full (f, &(PrioTaskOptions) { .cancellable = signal, .timeout = 200 }, 'b');
  post_timed_full (f, &(PrioTaskOptions) { .cancellable = signal }, 'c');
  post_letter (f, USER_VISIBLE, 'x');
  prio_scheduler_pause (f->scheduler);
  pass (100);
  fixture_run (f);
  set_priority (controller, USER_BLOCKING);
  fixture_run (f);
  set_priority (controller, BACKGROUND);
  prio_scheduler_resume (f->scheduler);
  assert_ran (f, "Axbc");
  g_object_unref (controller);
}

/* An abort drops all tasks: waiting, expired, and delayed ones. */
static void
test_aborted_while_timed (Fixture *f, gconstpointer data)
{
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);
  GCancellable *signal = cancellable_of (controller);

  step_n_freed = 0;
  prio_scheduler_pause (f->scheduler);
  for (guint i = 0; i < 3; i++)
    {
      post_timed_full (f, &(PrioTaskOptions) { .cancellable = signal, .timeout = 100 }, 'a');
      post_timed_full (f, &(PrioTaskOptions) { .cancellable = signal, .timeout = 200 }, 'b');
      post_timed_full (f, &(PrioTaskOptions) { .cancellable = signal }, 'c');
      post_timed_full (f, &(PrioTaskOptions) { .priority = BACKGROUND, .cancellable = signal, .timeout = 200 }, 'd');
      post_timed_full (f, &(PrioTaskOptions) { .cancellable = signal, .delay = 300, .timeout = 200 }, 'e');
      post_timed (f, BACKGROUND, 100, 'f');
      post_timed (f, BACKGROUND, 200, 'g');
    }
  pass (100);
  fixture_run (f);
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpuint (step_n_freed, ==, 15);
  prio_scheduler_resume (f->scheduler);
  assert_ran (f, "FFFggg");
  pass (1000);
  assert_ran (f, "");
  g_object_unref (controller);
}

/* Remaining timed tasks of a destroyed context are released. */
static void
test_context_goes (Fixture *f, gconstpointer data)
{
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);

  step_n_freed = 0;
  for (guint i = 0; i < 2; i++)
    {
      post_timed (f, BACKGROUND, -1, 'a');
      post_timed (f, BACKGROUND, 100, 'a');
      post_timed_full (f, &(PrioTaskOptions) { .signal = signal_of (controller), .timeout = 100 }, 'b');
      post_timed_full (f, &(PrioTaskOptions) { .delay = 1, .timeout = 100 }, 'b');
    }
  fixture_drop_context (f);
  g_assert_cmpuint (step_n_freed, ==, 8);
  g_object_unref (controller);
}

static void
run_task (PrioTask *task, gpointer data)
{
  step_run (data);
}

static void
defer_task (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_task_defer (task);
  *(PrioTask **) step->data = g_object_ref (task);
}

static void
post_in_group (Fixture *f, PrioTaskGroup *group, const PrioTaskOptions *options, char letter)
{
  g_object_unref (prio_task_group_post_task (group, options, run_task, step_new (f, letter, tell, NULL), step_free));
}

static void
step_ask (Step *step)
{
  g_string_append_c (step->f->log, prio_scheduler_should_yield (step->f->scheduler) ? '1' : '0');
}

/* In a group with a limit, an expired task waits for a place and then runs first.  Until then it does not cause a yield. */
static void
test_group_with_a_limit (Fixture *f, gconstpointer data)
{
  PrioTaskGroup *group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  PrioTask *first = NULL;

  g_object_unref (prio_task_group_post_task (group, NULL, defer_task, step_new (f, 'a', NULL, &first), step_free));
  assert_ran (f, "a");
  post_in_group (f, group, NULL, 'c');
  post_in_group (f, group, &(PrioTaskOptions) { .timeout = 100 }, 'b');
  pass (100);
  post_step (f, BACKGROUND, 'x', step_ask, NULL);
  assert_ran (f, "x0");
  prio_task_return_boolean (first, TRUE);
  g_clear_object (&first);
  assert_ran (f, "Bc");
  g_object_unref (group);
}

/* shouldYield: true if an expired task waits, unless the running task has expired, too. */
static void
step_expire_and_ask (Step *step)
{
  step_ask (step);
  pass (1);
  for (guint i = 0; i < 16; i++)
    prio_scheduler_should_yield (step->f->scheduler);
  step_ask (step);
}

static void
test_should_yield_to_expired (Fixture *f, gconstpointer data)
{
  post_timed (f, BACKGROUND, 1, 'b');
  post_step (f, USER_BLOCKING, 'a', step_expire_and_ask, NULL);
  assert_ran (f, "a01B");

  post_timed_step (f, BACKGROUND, -1, 'a', step_ask);
  post_letter (f, USER_BLOCKING, 'b');
  assert_ran (f, "A0b");
}

static gpointer
post_elsewhere (gpointer data)
{
  Fixture *f = data;
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);

  post_letter (f, USER_BLOCKING, 'x');
  post_timed (f, BACKGROUND, 100, 'b');
  post_timed_full (f, &(PrioTaskOptions) { .signal = signal_of (controller), .timeout = 99 }, 'a');
  g_object_unref (controller);
  return NULL;
}

static void
test_other_thread (Fixture *f, gconstpointer data)
{
  g_thread_join (g_thread_new ("poster", post_elsewhere, f));
  pass (100);
  assert_ran (f, "ABx");
}

static void
run_ids (guint id, gpointer data)
{
  Fixture *f = data;

  for (; id != 0; id = prio_runner_next ())
    g_string_append_c (f->log, (gchar) (prio_scheduler_did_timeout (f->scheduler) ? g_ascii_toupper ((gchar) id) : (gchar) id));
}

/* Tasks with numbers. */
static void
test_runner (Fixture *f, gconstpointer data)
{
  PrioRunner *runner = prio_runner_new (f->scheduler, run_ids, f, NULL);
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);

  prio_runner_post (runner, 'x', USER_BLOCKING);
  prio_runner_post_full (runner, 'c', BACKGROUND, NULL, 0, 100, FALSE);
  prio_runner_post_full (runner, 'b', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 50, 49, FALSE);
  prio_runner_post_full (runner, 'a', BACKGROUND, NULL, 0, -1, FALSE);
  pass (100);
  assert_ran (f, "ABCx");

  /* Continuations of tasks that only the binding knows. */
  prio_runner_post (runner, 'y', USER_BLOCKING);
  prio_runner_yield_full (runner, 'c', BACKGROUND, NULL, 0, frozen_time, FALSE);
  prio_runner_yield_full (runner, 'b', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 10, frozen_time - 1,
                          FALSE);
  prio_runner_yield_full (runner, 'z', BACKGROUND, NULL, 0, frozen_time + 100 * MS, FALSE);
  prio_runner_post (runner, 'w', BACKGROUND);
  pass (99);
  assert_ran (f, "BCyzw");
  prio_task_controller_abort (controller, NULL);
  g_assert_cmpint (prio_runner_yield_full (runner, 'a', BACKGROUND, cancellable_of (controller), 0, 0, FALSE), ==,
                   PRIO_POST_RESULT_REJECTED);
  g_object_unref (controller);
  prio_runner_unref (runner);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add ("/react/" path, Fixture, NULL, frozen_set_up, func, fixture_tear_down)
  add ("scheduleCallback: options.timeout", test_timeout);
  add ("a timeout that has passed before the clock began", test_timeout_before_the_clock);
  add ("scheduleCallback: options.delay, expirationTime = startTime + timeout", test_delay_and_timeout);
  add ("scheduleCallback: sortIndex", test_order_of_expired);
  add ("scheduleCallback: sortIndex, several schedulers", test_order_over_schedulers);
  add ("workLoop: an expired task is next", test_expires_in_work_loop);
  add ("workLoop: continuationCallback", test_continuation_keeps_expiry);
  add ("workLoop: didUserCallbackTimeout after a yield", test_yield_keeps_expiry);
  add ("workLoop: didUserCallbackTimeout in a nested loop", test_nested_loop_has_its_own_answer);
  add ("workLoop: isSchedulerPaused", test_paused_scheduler_stays_paused);
  add ("expires while the priority changes", test_expires_with_changing_priority);
  add ("aborted with a timeout", test_aborted_while_timed);
  add ("the context goes", test_context_goes);
  add ("a group with a limit", test_group_with_a_limit);
  add ("shouldYield: an expired task", test_should_yield_to_expired);
  add ("from another thread", test_other_thread);
  add ("a runner's tasks", test_runner);
  return g_test_run ();
}
