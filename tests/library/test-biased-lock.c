/* test-biased-lock.c: at most one thread is inside a biased lock, wherever the others are stopped
 *
 * Includes the source of the lock, in which PRIO_BIASED_LOCK_MOMENT () names the places between two steps: a test stops a
 * thread there, as the kernel may.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

enum { LOOKED, RAISED, WAITS, N_MOMENTS };

static void come_to (unsigned int moment);

#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prio-lock-private.h"

#define PRIO_BIASED_LOCK_MOMENT(name) come_to (name)
#if defined (__linux__) && !defined (PRIO_THREAD_SANITIZER)
static long call_kernel (long number, int command, int flags, int processor);
#define syscall call_kernel
#endif
#include "base/prio-biased-lock.c"
#undef syscall

#include "helpers.h"

#if defined (__linux__) && !defined (PRIO_THREAD_SANITIZER)
#include "deny-membarrier.h"
#endif

#ifdef HAVE_MEMBARRIER
/* Who has registered the process, and when that is over whether it could; atomic. */
static gpointer registers;
static enum { REGISTERS_YET, HAS_REGISTERED, IS_DENIED } registered;

static long
call_kernel (long number, int command, int flags, int processor)
{
  long result = syscall (number, command, flags, processor);

  if (command != MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
    return result;
  registers = &prio_thread;
  __atomic_store_n (&registered, result == 0 ? HAS_REGISTERED : IS_DENIED, __ATOMIC_RELEASE);
  return result;
}
#endif

/* What this thread does the next time that it comes to each moment. */
static _Thread_local GFunc at[N_MOMENTS];
static _Thread_local gpointer data_at[N_MOMENTS];

static void
come_to (unsigned int moment)
{
  GFunc func = g_steal_pointer (&at[moment]);

  if (func != NULL)
    func (data_at[moment], NULL);
}

static void
next_time (unsigned int moment, GFunc func, gpointer data)
{
  data_at[moment] = data;
  at[moment] = func;
}

/* How the former owner comes in, and who comes after the next one. */
typedef struct
{
  gboolean symmetric; /* by real barriers, from the start */
  gboolean denied;    /* membarrier () is denied meanwhile */
  gboolean forks;
} How;

static const How quickly = { FALSE }, quickly_to_fork = { .forks = TRUE };
static const How slowly = { .symmetric = TRUE }, slowly_to_fork = { .symmetric = TRUE, .forks = TRUE };
#ifdef HAVE_MEMBARRIER
static const How denied = { .denied = TRUE };
#endif

/* The main thread makes the lock and so is its owner; the next one is another thread.  `n_inside` is guarded by the lock. */
typedef struct
{
  const How *how;
  PrioBiasedLock lock;
  sem_t stopped, go, leave;
  guint n_inside;
} Meeting;

static void
stop (gpointer data, gpointer unused)
{
  Meeting *meeting = data;

  sem_post (&meeting->stopped);
  sem_wait (&meeting->go);
}

static void
let_leave (gpointer data, gpointer unused)
{
  sem_post (&((Meeting *) data)->leave);
}

static void
meeting_init (Meeting *meeting, const How *how)
{
  *meeting = (Meeting) { .how = how };
  sem_init (&meeting->stopped, 0, 0);
  sem_init (&meeting->go, 0, 0);
  sem_init (&meeting->leave, 0, 0);
  choose_barrier ();
  if (how->symmetric)
    symmetric = TRUE;
  prio_biased_lock_init (&meeting->lock);
}

static void
meeting_clear (Meeting *meeting)
{
  prio_biased_lock_clear (&meeting->lock);
  sem_destroy (&meeting->stopped);
  sem_destroy (&meeting->go);
  sem_destroy (&meeting->leave);
}

static void
freeze (PrioBiasedLock *lock)
{
  if (prio_biased_lock_freeze (lock))
    prio_biased_lock_freeze_barrier ();
  prio_biased_lock_freeze_await (lock);
}

/* Becomes the owner while the former one is about to say that it enters, and stays inside until somebody waits. */
static gpointer
come_between (gpointer data)
{
  Meeting *meeting = data;

  sem_wait (&meeting->stopped);
#ifdef HAVE_MEMBARRIER
  if (meeting->how->denied)
    g_assert_true (deny_membarrier (ENOSYS));
#endif
  prio_biased_lock_acquire (&meeting->lock);
  g_assert_true (prio_biased_lock_enter (&meeting->lock));
  meeting->n_inside++;
  sem_post (&meeting->go);

  sem_wait (&meeting->leave);
  meeting->n_inside--;
  prio_biased_lock_leave (&meeting->lock);
  return NULL;
}

/* In a process of its own, which is in a sandbox for good, or in the one mode for good. */
static void
test_stray (gconstpointer how)
{
  Meeting meeting;
  GThread *next;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }

  meeting_init (&meeting, how);
  next = g_thread_new ("next", come_between, &meeting);
  next_time (LOOKED, stop, &meeting);
  g_assert_false (prio_biased_lock_enter (&meeting.lock));

  /* Comes in only after the other one has left, which stays until this one waits. */
  next_time (WAITS, let_leave, &meeting);
  if (meeting.how->forks)
    freeze (&meeting.lock);
  else
    prio_biased_lock_acquire (&meeting.lock);
  g_assert_cmpuint (meeting.n_inside, ==, 0);

  if (meeting.how->forks)
    prio_biased_lock_thaw (&meeting.lock, FALSE);
  g_thread_join (next);
  meeting_clear (&meeting);
}

