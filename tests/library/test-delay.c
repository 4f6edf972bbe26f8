/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-delay.c: delayed tasks */

#include "frozen-time.h"
#include "helpers.h"

static void
post_delayed (Fixture *f, gint priority, gpointer signal, guint64 delay, char letter)
{
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = priority, .cancellable = signal,
                                                               .delay = delay },
                            step_run, step_new (f, letter, NULL, NULL), step_free);
}

static void
run_until_length (Fixture *f, guint length)
{
  while (f->log->len < length)
    g_main_context_iteration (f->context, TRUE);
}

static void
test_by_due_time (Fixture *f, gconstpointer data)
{
  gint64 start = g_get_monotonic_time ();

  /* The slowness of this machine does not matter. */
  frozen_time = start;
  post_delayed (f, USER_VISIBLE, NULL, 60, 'c');
  post_delayed (f, USER_VISIBLE, NULL, 20, 'a');
  post_delayed (f, USER_VISIBLE, NULL, 40, 'b');
  post_delayed (f, USER_VISIBLE, NULL, 0, '0');
  frozen_time = 0;
  run_until_length (f, 4);
  g_assert_cmpstr (f->log->str, ==, "0abc");
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 60000);
}

/* A task gets its place in the queue when the delay is over. */
static void
test_age_begins_when_due (Fixture *f, gconstpointer data)
{
  post_delayed (f, USER_VISIBLE, NULL, 1, 'a');
  g_usleep (5000);
  post_letter (f, USER_VISIBLE, 'b');
  run_until_length (f, 2);
  g_assert_cmpstr (f->log->str, ==, "ba");
}

/* The priority that the signal has when the delay is over counts. */
static void
test_priority_when_due_counts (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  post_delayed (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 1, 'a');
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  g_usleep (5000);
  post_letter (f, USER_VISIBLE, 'b');
  run_until_length (f, 2);
  g_assert_cmpstr (f->log->str, ==, "ab");
}

static void
test_huge_delays_are_never (Fixture *f, gconstpointer data)
{
  static const guint64 delays[] = {
    G_MAXUINT64, G_MAXUINT64 - 1, G_MAXINT64, (guint64) G_MAXINT64 + 1, G_MAXINT64 / 1000,
    G_MAXINT64 / 1000 + 1, G_MAXUINT64 / 1000, (guint64) G_MAXUINT32 + 1, (guint64) G_MAXINT32 + 1,
  };
  guint freed = step_n_freed;

  for (guint i = 0; i < G_N_ELEMENTS (delays); i++)
    post_delayed (f, USER_BLOCKING, NULL, delays[i], 'x');
  post_delayed (f, USER_VISIBLE, NULL, 1, 'a');
  run_until_length (f, 1);
  g_assert_cmpstr (f->log->str, ==, "a");
  g_assert_cmpuint (step_n_freed - freed, ==, 1);
}

static void
test_aborted_before_due (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  for (guint i = 0; i < 1000; i++)
    post_delayed (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 1 + i * 7919 % 10, 'x');
  post_delayed (f, BACKGROUND, NULL, 12, 'a');
  prio_task_controller_abort (controller, NULL);
  run_until_length (f, 1);
  g_assert_cmpstr (f->log->str, ==, "a");
}

/* A delay that ends during a batch of less urgent tasks is noticed during the batch. */
static gboolean
work (gpointer data)
{
  Fixture *f = data;
  gint64 end = g_get_monotonic_time () + 100;

  while (g_get_monotonic_time () < end)
    ;
  return f->log->len == 0;
}

static void
test_due_within_a_batch (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_time_slice (f->scheduler, 60000);
  post_delayed (f, USER_VISIBLE, NULL, 2, 'a');
  prio_scheduler_post (f->scheduler, BACKGROUND, work, f, NULL);
  while (f->log->len == 0)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpstr (f->log->str, ==, "a");
}

static void
test_many_in_random_order (Fixture *f, gconstpointer data)
{
  g_autofree guint *delays = g_new (guint, 5000);

  for (guint i = 0; i < 5000; i++)
    {
      delays[i] = g_test_rand_int_range (1, 5);
      post_delayed (f, BACKGROUND, NULL, delays[i], '0' + delays[i]);
    }
  run_until_length (f, 5000);
  g_assert_cmpuint (f->log->len, ==, 5000);
}

/* Returns whether should_yield () returns TRUE within enough calls to notice anything; time passes meanwhile. */
static gboolean
is_told (PrioScheduler *scheduler)
{
  for (guint i = 0; i < 10000; i++)
    {
      frozen_time++;
      if (prio_scheduler_should_yield (scheduler))
        return TRUE;
    }
  return FALSE;
}

static void
ask_beside_a_paused_one (Step *step)
{
  PrioScheduler *other = step->data;

  g_assert_false (is_told (step->f->scheduler));
  prio_scheduler_resume (other);
  g_assert_true (is_told (step->f->scheduler));
}

/* A task of a paused scheduler does not cause a yield; after a resume, its delay counts as before. */
static void
test_due_but_paused (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);

  frozen_time = g_get_monotonic_time ();
  prio_scheduler_set_time_slice (f->scheduler, 60000);
  for (guint delay = 0; delay <= 2; delay += 2)
    {
      prio_scheduler_pause (other);
      prio_scheduler_post_full (other, &(PrioTaskOptions) { .priority = USER_BLOCKING, .delay = delay }, step_run,
                                step_new (f, 'b', NULL, NULL), step_free);
      post_step (f, BACKGROUND, 'a', ask_beside_a_paused_one, other);
      fixture_run (f);
    }
  g_assert_cmpstr (f->log->str, ==, "abab");
  frozen_time = 0;
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/delay/by-due-time", test_by_due_time);
  add_test ("/delay/age-begins-when-due", test_age_begins_when_due);
  add_test ("/delay/priority-when-due-counts", test_priority_when_due_counts);
  add_test ("/delay/huge-ones-are-never", test_huge_delays_are_never);
  add_test ("/delay/aborted-before-due", test_aborted_before_due);
  add_test ("/delay/due-within-a-batch", test_due_within_a_batch);
  add_test ("/delay/due-but-paused", test_due_but_paused);
  add_test ("/delay/many-in-random-order", test_many_in_random_order);

  return g_test_run ();
}
