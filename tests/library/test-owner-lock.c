/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-owner-lock.c: at most one thread, the owner, is inside an owner lock */

#include "config.h"

#include "base/prio-owner-lock-private.h"
#include "helpers.h"

enum { N_THREADS = 4, N_TURNS = 3000, N_ENTRIES = 100 };

static gpointer
try_to_enter (gpointer lock)
{
  gboolean entered = prio_owner_lock_enter (lock);

  if (entered)
    prio_owner_lock_leave (lock);
  return GINT_TO_POINTER (entered);
}

static gboolean
another_thread_enters (PrioOwnerLock *lock)
{
  return GPOINTER_TO_INT (g_thread_join (g_thread_new ("another", try_to_enter, lock)));
}

static gpointer
own_and_enter (gpointer lock)
{
  prio_owner_lock_acquire (lock);
  return try_to_enter (lock);
}

static void
test_only_the_owner_enters (void)
{
  PrioOwnerLock lock;

  prio_owner_lock_init (&lock);
  for (guint i = 0; i < times (1000); i++)
    {
      g_assert_true (try_to_enter (&lock));
      g_assert_false (another_thread_enters (&lock));
      g_assert_nonnull (g_thread_join (g_thread_new ("owner", own_and_enter, &lock)));
      g_assert_false (prio_owner_lock_enter (&lock));
      prio_owner_lock_acquire (&lock);
    }
  prio_owner_lock_set_owner (&lock, PRIO_NO_THREAD);
  g_assert_false (prio_owner_lock_enter (&lock));
  prio_owner_lock_clear (&lock);
}

/* A new thread is a different owner, although the system reuses an ended thread's memory. */
static void
test_a_new_thread_is_another_one (void)
{
  PrioOwnerLock lock;

  prio_owner_lock_init (&lock);
  for (guint i = 0; i < times (100); i++)
    {
      g_assert_nonnull (g_thread_join (g_thread_new ("owner", own_and_enter, &lock)));
      g_assert_false (another_thread_enters (&lock));
    }
  prio_owner_lock_clear (&lock);
}

/* A thread that runs a batch enters this lock without the mutex, and every other lock with the mutex. */
static void
test_a_batch_needs_no_mutex (void)
{
  PrioOwnerLock lock, other;

  prio_owner_lock_init (&lock);
  prio_owner_lock_init (&other);
  prio_thread.dispatches = &lock;
  g_assert_true (prio_owner_lock_enter (&lock));
  g_assert_true (prio_thread.inside == &lock);
  g_assert_true (prio_lock_trylock (&lock.mutex));
  prio_lock_unlock (&lock.mutex);
  prio_owner_lock_leave (&lock);
  g_assert_null (prio_thread.inside);
  g_assert_false (another_thread_enters (&lock));

  g_assert_true (prio_owner_lock_enter (&other));
  g_assert_false (prio_lock_trylock (&other.mutex));
  prio_owner_lock_leave (&other);
  prio_thread.dispatches = NULL;
  prio_owner_lock_clear (&other);
  prio_owner_lock_clear (&lock);
}

/* Threads that enter all the time, and own the context in turn, as GMainContext allows. */
typedef struct
{
  PrioOwnerLock lock;
  PrioLock context;
  gint n_inside, n_turns; /* atomic */
  guint n_done;           /* guarded by @lock */
} Crowd;

static void
be_alone (Crowd *crowd)
{
  g_assert_cmpint (g_atomic_int_add (&crowd->n_inside, 1), ==, 0);
  crowd->n_done++;
  g_assert_true (g_atomic_int_dec_and_test (&crowd->n_inside));
}

/* Runs a batch if no other thread owns the context.  Returns whether it did. */
static gboolean
run_batch (Crowd *crowd)
{
  if (!prio_lock_trylock (&crowd->context))
    return FALSE;

  prio_owner_lock_acquire (&crowd->lock);
  prio_thread.dispatches = &crowd->lock;
  be_alone (crowd);
  prio_thread.dispatches = NULL;
  prio_lock_unlock (&crowd->context);
  return TRUE;
}

static gpointer
enter_and_take_turns (gpointer data)
{
  Crowd *crowd = data;
  guint n_done = 0;

  while (g_atomic_int_add (&crowd->n_turns, 1) < (gint) times (N_TURNS))
    {
      for (guint i = 0; i < N_ENTRIES; i++)
        {
          if (!prio_owner_lock_enter (&crowd->lock))
            continue;
          be_alone (crowd);
          prio_owner_lock_leave (&crowd->lock);
          n_done++;
        }
      n_done += run_batch (crowd);
    }
  return GUINT_TO_POINTER (n_done);
}

static void
test_crowd (void)
{
  Crowd crowd = { .context = PRIO_LOCK_INIT };
  GThread *threads[N_THREADS];
  guint n_done = 0;

  prio_owner_lock_init (&crowd.lock);
  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("crowd", enter_and_take_turns, &crowd);
  for (guint i = 0; i < N_THREADS; i++)
    n_done += GPOINTER_TO_UINT (g_thread_join (threads[i]));
  g_assert_cmpuint (crowd.n_done, ==, n_done);
  prio_owner_lock_clear (&crowd.lock);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/owner-lock/only-the-owner-enters", test_only_the_owner_enters);
  g_test_add_func ("/owner-lock/a-new-thread-is-another-one", test_a_new_thread_is_another_one);
  g_test_add_func ("/owner-lock/a-batch-needs-no-mutex", test_a_batch_needs_no_mutex);
  g_test_add_func ("/owner-lock/crowd", test_crowd);

  return g_test_run ();
}
