/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-statistics.c: counts and durations of a scheduler's tasks */

#include <prio-sched-bindings.h>
#include <prio-sched-feed.h>
#include "frozen-time.h"

#include "helpers.h"
#include "statistics.h"

static void
begin (Fixture *f)
{
  prio_scheduler_start_statistics (f->scheduler);
}

static PrioTaskTimes
waiting (Fixture *f, PrioTaskPriority priority)
{
  return statistics_of (f->scheduler, priority).waiting;
}

static PrioTaskTimes
running (Fixture *f, PrioTaskPriority priority)
{
  return statistics_of (f->scheduler, priority).running;
}

/* Expects these numbers of @priority. */
static void
expect (Fixture *f, PrioTaskPriority priority, guint64 run, guint64 continued, guint64 aborted, guint64 waits)
{
  PrioTaskStatistics statistics = statistics_of (f->scheduler, priority);

  g_assert_cmpuint (statistics.n_run, ==, run);
  g_assert_cmpuint (statistics.n_continued, ==, continued);
  g_assert_cmpuint (statistics.n_aborted, ==, aborted);
  g_assert_cmpuint (statistics.n_queued + statistics.n_delayed, ==, waits);
}

static gboolean
nothing (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static gboolean
yield_some (gpointer data)
{
  guint *left = data;

  return *left > 0 ? (*left)--, G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static void
do_nothing (PrioTask *task, gpointer data)
{
}

static void
run_ids (guint id, gpointer data)
{
  PrioRunner **runner = data;

  for (; id != 0; id = prio_runner_next ())
    {
      if (id == 7)
        prio_runner_yield (*runner, 8);
    }
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, NULL);
}

static void
yield_once (PrioTask *task, gpointer data)
{
  prio_scheduler_yield_async (data, NULL, yielded, NULL);
}

static gpointer
post_elsewhere (gpointer data)
{
  Fixture *f = data;

  for (guint i = 0; i < 10; i++)
    prio_scheduler_post (f->scheduler, BACKGROUND, nothing, NULL, NULL);
  return NULL;
}

static void
test_each_kind (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, USER_BLOCKING);
  PrioTaskOptions follows = { .signal = prio_task_controller_get_signal (controller) };
  PrioTaskOptions timed = { .priority = BACKGROUND, .timeout = -1 };
  PrioTaskOptions late = { .priority = USER_BLOCKING, .delay = 1000000 };
  PrioRunner *runner;
  guint left = 3;

  expect (f, USER_VISIBLE, 0, 0, 0, 0);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, nothing, NULL, NULL);
  fixture_run (f);
  expect (f, USER_VISIBLE, 0, 0, 0, 0);

  begin (f);
  for (guint i = 0; i < 100; i++)
    prio_scheduler_post (f->scheduler, USER_VISIBLE, nothing, NULL, NULL);
  prio_scheduler_post (f->scheduler, BACKGROUND, yield_some, &left, NULL);
  g_assert_true (prio_scheduler_post_full (f->scheduler, &follows, nothing, NULL, NULL));
  g_object_unref (prio_scheduler_post_task (f->scheduler, &timed, do_nothing, NULL, NULL));
  g_object_unref (prio_scheduler_post_task (f->scheduler, &late, do_nothing, NULL, NULL));
  g_object_unref (prio_scheduler_post_task (f->scheduler, NULL, yield_once, f->scheduler, NULL));
  for (guint i = 0; i < 5; i++)
    g_object_unref (prio_task_group_post_task (group, NULL, do_nothing, NULL, NULL));
  expect (f, USER_VISIBLE, 0, 0, 0, 102);
  expect (f, BACKGROUND, 0, 0, 0, 2);
  expect (f, USER_BLOCKING, 0, 0, 0, 6);
  prio_task_controller_set_priority (controller, BACKGROUND, NULL);
  expect (f, BACKGROUND, 0, 0, 0, 3);

  fixture_run (f);
  expect (f, USER_VISIBLE, 102, 1, 0, 0);
  expect (f, BACKGROUND, 6, 3, 0, 0);
  expect (f, USER_BLOCKING, 5, 0, 0, 1);

  begin (f);
  expect (f, USER_BLOCKING, 0, 0, 0, 1);
  runner = prio_runner_new (f->scheduler, run_ids, &runner, NULL);
  for (guint i = 5; i < 8; i++)
    prio_runner_post (runner, i, USER_VISIBLE);
  prio_runner_post_full (runner, 9, BACKGROUND, G_CANCELLABLE (follows.signal), 0, 0, FALSE);
  g_thread_join (g_thread_new ("another", post_elsewhere, f));
  fixture_run (f);
  prio_runner_unref (runner);
  expect (f, USER_VISIBLE, 4, 1, 0, 0);
  expect (f, BACKGROUND, 11, 0, 0, 0);

  prio_scheduler_stop_statistics (f->scheduler);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, nothing, NULL, NULL);
  expect (f, USER_VISIBLE, 4, 1, 0, 1);
  fixture_run (f);
  expect (f, USER_VISIBLE, 4, 1, 0, 0);
  begin (f);
  expect (f, USER_VISIBLE, 0, 0, 0, 0);
}

