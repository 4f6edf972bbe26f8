/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-notify.c: an abort is notified once, and is final */

#include "helpers.h"

static void
log_reason (PrioTaskSignal *signal, GParamSpec *pspec, gpointer data)
{
  Fixture *f = data;
  g_autoptr (GError) reason = prio_task_signal_dup_reason (signal);

  /* No lock of GLib is held: this call takes it. */
  g_cancellable_disconnect (G_CANCELLABLE (signal), g_cancellable_connect (G_CANCELLABLE (signal), G_CALLBACK (g_object_ref), NULL, NULL));
  g_object_unref (signal);
  g_string_append_printf (f->log, "r%d", reason->code);
}

static void
log_cancelled (GCancellable *signal, gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, 'c');
}

static void
listen (Fixture *f, gpointer signal)
{
  g_signal_connect (signal, "cancelled", G_CALLBACK (log_cancelled), f);
  g_signal_connect (signal, "notify::reason", G_CALLBACK (log_reason), f);
}

/* Logs `aborted` with the reason, and where it is notified. */
static void
log_aborted (PrioTaskSignal *signal, GParamSpec *pspec, gpointer data)
{
  gboolean aborted = FALSE;

  g_object_get (signal, "aborted", &aborted, NULL);
  g_assert_true (aborted);
  g_cancellable_disconnect (G_CANCELLABLE (signal), g_cancellable_connect (G_CANCELLABLE (signal), G_CALLBACK (g_object_ref), NULL, NULL));
  g_object_unref (signal);
  g_string_append_c (((Fixture *) data)->log, 'a');
}

#define BUSY "r26"
#define CANCELLED "r19"
#define TIMED_OUT "r24"

/* An abort notifies the reason, once. */
static void
test_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (GError) why = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "why");

  listen (f, prio_task_controller_get_signal (controller));
  prio_task_controller_abort (controller, why);
  prio_task_controller_abort (controller, why);
  g_cancellable_cancel (G_CANCELLABLE (prio_task_controller_get_signal (controller)));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "c" BUSY);
}

static PrioTaskSignal *
dependent_of (PrioTaskController *controller)
{
  GCancellable *source = G_CANCELLABLE (prio_task_controller_get_signal (controller));

  return prio_task_signal_new_any (&source, 1, USER_VISIBLE);
}

/* A dependent with a handler of this signal is kept, too. */
static void
test_dependent (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  PrioTaskSignal *kept = dependent_of (controller);
  g_autoptr (PrioTaskSignal) held = dependent_of (controller);

  listen (f, held);
  g_signal_connect (kept, "notify::reason", G_CALLBACK (log_reason), f);
  g_object_add_weak_pointer (G_OBJECT (kept), (gpointer *) &kept);
  g_object_unref (kept);
  prio_task_controller_abort (controller, NULL);
  g_assert_cmpstr (f->log->str, ==, CANCELLED "c" CANCELLED);
  fixture_run (f);
  g_assert_null (kept);
}

static void
test_timeout (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskSignal) signal = prio_task_signal_new_timeout (1);

  listen (f, signal);
  while (!prio_task_signal_is_aborted (signal))
    g_main_context_iteration (f->context, TRUE);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "c" TIMED_OUT);
}

/* After g_cancellable_cancel () the notify comes later, because GLib may hold a lock during the call. */
static void
test_by_hand (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTaskSignal) dependent = dependent_of (controller);

  listen (f, prio_task_controller_get_signal (controller));
  listen (f, dependent);
  g_cancellable_cancel (G_CANCELLABLE (prio_task_controller_get_signal (controller)));
  g_assert_cmpstr (f->log->str, ==, "c");
  fixture_run (f);
  g_assert_cmpuint (f->log->len, ==, strlen ("c" CANCELLED "c" CANCELLED));
  g_assert_nonnull (strstr (f->log->str, "c" CANCELLED));
}

static void
test_dependent_by_hand (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTaskSignal) dependent = dependent_of (controller);

  listen (f, dependent);
  g_cancellable_cancel (G_CANCELLABLE (dependent));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "c" CANCELLED);
}

