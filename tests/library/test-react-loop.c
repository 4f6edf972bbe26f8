/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-react-loop.c: the steps of React's Scheduler, one after another, in frozen time
 *
 * React keeps delayed tasks in `timerQueue`, and queued ones in `taskQueue`; the host is the main loop.
 */

#include <prio-sched-bindings.h>
#include "frozen-fixture.h"

static gint last_timeout;

static gint
watch_poll (GPollFD *fds, guint n_fds, gint timeout)
{
  last_timeout = timeout;
  return g_poll (fds, n_fds, 0);
}

/* Returns how long the main loop would sleep without events, ms; -1 for ever. */
static gint
sleeps (Fixture *f)
{
  g_main_context_set_poll_func (f->context, watch_poll);
  g_main_context_iteration (f->context, TRUE);
  g_main_context_set_poll_func (f->context, NULL);
  return last_timeout;
}

static void
post_delayed (Fixture *f, PrioTaskPriority priority, guint delay, gint timeout, char letter)
{
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = priority, .delay = delay, .timeout = timeout }, step_run,
                            step_new (f, letter, NULL, NULL), step_free);
}

static PrioTask *
post_task (Fixture *f, guint delay, char letter)
{
  return prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .delay = delay }, step_run_task,
                                   step_new (f, letter, NULL, NULL), step_free);
}

/* One message runs all queued tasks. */
static void
test_request_host_callback (Fixture *f, gconstpointer data)
{
  g_assert_cmpint (sleeps (f), ==, -1);
  for (char letter = 'a'; letter < 'f'; letter++)
    post_letter (f, USER_BLOCKING, letter);
  while (f->log->len == 0)
    g_main_context_iteration (f->context, FALSE);
  g_assert_cmpstr (f->log->str, ==, "abcde");
  fixture_run (f);
  g_assert_cmpint (sleeps (f), ==, -1);
}

static gboolean
log_host (gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, 'h');
  return G_SOURCE_REMOVE;
}

static void
step_take (Step *step)
{
  pass (GPOINTER_TO_INT (step->data));
}

/* hasMoreWork: the host has its turn, here after a long task, and then the work continues. */
static void
test_has_more_work (Fixture *f, gconstpointer data)
{
  attach_source (f->context, G_PRIORITY_DEFAULT, log_host, f);
  for (char letter = 'a'; letter < 'e'; letter++)
    post_step (f, USER_BLOCKING, letter, step_take, GINT_TO_POINTER (3));
  assert_ran (f, "ahbcd");
}

static void
fail (PrioTask *task, gpointer data)
{
  step_run (data);
  prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_FAILED, "An error");
}

/* An error belongs to its task, and the next task runs. */
static void
test_error (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) failed = prio_scheduler_post_task (f->scheduler, NULL, fail, step_new (f, 'a', NULL, NULL), step_free);

  post_letter (f, USER_VISIBLE, 'b');
  assert_ran (f, "ab");
  g_assert_true (g_error_matches (prio_task_get_error (failed), G_IO_ERROR, G_IO_ERROR_FAILED));
}

/* isHostTimeoutScheduled: the earliest delayed task determines how long the host sleeps. */
static void
test_request_host_timeout (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) early = NULL;

  post_delayed (f, USER_VISIBLE, 50, 0, 'c');
  g_assert_cmpint (sleeps (f), ==, 50);
  post_delayed (f, USER_VISIBLE, 80, 0, 'd');
  g_assert_cmpint (sleeps (f), ==, 50);
  early = post_task (f, 20, 'b');
  g_assert_cmpint (sleeps (f), ==, 20);
  pass (5);
  g_assert_cmpint (sleeps (f), ==, 15);
  prio_task_cancel (early);

  /* cancelHostTimeout: queued tasks do not wait for it. */
  post_letter (f, USER_VISIBLE, 'a');
  assert_ran (f, "a");
  pass (15);
  assert_ran (f, "");
  /* workLoop: firstTimer. */
  g_assert_cmpint (sleeps (f), ==, 30);
  pass (30);
  assert_ran (f, "c");
  g_assert_cmpint (sleeps (f), ==, 30);
  pass (30);
  assert_ran (f, "d");
  g_assert_cmpint (sleeps (f), ==, -1);
}