/* Threads that enter all the time, and take turns in being the owner, as those that run a context do. */
enum { N_THREADS = 3, N_TURNS = 3000, N_ENTRIES = 50 };

typedef struct
{
  PrioBiasedLock lock;
  PrioLock context;
  gint n_inside, n_turns; /* atomic */
  guint n_done;           /* guarded by the lock */
} Crowd;

static void
be_alone (Crowd *crowd)
{
  g_assert_cmpint (g_atomic_int_add (&crowd->n_inside, 1), ==, 0);
  crowd->n_done++;
  g_assert_true (g_atomic_int_dec_and_test (&crowd->n_inside));
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
          if (!prio_biased_lock_enter (&crowd->lock))
            continue;
          be_alone (crowd);
          prio_biased_lock_leave (&crowd->lock);
          n_done++;
        }
      if (prio_lock_trylock (&crowd->context))
        {
          prio_biased_lock_acquire (&crowd->lock);
          be_alone (crowd);
          prio_lock_unlock (&crowd->context);
          n_done++;
        }
    }
  return GUINT_TO_POINTER (n_done);
}

static void
test_crowd (void)
{
  Crowd crowd = { .context = PRIO_LOCK_INIT };
  GThread *threads[N_THREADS];
  guint n_done = 0;

  prio_biased_lock_init (&crowd.lock);
  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("crowd", enter_and_take_turns, &crowd);
  for (guint i = 0; i < N_THREADS; i++)
    n_done += GPOINTER_TO_UINT (g_thread_join (threads[i]));
  g_assert_cmpuint (crowd.n_done, ==, n_done);
  prio_biased_lock_clear (&crowd.lock);
}

static guint
count_records (gboolean used_only)
{
  guint n = 0;

  prio_lock_lock (&records_lock);
  for (PrioOwner *record = records; record != NULL; record = record->next)
    n += !used_only || record->used;
  prio_lock_unlock (&records_lock);
  return n;
}

static gpointer
own_and_enter (gpointer lock)
{
  prio_biased_lock_acquire (lock);
  g_assert_true (prio_biased_lock_enter (lock));
  prio_biased_lock_leave (lock);
  return NULL;
}

/* A context that is run by a new thread each time. */
static void
test_many_owners (void)
{
  guint n_owners = g_test_slow () ? 100000 : times (5000), n_records;
  PrioBiasedLock lock;

  prio_biased_lock_init (&lock);
  g_thread_join (g_thread_new ("owner", own_and_enter, &lock));
  n_records = count_records (FALSE);
  for (guint i = 0; i < n_owners; i++)
    g_thread_join (g_thread_new ("owner", own_and_enter, &lock));
  g_assert_cmpuint (count_records (FALSE), ==, n_records);
  g_assert_cmpuint (count_records (TRUE), ==, 1);
  g_assert_false (prio_biased_lock_enter (&lock));
  prio_biased_lock_clear (&lock);
}