/* An abort counts at once, and a task that was running has run. */
static void
test_aborts (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };
  PrioTaskOptions later = { .signal = options.signal, .delay = 1000000, .priority = USER_BLOCKING };
  g_autoptr (PrioTask) task = NULL;

  begin (f);
  for (guint i = 0; i < 200; i++)
    prio_scheduler_post_full (f->scheduler, &options, nothing, NULL, NULL);
  g_object_unref (prio_scheduler_post_task (f->scheduler, &later, do_nothing, NULL, NULL));
  task = prio_scheduler_post_task (f->scheduler, NULL, do_nothing, NULL, NULL);
  expect (f, BACKGROUND, 0, 0, 0, 200);
  prio_task_cancel (task);
  expect (f, USER_VISIBLE, 0, 0, 1, 0);
  /* After g_cancellable_cancel () the other tasks are counted in the next dispatch. */
  g_cancellable_cancel (G_CANCELLABLE (options.signal));
  expect (f, BACKGROUND, 0, 0, 200, 0);
  expect (f, USER_BLOCKING, 0, 0, 1, 0);
  fixture_run (f);
  expect (f, BACKGROUND, 0, 0, 200, 0);
  expect (f, USER_BLOCKING, 0, 0, 1, 0);
  g_assert_false (prio_scheduler_post_full (f->scheduler, &options, nothing, NULL, NULL));
  expect (f, BACKGROUND, 0, 0, 200, 0);
}

static void
post_and_cancel_by_hand (Fixture *f, PrioTaskController *controller)
{
  PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };

  prio_scheduler_post_full (f->scheduler, &options, nothing, NULL, NULL);
  g_cancellable_cancel (G_CANCELLABLE (options.signal));
}

/* Tasks that the next dispatch releases count as ended before it. */
static void
test_by_hand_before_it_begins (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);

  prio_scheduler_start_statistics (other);
  post_and_cancel_by_hand (f, controller);
  begin (f);
  expect (f, BACKGROUND, 0, 0, 0, 0);
  fixture_run (f);
  expect (f, BACKGROUND, 0, 0, 0, 0);
}

static void
test_by_hand_before_it_ends (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  begin (f);
  post_and_cancel_by_hand (f, controller);
  prio_scheduler_stop_statistics (f->scheduler);
  expect (f, BACKGROUND, 0, 0, 1, 0);
  fixture_run (f);
  expect (f, BACKGROUND, 0, 0, 1, 0);
}

static void
test_by_hand_before_it_begins_anew (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  begin (f);
  post_and_cancel_by_hand (f, controller);
  begin (f);
  expect (f, BACKGROUND, 0, 0, 0, 0);
  fixture_run (f);
  expect (f, BACKGROUND, 0, 0, 0, 0);
}

