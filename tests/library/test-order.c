/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-order.c: the order of tasks */

#include "helpers.h"

static void
test_by_priority_then_age (Fixture *f, gconstpointer data)
{
  post_letter (f, BACKGROUND, 'a');
  post_letter (f, USER_VISIBLE, 'b');
  post_letter (f, USER_BLOCKING, 'c');
  post_letter (f, BACKGROUND, 'd');
  post_letter (f, USER_VISIBLE, 'e');
  post_letter (f, USER_BLOCKING, 'f');
  fixture_run (f);

  g_assert_cmpstr (f->log->str, ==, "cfbead");
}

static gboolean
continue_twice (gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  step->letter++;
  return step->letter < 'd' ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

/* The order of each effective priority: the table of §2.4. */
static void
test_continuations_between_priorities (Fixture *f, gconstpointer data)
{
  prio_scheduler_post (f->scheduler, BACKGROUND, continue_twice, step_new (f, 'a', NULL, NULL), step_free);
  post_letter (f, BACKGROUND, 'x');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abcx");

  g_string_truncate (f->log, 0);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, continue_twice, step_new (f, 'a', NULL, NULL), step_free);
  post_letter (f, USER_VISIBLE, 'x');
  post_letter (f, USER_BLOCKING, 'y');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "yabcx");
}

/* Tasks of another scheduler, of static queues and of a signal's queue all run by age. */
static void
test_by_age_across_schedulers_and_queues (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) mine = g_steal_pointer (&f->scheduler);
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);

  f->scheduler = mine;
  post_letter (f, USER_VISIBLE, 'a');
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'b', NULL, NULL);
  f->scheduler = other;
  post_letter (f, USER_VISIBLE, 'c');
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'd', NULL, NULL);
  f->scheduler = mine;
  post_letter (f, USER_VISIBLE, 'e');
  post_with_signal (f, USER_VISIBLE, cancellable_of (controller), 'f', NULL, NULL);
  f->scheduler = g_object_ref (other);
  fixture_run (f);

  g_assert_cmpstr (f->log->str, ==, "abcdef");
}

/* A more urgent task that is posted while another runs is chosen before waiting ones: the choice is made anew after
 * every task. */
static void
post_blocking (Step *step)
{
  post_letter (step->f, USER_BLOCKING, '!');
}

static void
test_fresh_choice_after_each_task (Fixture *f, gconstpointer data)
{
  post_letter (f, BACKGROUND, 'a');
  post_step (f, BACKGROUND, 'b', post_blocking, NULL);
  post_letter (f, BACKGROUND, 'c');
  fixture_run (f);

  g_assert_cmpstr (f->log->str, ==, "ab!c");
}

/* A given priority beats the signal's, for good; the signal still aborts. */
static void
test_given_priority_beats_signals (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);

  post_letter (f, USER_VISIBLE, 'v');
  post_with_signal (f, BACKGROUND, cancellable_of (controller), 'b', NULL, NULL);
  prio_task_controller_set_priority (controller, USER_VISIBLE, NULL);
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  post_letter (f, BACKGROUND, 'c');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "vbc");

  post_with_signal (f, BACKGROUND, cancellable_of (controller), 'x', NULL, NULL);
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "vbc");
}

/* The tasks of a signal move together, keep their age, and merge with others by age. */
static void
test_signal_moves_its_tasks_by_age (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  post_letter (f, USER_VISIBLE, 'a');
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'b', NULL, NULL);
  post_letter (f, USER_VISIBLE, 'c');
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'd', NULL, NULL);
  post_letter (f, USER_VISIBLE, 'e');
  prio_task_controller_set_priority (controller, USER_VISIBLE, NULL);
  fixture_run (f);

  g_assert_cmpstr (f->log->str, ==, "abcde");
}

static void
lower (Step *step)
{
  prio_task_controller_set_priority (step->data, BACKGROUND, NULL);
}

static void
test_signal_moves_within_a_batch (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);

  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'a', lower, controller);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'b', NULL, NULL);
  post_letter (f, USER_VISIBLE, 'c');
  post_letter (f, BACKGROUND, 'd');
  fixture_run (f);

  g_assert_cmpstr (f->log->str, ==, "acbd");
}

/* The cost of a change does not grow with the number of tasks, as a hundred thousand changes show. */
static void
test_priority_change_does_not_depend_on_length (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  const guint n_tasks = 100000, n_changes = 100001;
  guint freed = step_n_freed;

  for (guint i = 0; i < n_tasks; i++)
    post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'x', NULL, NULL);

  /* This would take 10¹⁰ steps if each change visited each task. */
  for (guint i = 0; i < n_changes; i++)
    g_assert_true (prio_task_controller_set_priority (controller, i % 2 == 0 ? USER_BLOCKING : BACKGROUND, NULL));

  prio_task_controller_abort (controller, NULL);
  g_assert_cmpuint (step_n_freed - freed, ==, n_tasks);
}

/* A slow and plain model of the queues, compared with the library. */
typedef struct
{
  guint id, order, controller;
  PrioTaskPriority priority;
} ModelTask;

