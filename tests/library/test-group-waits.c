/* test-group-waits.c: waits for a group: who waits, what ends them, and what they cost
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "hands.h"

/* As a yield: by the reason of the abort, whoever gives it. */
static void
test_wait_fails_with_the_reason (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "another search");
  GCancellable *signal = G_CANCELLABLE (signal_of (controller));
  Hands hands = { .log = f->log };
  Waited before = { 0 }, after = { 0 };

  post_hands (group, &hands, "a", PRIO_PRIORITY_UNSET);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_DRAINED, signal, waited, &before);
  fixture_run (f);
  g_assert_cmpuint (before.n_done, ==, 0);
  prio_task_controller_abort (controller, reason);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_DRAINED, signal, waited, &after);
  g_assert_cmpuint (before.n_done + after.n_done, ==, 0);
  fixture_run (f);
  g_assert_error (before.error, G_IO_ERROR, G_IO_ERROR_BUSY);
  g_assert_error (after.error, G_IO_ERROR, G_IO_ERROR_BUSY);
  end_hands (f, &hands);
  g_assert_cmpuint (before.n_done + after.n_done, ==, 2);
  waited_clear (&before);
  waited_clear (&after);
}

/* A task that waits for its own group, some times, one way or another. */
typedef struct
{
  Fixture *f;
  PrioTaskGroup *group;
  PrioTask *task;
  guint left;
} Waiting;

static void wait_again (Waiting *waiting);

static void
waited_again (GObject *group, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, NULL, &error);
  g_assert_no_error (error);
  wait_again (data);
}

static void
wait_again (Waiting *waiting)
{
  if (waiting->left-- > 0)
    {
      g_string_append_c (waiting->f->log, 'w');
      prio_task_group_wait_async (waiting->group, PRIO_TASK_GROUP_DRAINED, NULL, waited_again, waiting);
    }
  else
    {
      prio_task_return_boolean (waiting->task, TRUE);
      g_clear_object (&waiting->task);
    }
}

static void
begin_waits (PrioTask *task, gpointer data)
{
  Waiting *waiting = data;

  waiting->task = g_object_ref (task);
  prio_task_defer (task);
  wait_again (waiting);
}

/* The second wait of a task is one of the same task. */
static void
test_second_wait (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };
  Waiting waiting = { f, group, NULL, 3 };

  g_object_unref (prio_task_group_post_task (group, NULL, begin_waits, &waiting, NULL));
  post_hands (group, &hands, "a", PRIO_PRIORITY_UNSET);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "wa");
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "waww");
  g_assert_null (waiting.task);
  g_assert_cmpuint (prio_task_group_get_n_pending (group), ==, 0);
  post_hands (group, &hands, "bc", PRIO_PRIORITY_UNSET);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "wawwb");
  end_hands (f, &hands);
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_true (prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, NULL));
  wait_again (data);
}

static void
begin_after_a_yield (PrioTask *task, gpointer data)
{
  Waiting *waiting = data;

  waiting->task = g_object_ref (task);
  prio_task_defer (task);
  prio_scheduler_yield_async (waiting->f->scheduler, NULL, yielded, waiting);
}

/* After a yield the same task waits. */
static void
test_wait_after_a_yield (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };
  Waiting waiting = { f, group, NULL, 2 };

  g_object_unref (prio_task_group_post_task (group, NULL, begin_after_a_yield, &waiting, NULL));
  post_hands (group, &hands, "a", PRIO_PRIORITY_UNSET);
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "waw");
  g_assert_null (waiting.task);
  g_assert_cmpuint (prio_task_group_get_n_pending (group), ==, 0);
}

static void
wait_here (gpointer data)
{
  Waiting *waiting = data;

  prio_task_group_wait_async (waiting->group, PRIO_TASK_GROUP_DRAINED, NULL, waited_again, waiting);
}