static void
test_by_hand_before_a_change (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  begin (f);
  post_and_cancel_by_hand (f, controller);
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  expect (f, BACKGROUND, 0, 0, 1, 0);
  fixture_run (f);
  expect (f, BACKGROUND, 0, 0, 1, 0);
  expect (f, USER_BLOCKING, 0, 0, 0, 0);
}

/* The statistics continue when a group ends. */
static void
test_a_group_goes (Fixture *f, gconstpointer data)
{
  PrioTaskGroup *group;

  begin (f);
  group = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  g_object_unref (prio_task_group_post_task (group, NULL, do_nothing, NULL, NULL));
  fixture_run (f);
  expect (f, USER_VISIBLE, 1, 0, 0, 0);
  g_object_unref (group);
  fixture_run (f);
  g_assert_true (is_collecting (f->scheduler));
  prio_scheduler_post (f->scheduler, USER_VISIBLE, nothing, NULL, NULL);
  fixture_run (f);
  expect (f, USER_VISIBLE, 2, 0, 0, 0);
}

static void
abort_itself (PrioTask *task, gpointer data)
{
  prio_task_controller_abort (data, NULL);
}

static void
test_aborted_while_it_runs (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };

  begin (f);
  g_object_unref (prio_scheduler_post_task (f->scheduler, &options, abort_itself, controller, NULL));
  g_object_unref (prio_scheduler_post_task (f->scheduler, &options, do_nothing, NULL, NULL));
  fixture_run (f);
  expect (f, BACKGROUND, 1, 0, 1, 0);
}

/* The ways in which a task uses the statistics. */
typedef struct
{
  Fixture *f;
  guint n_before; /* tasks that have ended when this one runs */
  enum { ASK, BEGIN, END, NEST } what;
} Act;

static gboolean
act (gpointer data)
{
  Act *self = data;

  switch (self->what)
    {
    case ASK: expect (self->f, USER_VISIBLE, self->n_before, 0, 0, 9 - self->n_before); break;
    case BEGIN: begin (self->f); break;
    case END: prio_scheduler_stop_statistics (self->f->scheduler); break;
    case NEST: fixture_run (self->f); break;
    }
  return G_SOURCE_REMOVE;
}

static void
post_among_nine (Fixture *f, Act *self)
{
  for (guint i = 0; i < 10; i++)
    prio_scheduler_post (f->scheduler, USER_VISIBLE, i == 5 ? act : nothing, self, NULL);
}

/* The numbers are exact within a task, too, in whatever way the task uses them. */
static void
test_within_a_task (Fixture *f, gconstpointer data)
{
  Act self = { f, 5, BEGIN };

  frozen_time = 1000000;
  post_among_nine (f, &self);
  fixture_run (f);
  expect (f, USER_VISIBLE, 4, 0, 0, 0);
  for (guint i = 0; i < 3; i++)
    {
      begin (f);
      self.what = ASK;
      post_among_nine (f, &self);
      fixture_run (f);
      expect (f, USER_VISIBLE, 10, 0, 0, 0);
    }
  self.what = BEGIN;
  post_among_nine (f, &self);
  fixture_run (f);
  expect (f, USER_VISIBLE, 4, 0, 0, 0);
  self.what = NEST;
  post_among_nine (f, &self);
  fixture_run (f);
  expect (f, USER_VISIBLE, 14, 0, 0, 0);
  self.what = END;
  post_among_nine (f, &self);
  fixture_run (f);
  expect (f, USER_VISIBLE, 19, 0, 0, 0);
  frozen_time = 0;
}

static gpointer
end_elsewhere (gpointer data)
{
  prio_scheduler_stop_statistics (((Fixture *) data)->scheduler);
  return NULL;
}

static gboolean
begin_anew (gpointer data)
{
  g_thread_join (g_thread_new ("another", end_elsewhere, data));
  begin (data);
  return G_SOURCE_REMOVE;
}

