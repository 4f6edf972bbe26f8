/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-reentry.c: calls from inside an abort or a release */

#include <prio-sched-bindings.h>
#include "helpers.h"

static void
iterate (gpointer data)
{
  while (g_main_context_iteration (((Fixture *) data)->context, FALSE))
    ;
}

static gboolean
never_run (gpointer data)
{
  g_assert_not_reached ();
}

/* All tasks that an abort ends have left their queues before any of them is released or any handler is called. */
static void
test_no_task_of_an_aborted_signal_runs (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *root = cancellable_of (controller);
  g_autoptr (GCancellable) dependent = G_CANCELLABLE (prio_task_signal_new_any (&root, 1, BACKGROUND));
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);

  g_signal_connect_swapped (root, "cancelled", G_CALLBACK (iterate), f);
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .cancellable = root }, never_run, f, iterate);
  prio_scheduler_post_full (other, &(PrioTaskOptions) { .cancellable = root }, step_run, step_new (f, 'o', NULL, NULL),
                            step_free);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, dependent, 'd', NULL, NULL);

  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
}

static void
log_aborted (PrioTaskSignal *signal, Fixture *f)
{
  g_autoptr (GError) reason = prio_task_signal_dup_reason (signal);

  g_assert_true (prio_task_signal_is_aborted (signal));
  g_assert_error (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_false (post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, signal, 'x', NULL, NULL));
  g_string_append (f->log, "a ");
}

/* The tasks do not run even before the signal itself has noticed the abort. */
static void
test_aborted_when_cancelled_by_hand (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  g_signal_connect (cancellable_of (controller), "cancelled", G_CALLBACK (log_aborted), f);
  g_cancellable_cancel (cancellable_of (controller));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a ");
}

static void
has_no_state (gpointer data)
{
  Fixture *f = data;
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();

  g_assert_null (state);
  g_string_append (f->log, "n ");
}

static void
return_nothing (PrioTask *task, gpointer data)
{
}

static gboolean
post_another (gpointer data)
{
  Fixture *f = data;
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();

  prio_scheduler_pause (f->scheduler);
  prio_scheduler_resume (f->scheduler);
  g_assert_nonnull (state);
  return G_SOURCE_REMOVE;
}

/* Destroy notifies in a call have nothing to do with the task that makes the call. */
static void
test_notifies_have_no_state (Fixture *f, gconstpointer data)
{
  for (guint n = 0; n < 5; n++)
    g_object_unref (prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE },
                                              return_nothing, f, has_no_state));
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE }, post_another, f, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "n n n n n ");
}

static void
log_release (gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  g_free (step);
}

/* The signal's tasks are released first, then its dependents' tasks, in order of creation. */
static void
test_releases_in_order (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *root = cancellable_of (controller);
  g_autoptr (GCancellable) first = G_CANCELLABLE (prio_task_signal_new_any (&root, 1, BACKGROUND));
  g_autoptr (GCancellable) second = G_CANCELLABLE (prio_task_signal_new_any (&root, 1, BACKGROUND));
  GCancellable *signals[] = { root, first, second, root };

  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .cancellable = signals[i] }, step_run,
                              step_new (f, (char) ('a' + i), NULL, NULL), log_release);
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "adbc");
}

/* Code that ends its last task keeps the closure while it runs, although its scheduler has been freed and other code
 * releases the rest.  In an earlier version this crashed Python, whose closure it was. */
typedef struct
{
  Fixture *f;
  PrioScheduler *other;
  guint n_freed;
} Last;

static void
end_and_release (guint id, gpointer data)
{
  Last *last = data;

  if (id == 0)
    return;
  g_clear_object (&last->f->scheduler);
  prio_runner_end ();
  prio_scheduler_pause (last->other);
  prio_scheduler_resume (last->other);
  g_assert_cmpuint (last->n_freed, ==, 0);
}

static void
count_last (gpointer data)
{
  ((Last *) data)->n_freed++;
}

static void
test_runner_is_not_released_in_its_function (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);
  Last last = { f, other, 0 };
  PrioRunner *runner = prio_runner_new (f->scheduler, end_and_release, &last, count_last);

  prio_runner_post (runner, 1, USER_VISIBLE);
  prio_runner_unref (runner);
  fixture_run (f);
  g_assert_cmpuint (last.n_freed, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/reentry/no-task-runs", test_no_task_of_an_aborted_signal_runs);
  add_test ("/reentry/by-hand-is-one-at-once", test_aborted_when_cancelled_by_hand);
  add_test ("/reentry/notifies-have-no-state", test_notifies_have_no_state);
  add_test ("/reentry/releases-in-order", test_releases_in_order);
  add_test ("/reentry/runner-is-not-released-in-its-function", test_runner_is_not_released_in_its_function);

  return g_test_run ();
}