static void
begin_in_a_nested_loop (PrioTask *task, gpointer data)
{
  Waiting *waiting = data;

  waiting->task = g_object_ref (task);
  prio_task_defer (task);
  g_main_context_invoke_full (waiting->f->context, G_PRIORITY_HIGH, G_SOURCE_FUNC (step_run),
                              step_new (waiting->f, 'x', NULL, NULL), step_free);
  fixture_run (waiting->f);
  wait_here (data);
}

/* What a nested main loop runs is not the task; a function that it calls is. */
static void
test_wait_in_a_function (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Waiting waiting = { f, group, NULL, 0 };

  g_object_unref (prio_task_group_post_task (group, NULL, begin_in_a_nested_loop, &waiting, NULL));
  fixture_run (f);
  g_assert_null (waiting.task);
  g_assert_cmpuint (prio_task_group_get_n_pending (group), ==, 0);
}

/* A task that is over may be what has begun a wait for the others: that is not a task's any more. */
typedef struct
{
  PrioTaskGroup *group;
  Waited wait;
} Follow;

static void
follow_up (GObject *source, GAsyncResult *result, gpointer data)
{
  Follow *follow = data;

  prio_task_group_wait_async (follow->group, PRIO_TASK_GROUP_DRAINED, NULL, waited, &follow->wait);
}

static void
end_and_follow_up (PrioTask *task, gpointer data)
{
  prio_task_then (task, follow_up, data, NULL);
}

static void
test_wait_of_a_task_that_is_over (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };
  Follow follow = { group };

  g_object_unref (prio_task_group_post_task (group, NULL, end_and_follow_up, &follow, NULL));
  post_hands (group, &hands, "ab", PRIO_PRIORITY_UNSET);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  g_assert_cmpuint (follow.wait.n_done, ==, 0);
  end_hands (f, &hands);
  g_assert_true (follow.wait.ok);
  g_assert_cmpstr (f->log->str, ==, "ab");
}

/* A task of one group that waits for another one. */
typedef struct
{
  PrioTaskGroup *other;
  PrioTaskGroupWait until;
  PrioTask *task;
  GError *error;
} Crossing;

static void
crossed (GObject *group, GAsyncResult *result, gpointer data)
{
  Crossing *crossing = data;

  prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, NULL, &crossing->error);
  prio_task_return_boolean (crossing->task, TRUE);
  g_clear_object (&crossing->task);
}

static void
cross (PrioTask *task, gpointer data)
{
  Crossing *crossing = data;

  crossing->task = g_object_ref (task);
  prio_task_defer (task);
  prio_task_group_wait_async (crossing->other, crossing->until, NULL, crossed, crossing);
}

/* Three groups whose tasks wait for each other: the wait that would close the circle fails, and all come to an end. */
static void
test_circle_of_groups (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) one = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) two = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) three = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  Crossing first = { two }, second = { three, PRIO_TASK_GROUP_ALL }, third = { one };
  Crossing again = { one }, harmless = { one, PRIO_TASK_GROUP_FIRST };
  Hands hands = { .log = f->log };

  post_hands (one, &hands, "a", PRIO_PRIORITY_UNSET);
  g_object_unref (prio_task_group_post_task (one, NULL, cross, &first, NULL));
  g_object_unref (prio_task_group_post_task (two, NULL, cross, &second, NULL));
  g_object_unref (prio_task_group_post_task (three, NULL, cross, &harmless, NULL));
  g_object_unref (prio_task_group_post_task (three, NULL, cross, &third, NULL));
  fixture_run (f);
  g_assert_error (third.error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
  g_assert_nonnull (harmless.task);
  end_hands (f, &hands);
  g_assert_no_error (first.error);
  g_assert_no_error (second.error);
  g_assert_no_error (harmless.error);
  g_assert_true (first.task == NULL && second.task == NULL && harmless.task == NULL);

  /* Once it is over, the other way round. */
  g_object_unref (prio_task_group_post_task (three, NULL, cross, &again, NULL));
  fixture_run (f);
  g_assert_no_error (again.error);
  g_assert_null (again.task);
  g_clear_error (&third.error);
}

