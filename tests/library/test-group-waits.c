/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-group-waits.c: waits for a group: their tasks, their ends, and their cost */

#include "hands.h"

/* A wait, like a yield, fails with the reason of the abort. */
static void
test_wait_fails_with_the_reason (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "another search");
  GCancellable *signal = cancellable_of (controller);
  Hands hands = { .log = f->log };
  Waited before = { 0 }, after = { 0 };

  post_hands (group, &hands, "a", PRIO_TASK_PRIORITY_UNSET);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, signal, waited, &before);
  fixture_run (f);
  g_assert_cmpuint (before.n_done, ==, 0);
  prio_task_controller_abort (controller, reason);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, signal, waited, &after);
  g_assert_cmpuint (before.n_done + after.n_done, ==, 0);
  fixture_run (f);
  g_assert_error (before.error, G_IO_ERROR, G_IO_ERROR_BUSY);
  g_assert_error (after.error, G_IO_ERROR, G_IO_ERROR_BUSY);
  end_hands (f, &hands);
  g_assert_cmpuint (before.n_done + after.n_done, ==, 2);
  waited_clear (&before);
  waited_clear (&after);
}

/* A task that waits for its own group several times, in different ways. */
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
      prio_task_group_wait_async (waiting->group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, waited_again, waiting);
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

/* A second wait of a task belongs to the same task. */
static void
test_second_wait (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };
  Waiting waiting = { f, group, NULL, 3 };

  g_object_unref (prio_task_group_post_task (group, NULL, begin_waits, &waiting, NULL));
  post_hands (group, &hands, "a", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "wa");
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "waww");
  g_assert_null (waiting.task);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
  post_hands (group, &hands, "bc", PRIO_TASK_PRIORITY_UNSET);
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
  post_hands (group, &hands, "a", PRIO_TASK_PRIORITY_UNSET);
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "waw");
  g_assert_null (waiting.task);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
}

static void
wait_here (gpointer data)
{
  Waiting *waiting = data;

  prio_task_group_wait_async (waiting->group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, waited_again, waiting);
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

/* A nested main loop's callbacks do not belong to the task; a function that it calls does. */
static void
test_wait_in_a_function (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Waiting waiting = { f, group, NULL, 0 };

  g_object_unref (prio_task_group_post_task (group, NULL, begin_in_a_nested_loop, &waiting, NULL));
  fixture_run (f);
  g_assert_null (waiting.task);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
}

/* A wait that a task started continues after the task's end, and then belongs to no task. */
typedef struct
{
  PrioTaskGroup *group;
  Waited wait;
} Follow;

static void
follow_up (GObject *source, GAsyncResult *result, gpointer data)
{
  Follow *follow = data;

  prio_task_group_wait_async (follow->group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, waited, &follow->wait);
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
  post_hands (group, &hands, "ab", PRIO_TASK_PRIORITY_UNSET);
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
  GCancellable *cancellable;
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
  prio_task_group_wait_async (crossing->other, crossing->until, crossing->cancellable, crossed, crossing);
}

/* Neither of both waits ends, nor fails, until one of them is aborted. */
static void
test_groups_that_wait_for_each_other (Fixture *f, gconstpointer data)
{
  for (PrioTaskGroupWait until = PRIO_TASK_GROUP_WAIT_DRAINED; until <= PRIO_TASK_GROUP_WAIT_FIRST; until++)
    {
      g_autoptr (PrioTaskGroup) one = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
      g_autoptr (PrioTaskGroup) two = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      Crossing first = { two, PRIO_TASK_GROUP_WAIT_DRAINED, cancellable }, second = { one, until };

      g_object_unref (prio_task_group_post_task (one, NULL, cross, &first, NULL));
      g_object_unref (prio_task_group_post_task (two, NULL, cross, &second, NULL));
      fixture_run (f);
      g_assert_true (first.task != NULL && second.task != NULL);
      g_cancellable_cancel (cancellable);
      fixture_run (f);
      g_assert_true (first.task == NULL && second.task == NULL);
      g_assert_error (first.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_no_error (second.error);
      g_clear_error (&first.error);
    }
}

static void
do_nothing (PrioTask *task, gpointer data)
{
}

static void
finish_twice (GObject *group, GAsyncResult *result, gpointer data)
{
  PrioTaskGroup *self = PRIO_TASK_GROUP (group);
  PrioTask *task = PRIO_TASK (result);
  g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "an earlier error");

  assert_told ("*error == NULL || *error == NULL*", g_assert_false (prio_task_group_wait_finish (self, result, &task, &error)));
  g_clear_error (&error);
  g_assert_true (prio_task_group_wait_finish (self, result, &task, &error));
  g_assert_no_error (error);
  g_assert_true (PRIO_IS_TASK (task));
  g_clear_object (&task);
  assert_told ("*no result any more*", g_assert_false (prio_task_group_wait_finish (self, result, &task, &error)));
  g_assert_null (task);
  g_assert_no_error (error);
}

/* A wrong call of wait_finish () returns FALSE, and a failed one sets no task. */
static void
test_wait_finished_twice (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);

  g_object_unref (prio_task_group_post_task (group, NULL, do_nothing, NULL, NULL));
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_FIRST, NULL, finish_twice, NULL);
  fixture_run (f);
}

