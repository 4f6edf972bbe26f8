/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-group.c: groups of tasks with a limit */

#include "hands.h"

/* A task counts until it has its result. */
static void
test_limit (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 3, BACKGROUND);
  Hands hands = { .log = f->log };

  post_hands (group, &hands, "abcdefgh", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abc");
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 8);

  end_hand (&hands, 'b');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abcd");

  prio_task_group_set_limit (group, 5);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abcdef");
  prio_task_group_set_limit (group, 1);
  end_hand (&hands, 'a');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abcdef");

  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "abcdefgh");
  g_assert_cmpuint (hands.max_running, ==, 5);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
}

/* The next task is chosen when a place is free, by the priorities at that time. */
static void
test_urgency_counts_up_to_the_last_moment (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  g_autoptr (PrioTaskController) row = prio_task_controller_new (BACKGROUND);
  Hands hands = { .log = f->log };

  post_hands (group, &hands, "abc", PRIO_TASK_PRIORITY_UNSET);
  post_hands (group, &hands, "v", USER_VISIBLE);
  g_object_unref (post_hand (group, &hands, 'r', PRIO_TASK_PRIORITY_UNSET, prio_task_controller_get_signal (row)));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "v");

  prio_task_controller_set_priority (row, USER_BLOCKING, NULL);
  end_hand (&hands, 'v');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "vr");

  post_letter (f, USER_VISIBLE, 'V');
  end_hand (&hands, 'r');
  g_assert_true (prio_task_group_set_priority (group, USER_BLOCKING, NULL));
  g_assert_cmpint (prio_task_group_get_priority (group), ==, USER_BLOCKING);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "vraV");
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "vraVbc");
}

static void
change_again (PrioTaskSignal *signal G_GNUC_UNUSED, PrioTaskPriority previous G_GNUC_UNUSED, PrioTaskGroup *group)
{
  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (prio_task_group_set_priority (group, priority, &error));
      g_assert_error (error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
    }
}

/* As with a controller, a change fails while another one is being announced, even a change to the current priority. */
static void
test_no_change_within_a_change (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);

  g_signal_connect (prio_task_group_get_signal (group), "priority-change", G_CALLBACK (change_again), group);
  g_assert_true (prio_task_group_set_priority (group, USER_VISIBLE, NULL));
  g_assert_true (prio_task_group_set_priority (group, USER_VISIBLE, NULL));
}

static void
count_notified (GObject *object, GParamSpec *pspec, guint *n)
{
  ++*n;
}

/* The pending property is notified once for a burst. */
static void
test_pending_is_notified (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, BACKGROUND);
  Hands hands = { .log = f->log };
  guint n_notified = 0, pending = 0;

  g_signal_connect (group, "notify::n-tasks", G_CALLBACK (count_notified), &n_notified);
  post_hands (group, &hands, "abcdef", PRIO_TASK_PRIORITY_UNSET);
  g_object_get (group, "n-tasks", &pending, NULL);
  g_assert_cmpuint (pending, ==, 6);
  fixture_run (f);
  g_assert_cmpuint (n_notified, ==, 1);

  end_hand (&hands, 'a');
  fixture_run (f);
  g_assert_cmpuint (n_notified, ==, 2);
  prio_task_group_cancel_pending (group);
  fixture_run (f);
  g_assert_cmpuint (n_notified, ==, 3);
  g_assert_cmpstr (f->log->str, ==, "abc");
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 2);
  end_hands (f, &hands);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
}

/* After an abort the group has another signal, and notifies the property "signal". */
static void
test_signal_is_notified (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  g_autoptr (PrioTaskSignal) before = g_object_ref (prio_task_group_get_signal (group));
  guint n_notified = 0;

  g_signal_connect (group, "notify::signal", G_CALLBACK (count_notified), &n_notified);
  prio_task_group_abort (group, NULL);
  g_assert_cmpuint (n_notified, ==, 1);
  g_assert_true (prio_task_group_get_signal (group) != before);
}

