/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-signal.c: signals, and the signals that depend on them */

#include "helpers.h"

static void
log_change (PrioTaskSignal *signal, PrioTaskPriority previous, Fixture *f)
{
  g_string_append_printf (f->log, "%s%d>%d ", (char *) g_object_get_data (G_OBJECT (signal), "name"),
                          previous, prio_task_signal_get_priority (signal));
}

static void
log_cancelled (GCancellable *signal, Fixture *f)
{
  g_string_append_printf (f->log, "%s! ", (char *) g_object_get_data (G_OBJECT (signal), "name"));
}

static gpointer
listen (Fixture *f, gpointer signal, const char *name)
{
  g_object_set_data (signal, "name", (gpointer) name);
  g_signal_connect (signal, "priority-change", G_CALLBACK (log_change), f);
  g_signal_connect (signal, "cancelled", G_CALLBACK (log_cancelled), f);
  return signal;
}

static void
test_change_tells_the_previous_priority (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  listen (f, cancellable_of (controller), "s");
  g_assert_true (prio_task_controller_set_priority (controller, USER_BLOCKING, NULL));
  g_assert_true (prio_task_controller_set_priority (controller, USER_BLOCKING, NULL));
  g_assert_true (prio_task_controller_set_priority (controller, USER_VISIBLE, NULL));

  g_assert_cmpstr (f->log->str, ==, "s1>3 s3>2 ");
}

static void
change_again (PrioTaskSignal *signal, PrioTaskPriority previous, PrioTaskController *controller)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (prio_task_controller_set_priority (controller, BACKGROUND, &error));
  g_assert_error (error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
  g_clear_error (&error);

  /* A change to the same priority is neither made nor announced. */
  g_assert_false (prio_task_controller_set_priority (controller, prio_task_signal_get_priority (signal), &error));
  g_assert_error (error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
}

static void
test_change_within_change_is_not_allowed (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);

  g_signal_connect (prio_task_controller_get_signal (controller), "priority-change",
                    G_CALLBACK (change_again), controller);
  g_assert_true (prio_task_controller_set_priority (controller, USER_BLOCKING, NULL));
  g_assert_cmpint (prio_task_signal_get_priority (prio_task_controller_get_signal (controller)), ==,
                   USER_BLOCKING);
}

static void
test_dependents_follow_in_order (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  PrioTaskSignal *source = prio_task_controller_get_signal (controller);
  g_autoptr (PrioTaskSignal) first = prio_task_signal_new_any_following (NULL, 0, source);
  g_autoptr (PrioTaskSignal) second = prio_task_signal_new_any_following (NULL, 0, first);
  g_autoptr (PrioTaskSignal) third = prio_task_signal_new_any_following (NULL, 0, source);

  listen (f, third, "t");
  listen (f, second, "n");
  listen (f, first, "f");
  listen (f, source, "s");
  prio_task_controller_set_priority (controller, USER_VISIBLE, NULL);

  g_assert_cmpstr (f->log->str, ==, "s1>2 f1>2 n1>2 t1>2 ");
  g_assert_false (prio_task_signal_has_fixed_priority (second));
}

/* A dependent follows the root, not a signal between, which may be freed. */
static void
test_dependent_follows_the_root (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  PrioTaskSignal *between = prio_task_signal_new_any_following (NULL, 0, prio_task_controller_get_signal (controller));
  g_autoptr (PrioTaskSignal) last = prio_task_signal_new_any_following (NULL, 0, between);

  g_assert_finalize_object (between);
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  g_assert_cmpint (prio_task_signal_get_priority (last), ==, USER_BLOCKING);
}

static void
test_dependent_of_fixed_is_fixed (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  GCancellable *source = cancellable_of (controller);
  g_autoptr (PrioTaskSignal) fixed = prio_task_signal_new_any (&source, 1, BACKGROUND);
  g_autoptr (PrioTaskSignal) follows = prio_task_signal_new_any_following (NULL, 0, fixed);

  g_assert_true (prio_task_signal_has_fixed_priority (fixed));
  g_assert_true (prio_task_signal_has_fixed_priority (follows));
  prio_task_controller_set_priority (controller, USER_VISIBLE, NULL);
  g_assert_cmpint (prio_task_signal_get_priority (follows), ==, BACKGROUND);
}

static void
test_fixed_once_the_source_is_gone (Fixture *f, gconstpointer data)
{
  PrioTaskController *controller = prio_task_controller_new (USER_BLOCKING);
  g_autoptr (PrioTaskSignal) follows =
      prio_task_signal_new_any_following (NULL, 0, prio_task_controller_get_signal (controller));

  g_assert_false (prio_task_signal_has_fixed_priority (follows));
  g_object_unref (controller);
  g_assert_true (prio_task_signal_has_fixed_priority (follows));
  g_assert_cmpint (prio_task_signal_get_priority (follows), ==, USER_BLOCKING);
}