/* The former owner, in a thread that does not end, comes and goes. */
static void
test_alternating_owners (void)
{
  PrioBiasedLock lock;

  prio_biased_lock_init (&lock);
  for (guint i = 0; i < times (1000); i++)
    {
      g_assert_true (prio_biased_lock_enter (&lock));
      prio_biased_lock_leave (&lock);
      g_thread_join (g_thread_new ("owner", own_and_enter, &lock));
      g_assert_false (prio_biased_lock_enter (&lock));
      prio_biased_lock_acquire (&lock);
    }
  prio_biased_lock_clear (&lock);
}

static void own_late (gpointer lock);
static GPrivate late = G_PRIVATE_INIT (own_late);

/* A destructor of a thread that has given back its record: in their second round all of the first are over. */
static void
own_late (gpointer data)
{
  static _Thread_local gboolean again;

  if (again)
    own_and_enter (data);
  else
    g_private_set (&late, data);
  again = TRUE;
}

static gpointer
own_and_own_late (gpointer lock)
{
  g_private_set (&late, lock);
  return own_and_enter (lock);
}

static void
test_owner_in_a_destructor (void)
{
  PrioBiasedLock lock;
  guint n_used;

  prio_biased_lock_init (&lock);
  n_used = count_records (TRUE);
  for (guint i = 0; i < 10; i++)
    g_thread_join (g_thread_new ("late", own_and_own_late, &lock));
  g_assert_cmpuint (count_records (TRUE), ==, n_used);
  prio_biased_lock_clear (&lock);
}

/* Is the owner, and comes in while another thread forks. */
static gpointer
enter_beside_fork (gpointer data)
{
  Meeting *meeting = data;

  prio_biased_lock_acquire (&meeting->lock);
  next_time (LOOKED, stop, meeting);
  next_time (RAISED, stop, meeting);
  g_assert_true (prio_biased_lock_enter (&meeting->lock));
  meeting->n_inside++;
  prio_biased_lock_leave (&meeting->lock);
  return NULL;
}

static void
let_go (gpointer data, gpointer unused)
{
  sem_post (&((Meeting *) data)->go);
}

/* It has said that it enters, sees that the lock is frozen, and waits. */
static void
test_frozen_owner (void)
{
  Meeting meeting;
  GThread *owner;

  meeting_init (&meeting, &quickly);
  owner = g_thread_new ("owner", enter_beside_fork, &meeting);
  sem_wait (&meeting.stopped);
  sem_post (&meeting.go);
  sem_wait (&meeting.stopped);

  next_time (WAITS, let_go, &meeting);
  freeze (&meeting.lock);
  g_assert_null (at[WAITS]);
  g_assert_cmpuint (meeting.n_inside, ==, 0);
  prio_biased_lock_thaw (&meeting.lock, FALSE);
  g_thread_join (owner);
  g_assert_cmpuint (meeting.n_inside, ==, 1);
  meeting_clear (&meeting);
}

G_GNUC_NORETURN static void
fail (gpointer data, gpointer unused)
{
  g_assert_not_reached ();
}

/* In the child, where nobody ever leaves. */
G_GNUC_NORETURN static void
go_on_alone (Meeting *meeting)
{
  prio_biased_lock_release_records (TRUE);
  prio_biased_lock_thaw (&meeting->lock, TRUE);
  g_assert_cmpuint (count_records (TRUE), ==, 1);

  next_time (WAITS, fail, NULL);
  own_and_enter (&meeting->lock);
#ifndef PRIO_THREAD_SANITIZER
  {
    guint n_records = count_records (FALSE);

    /* It gets the record of one that the child has not got. */
    g_thread_join (g_thread_new ("owner", own_and_enter, &meeting->lock));
    g_assert_cmpuint (count_records (FALSE), ==, n_records);
    own_and_enter (&meeting->lock);
  }
#endif
  _exit (0);
}