/* Each group has one place, and one of them has a task that waits for it, too. */
static void
assert_circle (Fixture *f, PrioTaskGroupWait until, PrioTaskGroupWait until_other)
{
  g_autoptr (PrioTaskGroup) one = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) two = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Crossing first = { two, until }, second = { one, until_other };
  Hands hands = { .log = f->log };

  g_object_unref (prio_task_group_post_task (one, NULL, cross, &first, NULL));
  post_hands (one, &hands, "a", BACKGROUND);
  g_object_unref (prio_task_group_post_task (two, NULL, cross, &second, NULL));
  fixture_run (f);
  g_assert_error (second.error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
  g_assert_no_error (first.error);
  g_assert_true (first.task == NULL && second.task == NULL);
  end_hands (f, &hands);
  g_clear_error (&second.error);
}

/* Tasks of two groups that wait for each other, each in one of the four ways. */
static void
test_circles_of_all_kinds (Fixture *f, gconstpointer data)
{
  for (PrioTaskGroupWait until = PRIO_TASK_GROUP_DRAINED; until <= PRIO_TASK_GROUP_FIRST; until++)
    {
      for (PrioTaskGroupWait other = PRIO_TASK_GROUP_DRAINED; other <= PRIO_TASK_GROUP_FIRST; other++)
        assert_circle (f, until, other);
    }
}

/* Another task of the group may end a wait for the first, also over a third group. */
static void
test_no_circle_beside_a_task_that_may_end (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) one = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) two = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) three = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Crossing first = { two, PRIO_TASK_GROUP_FIRST }, second = { one, PRIO_TASK_GROUP_ANY };
  Crossing third = { three, PRIO_TASK_GROUP_ALL };
  Hands hands = { .log = f->log };

  post_hands (three, &hands, "a", PRIO_PRIORITY_UNSET);
  g_object_unref (prio_task_group_post_task (one, NULL, cross, &first, NULL));
  g_object_unref (prio_task_group_post_task (one, NULL, cross, &third, NULL));
  g_object_unref (prio_task_group_post_task (two, NULL, cross, &second, NULL));
  fixture_run (f);
  g_assert_true (first.task != NULL && second.task != NULL && third.task != NULL);
  end_hands (f, &hands);
  g_assert_true (first.task == NULL && second.task == NULL && third.task == NULL);
  g_assert_no_error (first.error);
  g_assert_no_error (second.error);
  g_assert_no_error (third.error);
}