/* Another thread stops the statistics, and they start again before the loop has noticed: they still start at 0. */
static void
test_ended_elsewhere_and_begun (Fixture *f, gconstpointer data)
{
  begin (f);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, nothing, NULL, NULL);
  fixture_run (f);
  expect (f, USER_VISIBLE, 1, 0, 0, 0);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, begin_anew, f, NULL);
  fixture_run (f);
  expect (f, USER_VISIBLE, 0, 0, 0, 0);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, nothing, NULL, NULL);
  fixture_run (f);
  expect (f, USER_VISIBLE, 1, 0, 0, 0);
  g_assert_true (is_collecting (f->scheduler));
}

static gboolean
take_a_while (gpointer data)
{
  frozen_time += GPOINTER_TO_INT (data);
  return G_SOURCE_REMOVE;
}

static void
post_long (Fixture *f, PrioTaskPriority priority, gint time)
{
  prio_scheduler_post (f->scheduler, priority, take_a_while, GINT_TO_POINTER (time), NULL);
}

/* Long tasks are timed individually, to the microsecond. */
static void
test_times (Fixture *f, gconstpointer data)
{
  PrioTaskTimes runs, waits, none;

  frozen_time = 1000000;
  prio_scheduler_set_time_slice (f->scheduler, 0);
  begin (f);
  for (guint i = 1; i <= 100; i++)
    post_long (f, USER_VISIBLE, (gint) i * 100);
  post_long (f, BACKGROUND, 1);
  frozen_time += 50000;
  fixture_run (f);

  expect (f, USER_VISIBLE, 100, 0, 0, 0);
  runs = running (f, USER_VISIBLE);
  g_assert_cmpfloat (runs.total, ==, 505);
  g_assert_cmpfloat (runs.longest, ==, 10);
  g_assert_cmpfloat (runs.median, <=, 5);
  g_assert_cmpfloat (runs.median, >, 4);
  g_assert_cmpfloat (runs.percentile_99, <=, 9.9);
  g_assert_cmpfloat (runs.percentile_99, >, 8);
  waits = waiting (f, USER_VISIBLE);
  g_assert_cmpfloat (waits.longest, ==, 50 + 495);
  none = running (f, USER_BLOCKING);
  g_assert_true (none.total == 0 && none.longest == 0 && none.median == 0 && none.percentile_99 == 0);
  frozen_time = 0;
}

/* A delayed task's wait begins when the task is due, even while the main loop is held; earlier waits count from the
 * start. */
static void
test_waits_since (Fixture *f, gconstpointer data)
{
  frozen_time = 1000000;
  begin (f);
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.delay = 10), nothing, NULL, NULL);
  prio_scheduler_post (f->scheduler, BACKGROUND, nothing, NULL, NULL);
  frozen_time += 60000;
  begin (f);
  frozen_time += 5000;
  fixture_run (f);
  g_assert_cmpfloat (waiting (f, BACKGROUND).longest, ==, 5);
  g_assert_cmpfloat (waiting (f, USER_VISIBLE).longest, ==, 5);

  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.delay = 10), nothing, NULL, NULL);
  frozen_time += 60000;
  fixture_run (f);
  g_assert_cmpfloat (waiting (f, USER_VISIBLE).longest, ==, 50);
  frozen_time = 0;
}

static void
microtask_takes_a_while (gpointer data G_GNUC_UNUSED)
{
  frozen_time += 5000;
}

static void
queue_a_microtask (GObject *source, GAsyncResult *result, gpointer data)
{
  prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, NULL);
  prio_scheduler_queue_microtask (PRIO_SCHEDULER (source), microtask_takes_a_while, NULL, NULL);
}

/* Microtasks after a yield count for the run that follows it, like microtasks of a task's function. */
static void
test_microtasks_after_a_yield (Fixture *f, gconstpointer data)
{
  frozen_time = 1000000;
  begin (f);
  prio_scheduler_yield_async (f->scheduler, NULL, queue_a_microtask, NULL);
  fixture_run (f);

  g_assert_cmpuint (statistics_of (f->scheduler, USER_VISIBLE).n_run, ==, 1);
  g_assert_cmpfloat (running (f, USER_VISIBLE).total, ==, 5);
  frozen_time = 0;
}