/* An abort drops queued tasks, and the group can be used further. */
static void
test_abort_and_go_on (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "another search");
  g_autoptr (GCancellable) own = g_cancellable_new ();
  Hands hands = { .log = f->log };
  g_autoptr (PrioTask) running = post_hand (group, &hands, 'a', PRIO_TASK_PRIORITY_UNSET, NULL);
  g_autoptr (PrioTask) with_signal = post_hand (group, &hands, 'b', PRIO_TASK_PRIORITY_UNSET, own);
  g_autoptr (PrioTask) queued = post_hand (group, &hands, 'c', PRIO_TASK_PRIORITY_UNSET, NULL);
  g_autoptr (PrioTaskSignal) before = g_object_ref (prio_task_group_get_signal (group));

  fixture_run (f);
  prio_task_group_abort (group, reason);
  g_assert_true (prio_task_signal_is_aborted (before));
  g_assert_false (prio_task_signal_is_aborted (prio_task_group_get_signal (group)));
  g_assert_cmpint (prio_task_get_state (queued), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_error (prio_task_get_error (queued), G_IO_ERROR, G_IO_ERROR_BUSY);
  g_assert_cmpint (prio_task_get_state (running), ==, PRIO_TASK_STATE_RUNNING);
  g_assert_true (g_cancellable_is_cancelled (prio_task_get_cancellable (running)));
  g_assert_true (g_cancellable_is_cancelled (prio_task_get_cancellable (with_signal)));
  g_assert_false (g_cancellable_is_cancelled (own));

  post_hands (group, &hands, "d", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
  end_hand (&hands, 'a');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abd");
  end_hands (f, &hands);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
}

static void
do_nothing (PrioTask *task, gpointer data)
{
}

static void
post_another (gpointer group)
{
  PrioTaskGroup *self = group;

  if (prio_task_group_get_n_tasks (self) < 10)
    g_object_unref (prio_task_group_post_task (self, NULL, do_nothing, NULL, NULL));
}

/* Tasks that destroy notifies post during an abort, or a cancel, wait for their turn. */
static void
test_posts_from_destroy_notifies (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };

  post_hands (group, &hands, "a", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  for (guint i = 0; i < 3; i++)
    g_object_unref (prio_task_group_post_task (group, NULL, hand_begin, group, post_another));
  prio_task_group_cancel_pending (group);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), >=, 1);
  prio_task_group_cancel_pending (group);
  fixture_run (f);
  end_hands (f, &hands);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
}

/* Tasks with an immediate result take places too, one after the other, with continuations of others between. */
static void
test_short_tasks (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);

  for (char letter = 'a'; letter <= 'e'; letter++)
    g_object_unref (prio_task_group_post_task (group, NULL, step_run_task, step_new (f, letter, NULL, NULL), step_free));
  post_letter (f, USER_BLOCKING, 'B');
  post_letter (f, BACKGROUND, 'G');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "BabcdeG");
}

static void
test_paused (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  Hands hands = { .log = f->log };

  prio_scheduler_pause (f->scheduler);
  post_hands (group, &hands, "abc", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "");
  prio_scheduler_resume (f->scheduler);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
  prio_scheduler_pause (f->scheduler);
  end_hand (&hands, 'a');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
  prio_scheduler_resume (f->scheduler);
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "abc");

  /* No reference to the scheduler is left to resume it. */
  prio_scheduler_pause (f->scheduler);
  post_hands (group, &hands, "d", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  g_clear_object (&f->scheduler);
  g_assert_null (prio_task_group_dup_scheduler (group));
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "abcd");
}

/* Only its tasks hold the group. */
static void
test_tasks_keep_the_group (Fixture *f, gconstpointer data)
{
  PrioTaskGroup *group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };

  g_object_add_weak_pointer (G_OBJECT (group), (gpointer *) &group);
  post_hands (group, &hands, "abc", PRIO_TASK_PRIORITY_UNSET);
  g_object_unref (group);
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "abc");
  g_assert_null (group);

  group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_object_add_weak_pointer (G_OBJECT (group), (gpointer *) &group);
  post_hands (group, &hands, "abc", PRIO_TASK_PRIORITY_UNSET);
  g_object_unref (group);
  fixture_drop_context (f);
  g_assert_null (group);
}

