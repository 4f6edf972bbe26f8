/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-reset.c: a plain cancellable that is cancelled, reset and used again */

#include <prio-sched-bindings.h>
#include "helpers.h"

typedef struct
{
  Fixture *f;
  GCancellable *plain;
  PrioRunner *runner;
  PrioSchedulingState *state;
  gboolean cancels_again;
} Run;

static void
went_on (GObject *source, GAsyncResult *result, gpointer data)
{
  Fixture *f = data;

  g_string_append_c (f->log, prio_scheduler_yield_finish (f->scheduler, result, NULL) ? 'y' : '-');
}

/* Queued tasks of the signal are dropped, and wait for their release. */
static void
post_others (Run *run)
{
  for (guint i = 0; i < 300; i++)
    post_with_signal (run->f, PRIO_TASK_PRIORITY_UNSET, run->plain, 'x', NULL, NULL);
}

static void
yield_after_reset (Step *step)
{
  Run *run = step->data;

  g_cancellable_cancel (run->plain);
  g_cancellable_reset (run->plain);
  prio_scheduler_yield_async (run->f->scheduler, NULL, went_on, run->f);
  if (run->cancels_again)
    g_cancellable_cancel (run->plain);
}

/* A yield continues, because its signal is not cancelled any more. */
static void
test_yield_goes_on (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  Run run = { .f = f, .plain = plain };

  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, plain, 'a', yield_after_reset, &run);
  post_others (&run);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ay");
}

static void
test_second_cancel_is_heard (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  Run run = { .f = f, .plain = plain, .cancels_again = TRUE };

  for (guint others = 0; others < 2; others++)
    {
      post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, plain, 'a', yield_after_reset, &run);
      if (others)
        post_others (&run);
      fixture_run (f);
      g_cancellable_reset (plain);
    }
  g_assert_cmpstr (f->log->str, ==, "a-a-");
}

/* While the signal is cancelled, continuations that inherit it are rejected. */
static void
yield_before_reset (Step *step)
{
  Run *run = step->data;

  g_cancellable_cancel (run->plain);
  prio_scheduler_yield_async (run->f->scheduler, NULL, went_on, run->f);
  g_cancellable_reset (run->plain);
}

static void
test_yield_before_the_reset_is_rejected (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  Run run = { .f = f, .plain = plain };

  post_with_signal (f, USER_VISIBLE, plain, 'a', yield_before_reset, &run);
  post_others (&run);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a-");
}

static void
capture (Step *step)
{
  ((Run *) step->data)->state = prio_scheduling_state_ref_current ();
}

static void
yield_in_state (gpointer data)
{
  Run *run = data;

  prio_scheduler_yield_async (run->f->scheduler, NULL, went_on, run->f);
}

/* A state that was captured before keeps its signal, which may be cancelled or reset. */
static void
test_captured_state (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  Run run = { .f = f, .plain = plain };

  post_with_signal (f, BACKGROUND, plain, 'a', capture, &run);
  fixture_run (f);
  g_cancellable_cancel (plain);
  prio_scheduling_state_run (run.state, yield_in_state, &run);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a-");

  g_cancellable_reset (plain);
  prio_scheduling_state_run (run.state, yield_in_state, &run);
  post_letter (f, BACKGROUND, '0');
  post_letter (f, USER_VISIBLE, '1');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a-1y0");

  prio_scheduling_state_run (run.state, yield_in_state, &run);
  g_cancellable_cancel (plain);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a-1y0-");
  prio_scheduling_state_unref (run.state);
}

static void
run_id (guint id, gpointer data)
{
  Run *run = data;

  for (; id != 0; id = prio_runner_next ())
    {
      g_string_append_c (run->f->log, (gchar) id);
      if (id != 'a')
        continue;

      g_cancellable_cancel (run->plain);
      g_assert_cmpint (prio_runner_yield (run->runner, 'z'), ==, PRIO_POST_RESULT_REJECTED);
      g_cancellable_reset (run->plain);
      g_assert_cmpint (prio_runner_yield (run->runner, 'y'), ==, PRIO_POST_RESULT_INSIDE);
      if (run->cancels_again)
        g_cancellable_cancel (run->plain);
    }
}

static void
test_runner (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  Run run = { .f = f, .plain = plain };

  run.runner = prio_runner_new (f->scheduler, run_id, &run, NULL);
  for (guint i = 0; i < 2; i++)
    {
      run.cancels_again = i == 1;
      prio_runner_post_full (run.runner, 'a', USER_VISIBLE, plain, 0, 0, FALSE);
      post_others (&run);
      post_letter (f, USER_VISIBLE, '0');
      fixture_run (f);
    }
  g_assert_cmpstr (f->log->str, ==, "ay0a0");
  prio_runner_unref (run.runner);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/reset/yield-goes-on", test_yield_goes_on);
  add_test ("/reset/second-cancel-is-heard", test_second_cancel_is_heard);
  add_test ("/reset/yield-before-the-reset-is-rejected", test_yield_before_the_reset_is_rejected);
  add_test ("/reset/captured-state", test_captured_state);
  add_test ("/reset/runner", test_runner);

  return g_test_run ();
}
