/* test-crossing.c: what two threads do to one signal at the same time
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "helpers.h"

/* C13: a change that another thread makes while one is being announced. */
typedef struct
{
  PrioTaskController *controller;
  PrioTaskPriority to;
  guint n_announced;
  PrioTaskPriority last, during;
} Crossing;

static gpointer
change_from_another_thread (gpointer data)
{
  Crossing *crossing = data;
  g_autoptr (GError) error = NULL;

  prio_task_controller_set_priority (crossing->controller, BACKGROUND, &error);
  g_assert_no_error (error);
  prio_task_controller_set_priority (crossing->controller, crossing->to, &error);
  g_assert_no_error (error);
  return NULL;
}

static void
cross_once (PrioTaskSignal *signal, PrioTaskPriority previous, Crossing *crossing)
{
  g_assert_cmpint (previous, ==, crossing->last);
  crossing->last = prio_task_signal_get_priority (signal);

  if (crossing->n_announced++ == 0)
    {
      g_thread_join (g_thread_new ("crosser", change_from_another_thread, crossing));
      crossing->during = prio_task_signal_get_priority (signal);
    }
}

/* It is made after the announcement, by the thread that announces: nobody waits, and
 * nobody is refused.  Of several, the last counts. */
static void
test_change_during_a_change (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
  g_autoptr (PrioTaskSignal) follower = prio_task_signal_any_following (NULL, 0, signal);
  Crossing crossing = { controller, USER_BLOCKING, 0, USER_BLOCKING, 0 };
  Crossing following = { NULL, 0, 1, USER_BLOCKING, 0 };

  g_signal_connect (signal, "priority-change", G_CALLBACK (cross_once), &crossing);
  g_signal_connect (follower, "priority-change", G_CALLBACK (cross_once), &following);
  post_with_signal (f, PRIO_PRIORITY_UNSET, follower, 'f', NULL, NULL);
  post_letter (f, USER_VISIBLE, 'v');
  post_letter (f, BACKGROUND, 'b');

  g_assert_true (prio_task_controller_set_priority (controller, USER_VISIBLE, NULL));
  g_assert_cmpint (crossing.during, ==, USER_VISIBLE);
  g_assert_cmpuint (crossing.n_announced, ==, 2);
  g_assert_cmpint (prio_task_signal_get_priority (signal), ==, USER_BLOCKING);
  g_assert_cmpint (prio_task_signal_get_priority (follower), ==, USER_BLOCKING);
  g_assert_cmpint (following.last, ==, USER_BLOCKING);

  post_letter (f, USER_BLOCKING, 'u');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "fuvb");
}

/* Back to what is being announced: nothing more is to be said. */
static void
test_change_back_during_a_change (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
  Crossing crossing = { controller, USER_VISIBLE, 0, USER_BLOCKING, 0 };

  g_signal_connect (signal, "priority-change", G_CALLBACK (cross_once), &crossing);
  g_assert_true (prio_task_controller_set_priority (controller, USER_VISIBLE, NULL));
  g_assert_cmpuint (crossing.n_announced, ==, 1);
  g_assert_cmpint (prio_task_signal_get_priority (signal), ==, USER_VISIBLE);
}

typedef struct
{
  PrioTaskController *controller;
  gint changing; /* atomic: 1 while somebody announces */
  gint last;
} Shared;

static gpointer
change_many (gpointer data)
{
  Shared *shared = data;

  for (guint i = 0; i < 20000; i++)
    {
      g_autoptr (GError) error = NULL;

      prio_task_controller_set_priority (shared->controller, i % 3, &error);
      g_assert_no_error (error);
    }
  return NULL;
}

static void
one_at_a_time (PrioTaskSignal *signal, PrioTaskPriority previous, Shared *shared)
{
  g_assert_true (g_atomic_int_compare_and_exchange (&shared->changing, 0, 1));
  g_assert_cmpint (previous, ==, shared->last);
  shared->last = prio_task_signal_get_priority (signal);
  g_atomic_int_set (&shared->changing, 0);
}

/* A quarter was refused. */
static void
test_many_changes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
  g_autoptr (PrioTaskSignal) follower = prio_task_signal_any_following (NULL, 0, signal);
  Shared shared = { controller, 0, USER_VISIBLE };
  GThread *changers[3];

  g_signal_connect (signal, "priority-change", G_CALLBACK (one_at_a_time), &shared);
  for (guint i = 0; i < G_N_ELEMENTS (changers); i++)
    changers[i] = g_thread_new ("changer", change_many, &shared);
  for (guint i = 0; i < G_N_ELEMENTS (changers); i++)
    g_thread_join (changers[i]);

  g_assert_cmpint (prio_task_signal_get_priority (signal), ==, shared.last);
  g_assert_cmpint (prio_task_signal_get_priority (follower), ==, shared.last);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/crossing/change/during-a-change", test_change_during_a_change);
  add_test ("/crossing/change/back-during-a-change", test_change_back_during_a_change);
  add_test ("/crossing/change/many", test_many_changes);

  return g_test_run ();
}
