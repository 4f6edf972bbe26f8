/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-sleep.c: waits for a time, under a signal and a priority */

#include "clock-fixture.h"

/* A sleeping task and its outcome: its letter, or '!' if the wait was aborted. */
typedef struct
{
  Fixture *f;
  char letter;
  GError *error;
} Sleeper;

static void
woken (GObject *scheduler, GAsyncResult *result, gpointer data)
{
  Sleeper *sleeper = data;

  g_assert_false (prio_task_is_valid (result, scheduler, prio_scheduler_yield_async));
  if (prio_scheduler_sleep_finish (PRIO_SCHEDULER (scheduler), result, &sleeper->error))
    g_string_append_c (sleeper->f->log, sleeper->letter);
  else
    g_string_append_c (sleeper->f->log, '!');
}

static void
go_to_sleep (Sleeper *sleeper, guint64 delay, const PrioYieldOptions *options)
{
  prio_scheduler_sleep_async (sleeper->f->scheduler, delay, options, woken, sleeper);
}

static void
test_waits_for_so_long (Fixture *f, gconstpointer data)
{
  Sleeper a = { f, 'a', NULL }, b = { f, 'b', NULL };

  go_to_sleep (&b, 20, NULL);
  go_to_sleep (&a, 10, NULL);
  prio_testing_advance (9);
  g_assert_cmpstr (f->log->str, ==, "");
  prio_testing_advance (1);
  g_assert_cmpstr (f->log->str, ==, "a");
  prio_testing_advance (9);
  g_assert_cmpstr (f->log->str, ==, "a");
  prio_testing_advance (1);
  g_assert_cmpstr (f->log->str, ==, "ab");
}

/* The callback is not called within the call, and as a continuation it runs before tasks that have waited longer. */
static void
test_no_delay_is_a_yield (Fixture *f, gconstpointer data)
{
  Sleeper a = { f, 'a', NULL };

  post_letter (f, USER_VISIBLE, 'b');
  go_to_sleep (&a, 0, NULL);
  g_assert_cmpstr (f->log->str, ==, "");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
}

static void
sleep_in_task (Step *step)
{
  go_to_sleep (step->data, 10, NULL);
}

static void
test_inherits_priority_and_signal (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  Sleeper low = { f, 'l', NULL }, high = { f, 'h', NULL }, followed = { f, 'f', NULL };

  prio_scheduler_post (f->scheduler, BACKGROUND, step_run, step_new (f, '1', sleep_in_task, &low), step_free);
  prio_scheduler_post (f->scheduler, USER_BLOCKING, step_run, step_new (f, '2', sleep_in_task, &high), step_free);
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, step_run,
                            step_new (f, '3', sleep_in_task, &followed), step_free);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "213");

  prio_task_controller_set_priority (controller, USER_VISIBLE, NULL);
  prio_testing_spend (10);
  post_letter (f, BACKGROUND, 'b');
  post_letter (f, USER_VISIBLE, 'v');
  post_letter (f, USER_BLOCKING, 'u');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "213hufvlb");
}

static void
test_given_options (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  Sleeper low = { f, 'l', NULL }, high = { f, 'h', NULL };

  go_to_sleep (&low, 1, &(PrioYieldOptions) { .priority = BACKGROUND });
  go_to_sleep (&high, 1, &(PrioYieldOptions) { .signal = signal_of (controller) });
  prio_testing_spend (1);
  post_letter (f, USER_VISIBLE, 'v');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hvl");
}

static void
test_an_abort_ends_it_at_once (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "enough");
  Sleeper given = { f, 'g', NULL }, inherited = { f, 'i', NULL }, of_gio = { f, 'p', NULL };

  go_to_sleep (&given, 1000, &(PrioYieldOptions) { .signal = signal_of (controller) });
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, step_run,
                            step_new (f, '1', sleep_in_task, &inherited), step_free);
  go_to_sleep (&of_gio, G_MAXUINT64, &(PrioYieldOptions) { .cancellable = plain });
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "1");

  prio_task_controller_abort (controller, reason);
  g_cancellable_cancel (plain);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "1!!!");
  g_assert_error (given.error, G_IO_ERROR, G_IO_ERROR_BUSY);
  g_assert_error (inherited.error, G_IO_ERROR, G_IO_ERROR_BUSY);
  g_assert_error (of_gio.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  prio_testing_advance (2000);
  g_assert_cmpstr (f->log->str, ==, "1!!!");
  g_clear_error (&given.error);
  g_clear_error (&inherited.error);
  g_clear_error (&of_gio.error);
}

static void
test_aborted_before (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskSignal) signal = prio_task_signal_new_aborted (NULL);
  Sleeper a = { f, 'a', NULL };

  go_to_sleep (&a, 1000, &(PrioYieldOptions) { .signal = signal });
  g_assert_cmpstr (f->log->str, ==, "");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "!");
  g_assert_error (a.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&a.error);
}