static void
count_waited (GObject *group, GAsyncResult *result, gpointer data)
{
  ++*(guint *) data;
  prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, NULL, NULL);
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
    prio_task_group_wait_async (group, i % 2 == 0 ? PRIO_TASK_GROUP_WAIT_DRAINED : PRIO_TASK_GROUP_WAIT_ALL, NULL,
                                count_waited, &n_waited);
  for (guint i = 0; i < N; i++)
    prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, cancellable_of (controller),
                                count_waited, &n_waited);
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpuint (n_waited, ==, 2 * N);
}

static void
abort_controller (gpointer data)
{
  prio_task_controller_abort (data, NULL);
}

/* A destroy notify is called after all waits have their result, and not between them. */
static void
test_waits_end_before_a_destroy_notify (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Waited all[3] = { 0 };

  g_object_unref (prio_task_group_post_task (group, NULL, do_nothing, controller, abort_controller));
  for (guint i = 0; i < 3; i++)
    prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_ALL,
                                i == 1 ? cancellable_of (controller) : NULL, waited, &all[i]);
  fixture_run (f);
  g_assert_true (g_cancellable_is_cancelled (cancellable_of (controller)));
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

/* Waits that end together call back in the order in which they started, whatever they wait for. */
static void
test_waits_that_end_together (Fixture *f, gconstpointer data)
{
  static const PrioTaskGroupWait until[] = {
    PRIO_TASK_GROUP_WAIT_FIRST, PRIO_TASK_GROUP_WAIT_DRAINED, PRIO_TASK_GROUP_WAIT_ANY, PRIO_TASK_GROUP_WAIT_ALL,
    PRIO_TASK_GROUP_WAIT_DRAINED,
    PRIO_TASK_GROUP_WAIT_FIRST, PRIO_TASK_GROUP_WAIT_ALL, PRIO_TASK_GROUP_WAIT_ANY,
  };
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };

  post_hands (group, &hands, "a", PRIO_TASK_PRIORITY_UNSET);
  for (guint i = 0; i < G_N_ELEMENTS (until); i++)
    prio_task_group_wait_async (group, until[i], NULL, waited_in_turn, step_new (f, (char) ('1' + i), NULL, NULL));
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "a12345678");
}

/* Ends a task whose function has returned. */
static void
end_by_an_error (PrioTaskGroup *group, PrioTask *task)
{
  prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_BUSY, "the first");
}

static void
end_by_its_cancel (PrioTaskGroup *group, PrioTask *task)
{
  prio_task_cancel (task);
}

static void
end_by_an_abort_of_the_group (PrioTaskGroup *group, PrioTask *task)
{
  prio_task_group_abort (group, NULL);
}

static void (*const ends[]) (PrioTaskGroup *group, PrioTask *task) = { end_by_an_error, end_by_its_cancel, end_by_an_abort_of_the_group };

static void
begin_each_wait (PrioTaskGroup *group, Waited waits[4])
{
  for (guint i = 0; i <= PRIO_TASK_GROUP_WAIT_FIRST; i++)
    prio_task_group_wait_async (group, (PrioTaskGroupWait) i, NULL, waited, &waits[i]);
}

