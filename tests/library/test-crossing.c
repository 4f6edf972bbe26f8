/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-crossing.c: two threads that change one signal at the same time */

#include "helpers.h"

/* A change that another thread makes while a change is being announced. */
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

/* The announcing thread makes the other thread's change after the announcement: no thread waits, and no change is
 * rejected.  Of several changes, the last counts. */
static void
test_change_during_a_change (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
  g_autoptr (PrioTaskSignal) follower = prio_task_signal_new_any_following (NULL, 0, signal);
  Crossing crossing = { controller, USER_BLOCKING, 0, USER_BLOCKING, 0 };
  Crossing following = { NULL, 0, 1, USER_BLOCKING, 0 };

  g_signal_connect (signal, "priority-change", G_CALLBACK (cross_once), &crossing);
  g_signal_connect (follower, "priority-change", G_CALLBACK (cross_once), &following);
  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, follower, 'f', NULL, NULL);
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

/* A change back to the announced value needs no other announcement. */
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
  gint changing; /* atomic: 1 during an announcement */
  gint last;
} Shared;

static gpointer
change_many (gpointer data)
{
  Shared *shared = data;

  for (guint i = 0; i < 20000; i++)
    {
      g_autoptr (GError) error = NULL;

      prio_task_controller_set_priority (shared->controller, BACKGROUND + i % 3, &error);
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

/* In an earlier version, a quarter of the changes was rejected. */
static void
test_many_changes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  PrioTaskSignal *signal = prio_task_controller_get_signal (controller);
  g_autoptr (PrioTaskSignal) follower = prio_task_signal_new_any_following (NULL, 0, signal);
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

/* A thread that drops an object in each round, a little after the start of the round. */
typedef struct
{
  GThread *thread;
  gint round, done; /* atomic */
  gpointer object;
  guint n_spins;
} Dropper;

#define LAST_ROUND (-1)

static void
spin (guint n)
{
  for (volatile guint i = 0; i < n; i++)
    ;
}

/* Waits for less time than a round takes, because both threads have to be awake at once. */
static void
await (gint *value, gint wanted)
{
  for (guint i = 0; g_atomic_int_get (value) != wanted; i++)
    {
      if (i > 10000)
        g_thread_yield ();
    }
}

static gpointer
drop_each (gpointer data)
{
  Dropper *self = data;

  for (gint last = 0, round; ; last = round)
    {
      for (guint i = 0; (round = g_atomic_int_get (&self->round)) == last; i++)
        {
          if (i > 10000)
            g_thread_yield ();
        }
      if (round == LAST_ROUND)
        return NULL;

      spin (self->n_spins);
      g_object_unref (g_steal_pointer (&self->object));
      g_atomic_int_set (&self->done, round);
    }
}

static void
dropper_start (Dropper *self)
{
  *self = (Dropper) { NULL };
  self->thread = g_thread_new ("dropper", drop_each, self);
}

static void
dropper_drop (Dropper *self, gint round, gpointer object, guint n_spins)
{
  self->object = object;
  self->n_spins = n_spins;
  g_atomic_int_set (&self->round, round);
}

static void
dropper_stop (Dropper *self)
{
  g_atomic_int_set (&self->round, LAST_ROUND);
  g_thread_join (self->thread);
}

static void
count (gpointer object, gint *n)
{
  g_atomic_int_inc (n);
}

static void
count_gone (gpointer data, GObject *object)
{
  g_atomic_int_inc ((gint *) data);
}

#define MAX_ROUNDS 20000
#define MAX_TIME (G_USEC_PER_SEC)

/* Returns whether to continue: for a second of rounds, with an upper limit. */
static gboolean
goes_on (gint round, gint64 start)
{
  return round <= MAX_ROUNDS && (round % 64 != 0 || g_get_monotonic_time () - start < MAX_TIME);
}

/* A dependent that is dropped while its source is aborted emits once.  In an earlier version, half of the rounds did not
 * emit. */
static void
test_drop_during_an_abort (Fixture *f, gconstpointer data)
{
  gint64 start = g_get_monotonic_time ();
  Dropper dropper;

  dropper_start (&dropper);
  for (gint round = 1; goes_on (round, start); round++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
      GCancellable *source = cancellable_of (controller);
      PrioTaskSignal *dependent = prio_task_signal_new_any (&source, 1, USER_VISIBLE);
      gint n_said = 0, n_notified = 0, n_gone = 0;

      g_signal_connect (dependent, "cancelled", G_CALLBACK (count), &n_said);
      g_signal_connect_swapped (dependent, "notify::reason", G_CALLBACK (g_atomic_int_inc), &n_notified);
      g_object_weak_ref (G_OBJECT (dependent), count_gone, &n_gone);
      dropper_drop (&dropper, round, dependent, (guint) round * 7 % 600);
      spin ((guint) round * 13 % 400);
      prio_task_controller_abort (controller, NULL);
      await (&dropper.done, round);
      fixture_run (f);

      g_assert_cmpint (n_said, ==, 1);
      g_assert_cmpint (n_notified, ==, 1);
      g_assert_cmpint (n_gone, ==, 1);
    }
  dropper_stop (&dropper);
}

/* In one thread: the source is cancelled with g_cancellable_cancel (), and the dependent dropped before it has
 * emitted. */
static void
test_drop_after_a_cancel_by_hand (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) plain = g_cancellable_new ();
  PrioTaskSignal *dependent = prio_task_signal_new_any (&plain, 1, USER_VISIBLE);
  gint n_said = 0, n_gone = 0;

  g_signal_connect (dependent, "cancelled", G_CALLBACK (count), &n_said);
  g_object_weak_ref (G_OBJECT (dependent), count_gone, &n_gone);
  g_cancellable_cancel (plain);
  g_object_unref (dependent);
  g_assert_cmpint (n_said, ==, 0);
  g_assert_cmpint (n_gone, ==, 0);

  fixture_run (f);
  g_assert_cmpint (n_said, ==, 1);
  g_assert_cmpint (n_gone, ==, 1);
}

/* A dependent is dropped while its source is finalized.  In an earlier version, the dependent was freed twice, or not at
 * all, or used afterwards. */
static void
test_drop_during_the_end_of_the_source (Fixture *f, gconstpointer data)
{
  gint64 start = g_get_monotonic_time ();
  Dropper dropper;

  dropper_start (&dropper);
  for (gint round = 1; goes_on (round, start); round++)
    {
      PrioTaskController *controller = prio_task_controller_new (USER_VISIBLE);
      GCancellable *source = cancellable_of (controller);
      PrioTaskSignal *dependent = prio_task_signal_new_any_following (&source, 1, PRIO_TASK_SIGNAL (source));
      gint n_said = 0, n_gone = 0;

      g_signal_connect (dependent, "cancelled", G_CALLBACK (count), &n_said);
      g_object_weak_ref (G_OBJECT (dependent), count_gone, &n_gone);
      dropper_drop (&dropper, round, dependent, (guint) round * 7 % 600);
      spin ((guint) round * 13 % 400);
      g_object_unref (controller);
      await (&dropper.done, round);
      fixture_run (f);

      g_assert_cmpint (n_said, ==, 0);
      g_assert_cmpint (n_gone, ==, 1);
    }
  dropper_stop (&dropper);
}

/* A follower is dropped while the priority that it follows changes.  In an earlier version, the follower kept the old
 * priority in one round of some ten thousand: two runs of three found such a round. */
static void
test_drop_during_a_change (Fixture *f, gconstpointer data)
{
  gint64 start = g_get_monotonic_time ();
  Dropper dropper;

  dropper_start (&dropper);
  for (gint round = 1; goes_on (round, start); round++)
    {
      PrioTaskController *controller = prio_task_controller_new (BACKGROUND);
      PrioTaskSignal *follower = prio_task_signal_new_any_following (NULL, 0, prio_task_controller_get_signal (controller));
      gint n_said = 0, n_notified = 0, n_gone = 0;

      g_signal_connect_swapped (follower, "priority-change", G_CALLBACK (g_atomic_int_inc), &n_said);
      g_signal_connect_swapped (follower, "notify::priority", G_CALLBACK (g_atomic_int_inc), &n_notified);
      g_object_weak_ref (G_OBJECT (follower), count_gone, &n_gone);
      dropper_drop (&dropper, round, follower, (guint) round * 7 % 600);
      spin ((guint) round * 13 % 400);
      prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
      await (&dropper.done, round);
      g_assert_cmpint (n_said, ==, 1);
      g_assert_cmpint (n_notified, ==, 1);

      g_object_unref (controller);
      fixture_run (f);
      g_assert_cmpint (n_gone, ==, 1);
    }
  dropper_stop (&dropper);
}

/* A timeout signal is dropped when its time is over.  In an earlier version, one in some hundred did not emit, or
 * leaked. */
static void
test_drop_during_a_timeout (Fixture *f, gconstpointer data)
{
  gint64 start = g_get_monotonic_time ();
  Dropper dropper;

  dropper_start (&dropper);
  for (gint round = 1; goes_on (round, start); round++)
    {
      PrioTaskSignal *timeout = prio_task_signal_new_timeout (0);
      gint n_said = 0, n_gone = 0;

      g_signal_connect (timeout, "cancelled", G_CALLBACK (count), &n_said);
      g_object_weak_ref (G_OBJECT (timeout), count_gone, &n_gone);
      dropper_drop (&dropper, round, timeout, (guint) round * 7 % 3000);
      fixture_run (f);
      await (&dropper.done, round);
      fixture_run (f);

      g_assert_cmpint (n_said, ==, 1);
      g_assert_cmpint (n_gone, ==, 1);
    }
  dropper_stop (&dropper);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/crossing/change/during-a-change", test_change_during_a_change);
  add_test ("/crossing/change/back-during-a-change", test_change_back_during_a_change);
  add_test ("/crossing/change/many", test_many_changes);

  add_test ("/crossing/drop/during-an-abort", test_drop_during_an_abort);
  add_test ("/crossing/drop/after-a-cancel-by-hand", test_drop_after_a_cancel_by_hand);
  add_test ("/crossing/drop/during-the-end-of-the-source", test_drop_during_the_end_of_the_source);
  add_test ("/crossing/drop/during-a-change", test_drop_during_a_change);
  add_test ("/crossing/drop/during-a-timeout", test_drop_during_a_timeout);

  return g_test_run ();
}