static void
test_huge_delays_never_end (Fixture *f, gconstpointer data)
{
  static const guint64 delays[] = { G_MAXUINT64, G_MAXINT64, (guint64) G_MAXINT64 + 1, G_MAXINT64 / 1000 + 1 };
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  Sleeper sleepers[G_N_ELEMENTS (delays)];

  for (guint i = 0; i < G_N_ELEMENTS (delays); i++)
    {
      sleepers[i] = (Sleeper) { f, 'x', NULL };
      go_to_sleep (&sleepers[i], delays[i], &(PrioYieldOptions) { .signal = signal_of (controller) });
    }
  prio_testing_advance (G_MAXINT32);
  g_assert_cmpstr (f->log->str, ==, "");
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "!!!!");
  for (guint i = 0; i < G_N_ELEMENTS (delays); i++)
    g_clear_error (&sleepers[i].error);
}

/* The delay passes while the scheduler is paused, and the continuation waits. */
static void
test_paused (Fixture *f, gconstpointer data)
{
  Sleeper a = { f, 'a', NULL };

  go_to_sleep (&a, 10, NULL);
  prio_scheduler_pause (f->scheduler);
  prio_testing_advance (20);
  g_assert_cmpstr (f->log->str, ==, "");
  prio_scheduler_resume (f->scheduler);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
}

/* When the context is destroyed, sleeping callbacks are not called, and nothing leaks. */
static void
test_the_context_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  Sleeper a = { f, 'a', NULL }, b = { f, 'b', NULL };

  go_to_sleep (&a, 10, NULL);
  go_to_sleep (&b, 10, &(PrioYieldOptions) { .signal = signal_of (controller) });
  fixture_drop_context (f);
  prio_task_controller_abort (controller, NULL);
  g_assert_cmpstr (f->log->str, ==, "");
}

static gpointer
sleep_in_thread (gpointer data)
{
  go_to_sleep (data, 10, NULL);
  return NULL;
}

static void
test_from_another_thread (Fixture *f, gconstpointer data)
{
  Sleeper a = { f, 'a', NULL };

  g_thread_join (g_thread_new ("sleeper", sleep_in_thread, &a));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
  prio_testing_advance (10);
  g_assert_cmpstr (f->log->str, ==, "a");
}

static void
finish_as_a_yield (GObject *scheduler, GAsyncResult *result, gpointer data)
{
  Sleeper *sleeper = data;

  assert_told ("prio_scheduler_yield_finish: *no yield: prio_scheduler_sleep_finish()*",
               g_assert_false (prio_scheduler_yield_finish (PRIO_SCHEDULER (scheduler), result, NULL)));
  woken (scheduler, result, sleeper);
}

static void
finish_of_another (GObject *scheduler, GAsyncResult *result, gpointer data)
{
  Sleeper *sleeper = data;

  assert_told ("*no prio_scheduler_sleep_async*",
               g_assert_false (prio_scheduler_sleep_finish (PRIO_SCHEDULER (scheduler), result, NULL)));
  g_assert_true (prio_scheduler_yield_finish (PRIO_SCHEDULER (scheduler), result, NULL));
  g_string_append_c (sleeper->f->log, sleeper->letter);
}

static void
test_what_is_wrong_is_told (Fixture *f, gconstpointer data)
{
  Sleeper a = { f, 'a', NULL };

  prio_scheduler_yield_async (f->scheduler, NULL, finish_of_another, &a);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  prio_scheduler_sleep_async (f->scheduler, 1, NULL, finish_as_a_yield, &a);
  prio_testing_advance (1);
  g_assert_cmpstr (f->log->str, ==, "aa");
  if (!HAS_CHECKS)
    return;

  assert_told ("prio_scheduler_sleep_async(): callback is NULL*",
               prio_scheduler_sleep_async (f->scheduler, 1, NULL, NULL, NULL));
  assert_told ("prio_scheduler_sleep_async(): 7 is not a PrioTaskPriority*",
               go_to_sleep (&a, 1, &(PrioYieldOptions) { .priority = (PrioTaskPriority) 7 }));
}

#define ADD(path, function) g_test_add ("/sleep/" path, Fixture, NULL, clock_set_up, function, clock_tear_down)

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  ADD ("waits-for-so-long", test_waits_for_so_long);
  ADD ("no-delay-is-a-yield", test_no_delay_is_a_yield);
  ADD ("inherits-priority-and-signal", test_inherits_priority_and_signal);
  ADD ("given-options", test_given_options);
  ADD ("an-abort-ends-it-at-once", test_an_abort_ends_it_at_once);
  ADD ("aborted-before", test_aborted_before);
  ADD ("huge-delays-never-end", test_huge_delays_never_end);
  ADD ("paused", test_paused);
  ADD ("the-context-goes", test_the_context_goes);
  ADD ("from-another-thread", test_from_another_thread);
  ADD ("what-is-wrong-is-told", test_what_is_wrong_is_told);

  return g_test_run ();
}
