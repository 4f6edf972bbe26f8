/* test-sandbox.c: a program that enters a sandbox without membarrier(2) after it has made its schedulers
 *
 * Each test runs in a process of its own, because a process cannot leave the sandbox.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "helpers.h"

#include "deny-membarrier.h"

enum { N_CONTEXTS = 10, MAX_POSTS = 200000 };

/* Runs the calling test again in a process of its own; returns TRUE there, in the sandbox no earlier than
 * deny_membarrier () is called. */
static gboolean
in_a_process (void)
{
  if (g_test_subprocess ())
    return TRUE;

  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed ();
  return FALSE;
}

static gpointer
run_fixture (gpointer f)
{
  fixture_run (f);
  return NULL;
}

/* Until now, the owner thread entered without barriers. */
static void
test_entered_late (Fixture *f, gconstpointer error)
{
  if (!in_a_process ())
    return;

  /* The other thread has to own it. */
  g_main_context_pop_thread_default (f->context);
  post_letter (f, BACKGROUND, '1');
  g_assert_true (deny_membarrier (GPOINTER_TO_INT (error)));
  post_letter (f, USER_BLOCKING, '2');
  g_thread_join (g_thread_new ("runs", run_fixture, f));
  g_assert_cmpstr (f->log->str, ==, "21");

  /* And back, and with what is made from now on. */
  post_letter (f, BACKGROUND, '3');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "213");
  g_thread_join (g_thread_new ("runs", run_fixture, f));
  g_main_context_push_thread_default (f->context);
}

/* A thread that owns many contexts, and posts to one after another. */
typedef struct
{
  GMainContext *contexts[N_CONTEXTS];
  PrioScheduler *schedulers[N_CONTEXTS];
  gint current; /* where it posts, or N_CONTEXTS */
  gint n_posted;
  gint n_run; /* by whoever runs tasks */
} Busy;

static gboolean
count_run (gpointer n)
{
  ++*(gint *) n;
  return G_SOURCE_REMOVE;
}

static gpointer
post_to_each (gpointer data)
{
  Busy *busy = data;

  for (guint i = 0; i < N_CONTEXTS; i++)
    g_main_context_iteration (busy->contexts[i], FALSE);

  for (gint i = 0; i < N_CONTEXTS; i++)
    {
      while (g_atomic_int_get (&busy->current) < i)
        g_thread_yield ();
      while (g_atomic_int_get (&busy->current) == i && g_atomic_int_get (&busy->n_posted) < (i + 1) * MAX_POSTS)
        {
          prio_scheduler_post (busy->schedulers[i], BACKGROUND, count_run, &busy->n_run, NULL);
          g_atomic_int_inc (&busy->n_posted);
        }
    }
  return NULL;
}

/* It is inside now and then when the context is taken over, and nothing tells. */
static void
test_entered_late_beside_a_busy_thread (Fixture *f, gconstpointer data)
{
  Busy busy = { .current = -1 };
  GThread *thread;

  if (!in_a_process ())
    return;

  for (guint i = 0; i < N_CONTEXTS; i++)
    {
      busy.contexts[i] = g_main_context_new ();
      busy.schedulers[i] = prio_scheduler_new (busy.contexts[i]);
      prio_scheduler_set_time_slice (busy.schedulers[i], G_MAXUINT);
    }
  thread = g_thread_new ("busy", post_to_each, &busy);
  g_atomic_int_inc (&busy.current);
  while (g_atomic_int_get (&busy.n_posted) == 0)
    g_thread_yield ();
  g_assert_true (deny_membarrier (EPERM));

  for (gint i = 0, n = 0; i < N_CONTEXTS; i++)
    {
      while (g_atomic_int_get (&busy.n_posted) == n)
        g_thread_yield ();
      g_main_context_iteration (busy.contexts[i], FALSE);
      n = g_atomic_int_get (&busy.n_posted);
      g_atomic_int_inc (&busy.current);
    }
  g_thread_join (thread);

  for (guint i = 0; i < N_CONTEXTS; i++)
    {
      while (g_main_context_iteration (busy.contexts[i], FALSE))
        ;
      g_object_unref (busy.schedulers[i]);
      g_main_context_unref (busy.contexts[i]);
    }
  g_assert_cmpint (busy.n_run, ==, busy.n_posted);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add ("/sandbox/entered-late/not-permitted", Fixture, GINT_TO_POINTER (EPERM), fixture_set_up, test_entered_late,
              fixture_tear_down);
  g_test_add ("/sandbox/entered-late/not-known", Fixture, GINT_TO_POINTER (ENOSYS), fixture_set_up, test_entered_late,
              fixture_tear_down);
  add_test ("/sandbox/entered-late/beside-a-busy-thread", test_entered_late_beside_a_busy_thread);

  return g_test_run ();
}