/* The circle closes when what else could have ended a wait for any does so without success. */
static void
test_circle_closes_by_a_failure (Fixture *f, gconstpointer data)
{
  for (PrioTaskGroupWait until = PRIO_TASK_GROUP_DRAINED; until <= PRIO_TASK_GROUP_FIRST; until++)
    {
      g_autoptr (PrioTaskGroup) one = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
      g_autoptr (PrioTaskGroup) two = prio_task_group_new (f->scheduler, 3, USER_VISIBLE);
      g_autoptr (PrioTaskGroup) three = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
      Crossing first = { two, PRIO_TASK_GROUP_ANY }, second = { three, until }, third = { one, until };
      Hands hands = { .log = f->log };

      post_hands (two, &hands, "ab", PRIO_PRIORITY_UNSET);
      g_object_unref (prio_task_group_post_task (one, NULL, cross, &first, NULL));
      g_object_unref (prio_task_group_post_task (two, NULL, cross, &second, NULL));
      g_object_unref (prio_task_group_post_task (three, NULL, cross, &third, NULL));
      fixture_run (f);
      fail_hand (&hands, 'a');
      fixture_run (f);
      g_assert_true (first.task != NULL && second.task != NULL && third.task != NULL);
      fail_hand (&hands, 'b');
      fixture_run (f);
      g_assert_true (first.task == NULL && second.task == NULL && third.task == NULL);
      g_assert_error (first.error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
      g_assert_no_error (second.error);
      g_assert_no_error (third.error);
      g_clear_error (&first.error);
    }
}

/* Several tasks wait for the same one, and each of their circles has to be opened; who waits without being waited for goes on then. */
static void
test_circles_that_close_together (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) one = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) two = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) awaited = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) beside = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) all = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  Crossing first = { awaited, PRIO_TASK_GROUP_ANY }, second = { awaited, PRIO_TASK_GROUP_ANY };
  Crossing other = { awaited, PRIO_TASK_GROUP_ANY }, last = { all };
  Crossing back = { one }, back_too = { two };
  Hands hands = { .log = f->log };

  post_hands (awaited, &hands, "a", PRIO_PRIORITY_UNSET);
  g_object_unref (prio_task_group_post_task (one, NULL, cross, &first, NULL));
  g_object_unref (prio_task_group_post_task (two, NULL, cross, &second, NULL));
  g_object_unref (prio_task_group_post_task (beside, NULL, cross, &other, NULL));
  g_object_unref (prio_task_group_post_task (all, NULL, cross, &back, NULL));
  g_object_unref (prio_task_group_post_task (all, NULL, cross, &back_too, NULL));
  g_object_unref (prio_task_group_post_task (awaited, NULL, cross, &last, NULL));
  fixture_run (f);
  fail_hand (&hands, 'a');
  fixture_run (f);
  g_assert_true (first.task == NULL && second.task == NULL && other.task == NULL && last.task == NULL);
  g_assert_error (first.error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
  g_assert_error (second.error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
  g_assert_no_error (other.error);
  g_assert_no_error (last.error);
  g_clear_error (&first.error);
  g_clear_error (&second.error);
}

/* Two waits, one after the other, of which the second is for its own group. */
static void
crossed_then_waits (GObject *group, GAsyncResult *result, gpointer data)
{
  Crossing *crossing = data;

  prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, NULL, NULL);
  prio_task_group_wait_async (crossing->other, crossing->until, NULL, crossed, crossing);
}

static void
wait_for_own (PrioTask *task, gpointer data)
{
  Crossing *crossing = data;

  crossing->task = g_object_ref (task);
  prio_task_defer (task);
  prio_task_group_wait_async (g_object_get_data (G_OBJECT (crossing->other), "before"), PRIO_TASK_GROUP_DRAINED, NULL, crossed_then_waits,
                              crossing);
}

/* It closes when the task that could have ended a wait for any waits for its own group: that is the wait that fails. */
static void
test_circle_closes_by_a_wait_for_its_own (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) one = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) two = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  g_autoptr (PrioTaskGroup) before = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Crossing first = { two, PRIO_TASK_GROUP_FIRST }, second = { one, PRIO_TASK_GROUP_ANY }, own = { two };
  Hands hands = { .log = f->log };

  g_object_set_data (G_OBJECT (two), "before", before);
  post_hands (before, &hands, "a", PRIO_PRIORITY_UNSET);
  g_object_unref (prio_task_group_post_task (two, NULL, wait_for_own, &own, NULL));
  g_object_unref (prio_task_group_post_task (one, NULL, cross, &first, NULL));
  g_object_unref (prio_task_group_post_task (two, NULL, cross, &second, NULL));
  fixture_run (f);
  g_assert_true (first.task != NULL && second.task != NULL && own.task != NULL);
  end_hand (&hands, 'a');
  fixture_run (f);
  g_assert_true (first.task == NULL && second.task == NULL && own.task == NULL);
  g_assert_error (own.error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
  g_assert_no_error (first.error);
  g_assert_no_error (second.error);
  g_clear_error (&own.error);
}

static void
count_waited (GObject *group, GAsyncResult *result, gpointer data)
{
  ++*(guint *) data;
  prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, NULL, NULL);
}

static void
do_nothing (PrioTask *task, gpointer data)
{
}