/* Half of the times are not longer than the median: of four, the second is the median; of five, the third. */
static void
test_percentiles_of_few (Fixture *f, gconstpointer data)
{
  frozen_time = 1000000;
  prio_scheduler_set_time_slice (f->scheduler, 0);
  begin (f);
  for (guint i = 0; i < 4; i++)
    post_long (f, USER_VISIBLE, i < 2 ? 3000 : 100000);
  fixture_run (f);
  g_assert_cmpfloat (running (f, USER_VISIBLE).median, <=, 3);
  g_assert_cmpfloat (running (f, USER_VISIBLE).percentile_99, >, 80);

  post_long (f, USER_VISIBLE, 100000);
  fixture_run (f);
  g_assert_cmpfloat (running (f, USER_VISIBLE).median, >, 80);
  frozen_time = 0;
}

/* One long task among many short ones is the longest. */
static void
test_long_among_short (Fixture *f, gconstpointer data)
{
  PrioTaskTimes runs;

  frozen_time = 1000000;
  begin (f);
  for (guint i = 0; i < 2000; i++)
    post_long (f, USER_VISIBLE, i == 1500 ? 3000 : i % 10 == 0);
  fixture_run (f);
  expect (f, USER_VISIBLE, 2000, 0, 0, 0);
  runs = running (f, USER_VISIBLE);
  g_assert_cmpfloat_with_epsilon (runs.total, 3.199, 1e-9);
  g_assert_cmpfloat (runs.longest, ==, 3);
  g_assert_cmpfloat (runs.percentile_99, <, 0.02);
  frozen_time = 0;
}

/* Each task's wait begins when the task itself was queued. */
static void
test_waits (Fixture *f, gconstpointer data)
{
  PrioTaskTimes waits;

  frozen_time = 1000000;
  begin (f);
  prio_scheduler_pause (f->scheduler);
  for (guint i = 0; i < 4000; i++)
    {
      post_long (f, USER_VISIBLE, 0);
      frozen_time += 1000;
      g_main_context_iteration (f->context, FALSE);
    }
  prio_scheduler_resume (f->scheduler);
  fixture_run (f);
  expect (f, USER_VISIBLE, 4000, 0, 0, 0);
  waits = waiting (f, USER_VISIBLE);
  g_assert_cmpfloat (waits.longest, ==, 4000);
  g_assert_cmpfloat (waits.total, ==, 8002000);
  g_assert_cmpfloat (waits.median, <=, 2000);
  g_assert_cmpfloat (waits.median, >=, 1600);
  frozen_time = 0;
}

/* A random program: each event is counted once. */
typedef struct
{
  Fixture *f;
  GRand *random;
  guint64 n_posted, n_yielded;
  guint n_left;
} Program;

static void do_something (Program *program);

static void
check_sum (Program *program, guint n_running)
{
  guint64 sum = n_running, continued = 0;

  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    {
      PrioTaskStatistics statistics = statistics_of (program->f->scheduler, priority);

      continued += statistics.n_continued;
      sum += statistics.n_run + statistics.n_aborted + statistics.n_queued + statistics.n_delayed;
    }
  g_assert_cmpuint (sum, ==, program->n_posted + program->n_yielded);
  g_assert_cmpuint (continued, <=, program->n_yielded);
}

static void
do_within (Program *program)
{
  do_something (program);
  if (g_rand_int_range (program->random, 0, 3) == 0)
    check_sum (program, 1);
}

static gboolean
step (gpointer data)
{
  Program *program = data;

  do_within (program);
  if (g_rand_int_range (program->random, 0, 5) > 0)
    return G_SOURCE_REMOVE;
  program->n_yielded++;
  return G_SOURCE_CONTINUE;
}

/* Makes a step.  A task that may be aborted while it runs does not yield. */
static gboolean
step_once (gpointer data)
{
  do_within (data);
  return G_SOURCE_REMOVE;
}

static void
step_task (PrioTask *task, gpointer data)
{
  do_within (data);
}