/* It says that it enters after the other thread has found that nobody is inside, and has not noticed yet that the
 * lock is frozen. */
static void
test_child_of_an_owner_that_enters (void)
{
  Meeting meeting;
  GThread *owner;
  int status;
  pid_t child;

  meeting_init (&meeting, &quickly);
  owner = g_thread_new ("owner", enter_beside_fork, &meeting);
  sem_wait (&meeting.stopped);
  next_time (WAITS, fail, NULL);
  freeze (&meeting.lock);
  prio_biased_lock_hold_records ();
  sem_post (&meeting.go);
  sem_wait (&meeting.stopped);
  g_assert_cmpuint (meeting.n_inside, ==, 0);

  child = fork ();
  if (child == 0)
    go_on_alone (&meeting);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 0);

  prio_biased_lock_release_records (FALSE);
  prio_biased_lock_thaw (&meeting.lock, FALSE);
  sem_post (&meeting.go);
  g_thread_join (owner);
  own_and_enter (&meeting.lock);
  g_assert_cmpuint (meeting.n_inside, ==, 1);
  at[WAITS] = NULL;
  meeting_clear (&meeting);
}

#ifdef HAVE_MEMBARRIER
static gpointer
wait_for (gpointer go)
{
  sem_wait (go);
  return NULL;
}

/* In a process of several threads the kernel takes its time to register it: the thread that makes the first lock does not wait for
 * that.  When it is over the owner needs no real barriers. */
static void
test_registers_elsewhere (void)
{
  PrioBiasedLock lock;
  GThread *thread;
  sem_t go;

  sem_init (&go, 0, 0);
  thread = g_thread_new ("another", wait_for, &go);
  prio_biased_lock_init (&lock);
  g_assert_true (prio_biased_lock_enter (&lock));
  prio_biased_lock_leave (&lock);

  while (__atomic_load_n (&registered, __ATOMIC_ACQUIRE) == REGISTERS_YET)
    g_usleep (100);
  g_assert_true (registers != &prio_thread);
  while (registered == HAS_REGISTERED && __atomic_load_n (&symmetric, __ATOMIC_ACQUIRE))
    g_usleep (100);
  prio_biased_lock_acquire (&lock);
  g_assert_cmpint (prio_biased_lock_enter_quickly (&lock), ==, registered == HAS_REGISTERED);
  prio_biased_lock_leave (&lock);

  prio_biased_lock_clear (&lock);
  sem_post (&go);
  g_thread_join (thread);
  sem_destroy (&go);
}
#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#ifdef HAVE_MEMBARRIER
  /* It has to be the first. */
  g_test_add_func ("/biased-lock/registers-elsewhere", test_registers_elsewhere);
#endif

  g_test_add_data_func ("/biased-lock/stray/quickly", &quickly, test_stray);
  g_test_add_data_func ("/biased-lock/stray/quickly/before-fork", &quickly_to_fork, test_stray);
  g_test_add_data_func ("/biased-lock/stray/slowly", &slowly, test_stray);
  g_test_add_data_func ("/biased-lock/stray/slowly/before-fork", &slowly_to_fork, test_stray);
#ifdef HAVE_MEMBARRIER
  g_test_add_data_func ("/biased-lock/stray/membarrier-denied", &denied, test_stray);
#endif
  g_test_add_func ("/biased-lock/crowd", test_crowd);
  g_test_add_func ("/biased-lock/owners/many", test_many_owners);
  g_test_add_func ("/biased-lock/owners/alternate", test_alternating_owners);
  g_test_add_func ("/biased-lock/owners/in-a-destructor", test_owner_in_a_destructor);
  g_test_add_func ("/biased-lock/fork/owner-is-frozen", test_frozen_owner);
  g_test_add_func ("/biased-lock/fork/owner-enters", test_child_of_an_owner_that_enters);

  return g_test_run ();
}