/* Cancelled, fired, and remaining timers. */
static void
test_advance_timers (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) cancelled = post_task (f, 10, 'x');

  post_delayed (f, USER_VISIBLE, 20, 0, 'c');
  post_delayed (f, USER_VISIBLE, 11, 0, 'd');
  post_delayed (f, BACKGROUND, 10, 0, 'b');
  post_delayed (f, USER_VISIBLE, 10, 0, 'a');
  prio_task_cancel (cancelled);
  pass (9);
  assert_ran (f, "");
  pass (1);
  assert_ran (f, "ab");
  pass (1);
  assert_ran (f, "d");
  pass (9);
  assert_ran (f, "c");
}

/* After each task: a long task is followed by a task that has become due, if its place is earlier. */
static void
test_advance_timers_in_work_loop (Fixture *f, gconstpointer data)
{
  post_delayed (f, USER_BLOCKING, 10, 0, 'b');
  post_delayed (f, BACKGROUND, 10, 0, 'd');
  post_delayed (f, BACKGROUND, 5, 4, 'e');
  post_step (f, USER_VISIBLE, 'a', step_take, GINT_TO_POINTER (10));
  post_letter (f, USER_VISIBLE, 'c');
  assert_ran (f, "aebcd");
}

/* A task from the timer takes its place among queued tasks; if there are none, the next timer is set. */
static void
test_handle_timeout (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) cancelled = post_task (f, 10, 'x');

  post_delayed (f, BACKGROUND, 10, 0, 'c');
  pass (10);
  post_letter (f, USER_BLOCKING, 'a');
  post_letter (f, USER_VISIBLE, 'b');
  prio_task_cancel (cancelled);
  post_delayed (f, BACKGROUND, 20, 0, 'd');
  assert_ran (f, "abc");
  g_assert_cmpint (sleeps (f), ==, 20);
  pass (20);
  assert_ran (f, "d");
}

/* callback === null: cancelled tasks are skipped. */
static void
test_cancelled (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) a = post_task (f, 0, 'a'), b = post_task (f, 0, 'b'), c = post_task (f, 0, 'c');

  prio_task_cancel (a);
  prio_task_cancel (c);
  assert_ran (f, "b");
  g_assert_cmpint (prio_task_get_state (a), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpint (prio_task_get_state (b), ==, PRIO_TASK_STATE_FULFILLED);
}

static void
step_post (Step *step)
{
  post_letter (step->f, USER_BLOCKING, 'b');
  post_letter (step->f, BACKGROUND, 'd');
  g_string_append_c (step->f->log, '.');
}

/* peek (taskQueue) is called after each task: a task's posts are ordered by priority, and start after that task
 * (isPerformingWork). */
static void
test_peek_anew (Fixture *f, gconstpointer data)
{
  post_step (f, USER_VISIBLE, 'a', step_post, NULL);
  post_letter (f, USER_VISIBLE, 'c');
  assert_ran (f, "a.bcd");
}

static void
step_should_yield (Step *step)
{
  for (guint i = 0; i < 7; i++)
    {
      g_string_append_c (step->f->log, prio_scheduler_should_yield (step->f->scheduler) ? '1' : '0');
      pass (1);
    }
}

/* Posts a task after five milliseconds or more. */
static void
step_post_late (Step *step)
{
  PrioTaskOptions late = { .priority = BACKGROUND, .timeout = 10 };

  prio_scheduler_post_full (step->f->scheduler, &late, step_run, step_new (step->f, 'l', NULL, NULL), step_free);
  pass (9);
  post_letter (step->f, USER_VISIBLE, 'v');
  pass (1);
  post_letter (step->f, USER_BLOCKING, 'b');
}

/* A task whose timeout passes during a batch is the next task of the batch, before later posts, whatever has run
 * before. */
static void
test_late_in_a_batch (Fixture *f, gconstpointer data)
{
  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    {
      for (guint i = 0; i < 100; i++)
        post_letter (f, priority, '.');
      post_step (f, priority, 'a', step_post_late, NULL);
      fixture_run (f);
      g_assert_cmpstr (f->log->str + 100, ==, "albv");
      g_string_truncate (f->log, 0);
    }
}

/* A program that iterates its main context between other work may call should_yield () there, too. */
static void
test_should_yield_between_iterations (Fixture *f, gconstpointer data)
{
  pass (100);
  g_assert_false (prio_scheduler_should_yield (f->scheduler));
  for (guint i = 0; i < 3; i++)
    {
      fixture_run (f);
      g_assert_false (prio_scheduler_should_yield (f->scheduler));
      pass (4);
      g_assert_false (prio_scheduler_should_yield (f->scheduler));
      pass (1);
      g_assert_true (prio_scheduler_should_yield (f->scheduler));
      g_assert_true (prio_scheduler_should_yield (f->scheduler));
    }

  fixture_run (f);
  post_letter (f, USER_VISIBLE, 'b');
  g_assert_false (prio_scheduler_should_yield (f->scheduler));
  post_letter (f, USER_BLOCKING, 'a');
  g_assert_true (prio_scheduler_should_yield (f->scheduler));
  assert_ran (f, "ab");
}