static void
do_something (Program *program)
{
  static PrioTaskController *controllers[4];
  guint which = (guint) g_rand_int_range (program->random, 0, 4);
  PrioTaskPriority priority = (PrioTaskPriority) (BACKGROUND + g_rand_int_range (program->random, 0, 3));
  PrioTaskOptions options = { .priority = g_rand_boolean (program->random) ? PRIO_TASK_PRIORITY_UNSET : priority };

  if (program->n_left == 0)
    {
      for (guint i = 0; i < 4; i++)
        g_clear_object (&controllers[i]);
      return;
    }
  program->n_left--;
  if (controllers[which] == NULL)
    controllers[which] = prio_task_controller_new (priority);
  options.signal = prio_task_controller_get_signal (controllers[which]);
  options.delay = g_rand_int_range (program->random, 0, 4) == 0;
  if (g_rand_int_range (program->random, 0, 6) == 0)
    options.timeout = -1;

  switch (g_rand_int_range (program->random, 0, 8))
    {
    case 0:
      prio_task_controller_abort (controllers[which], NULL);
      g_clear_object (&controllers[which]);
      break;
    case 1:
      prio_task_controller_set_priority (controllers[which], priority, NULL);
      break;
    case 2:
    case 3:
      prio_scheduler_post (program->f->scheduler, priority, step, program, NULL);
      program->n_posted++;
      break;
    case 4:
      program->n_posted += prio_scheduler_post_full (program->f->scheduler, &options, step_once, program, NULL);
      break;
    case 5:
      options.signal = NULL;
      program->n_posted += prio_scheduler_post_full (program->f->scheduler, &options, step, program, NULL);
      break;
    default:
      {
        g_autoptr (PrioTask) task = prio_scheduler_post_task (program->f->scheduler, &options, step_task, program, NULL);

        program->n_posted++;
        if (g_rand_int_range (program->random, 0, 5) == 0)
          prio_task_cancel (task);
        break;
      }
    }
}

static void
test_random_programs (Fixture *f, gconstpointer data)
{
  begin (f);
  for (guint32 seed = 0; seed < 60; seed++)
    {
      Program program = { f, g_rand_new_with_seed (seed), .n_left = 300 };

      frozen_time = 1000000;
      begin (f);
      prio_scheduler_set_time_slice (f->scheduler, seed % 3 == 0 ? 0 : -1);
      while (program.n_left > 0)
        {
          for (guint i = 0; i < 20; i++)
            do_something (&program);
          check_sum (&program, 0);
          frozen_time += 700;
          g_main_context_iteration (f->context, FALSE);
          check_sum (&program, 0);
        }
      do_something (&program);
      frozen_time += 100000;
      fixture_run (f);
      check_sum (&program, 0);
      g_rand_free (program.random);
    }
  frozen_time = 0;
}

static gpointer
ask_elsewhere (gpointer data)
{
  g_assert_false (is_collecting (((Fixture *) data)->scheduler));
  return NULL;
}

static gpointer
start_elsewhere (gpointer data)
{
  begin (data);
  return NULL;
}

/* Any thread may start and stop the statistics, and the thread that runs the context may read them. */
static void
test_threads (Fixture *f, gconstpointer data)
{
  g_assert_true (g_main_context_acquire (f->context));
  g_assert_false (is_collecting (f->scheduler));
  prio_scheduler_stop_statistics (f->scheduler);
  g_thread_join (g_thread_new ("another", start_elsewhere, f));
  g_assert_true (is_collecting (f->scheduler));
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*on the thread that runs*");
  g_thread_join (g_thread_new ("another", ask_elsewhere, f));
  g_test_assert_expected_messages ();
  g_thread_join (g_thread_new ("another", end_elsewhere, f));
  g_assert_false (is_collecting (f->scheduler));
  g_main_context_release (f->context);
}