static void
test_abort_goes_to_dependents_in_order (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *source = cancellable_of (controller);
  g_autoptr (PrioTaskSignal) first = prio_task_signal_new_any (&source, 1, BACKGROUND);
  GCancellable *first_source = G_CANCELLABLE (first);
  g_autoptr (PrioTaskSignal) second = prio_task_signal_new_any (&first_source, 1, BACKGROUND);
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "no time");
  g_autoptr (GError) second_reason = NULL;

  listen (f, second, "n");
  listen (f, first, "f");
  listen (f, source, "s");
  g_assert_null (prio_task_signal_dup_reason (second));
  prio_task_controller_abort (controller, reason);
  prio_task_controller_abort (controller, NULL);

  g_assert_cmpstr (f->log->str, ==, "s! f! n! ");
  g_assert_true (g_cancellable_is_cancelled (G_CANCELLABLE (second)));
  second_reason = prio_task_signal_dup_reason (second);
  g_assert_error (second_reason, G_IO_ERROR, G_IO_ERROR_BUSY);
}

static void
check_all_aborted (GCancellable *signal, PrioTaskSignal **dependents)
{
  g_assert_true (prio_task_signal_is_aborted (dependents[0]));
  g_assert_true (prio_task_signal_is_aborted (dependents[1]));
}

/* All signals have their reason before any handler is called. */
static void
test_dependents_are_aborted_before_any_event (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *source = cancellable_of (controller);
  g_autoptr (PrioTaskSignal) first = prio_task_signal_new_any (&source, 1, BACKGROUND);
  g_autoptr (PrioTaskSignal) second = prio_task_signal_new_any (&source, 1, BACKGROUND);
  PrioTaskSignal *dependents[] = { first, second };

  g_signal_connect (source, "cancelled", G_CALLBACK (check_all_aborted), dependents);
  prio_task_controller_abort (controller, NULL);
}

static void
test_any_of_an_aborted_one (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) why = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "no time");
  g_autoptr (PrioTaskSignal) aborted = prio_task_signal_new_aborted (why);
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  GCancellable *sources[] = { plain, G_CANCELLABLE (aborted) };
  g_autoptr (PrioTaskSignal) any = prio_task_signal_new_any (sources, 2, USER_BLOCKING);
  g_autoptr (GError) reason = prio_task_signal_dup_reason (any);

  g_assert_true (g_cancellable_is_cancelled (G_CANCELLABLE (any)));
  g_assert_error (reason, G_IO_ERROR, G_IO_ERROR_BUSY);
}

/* g_cancellable_cancel () aborts the dependents at once; they emit in their context later, because GLib may hold a lock
 * meanwhile. */
static void
test_cancelling_a_source_by_hand (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  g_autoptr (PrioTaskSignal) any = prio_task_signal_new_any (&plain, 1, USER_BLOCKING);

  listen (f, any, "a");
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, any, 'x', NULL, NULL);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, plain, 'y', NULL, NULL);
  g_cancellable_cancel (plain);

  g_assert_true (prio_task_signal_is_aborted (any));
  g_assert_cmpstr (f->log->str, ==, "");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a! ");
}

static void
test_dependent_with_handlers_lives_as_its_source (Fixture *f, gconstpointer data)
{
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);
  GCancellable *source = cancellable_of (controller);
  PrioTaskSignal *any = prio_task_signal_new_any_following (&source, 1, PRIO_TASK_SIGNAL (source));
  gpointer alive = any;

  listen (f, any, "a");
  g_object_add_weak_pointer (G_OBJECT (any), &alive);
  g_object_unref (any);
  g_assert_nonnull (alive);

  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  g_assert_cmpstr (f->log->str, ==, "a1>3 ");
  g_object_unref (controller);
  g_assert_null (alive);
}

static void
test_dependent_with_handlers_goes_with_the_abort (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *source = cancellable_of (controller);
  PrioTaskSignal *any = prio_task_signal_new_any (&source, 1, BACKGROUND);
  gpointer alive = any;

  listen (f, any, "a");
  g_object_add_weak_pointer (G_OBJECT (any), &alive);
  g_object_unref (any);
  g_assert_nonnull (alive);

  prio_task_controller_abort (controller, NULL);
  g_assert_cmpstr (f->log->str, ==, "a! ");
  g_assert_null (alive);
}

static void
test_dependent_without_handlers_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *source = cancellable_of (controller);

  g_assert_finalize_object (prio_task_signal_new_any (&source, 1, BACKGROUND));
}