static void
test_wait (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Hands hands = { .log = f->log };
  Waited drained = { 0 }, all = { 0 }, any = { 0 }, first = { 0 }, given_up = { 0 };

  post_hands (group, &hands, "abc", PRIO_TASK_PRIORITY_UNSET);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, waited, &drained);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, cancellable, waited, &given_up);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_ALL, NULL, waited, &all);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_ANY, NULL, waited, &any);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_FIRST, NULL, waited, &first);
  g_cancellable_cancel (cancellable);
  fixture_run (f);
  g_assert_cmpuint (given_up.n_done, ==, 1);
  g_assert_error (given_up.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (drained.n_done + all.n_done + any.n_done + first.n_done, ==, 0);

  fail_hand (&hands, 'a');
  fixture_run (f);
  g_assert_true (first.ok && !all.ok);
  g_assert_cmpint (prio_task_get_state (first.task), ==, PRIO_TASK_STATE_FAILED);
  g_assert_error (all.error, G_IO_ERROR, G_IO_ERROR_BUSY);
  g_assert_cmpuint (drained.n_done + any.n_done, ==, 0);

  end_hand (&hands, 'b');
  fixture_run (f);
  g_assert_true (any.ok);
  g_assert_true (prio_task_propagate_boolean (any.task, NULL));
  g_assert_cmpuint (drained.n_done, ==, 0);

  end_hands (f, &hands);
  g_assert_true (drained.ok);
  g_assert_null (drained.task);
  g_assert_cmpuint (drained.n_done + all.n_done + any.n_done + first.n_done + given_up.n_done, ==, 5);
  waited_clear (&all);
  waited_clear (&any);
  waited_clear (&first);
  waited_clear (&given_up);
}

static void
test_wait_for_an_empty_group (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);

  for (guint until = PRIO_TASK_GROUP_WAIT_DRAINED; until <= PRIO_TASK_GROUP_WAIT_FIRST; until++)
    {
      Waited wait = { 0 };

      prio_task_group_wait_async (group, until, NULL, waited, &wait);
      g_assert_cmpuint (wait.n_done, ==, 0);
      fixture_run (f);
      g_assert_cmpuint (wait.n_done, ==, 1);
      g_assert_cmpint (wait.ok, ==, until <= PRIO_TASK_GROUP_WAIT_ALL);
      if (!wait.ok)
        g_assert_error (wait.error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
      waited_clear (&wait);
    }
}

static void
other_waited (GObject *group, GAsyncResult *result, gpointer task)
{
  g_assert_true (prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, NULL, NULL));
  prio_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

static void
wait_for_the_others (PrioTask *task, gpointer group)
{
  prio_task_defer (task);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, other_waited, g_object_ref (task));
}

/* Tasks that wait for their own group end: two of them wait, with one place for all. */
static void
test_group_that_waits_for_itself (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };
  Waited drained = { 0 };

  for (guint i = 0; i < 2; i++)
    g_object_unref (prio_task_group_post_task (group, NULL, wait_for_the_others, group, NULL));
  post_hands (group, &hands, "ab", PRIO_TASK_PRIORITY_UNSET);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, waited, &drained);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  end_hand (&hands, 'a');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
  g_assert_cmpuint (drained.n_done, ==, 0);
  end_hands (f, &hands);
  g_assert_cmpuint (drained.n_done, ==, 1);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);

  /* All of its places are free again. */
  post_hands (group, &hands, "cd", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abc");
  end_hands (f, &hands);
}

static gpointer
post_elsewhere (gpointer group)
{
  g_assert_null (prio_task_group_post_task (group, NULL, do_nothing, NULL, NULL));
  return NULL;
}

static gboolean
use_elsewhere (gpointer group)
{
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*belongs to the thread that runs*");
  g_thread_join (g_thread_new ("another", post_elsewhere, group));
  g_test_assert_expected_messages ();
  return G_SOURCE_REMOVE;
}

static void
count_run (PrioTask *task G_GNUC_UNUSED, gpointer n_ran)
{
  g_atomic_int_inc ((gint *) n_ran);
}

