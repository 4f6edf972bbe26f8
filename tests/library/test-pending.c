/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-pending.c: the number of waiting tasks of a scheduler, or of a signal */

#include <prio-sched-bindings.h>
#include "hands.h"
#include "statistics.h"

static void
do_nothing (PrioTask *task, gpointer data)
{
}

static void
ignore_result (GObject *source, GAsyncResult *result, gpointer data)
{
}

/* Tasks of every kind count until they run. */
static void
test_of_scheduler (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);
  GCancellable *signal = cancellable_of (controller);
  Hands hands = { .log = f->log };
  Waited wait = { 0 };

  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 0);
  post_letter (f, USER_VISIBLE, 'a');
  post_letter (f, BACKGROUND, 'b');
  g_assert_true (post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, signal, 'c', NULL, NULL));
  g_assert_true (post_with_signal (f, USER_BLOCKING, signal, 'd', NULL, NULL));
  g_object_unref (prio_scheduler_post_task (f->scheduler, NULL, do_nothing, NULL, NULL));
  g_object_unref (prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .delay = 1000000 }, do_nothing, NULL, NULL));
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 6);
  prio_scheduler_pause (f->scheduler);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 6);
  prio_scheduler_resume (f->scheduler);
  post_hands (group, &hands, "xy", PRIO_TASK_PRIORITY_UNSET);
  g_object_unref (prio_task_group_post_task (group, &(PrioTaskOptions) { .delay = 1000000 }, do_nothing, NULL, NULL));
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, waited, &wait);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 9);
  g_assert_cmpuint (prio_scheduler_count_pending (other), ==, 0);

  prio_task_controller_abort (controller, NULL);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 7);
  fixture_run (f);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 3);
  prio_task_group_abort (group, NULL);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 1);
  end_hands (f, &hands);
}

/* Tasks whose timeout has passed count too, and so do tasks that have been lent a priority. */
static void
test_boosted (Fixture *f, gconstpointer data)
{
  PrioTaskOptions at_once = { .timeout = -1 }, in_time = { .timeout = 1000000 };
  g_autoptr (PrioTask) awaited = NULL;

  for (guint i = 0; i < 3; i++)
    {
      g_object_unref (prio_scheduler_post_task (f->scheduler, &at_once, do_nothing, NULL, NULL));
      g_object_unref (prio_scheduler_post_task (f->scheduler, &in_time, do_nothing, NULL, NULL));
    }
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 6);
  fixture_run (f);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 0);

  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  awaited = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND }, do_nothing, NULL, NULL);
  post_letter (f, BACKGROUND, 'a');
  g_object_unref (prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING }, await_task, awaited, NULL));
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 3);
  g_main_context_iteration (f->context, FALSE);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 2);
  fixture_run (f);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 0);
}

static void
test_of_signal (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
  PrioTaskOptions options = { .signal = signal };
  PrioTaskOptions later = { .signal = signal, .delay = 1000000 };
  g_autoptr (PrioTask) awaited = NULL;

  g_assert_cmpuint (prio_task_signal_count_pending (signal), ==, 0);
  g_object_unref (prio_scheduler_post_task (f->scheduler, &options, do_nothing, NULL, NULL));
  g_object_unref (prio_scheduler_post_task (other, &options, do_nothing, NULL, NULL));
  g_assert_true (post_with_signal (f, USER_BLOCKING, signal, 'a', NULL, NULL));
  post_letter (f, USER_VISIBLE, 'n');
  g_assert_cmpuint (prio_task_signal_count_pending (signal), ==, 3);
  fixture_run (f);
  g_assert_cmpuint (prio_task_signal_count_pending (signal), ==, 0);

  g_object_unref (prio_scheduler_post_task (f->scheduler, &later, do_nothing, NULL, NULL));
  g_object_unref (prio_scheduler_post_task (f->scheduler, &options, do_nothing, NULL, NULL));
  g_assert_cmpuint (prio_task_signal_count_pending (signal), ==, 2);
  awaited = prio_scheduler_post_task (f->scheduler, NULL, do_nothing, NULL, NULL);
  prio_task_wait_async (awaited, G_CANCELLABLE (signal), ignore_result, NULL);
  g_assert_cmpuint (prio_task_signal_count_pending (signal), ==, 2); /* a wait is not a task */
  g_cancellable_cancel (G_CANCELLABLE (signal));
  g_assert_cmpuint (prio_task_signal_count_pending (signal), ==, 0);
}