static void
test_dependent_with_tasks_lives (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *source = cancellable_of (controller);
  PrioTaskSignal *any = prio_task_signal_new_any_following (&source, 1, PRIO_TASK_SIGNAL (source));
  gpointer alive = any;

  g_object_add_weak_pointer (G_OBJECT (any), &alive);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, any, 'x', NULL, NULL);
  g_object_unref (any);
  g_assert_nonnull (alive);

  post_letter (f, USER_VISIBLE, 'y');
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "xy");
  g_assert_null (alive);
}

static void
test_many_dependents_of_many (Fixture *f, gconstpointer data)
{
  enum { N = 2000 };
  PrioTaskController *controllers[N];
  GCancellable *sources[N];
  PrioTaskSignal *any[N];

  for (guint i = 0; i < N; i++)
    {
      controllers[i] = prio_task_controller_new (BACKGROUND);
      sources[i] = cancellable_of (controllers[i]);
    }
  any[0] = prio_task_signal_new_any (sources, N, BACKGROUND);
  for (guint i = 1; i < N; i++)
    any[i] = prio_task_signal_new_any ((GCancellable **) &any[0], 1, BACKGROUND);

  prio_task_controller_abort (controllers[N - 1], NULL);
  for (guint i = 0; i < N; i++)
    {
      g_assert_true (g_cancellable_is_cancelled (G_CANCELLABLE (any[i])));
      g_object_unref (any[i]);
      g_object_unref (controllers[i]);
    }
}

static void
test_bad_input (Fixture *f, gconstpointer data)
{
  if (g_test_subprocess ())
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      GCancellable *none = NULL;

      g_log_set_always_fatal (G_LOG_FATAL_MASK);
      g_assert_null (prio_task_controller_new (7));
      g_assert_false (prio_task_controller_set_priority (controller, (PrioTaskPriority) -1, NULL));
      g_assert_null (prio_task_signal_new_any (&none, 1, USER_VISIBLE));
      g_assert_null (prio_task_signal_new_any_following (NULL, 0, NULL));
      prio_task_controller_abort (NULL, NULL);
      return;
    }

  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr ("*CRITICAL*7 is not a PrioTaskPriority*CRITICAL*-1 is not a PrioTaskPriority*CRITICAL*are_cancellables*"
                             "CRITICAL*priority_source*CRITICAL*NULL is not a PrioTaskController*");
}

/* Each scheduler has its own tasks, though the signal is the same. */
static void
test_at_two_schedulers (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);

  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'a', NULL, NULL);
  prio_scheduler_post_full (other, &(PrioTaskOptions) { .signal = signal_of (controller) }, step_run,
                            step_new (f, 'b', NULL, NULL), step_free);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'c', NULL, NULL);
  prio_scheduler_pause (f->scheduler);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "b");

  prio_scheduler_resume (f->scheduler);
  prio_scheduler_pause (other);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "bac");

  prio_scheduler_post_full (other, &(PrioTaskOptions) { .signal = signal_of (controller) }, step_run,
                            step_new (f, 'd', NULL, NULL), step_free);
  prio_task_controller_abort (controller, NULL);
  prio_scheduler_resume (other);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "bac");
}

static void
nothing (void)
{
}

/* A binding's handler may be freed with the last reference: a signal is kept while it has a handler, and as long as its
 * source may abort it. */
static void
test_kept (void)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *source = cancellable_of (controller);
  PrioTaskSignal *dependent = prio_task_signal_new_any (&source, 1, BACKGROUND);
  GObject *watched = G_OBJECT (dependent);
  gulong handler;

  g_object_add_weak_pointer (watched, (gpointer *) &watched);
  prio_task_signal_pin (dependent);
  g_assert_cmpuint (watched->ref_count, ==, 1);
  handler = g_signal_connect (dependent, "cancelled", nothing, NULL);
  prio_task_signal_pin (dependent);
  g_signal_handler_disconnect (dependent, handler);
  g_object_unref (dependent);
  g_assert_nonnull (watched);
  prio_task_controller_abort (controller, NULL);
  g_assert_null (watched);
}

static void
count_gone (gpointer data, GObject *object)
{
  ++*(guint *) data;
}

/* Makes a dependent that is kept only for its handler. */
static gpointer
make_kept (PrioTaskController *controller, gulong *handler, guint *n_gone)
{
  GCancellable *source = cancellable_of (controller);
  PrioTaskSignal *dependent = prio_task_signal_new_any_following (&source, 1, PRIO_TASK_SIGNAL (source));
  gpointer kept = dependent;

  *handler = g_signal_connect (dependent, "cancelled", nothing, NULL);
  g_object_weak_ref (G_OBJECT (dependent), count_gone, n_gone);
  g_object_unref (dependent);
  return kept;
}