/* Structures of a later version, and structures of a program that does not set their size, are handled. */
static void
test_sizes (Fixture *f, gconstpointer data)
{
  struct
  {
    PrioStatistics known;
    guint64 added;
  } later = { .known.size = sizeof later, .added = 5 };
  PrioStatistics unknown = { 0 };

  begin (f);
  prio_scheduler_post (f->scheduler, BACKGROUND, nothing, NULL, NULL);
  prio_scheduler_get_statistics (f->scheduler, &later.known);
  g_assert_cmpuint (later.known.size, ==, sizeof later);
  g_assert_cmpuint (later.known.background.n_queued, ==, 1);
  g_assert_cmpuint (later.added, ==, 0);
  prio_scheduler_get_statistics (f->scheduler, &unknown);
  g_assert_cmpuint (unknown.size, ==, sizeof unknown);
  g_assert_cmpuint (unknown.background.n_queued, ==, 1);
}

/* A message about a size contains names that a program knows. */
static void
test_wrong_size (Fixture *f, gconstpointer data)
{
  PrioStatistics statistics = { .size = 1 };

  if (!HAS_CHECKS)
    return;
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*statistics->size >= *");
  prio_scheduler_get_statistics (f->scheduler, &statistics);
  g_test_assert_expected_messages ();
  g_assert_cmpuint (statistics.size, ==, 1);
}

static PrioTask *
next_of_feed (PrioTaskGroup *group, gpointer data)
{
  guint *left = data;

  if (*left == 0)
    return NULL;
  --*left;
  /* The feed's own task runs only after this task, and asks again in a hidden task. */
  prio_scheduler_post (prio_scheduler_get_default (), USER_BLOCKING, nothing, NULL, NULL);
  return prio_task_group_post_task (group, NULL, do_nothing, NULL, NULL);
}

/* A feed asks for tasks in tasks that statistics do not count. */
static void
test_of_a_feed (Fixture *f, gconstpointer data)
{
  PrioScheduler *scheduler = prio_scheduler_get_default ();
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (scheduler, G_MAXUINT, USER_VISIBLE);
  guint left = 50;
  g_autoptr (PrioFeed) feed = NULL;

  prio_scheduler_start_statistics (scheduler);
  feed = prio_feed_new (group, next_of_feed, &left, NULL);
  g_assert_cmpuint (prio_scheduler_count_pending (scheduler), ==, 0);
  while (prio_task_get_state (prio_feed_get_task (feed)) == PRIO_TASK_STATE_PENDING)
    g_main_context_iteration (NULL, FALSE);
  g_assert_cmpuint (statistics_of (scheduler, USER_VISIBLE).n_run, ==, 50);
  g_assert_cmpuint (statistics_of (scheduler, USER_BLOCKING).n_run, ==, 50);
  prio_scheduler_stop_statistics (scheduler);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) g_test_add ("/scheduler/statistics/" name, Fixture, NULL, fixture_set_up, func, fixture_tear_down)
  ADD ("each-kind", test_each_kind);
  ADD ("aborts", test_aborts);
  ADD ("by-hand-before-it-begins", test_by_hand_before_it_begins);
  ADD ("by-hand-before-it-ends", test_by_hand_before_it_ends);
  ADD ("by-hand-before-it-begins-anew", test_by_hand_before_it_begins_anew);
  ADD ("by-hand-before-a-change", test_by_hand_before_a_change);
  ADD ("a-group-goes", test_a_group_goes);
  ADD ("aborted-while-it-runs", test_aborted_while_it_runs);
  ADD ("within-a-task", test_within_a_task);
  ADD ("ended-elsewhere-and-begun", test_ended_elsewhere_and_begun);
  ADD ("times", test_times);
  ADD ("waits-since", test_waits_since);
  ADD ("microtasks-after-a-yield", test_microtasks_after_a_yield);
  ADD ("percentiles-of-few", test_percentiles_of_few);
  ADD ("long-among-short", test_long_among_short);
  ADD ("waits", test_waits);
  ADD ("random-programs", test_random_programs);
  ADD ("threads", test_threads);
  ADD ("of-a-feed", test_of_a_feed);
  ADD ("sizes", test_sizes);
  ADD ("wrong-size", test_wrong_size);
  return g_test_run ();
}
