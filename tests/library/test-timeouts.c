/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-timeouts.c: signals that are aborted after a delay */

#include <prio-sched-testing.h>

#include "helpers.h"

static void
quit (GCancellable *signal, gboolean *fired)
{
  *fired = TRUE;
}

static void
test_timeout (Fixture *f, gconstpointer data)
{
  PrioTaskSignal *signal = prio_task_signal_new_timeout (1);
  g_autoptr (PrioTaskSignal) held = NULL;
  g_autoptr (GError) reason = NULL;
  gboolean fired = FALSE;

  g_signal_connect (signal, "cancelled", G_CALLBACK (quit), &fired);
  held = g_object_ref (signal);
  g_object_unref (signal);
  while (!fired)
    g_main_context_iteration (f->context, TRUE);

  reason = prio_task_signal_dup_reason (held);
  g_assert_error (reason, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
}

static void
test_timeout_lives_for_its_handlers (Fixture *f, gconstpointer data)
{
  PrioTaskSignal *signal = prio_task_signal_new_timeout (1);
  gpointer alive = signal;
  gboolean fired = FALSE;

  g_signal_connect (signal, "cancelled", G_CALLBACK (quit), &fired);
  g_object_add_weak_pointer (G_OBJECT (signal), &alive);
  g_object_unref (signal);
  g_assert_nonnull (alive);
  while (!fired)
    g_main_context_iteration (f->context, TRUE);
  fixture_run (f);
  g_assert_null (alive);

  g_assert_finalize_object (prio_task_signal_new_timeout (G_MAXUINT64));
}

static PrioTaskSignal *
any_of_dropped_timeout (guint64 delay, gpointer *alive)
{
  g_autoptr (PrioTaskSignal) timeout = prio_task_signal_new_timeout (delay);
  GCancellable *sources[] = { G_CANCELLABLE (timeout) };

  *alive = timeout;
  g_object_add_weak_pointer (G_OBJECT (timeout), alive);
  return prio_task_signal_new_any (sources, G_N_ELEMENTS (sources), USER_VISIBLE);
}

/* The timeout lives as long as its dependents, as on the web, where no variable holds the timeout in
 * `AbortSignal.any([AbortSignal.timeout(1)])`. */
static void
test_timeout_lives_for_its_dependents (Fixture *f, gconstpointer data)
{
  gpointer alive;
  g_autoptr (PrioTaskSignal) any = any_of_dropped_timeout (1, &alive);
  g_autoptr (GError) reason = NULL;
  GCancellable *sources[] = { G_CANCELLABLE (any) };
  g_autoptr (PrioTaskSignal) any_of_any = prio_task_signal_new_any (sources, G_N_ELEMENTS (sources), USER_VISIBLE);

  g_clear_object (&any);
  while (!prio_task_signal_is_aborted (any_of_any))
    g_main_context_iteration (f->context, TRUE);
  fixture_run (f);
  reason = prio_task_signal_dup_reason (any_of_any);
  g_assert_error (reason, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  g_assert_null (alive);
}

static void
test_timeout_goes_with_its_last_dependent (Fixture *f, gconstpointer data)
{
  gpointer alive;
  PrioTaskSignal *any = any_of_dropped_timeout (G_MAXUINT64, &alive);
  GCancellable *sources[] = { G_CANCELLABLE (any) };
  PrioTaskSignal *any_of_any = prio_task_signal_new_any (sources, G_N_ELEMENTS (sources), USER_VISIBLE);

  g_object_unref (any);
  g_assert_nonnull (alive);
  g_object_unref (any_of_any);
  g_assert_null (alive);
}

/* Pausing a scheduler holds back its tasks, but not timeouts of other code. */
static void
test_timeout_of_a_paused_scheduler (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) shared = prio_scheduler_ref_thread_default ();
  g_autoptr (PrioTaskSignal) later = NULL, before = prio_task_signal_new_timeout (1);
  g_autoptr (PrioTaskSignal) at_once = prio_task_signal_new_timeout (0);

  prio_scheduler_pause (shared);
  later = prio_task_signal_new_timeout (2);
  while (!prio_task_signal_is_aborted (before) || !prio_task_signal_is_aborted (later) ||
         !prio_task_signal_is_aborted (at_once))
    {
      /* Without the timeout the loop would wait for ever. */
      gint timeout, priority;
      GPollFD fds[4];

      g_assert_true (g_main_context_acquire (f->context));
      g_main_context_prepare (f->context, &priority);
      g_main_context_query (f->context, priority, &timeout, fds, G_N_ELEMENTS (fds));
      g_main_context_release (f->context);
      g_assert_cmpint (timeout, >=, 0);
      g_main_context_iteration (f->context, TRUE);
    }
}

/* Takes a millisecond, and posts the next. */
static void
go_on_until_aborted (Step *step)
{
  prio_testing_spend (1);
  if (step->f->log->len < 1000 && !prio_task_signal_is_aborted (step->data))
    post_step (step->f, USER_BLOCKING, 'a', go_on_until_aborted, step->data);
}

/* The tasks that a timeout aborts may have any priority. */
static void
test_timeout_beside_urgent_work (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskSignal) signal = NULL;

  prio_testing_begin ();
  signal = prio_task_signal_new_timeout (10);
  post_step (f, USER_BLOCKING, 'a', go_on_until_aborted, signal);
  fixture_run (f);
  prio_testing_end ();
  g_assert_cmpuint (f->log->len, >=, 10);
  g_assert_cmpuint (f->log->len, <, 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/timeouts/fires", test_timeout);
  add_test ("/timeouts/lives-for-its-handlers", test_timeout_lives_for_its_handlers);
  add_test ("/timeouts/lives-for-its-dependents", test_timeout_lives_for_its_dependents);
  add_test ("/timeouts/goes-with-its-last-dependent", test_timeout_goes_with_its_last_dependent);
  add_test ("/timeouts/of-a-paused-scheduler", test_timeout_of_a_paused_scheduler);
  add_test ("/timeouts/beside-urgent-work", test_timeout_beside_urgent_work);

  return g_test_run ();
}