/* GObject does not report a disconnected handler.  So kept signals are checked again when new ones are made, and do not
 * accumulate. */
static void
test_not_kept_without_handlers (Fixture *f, gconstpointer data)
{
  /* Signals with handlers are freed with the controller, and counted then. */
  guint n_gone = 0, n_listening_gone = 0;
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  gulong handler;

  /* These have handlers all the time. */
  for (guint i = 0; i < 100; i++)
    make_kept (controller, &handler, &n_listening_gone);

  for (guint i = 0; i < 1000; i++)
    {
      gpointer kept = make_kept (controller, &handler, &n_gone);

      g_signal_handler_disconnect (kept, handler);
      g_assert_cmpuint (i + 1 - n_gone, <=, 102);
    }

  for (guint i = 0; i < 101; i++)
    g_object_unref (prio_task_signal_new_any (NULL, 0, BACKGROUND));
  g_assert_cmpuint (n_gone, ==, 1000);
  g_assert_cmpuint (n_listening_gone, ==, 0);
}

/* Kept dependents do not accumulate after a change of priority, either. */
static void
test_not_kept_after_a_change (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  guint n_gone = 0;
  gulong handler;
  gpointer kept = make_kept (controller, &handler, &n_gone);

  g_signal_handler_disconnect (kept, handler);
  prio_task_controller_set_priority (controller, USER_VISIBLE, NULL);
  g_assert_cmpuint (n_gone, ==, 1);
}

/* All signals emit once for an abort, in the order of their creation; a cancel of the signal in the middle does not
 * abort its sources. */
static void
test_any_of_a_dependent (Fixture *f, gconstpointer data)
{
  for (guint by_hand = 0; by_hand < 2; by_hand++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
      GCancellable *root = listen (f, cancellable_of (controller), "r");
      g_autoptr (GCancellable) middle = listen (f, prio_task_signal_new_any (&root, 1, BACKGROUND), "m");
      g_autoptr (GCancellable) outer = listen (f, prio_task_signal_new_any (&middle, 1, BACKGROUND), "o");

      post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, outer, 'x', NULL, NULL);
      if (by_hand)
        g_cancellable_cancel (middle);
      else
        prio_task_controller_abort (controller, NULL);
      g_assert_true (prio_task_signal_is_aborted (PRIO_TASK_SIGNAL (outer)));
      fixture_run (f);
    }
  g_assert_cmpstr (f->log->str, ==, "r! m! o! m! o! ");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/signal/change/tells-the-previous-priority", test_change_tells_the_previous_priority);
  add_test ("/signal/change/within-change-is-not-allowed", test_change_within_change_is_not_allowed);
  add_test ("/signal/any/dependents-follow-in-order", test_dependents_follow_in_order);
  add_test ("/signal/any/follows-the-root", test_dependent_follows_the_root);
  add_test ("/signal/any/of-fixed-is-fixed", test_dependent_of_fixed_is_fixed);
  add_test ("/signal/any/fixed-once-the-source-is-gone", test_fixed_once_the_source_is_gone);
  add_test ("/signal/any/abort-goes-to-dependents-in-order", test_abort_goes_to_dependents_in_order);
  add_test ("/signal/any/aborted-before-any-event", test_dependents_are_aborted_before_any_event);
  add_test ("/signal/any/of-an-aborted-one", test_any_of_an_aborted_one);
  add_test ("/signal/any/of-a-dependent", test_any_of_a_dependent);
  add_test ("/signal/any/cancelling-a-source-by-hand", test_cancelling_a_source_by_hand);
  add_test ("/signal/any/many-of-many", test_many_dependents_of_many);
  add_test ("/signal/lifetime/with-handlers-as-its-source", test_dependent_with_handlers_lives_as_its_source);
  add_test ("/signal/lifetime/with-handlers-until-the-abort", test_dependent_with_handlers_goes_with_the_abort);
  add_test ("/signal/lifetime/without-handlers", test_dependent_without_handlers_goes);
  add_test ("/signal/lifetime/with-tasks", test_dependent_with_tasks_lives);
  if (HAS_CHECKS)
    add_test ("/signal/bad-input", test_bad_input);
  add_test ("/signal/at-two-schedulers", test_at_two_schedulers);
  add_test ("/signal/lifetime/without-handlers-any-more", test_not_kept_without_handlers);
  add_test ("/signal/lifetime/without-handlers-at-a-change", test_not_kept_after_a_change);
  g_test_add_func ("/signal/kept", test_kept);

  return g_test_run ();
}