typedef struct
{
  PrioTaskGroup *group; /* owned */
  gint *n_ran;          /* atomic */
} Made;

enum { N_MADE = 200, N_EACH = 3 };

static gboolean
use_and_drop (gpointer data)
{
  Made *made = data;

  for (guint i = 0; i < N_EACH; i++)
    g_object_unref (prio_task_group_post_task (made->group, NULL, count_run, made->n_ran, NULL));
  prio_task_group_set_limit (made->group, 1);
  g_object_unref (made->group);
  return G_SOURCE_REMOVE;
}

/* Any thread may create a group, and pass it to the thread that runs the main context. */
static void
test_made_on_another_thread (Fixture *f G_GNUC_UNUSED, gconstpointer data)
{
  Worker worker;
  gint n_ran = 0;

  worker_start (&worker);
  for (guint i = 0; i < N_MADE; i++)
    {
      Made made = { prio_task_group_new (worker.scheduler, 2, USER_VISIBLE), &n_ran };

      g_object_unref (prio_task_group_new (worker.scheduler, 1, BACKGROUND));
      prio_scheduler_post (worker.scheduler, USER_VISIBLE, use_and_drop, g_memdup2 (&made, sizeof made), g_free);
    }
  while (g_atomic_int_get (&n_ran) < N_MADE * N_EACH)
    g_thread_yield ();
  worker_stop (&worker);
}

static void
test_bad_input (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);

  if (!HAS_CHECKS)
    return;

  assert_told ("*with a limit of 0 no task would ever run*",
               g_assert_null (prio_task_group_new (f->scheduler, 0, USER_VISIBLE)));
  assert_told ("*with a limit of 0 no task would ever run*", prio_task_group_set_limit (group, 0));
  /* GLib's own message, which was a warning in 2.74 and is critical in 2.84. */
  g_test_expect_message ("GLib-GObject", glib_check_version (2, 80, 0) == NULL ? G_LOG_LEVEL_CRITICAL : G_LOG_LEVEL_WARNING,
                         "*\"0\"*property 'limit'*");
  g_object_set (group, "limit", 0, NULL);
  g_test_assert_expected_messages ();
  g_assert_cmpuint (prio_task_group_get_limit (group), ==, 1);
  assert_told ("*300 is not a PrioTaskPriority*", g_assert_null (prio_task_group_new (f->scheduler, 1, 300)));
  assert_told ("*NULL is not a PrioScheduler*", g_assert_null (prio_task_group_new (NULL, 1, USER_VISIBLE)));
  assert_told ("*func is NULL*", g_assert_null (prio_task_group_post_task (group, NULL, NULL, NULL, NULL)));
  prio_scheduler_post (f->scheduler, USER_VISIBLE, use_elsewhere, group, NULL);
  fixture_run (f);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
}

static void
test_used_when_the_context_has_gone (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);

  fixture_drop_context (f);
  g_assert_null (prio_task_group_dup_scheduler (group));
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
  if (!HAS_CHECKS)
    return;
  assert_told ("*the main context of the group's scheduler has gone*",
               g_assert_null (prio_task_group_post_task (group, NULL, do_nothing, NULL, NULL)));
  assert_told ("*the main context of the group's scheduler has gone*", prio_task_group_abort (group, NULL));
  assert_told ("*the main context of the group's scheduler has gone*", prio_task_group_cancel_pending (group));
}

/* Tasks of the group with the same signal share a signal that depends on both, as long as it can abort them. */
static PrioTask *
post_under (PrioTaskGroup *group, GCancellable *own)
{
  return prio_task_group_post_task (group, &(PrioTaskOptions) { .cancellable = own }, do_nothing, NULL, NULL);
}