/* The context of the emission is destroyed before the emission. */
static void
test_by_hand_without_a_context (void)
{
  Fixture f = { .log = g_string_new (NULL) };
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  GMainContext *context = g_main_context_new ();

  listen (&f, prio_task_controller_get_signal (controller));
  g_main_context_push_thread_default (context);
  g_cancellable_cancel (G_CANCELLABLE (prio_task_controller_get_signal (controller)));
  g_main_context_pop_thread_default (context);
  g_main_context_unref (context);
  g_assert_cmpstr (f.log->str, ==, "c");
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpstr (f.log->str, ==, "c" CANCELLED);
  g_string_free (f.log, TRUE);
}

#define expect_reset() \
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "A PrioTaskSignal has been reset*aborted for good*")

/* The reset of a PrioTaskSignal logs a critical, and is undone when the signal is queried, used, aborted or posted
 * with. */
static void
meet (Fixture *f, guint how, PrioTaskController *controller)
{
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
  g_autoptr (PrioTaskSignal) dependent = NULL;
  g_autoptr (GError) reason = NULL;

  switch (how)
    {
    case 0:
      g_assert_true (prio_task_signal_is_aborted (signal));
      break;

    case 1:
      reason = prio_task_signal_dup_reason (signal);
      g_assert_error (reason, G_IO_ERROR, G_IO_ERROR_BUSY);
      break;

    case 2:
      dependent = dependent_of (controller);
      g_assert_true (prio_task_signal_is_aborted (dependent));
      break;

    case 3:
      prio_task_controller_abort (controller, NULL);
      break;

    default:
      g_assert_false (post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, signal, 'x', NULL, NULL));
    }
}

static void
test_reset (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) why = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "why");

  for (guint how = 0; how < 5; how++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));

      g_string_truncate (f->log, 0);
      listen (f, signal);
      g_cancellable_reset (signal);
      g_assert_false (prio_task_signal_is_aborted (PRIO_TASK_SIGNAL (signal)));
      prio_task_controller_abort (controller, why);
      for (guint i = 0; i < 2; i++)
        {
          g_cancellable_reset (signal);
          expect_reset ();
          meet (f, how, controller);
          g_test_assert_expected_messages ();
          g_assert_true (g_cancellable_is_cancelled (signal));
          meet (f, how, controller);
        }
      fixture_run (f);
      /* The reason is notified once.  It is the first abort's reason. */
      g_assert_cmpstr (f->log->str, ==, "c" BUSY "cc");
    }
}

static void
test_aborted (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller), *kept = dependent_of (controller);
  gboolean aborted = TRUE;

  g_object_get (signal, "aborted", &aborted, NULL);
  g_assert_false (aborted);
  listen (f, signal);
  g_signal_connect (signal, "notify::aborted", G_CALLBACK (log_aborted), f);
  /* A dependent is kept for a handler of this signal, too. */
  g_signal_connect (kept, "notify::aborted", G_CALLBACK (log_aborted), f);
  g_object_add_weak_pointer (G_OBJECT (kept), (gpointer *) &kept);
  g_object_unref (kept);
  g_assert_nonnull (kept);
  prio_task_controller_abort (controller, NULL);
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ca" CANCELLED "a");
  g_assert_null (kept);
}

/* With g_cancellable_cancel (), GLib may hold a lock: the notify comes later, even without other handlers. */
static void
test_aborted_by_hand (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));

  g_signal_connect (signal, "notify::aborted", G_CALLBACK (log_aborted), f);
  g_cancellable_cancel (signal);
  g_assert_cmpstr (f->log->str, ==, "");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  g_cancellable_cancel (signal);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/notify/abort", test_abort);
  add_test ("/notify/dependent", test_dependent);
  add_test ("/notify/timeout", test_timeout);
  add_test ("/notify/by-hand", test_by_hand);
  add_test ("/notify/dependent-by-hand", test_dependent_by_hand);
  g_test_add_func ("/notify/by-hand-without-a-context", test_by_hand_without_a_context);
  add_test ("/notify/aborted", test_aborted);
  add_test ("/notify/aborted-by-hand", test_aborted_by_hand);
  add_test ("/notify/reset", test_reset);

  return g_test_run ();
}