static gpointer
ask_elsewhere (gpointer data)
{
  Fixture *f = data;

  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 0);
  return NULL;
}

static void
test_elsewhere (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  post_letter (f, USER_VISIBLE, 'a');
  g_assert_true (post_with_signal (f, USER_BLOCKING, cancellable_of (controller), 'b', NULL, NULL));
  g_assert_true (g_main_context_acquire (f->context));
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*on the thread that runs*");
  g_thread_join (g_thread_new ("another", ask_elsewhere, f));
  g_test_assert_expected_messages ();
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 2);
  g_main_context_release (f->context);

  if (HAS_CHECKS)
    {
      assert_told ("*NULL is not a PrioScheduler*", g_assert_cmpuint (prio_scheduler_count_pending (NULL), ==, 0));
      assert_told ("*PRIO_IS_TASK_SIGNAL*", g_assert_cmpuint (prio_task_signal_count_pending (NULL), ==, 0));
    }
}

/* Asks for the numbers on a thread that does not run the context. */
static gpointer
ask_all_elsewhere (gpointer data)
{
  PrioScheduler *scheduler = data;

  assert_told ("*prio_scheduler_count_pending(): *on the thread that runs*",
               g_assert_cmpuint (prio_scheduler_count_pending (scheduler), ==, 0));
  assert_told ("*prio_scheduler_get_statistics(): *on the thread that runs*",
               g_assert_cmpuint (statistics_of (scheduler, USER_VISIBLE).n_queued, ==, 0));
  assert_told ("*prio_scheduler_dup_first_task(): *on the thread that runs*",
               g_assert_null (prio_scheduler_dup_first_task (scheduler)));
  return NULL;
}

/* Asks for the numbers on a thread that runs the context. */
static gpointer
ask_all (gpointer data)
{
  PrioScheduler *scheduler = data;
  g_autoptr (PrioTask) first = NULL;
  g_autoptr (GMainContext) context = g_main_context_ref (prio_scheduler_get_context (scheduler));

  g_assert_true (g_main_context_acquire (context));
  g_assert_cmpuint (prio_scheduler_count_pending (scheduler), ==, 1);
  first = prio_scheduler_dup_first_task (scheduler);
  g_assert_nonnull (first);
  g_assert_cmpuint (statistics_of (scheduler, USER_VISIBLE).n_queued, ==, 1);
  g_main_context_release (context);
  return NULL;
}

/* While no thread runs the context, only the posting thread may ask, and others do not become owners by asking; but a thread
 * that acquires the context may ask. */
static void
test_nobody_runs (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);

  g_object_unref (prio_scheduler_post_task (scheduler, NULL, do_nothing, NULL, NULL));
  g_thread_join (g_thread_new ("asker", ask_all_elsewhere, scheduler));
  g_assert_cmpuint (prio_scheduler_count_pending (scheduler), ==, 1);
  ask_all (scheduler);
  g_thread_join (g_thread_new ("owner", ask_all, scheduler));
  ask_all_elsewhere (scheduler);
  ask_all (scheduler);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/pending/of-scheduler", test_of_scheduler);
  add_test ("/pending/boosted", test_boosted);
  add_test ("/pending/of-signal", test_of_signal);
  add_test ("/pending/elsewhere", test_elsewhere);
  g_test_add_func ("/pending/nobody-runs", test_nobody_runs);

  return g_test_run ();
}