static void
test_tasks_with_the_same_signal (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) other_group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *own = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  g_autoptr (PrioTask) one = post_under (group, own), two = post_under (group, own);
  g_autoptr (PrioTask) elsewhere = post_under (other_group, own), three = post_under (group, plain), four = NULL;

  g_assert_true (prio_task_get_cancellable (one) == prio_task_get_cancellable (two));
  g_assert_true (prio_task_get_cancellable (one) != prio_task_get_cancellable (elsewhere));
  g_assert_true (prio_task_get_cancellable (one) != prio_task_get_cancellable (three));
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  g_assert_cmpint (prio_task_get_priority (two), ==, USER_BLOCKING);

  prio_task_group_abort (group, NULL);
  g_assert_true (prio_task_get_state (one) >= PRIO_TASK_STATE_FULFILLED && prio_task_get_state (two) >= PRIO_TASK_STATE_FULFILLED && prio_task_get_state (three) >= PRIO_TASK_STATE_FULFILLED);
  g_assert_false (prio_task_get_state (elsewhere) >= PRIO_TASK_STATE_FULFILLED);
  g_set_object (&one, NULL);
  one = post_under (group, own);
  g_assert_false (prio_task_get_state (one) >= PRIO_TASK_STATE_FULFILLED);
  g_assert_true (prio_task_get_cancellable (one) != prio_task_get_cancellable (two));

  g_cancellable_cancel (plain);
  g_cancellable_reset (plain);
  four = post_under (group, plain);
  g_assert_false (g_cancellable_is_cancelled (prio_task_get_cancellable (four)));
  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (one), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpint (prio_task_get_state (four), ==, PRIO_TASK_STATE_FULFILLED);
}

/* A new signal at the address of a freed one is not mistaken for it. */
static void
test_signals_one_after_another (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (GPtrArray) signals = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < 100; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
      g_autoptr (PrioTask) task = post_under (group, G_CANCELLABLE (prio_task_controller_get_signal (controller)));

      g_ptr_array_add (signals, g_object_ref (prio_task_get_cancellable (task)));
      fixture_run (f);
      g_clear_object (&task);
      prio_task_controller_abort (controller, NULL);
      g_assert_true (g_cancellable_is_cancelled (signals->pdata[i]));
    }
}

/* The time to find and drop one of very many tasks does not depend on their number. */
static void
test_many (Fixture *f, gconstpointer data)
{
  enum { N = 100000 };
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 8, BACKGROUND);
  Hands hands = { .log = f->log };

  post_hands (group, &hands, "abcdefgh", PRIO_TASK_PRIORITY_UNSET);
  for (guint i = 0; i < N; i++)
    g_object_unref (prio_task_group_post_task (group, NULL, hand_begin, NULL, NULL));
  fixture_run (f);
  prio_task_group_cancel_pending (group);
  for (guint i = 0; i < N; i++)
    g_object_unref (prio_task_group_post_task (group, NULL, hand_begin, NULL, NULL));
  prio_task_group_abort (group, NULL);
  end_hands (f, &hands);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/group/limit", test_limit);
  add_test ("/group/urgency-counts-up-to-the-last-moment", test_urgency_counts_up_to_the_last_moment);
  add_test ("/group/no-change-within-a-change", test_no_change_within_a_change);
  add_test ("/group/pending-is-notified", test_pending_is_notified);
  add_test ("/group/signal-is-notified", test_signal_is_notified);
  add_test ("/group/abort-and-go-on", test_abort_and_go_on);
  add_test ("/group/posts-from-destroy-notifies", test_posts_from_destroy_notifies);
  add_test ("/group/short-tasks", test_short_tasks);
  add_test ("/group/paused", test_paused);
  add_test ("/group/tasks-keep-the-group", test_tasks_keep_the_group);
  add_test ("/group/wait", test_wait);
  add_test ("/group/wait-for-an-empty-group", test_wait_for_an_empty_group);
  add_test ("/group/group-that-waits-for-itself", test_group_that_waits_for_itself);
  add_test ("/group/made-on-another-thread", test_made_on_another_thread);
  add_test ("/group/bad-input", test_bad_input);
  add_test ("/group/used-when-the-context-has-gone", test_used_when_the_context_has_gone);
  add_test ("/group/tasks-with-the-same-signal", test_tasks_with_the_same_signal);
  add_test ("/group/signals-one-after-another", test_signals_one_after_another);
  add_test ("/group/many", test_many);

  return g_test_run ();
}
