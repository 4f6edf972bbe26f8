/* prio-biased-lock.c: a biased lock, which costs its owner thread nothing
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "base/prio-biased-lock-private.h"
#include "base/prio-lock-private.h"

#if defined (__linux__) && !defined (PRIO_THREAD_SANITIZER)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#define HAVE_MEMBARRIER 1
#endif

PRIO_TLS PrioThread prio_thread;

G_STATIC_ASSERT (G_ALIGNOF (PrioThread) > PRIO_BIASED_LOCK_FLAGS);

/* Whether both sides need real barriers; atomic.  It never becomes FALSE again. */
static gboolean symmetric = TRUE;

#ifdef HAVE_MEMBARRIER
static gboolean
membarrier (int command)
{
  return syscall (SYS_membarrier, command, 0, 0) == 0;
}

/* The child of a fork () may have to register again. */
static gboolean
register_and_membarrier (void)
{
  return membarrier (MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier (MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
#endif

static void
choose_barrier (void)
{
  static gsize chosen = 0;

  if (g_once_init_enter (&chosen))
    {
#ifdef HAVE_MEMBARRIER
      if (register_and_membarrier ())
        __atomic_store_n (&symmetric, FALSE, __ATOMIC_RELAXED);
#endif
      g_once_init_leave (&chosen, 1);
    }
}

/* Whether the owner that the word @owner names enters without a barrier, so that a new owner needs one. */
static inline gboolean
needs_barrier (gsize owner)
{
  return owner != 0 && (owner & PRIO_BIASED_LOCK_SYMMETRIC) == 0;
}

/* The new owner's barrier, after it has written `owner`.  On return it sees every store that the
 * former owner made before the former owner could read the new value. */
static void
heavy_barrier (void)
{
#ifdef HAVE_MEMBARRIER
  if (membarrier (MEMBARRIER_CMD_PRIVATE_EXPEDITED) || register_and_membarrier ())
    return;

  __atomic_store_n (&symmetric, TRUE, __ATOMIC_RELAXED);
  if (!membarrier (MEMBARRIER_CMD_GLOBAL))
    g_usleep (PRIO_BIASED_LOCK_GRACE);
#endif
}

/* The new owner checks this many times before it sleeps: an owner on another processor leaves soon. */
#define SPINS 100
/* How long it sleeps between two checks after that, µs; each sleep is twice as long as the one before. */
#define MIN_SLEEP 20
#define MAX_SLEEP 1000

/* Sleeps, so that a former owner of lower priority makes progress even if both share a
 * processor.  The former owner wakes nobody: it would have to check for sleepers at each leave. */
static void
wait_until_left (PrioBiasedLock *lock)
{
  gulong interval = MIN_SLEEP;

  for (guint i = 0; __atomic_load_n (&lock->busy, __ATOMIC_SEQ_CST); i++)
    {
      PRIO_BIASED_LOCK_MOMENT (WAITS);
      if (i < SPINS)
        {
          prio_lock_relax ();
        }
      else
        {
          g_usleep (interval);
          interval = MIN (interval * 2, MAX_SLEEP);
        }
    }
}

/* The value of `owner` if @thread is the owner. */
static inline gsize
owner_word (gsize thread)
{
  return thread | (__atomic_load_n (&symmetric, __ATOMIC_RELAXED) ? PRIO_BIASED_LOCK_SYMMETRIC : 0);
}

/* The thread that creates a loop is its owner until another thread runs the context:
 * a program posts its first tasks before it runs its loop. */
void
prio_biased_lock_init (PrioBiasedLock *lock)
{
  choose_barrier ();
  lock->owner = owner_word ((gsize) &prio_thread);
  lock->busy = FALSE;
  prio_lock_init (&lock->lock);
}

void
prio_biased_lock_clear (PrioBiasedLock *lock)
{
  prio_lock_clear (&lock->lock);
}

/* For other threads, and for an owner that needs a real barrier.  ThreadSanitizer knows no
 * barriers, but it follows an exchange and a load that are sequentially consistent. */
gboolean
prio_biased_lock_enter_slow (PrioBiasedLock *lock)
{
  while (prio_biased_lock_is_owner (lock))
    {
      gsize owner;

      PRIO_BIASED_LOCK_MOMENT (LOOKED);
      __atomic_exchange_n (&lock->busy, TRUE, __ATOMIC_SEQ_CST);
      PRIO_BIASED_LOCK_MOMENT (RAISED);
      owner = __atomic_load_n (&lock->owner, __ATOMIC_SEQ_CST);
      if ((owner & ~PRIO_BIASED_LOCK_SYMMETRIC) == (gsize) &prio_thread)
        return TRUE;

      prio_biased_lock_leave (lock);
      if ((owner & PRIO_BIASED_LOCK_FROZEN) != 0)
        {
          /* The forking thread holds it until prio_biased_lock_thaw (). */
          prio_lock_lock (&lock->lock);
          prio_lock_unlock (&lock->lock);
        }
    }

  return FALSE;
}

void
prio_biased_lock_acquire_slow (PrioBiasedLock *lock)
{
  prio_lock_lock (&lock->lock);
  /* Without an owner at first, so that the former owner cannot enter any more. */
  if (needs_barrier (__atomic_exchange_n (&lock->owner, 0, __ATOMIC_SEQ_CST)))
    heavy_barrier ();
  wait_until_left (lock);
  __atomic_store_n (&lock->owner, owner_word ((gsize) &prio_thread), __ATOMIC_SEQ_CST);
  prio_lock_unlock (&lock->lock);
}

/* From now on no thread is the owner. */
void
prio_biased_lock_leave_for_good (PrioBiasedLock *lock)
{
  prio_lock_lock (&lock->lock);
  __atomic_store_n (&lock->owner, 0, __ATOMIC_SEQ_CST);
  prio_lock_unlock (&lock->lock);
}

/* If the owner is another thread, keeps it from entering until prio_biased_lock_thaw ().
 * Returns whether a barrier is needed. */
gboolean
prio_biased_lock_freeze (PrioBiasedLock *lock)
{
  gsize owner;

  prio_lock_lock (&lock->lock);
  if (prio_biased_lock_is_owner (lock))
    return FALSE;

  owner = __atomic_fetch_or (&lock->owner, PRIO_BIASED_LOCK_FROZEN, __ATOMIC_SEQ_CST);
  return needs_barrier (owner);
}

void
prio_biased_lock_freeze_barrier (void)
{
  heavy_barrier ();
}

/* If the owner is another thread, returns when it has left. */
void
prio_biased_lock_freeze_await (PrioBiasedLock *lock)
{
  if (!prio_biased_lock_is_owner (lock))
    wait_until_left (lock);
}

/* If the owner is another thread, it does not exist in the child. */
void
prio_biased_lock_thaw (PrioBiasedLock *lock, gboolean in_child)
{
  if (!prio_biased_lock_is_owner (lock))
    {
      gsize thread = lock->owner & ~PRIO_BIASED_LOCK_FLAGS;

      /* At the fork the owner may have set `busy`, and not yet noticed that the lock is frozen. */
      if (in_child)
        __atomic_store_n (&lock->busy, FALSE, __ATOMIC_RELAXED);
      __atomic_store_n (&lock->owner, in_child || thread == 0 ? 0 : owner_word (thread), __ATOMIC_SEQ_CST);
    }
  prio_lock_unlock (&lock->lock);
}