static gpointer
ask_elsewhere (gpointer scheduler)
{
  return GINT_TO_POINTER (prio_scheduler_should_yield (scheduler));
}

/* Only the thread that has iterated the context last can yield to it. */
static void
test_should_yield_elsewhere (Fixture *f, gconstpointer data)
{
  fixture_run (f);
  pass (100);
  g_assert_false (GPOINTER_TO_INT (g_thread_join (g_thread_new ("another", ask_elsewhere, f->scheduler))));
  g_assert_true (prio_scheduler_should_yield (f->scheduler));
}

static void
test_should_yield_to_host (Fixture *f, gconstpointer data)
{
  post_step (f, USER_VISIBLE, 'a', step_should_yield, NULL);
  assert_ran (f, "a0000011");
}

static gboolean
work_until_it_is_time (gpointer data)
{
  Step *step = data;
  gint *left = step->data;

  do
    {
      g_string_append_c (step->f->log, step->letter);
      pass (2);
    }
  while (--*left > 0 && !prio_scheduler_should_yield (step->f->scheduler));
  return *left > 0;
}

/* The complete cycle: slices, the host's turns, and more urgent tasks first. */
static void
test_slices (Fixture *f, gconstpointer data)
{
  gint left = 6;

  attach_source (f->context, G_PRIORITY_DEFAULT, log_host, f);
  prio_scheduler_post (f->scheduler, USER_BLOCKING, work_until_it_is_time, step_new (f, 'a', NULL, &left), step_free);
  post_letter (f, USER_BLOCKING, 'b');
  post_letter (f, USER_VISIBLE, 'c');
  assert_ran (f, "aaahaaabc");
}

/* pauseExecution: no task runs, and due tasks wait too; continueExecution: they run in their order. */
static void
test_pause_and_continue (Fixture *f, gconstpointer data)
{
  post_letter (f, USER_VISIBLE, 'b');
  post_delayed (f, USER_BLOCKING, 10, 0, 'a');
  prio_scheduler_pause (f->scheduler);
  pass (10);
  assert_ran (f, "");
  prio_scheduler_resume (f->scheduler);
  assert_ran (f, "ab");
}

static void
ask (Fixture *f)
{
  g_string_append_c (f->log, prio_scheduler_should_yield (f->scheduler) ? '1' : '0');
}

static void
step_end_slice (Step *step)
{
  ask (step->f);
  prio_scheduler_end_slice (step->f->scheduler);
  ask (step->f);
}

static void
step_ask (Step *step)
{
  ask (step->f);
}

/* needsPaint: other sources have their turn before the next task, which resets it. */
static void
test_end_slice (Fixture *f, gconstpointer data)
{
  prio_scheduler_end_slice (f->scheduler);
  attach_source (f->context, G_PRIORITY_DEFAULT, log_host, f);
  post_step (f, USER_BLOCKING, 'a', step_end_slice, NULL);
  for (guint i = 0; i < 2; i++)
    post_step (f, USER_BLOCKING, 'b', step_ask, NULL);
  assert_ran (f, "a01hb0b0");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add ("/react/" path, Fixture, NULL, frozen_set_up, func, fixture_tear_down)
  add ("requestHostCallback: isMessageLoopRunning", test_request_host_callback);
  add ("performWorkUntilDeadline: hasMoreWork", test_has_more_work);
  add ("performWorkUntilDeadline: an error", test_error);
  add ("requestHostTimeout, cancelHostTimeout: isHostTimeoutScheduled", test_request_host_timeout);
  add ("advanceTimers", test_advance_timers);
  add ("advanceTimers: in workLoop", test_advance_timers_in_work_loop);
  add ("handleTimeout", test_handle_timeout);
  add ("workLoop: callback is null", test_cancelled);
  add ("workLoop: peek", test_peek_anew);
  add ("workLoop: an expired task", test_late_in_a_batch);
  add ("shouldYieldToHost", test_should_yield_to_host);
  add ("shouldYield: between iterations", test_should_yield_between_iterations);
  add ("shouldYield: in another thread", test_should_yield_elsewhere);
  add ("workLoop: time slices", test_slices);
  add ("requestPaint: needsPaint", test_end_slice);
  add ("pauseExecution, continueExecution", test_pause_and_continue);
  return g_test_run ();
}