static gint
compare_model_tasks (gconstpointer a, gconstpointer b)
{
  const ModelTask *x = a, *y = b;

  if (x->priority != y->priority)
    return (gint) y->priority - (gint) x->priority;
  return (gint) x->order - (gint) y->order;
}

static GArray *ran_ids;

static gboolean
note_id (gpointer data)
{
  guint id = GPOINTER_TO_UINT (data);

  g_array_append_val (ran_ids, id);
  return G_SOURCE_REMOVE;
}

static void
test_random_changes_against_a_model (Fixture *f, gconstpointer data)
{
  enum { N_CONTROLLERS = 7, N_TASKS = 300, N_ROUNDS = 100 };

  for (guint round = 0; round < N_ROUNDS; round++)
    {
      PrioTaskController *controllers[N_CONTROLLERS];
      PrioTaskPriority priorities[N_CONTROLLERS];
      g_autoptr (GArray) model = g_array_new (FALSE, FALSE, sizeof (ModelTask));

      ran_ids = g_array_new (FALSE, FALSE, sizeof (guint));
      for (guint i = 0; i < N_CONTROLLERS; i++)
        controllers[i] = prio_task_controller_new (priorities[i] = g_test_rand_int_range (BACKGROUND, USER_BLOCKING + 1));

      for (guint id = 0; id < N_TASKS; id++)
        {
          guint which = g_test_rand_int_range (0, N_CONTROLLERS);
          ModelTask task = { id, id, which, USER_VISIBLE };

          prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controllers[which]) },
                                    note_id, GUINT_TO_POINTER (id), NULL);
          g_array_append_val (model, task);

          which = g_test_rand_int_range (0, N_CONTROLLERS);
          priorities[which] = g_test_rand_int_range (BACKGROUND, USER_BLOCKING + 1);
          prio_task_controller_set_priority (controllers[which], priorities[which], NULL);
        }

      for (guint i = 0; i < N_TASKS; i++)
        {
          ModelTask *task = &g_array_index (model, ModelTask, i);
          task->priority = priorities[task->controller];
        }
      g_array_sort (model, compare_model_tasks);
      fixture_run (f);

      g_assert_cmpuint (ran_ids->len, ==, N_TASKS);
      for (guint i = 0; i < N_TASKS; i++)
        g_assert_cmpuint (g_array_index (ran_ids, guint, i), ==, g_array_index (model, ModelTask, i).id);

      g_array_unref (ran_ids);
      for (guint i = 0; i < N_CONTROLLERS; i++)
        g_object_unref (controllers[i]);
    }
}

static void
test_pause_holds_back_and_keeps_age (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);

  post_letter (f, USER_VISIBLE, 'a');
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'b', NULL, NULL);
  prio_scheduler_pause (f->scheduler);
  g_assert_true (prio_scheduler_get_paused (f->scheduler));
  post_letter (f, USER_BLOCKING, 'c');
  prio_scheduler_post (other, BACKGROUND, step_run, step_new (f, 'o', NULL, NULL), step_free);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "o");

  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  prio_scheduler_resume (f->scheduler);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "obca");
}

static void
pause_and_post_elsewhere (Step *step)
{
  prio_scheduler_pause (step->f->scheduler);
  prio_scheduler_post (step->data, USER_VISIBLE, step_run, step_new (step->f, 'o', NULL, NULL), step_free);
}

/* A task pauses its own scheduler, and resumes another. */
static void
test_pause_by_a_task (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);

  for (guint i = 0; i < 100; i++)
    post_letter (f, USER_VISIBLE, '.');
  post_step (f, USER_VISIBLE, 'p', pause_and_post_elsewhere, other);
  post_letter (f, USER_VISIBLE, 'a');
  fixture_run (f);
  g_assert_true (g_str_has_suffix (f->log->str, ".po"));

  prio_scheduler_resume (f->scheduler);
  fixture_run (f);
  g_assert_true (g_str_has_suffix (f->log->str, ".poa"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/scheduler/order/by-priority-then-age", test_by_priority_then_age);
  add_test ("/scheduler/order/continuations-between-priorities", test_continuations_between_priorities);
  add_test ("/scheduler/order/by-age-across-schedulers-and-queues", test_by_age_across_schedulers_and_queues);
  add_test ("/scheduler/order/fresh-choice-after-each-task", test_fresh_choice_after_each_task);
  add_test ("/scheduler/order/given-priority-beats-signals", test_given_priority_beats_signals);
  add_test ("/scheduler/order/signal-moves-its-tasks-by-age", test_signal_moves_its_tasks_by_age);
  add_test ("/scheduler/order/signal-moves-within-a-batch", test_signal_moves_within_a_batch);
  add_test ("/scheduler/order/priority-change-does-not-depend-on-length",
            test_priority_change_does_not_depend_on_length);
  add_test ("/scheduler/order/random-changes-against-a-model", test_random_changes_against_a_model);
  add_test ("/scheduler/order/pause-holds-back-and-keeps-age", test_pause_holds_back_and_keeps_age);
  add_test ("/scheduler/order/pause-by-a-task", test_pause_by_a_task);

  return g_test_run ();
}
