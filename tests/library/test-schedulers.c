/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-schedulers.c: the list of live schedulers */

#include <prio-sched-watch.h>
#include "helpers.h"

/* Returns the scheduler's position in the list, or -1. */
static gint
place_of (PrioScheduler *scheduler)
{
  g_autoptr (GPtrArray) schedulers = prio_scheduler_list_all ();
  guint place;

  return g_ptr_array_find (schedulers, scheduler, &place) ? (gint) place : -1;
}

static guint
count_all (void)
{
  g_autoptr (GPtrArray) schedulers = prio_scheduler_list_all ();

  return schedulers->len;
}

/* The list begins with the oldest scheduler, of any main context, and has only schedulers with references. */
static void
test_listed (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  guint before = count_all ();
  PrioScheduler *one = prio_scheduler_new (NULL), *two = prio_scheduler_new (context), *three = prio_scheduler_new (NULL);

  g_assert_cmpint (place_of (one), ==, (gint) before);
  g_assert_cmpint (place_of (two), ==, (gint) before + 1);
  g_assert_cmpint (place_of (three), ==, (gint) before + 2);
  g_object_unref (two);
  g_assert_cmpint (place_of (three), ==, (gint) before + 1);
  g_object_unref (one);
  g_object_unref (three);
  g_assert_cmpuint (count_all (), ==, before);
}

/* The list owns references to its members. */
static void
test_held (void)
{
  PrioScheduler *scheduler = prio_scheduler_new (NULL), *pointer = scheduler;
  GPtrArray *schedulers = prio_scheduler_list_all ();

  g_object_add_weak_pointer (G_OBJECT (scheduler), (gpointer *) &pointer);
  g_object_unref (scheduler);
  g_assert_nonnull (pointer);
  g_assert_cmpint (place_of (scheduler), >=, 0);
  g_ptr_array_unref (schedulers);
  g_assert_null (pointer);
}

/* Internal schedulers of groups are not listed. */
static void
test_groups (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  guint before = count_all ();
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (scheduler, 2, USER_VISIBLE);

  g_assert_nonnull (group);
  g_assert_cmpuint (count_all (), ==, before);
}

static void
count_at_the_end (gpointer data, GObject *where_the_object_was)
{
  g_autoptr (GPtrArray) schedulers = prio_scheduler_list_all ();

  g_assert_false (g_ptr_array_find (schedulers, where_the_object_was, NULL));
  *(guint *) data = schedulers->len;
}

/* A scheduler that is about to be finalized is not listed. */
static void
test_while_it_ends (void)
{
  guint before = count_all (), n = G_MAXUINT;
  PrioScheduler *scheduler = prio_scheduler_new (NULL);

  g_object_weak_ref (G_OBJECT (scheduler), count_at_the_end, &n);
  g_object_unref (scheduler);
  g_assert_cmpuint (n, ==, before);
}

#define N_ROUNDS 2000

static gpointer
make_and_drop (gpointer stopped)
{
  for (guint i = 0; i < N_ROUNDS; i++)
    {
      g_autoptr (GMainContext) context = g_main_context_new ();
      g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);

      g_assert_cmpint (place_of (scheduler), >=, 0);
    }
  g_atomic_int_inc ((gint *) stopped);
  return NULL;
}

/* Threads make and drop schedulers while another one lists them: the last to drop a reference finalizes it. */
static void
test_threads (void)
{
  guint before = count_all ();
  gint stopped = 0;
  GThread *threads[2];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, make_and_drop, &stopped);
  while (g_atomic_int_get (&stopped) < (gint) G_N_ELEMENTS (threads))
    {
      g_autoptr (GPtrArray) schedulers = prio_scheduler_list_all ();

      for (guint i = 0; i < schedulers->len; i++)
        g_assert_nonnull (prio_scheduler_get_context (schedulers->pdata[i]));
    }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (count_all (), ==, before);
}

static void
count_notified (PrioScheduler *scheduler, GParamSpec *pspec, guint *n)
{
  ++*n;
}

/* Only a change is notified. */
static void
test_paused_is_notified (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  guint n_notified = 0;

  g_signal_connect (scheduler, "notify::paused", G_CALLBACK (count_notified), &n_notified);
  prio_scheduler_resume (scheduler);
  g_assert_cmpuint (n_notified, ==, 0);
  prio_scheduler_pause (scheduler);
  prio_scheduler_pause (scheduler);
  g_assert_cmpuint (n_notified, ==, 1);
  prio_scheduler_resume (scheduler);
  g_assert_cmpuint (n_notified, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/schedulers/listed", test_listed);
  g_test_add_func ("/schedulers/held", test_held);
  g_test_add_func ("/schedulers/groups", test_groups);
  g_test_add_func ("/schedulers/while-it-ends", test_while_it_ends);
  g_test_add_func ("/schedulers/threads", test_threads);
  g_test_add_func ("/schedulers/paused-is-notified", test_paused_is_notified);

  return g_test_run ();
}