/* Very many waits beside very many tasks: 2,500,000,000 steps if each task looked at each wait. */
static void
test_many_waits (Fixture *f, gconstpointer data)
{
  enum { N = 50000 };
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 8, BACKGROUND);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  guint n_waited = 0;

  for (guint i = 0; i < N; i++)
    g_object_unref (prio_task_group_post_task (group, NULL, do_nothing, NULL, NULL));
  for (guint i = 0; i < N; i++)
    prio_task_group_wait_async (group, i % 2 == 0 ? PRIO_TASK_GROUP_DRAINED : PRIO_TASK_GROUP_ALL, NULL, count_waited,
                                &n_waited);
  for (guint i = 0; i < N; i++)
    prio_task_group_wait_async (group, PRIO_TASK_GROUP_DRAINED, G_CANCELLABLE (signal_of (controller)), count_waited,
                                &n_waited);
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpuint (n_waited, ==, 2 * N);
}

static void
abort_controller (gpointer data)
{
  prio_task_controller_abort (data, NULL);
}

/* It is called after all of them have their result, and not between them. */
static void
test_waits_end_before_a_destroy_notify (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Waited all[3] = { 0 };

  g_object_unref (prio_task_group_post_task (group, NULL, do_nothing, controller, abort_controller));
  for (guint i = 0; i < 3; i++)
    prio_task_group_wait_async (group, PRIO_TASK_GROUP_ALL, i == 1 ? G_CANCELLABLE (signal_of (controller)) : NULL, waited,
                                &all[i]);
  fixture_run (f);
  g_assert_true (g_cancellable_is_cancelled (G_CANCELLABLE (signal_of (controller))));
  for (guint i = 0; i < 3; i++)
    {
      g_assert_no_error (all[i].error);
      g_assert_cmpuint (all[i].n_done, ==, 1);
      waited_clear (&all[i]);
    }
}

static void
waited_in_turn (GObject *group, GAsyncResult *result, gpointer data)
{
  Step *step = data;

  prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, NULL, NULL);
  step_run (step);
  step_free (step);
}

/* Waits that end together call back in the order in which they have begun, whatever they wait for. */
static void
test_waits_that_end_together (Fixture *f, gconstpointer data)
{
  static const PrioTaskGroupWait until[] = {
    PRIO_TASK_GROUP_FIRST, PRIO_TASK_GROUP_DRAINED, PRIO_TASK_GROUP_ANY, PRIO_TASK_GROUP_ALL, PRIO_TASK_GROUP_DRAINED,
    PRIO_TASK_GROUP_FIRST, PRIO_TASK_GROUP_ALL, PRIO_TASK_GROUP_ANY,
  };
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };

  post_hands (group, &hands, "a", PRIO_PRIORITY_UNSET);
  for (guint i = 0; i < G_N_ELEMENTS (until); i++)
    prio_task_group_wait_async (group, until[i], NULL, waited_in_turn, step_new (f, (char) ('1' + i), NULL, NULL));
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "a12345678");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/group/wait-fails-with-the-reason", test_wait_fails_with_the_reason);
  add_test ("/group/second-wait", test_second_wait);
  add_test ("/group/wait-after-a-yield", test_wait_after_a_yield);
  add_test ("/group/wait-in-a-function", test_wait_in_a_function);
  add_test ("/group/wait-of-a-task-that-is-over", test_wait_of_a_task_that_is_over);
  add_test ("/group/circle-of-groups", test_circle_of_groups);
  add_test ("/group/circles-of-all-kinds", test_circles_of_all_kinds);
  add_test ("/group/circle-closes-by-a-failure", test_circle_closes_by_a_failure);
  add_test ("/group/circles-that-close-together", test_circles_that_close_together);
  add_test ("/group/circle-closes-by-a-wait-for-its-own", test_circle_closes_by_a_wait_for_its_own);
  add_test ("/group/no-circle-beside-a-task-that-may-end", test_no_circle_beside_a_task_that_may_end);
  add_test ("/group/waits-end-before-a-destroy-notify", test_waits_end_before_a_destroy_notify);
  add_test ("/group/waits-that-end-together", test_waits_that_end_together);
  add_test ("/group/many-waits", test_many_waits);

  return g_test_run ();
}