/* A wait sees the tasks that end after the start of the wait, and no earlier ones. */
static void
test_wait_begins_after_an_end (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 4, USER_VISIBLE);

  g_object_set (group, "return-on-abort", TRUE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      Hands hands = { .log = f->log };
      g_autoptr (PrioTask) first = post_hand (group, &hands, 'a', PRIO_TASK_PRIORITY_UNSET, NULL), second = NULL;
      Waited before[4] = { 0 }, after[4] = { 0 }, alone = { 0 };

      fixture_run (f);
      begin_each_wait (group, before);
      ends[i](group, first);
      g_assert_cmpint (prio_task_get_state (first), >=, PRIO_TASK_STATE_FULFILLED);
      prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_ANY, NULL, waited, &alone);
      second = post_hand (group, &hands, 'b', PRIO_TASK_PRIORITY_UNSET, NULL);
      begin_each_wait (group, after);
      fixture_run (f);
      g_assert_error (before[PRIO_TASK_GROUP_WAIT_ALL].error, G_IO_ERROR,
                      (i == 0 ? G_IO_ERROR_BUSY : G_IO_ERROR_CANCELLED));
      g_assert_true (before[PRIO_TASK_GROUP_WAIT_FIRST].task == first);
      for (guint j = 0; j <= PRIO_TASK_GROUP_WAIT_FIRST; j++)
        g_assert_cmpuint (after[j].n_done, ==, 0);
      g_clear_object (&hands.begun[0]);
      fail_hand (&hands, 'b');
      fixture_run (f);
      g_assert_true (after[PRIO_TASK_GROUP_WAIT_DRAINED].ok);
      g_assert_error (after[PRIO_TASK_GROUP_WAIT_ALL].error, G_IO_ERROR, G_IO_ERROR_BUSY);
      g_assert_error (after[PRIO_TASK_GROUP_WAIT_ANY].error, G_IO_ERROR, G_IO_ERROR_BUSY);
      g_assert_true (after[PRIO_TASK_GROUP_WAIT_FIRST].task == second);
      g_assert_error (alone.error, G_IO_ERROR, G_IO_ERROR_BUSY);
      for (guint j = 0; j <= PRIO_TASK_GROUP_WAIT_FIRST; j++)
        {
          g_assert_cmpuint (before[j].n_done + after[j].n_done, ==, 2);
          waited_clear (&before[j]);
          waited_clear (&after[j]);
        }
      waited_clear (&alone);
    }
}

/* Without other tasks, there is no task to wait for. */
static void
test_wait_begins_after_the_last_end (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 4, USER_VISIBLE);

  g_object_set (group, "return-on-abort", TRUE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      Hands hands = { .log = f->log };
      g_autoptr (PrioTask) task = post_hand (group, &hands, 'a', PRIO_TASK_PRIORITY_UNSET, NULL);
      Waited waits[4] = { 0 };

      fixture_run (f);
      ends[i](group, task);
      begin_each_wait (group, waits);
      fixture_run (f);
      g_assert_true (waits[PRIO_TASK_GROUP_WAIT_DRAINED].ok);
      g_assert_true (waits[PRIO_TASK_GROUP_WAIT_ALL].ok);
      g_assert_error (waits[PRIO_TASK_GROUP_WAIT_ANY].error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
      g_assert_error (waits[PRIO_TASK_GROUP_WAIT_FIRST].error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
      for (guint j = 0; j <= PRIO_TASK_GROUP_WAIT_FIRST; j++)
        waited_clear (&waits[j]);
      g_clear_object (&hands.begun[0]);
    }
}

/* A wait whose start has not been processed ends with the context. */
static void
test_wait_begins_at_the_end_of_the_context (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  gpointer left = group;
  Waited wait = { 0 };

  g_object_add_weak_pointer (G_OBJECT (group), &left);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, waited, &wait);
  fixture_drop_context (f);
  g_assert_cmpuint (wait.n_done, ==, 0);
  g_clear_object (&group);
  g_assert_null (left);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/group/wait-fails-with-the-reason", test_wait_fails_with_the_reason);
  add_test ("/group/second-wait", test_second_wait);
  add_test ("/group/wait-finished-twice", test_wait_finished_twice);
  add_test ("/group/wait-after-a-yield", test_wait_after_a_yield);
  add_test ("/group/wait-in-a-function", test_wait_in_a_function);
  add_test ("/group/wait-of-a-task-that-is-over", test_wait_of_a_task_that_is_over);
  add_test ("/group/wait-begins-after-an-end", test_wait_begins_after_an_end);
  add_test ("/group/wait-begins-after-the-last-end", test_wait_begins_after_the_last_end);
  add_test ("/group/wait-begins-at-the-end-of-the-context", test_wait_begins_at_the_end_of_the_context);
  add_test ("/group/groups-that-wait-for-each-other", test_groups_that_wait_for_each_other);
  add_test ("/group/waits-end-before-a-destroy-notify", test_waits_end_before_a_destroy_notify);
  add_test ("/group/waits-that-end-together", test_waits_that_end_together);
  add_test ("/group/many-waits", test_many_waits);

  return g_test_run ();
}
