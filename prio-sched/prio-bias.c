/* prio-bias.c: a biased lock, which costs its owner thread nothing
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-bias-private.h"
#include "prio-lock-private.h"

#if defined (__linux__) && !defined (PRIO_THREAD_SANITIZER)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#define HAVE_MEMBARRIER 1
#endif

PRIO_TLS PrioThread prio_thread;

G_STATIC_ASSERT (G_ALIGNOF (PrioThread) > PRIO_BIAS_FLAGS);

/* Whether both sides need real barriers; atomic.  It never becomes FALSE again. */
static gboolean symmetric = TRUE;

#ifdef HAVE_MEMBARRIER
static gboolean
membarrier (int command)
{
  return syscall (SYS_membarrier, command, 0, 0) == 0;
}

/* A child of fork () may have to register again. */
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

/* Whether the owner that @home names enters without a barrier. */
static inline gboolean
needs_barrier (gsize home)
{
  return home != 0 && (home & PRIO_BIAS_SYMMETRIC) == 0;
}

/* The new owner's barrier, after it has written `home`: on return it sees everything that the
 * former owner did before that could see the change. */
static void
heavy_barrier (void)
{
#ifdef HAVE_MEMBARRIER
  if (membarrier (MEMBARRIER_CMD_PRIVATE_EXPEDITED) || register_and_membarrier ())
    return;

  __atomic_store_n (&symmetric, TRUE, __ATOMIC_RELAXED);
  if (!membarrier (MEMBARRIER_CMD_GLOBAL))
    g_usleep (PRIO_BIAS_GRACE);
#endif
}

/* The new owner checks so many times before it sleeps: an owner on another processor leaves soon. */
#define SPINS 100
/* Between two checks after that, µs; each sleep is twice as long as the one before. */
#define MIN_NAP 20
#define MAX_NAP 1000

/* Sleeps, so that a former owner of lower priority makes progress even if both share a
 * processor.  Nobody wakes it: an owner that leaves would have to check for that each time. */
static void
wait_until_left (PrioBias *bias)
{
  gulong nap = MIN_NAP;

  for (guint i = 0; __atomic_load_n (&bias->busy, __ATOMIC_SEQ_CST); i++)
    {
      if (i < SPINS)
        {
          prio_lock_relax ();
        }
      else
        {
          g_usleep (nap);
          nap = MIN (nap * 2, MAX_NAP);
        }
    }
}

/* The value of `home` for @thread as the owner. */
static inline gsize
home_of (gsize thread)
{
  return thread | (__atomic_load_n (&symmetric, __ATOMIC_RELAXED) ? PRIO_BIAS_SYMMETRIC : 0);
}

/* The thread that makes a loop record is its owner until another thread runs the context:
 * a program posts its first tasks before it runs its loop. */
void
prio_bias_init (PrioBias *bias)
{
  choose_barrier ();
  bias->home = home_of ((gsize) &prio_thread);
  bias->busy = FALSE;
  prio_lock_init (&bias->lock);
}

void
prio_bias_clear (PrioBias *bias)
{
  prio_lock_clear (&bias->lock);
}

/* For other threads, and for an owner that needs a real barrier.  ThreadSanitizer knows no
 * barriers, but it follows an exchange and a load that are sequentially consistent. */
gboolean
prio_bias_enter_slow (PrioBias *bias)
{
  while (prio_bias_is_home (bias))
    {
      gsize home;

      __atomic_exchange_n (&bias->busy, TRUE, __ATOMIC_SEQ_CST);
      home = __atomic_load_n (&bias->home, __ATOMIC_SEQ_CST);
      if ((home & ~PRIO_BIAS_SYMMETRIC) == (gsize) &prio_thread)
        return TRUE;

      prio_bias_leave (bias);
      if ((home & PRIO_BIAS_FROZEN) != 0)
        {
          /* The thread that forks holds it. */
          prio_lock_lock (&bias->lock);
          prio_lock_unlock (&bias->lock);
        }
    }

  return FALSE;
}

void
prio_bias_take_slow (PrioBias *bias)
{
  prio_lock_lock (&bias->lock);
  /* There is no owner at first, so that the former one cannot enter any more. */
  if (needs_barrier (__atomic_exchange_n (&bias->home, 0, __ATOMIC_SEQ_CST)))
    heavy_barrier ();
  wait_until_left (bias);
  __atomic_store_n (&bias->home, home_of ((gsize) &prio_thread), __ATOMIC_SEQ_CST);
  prio_lock_unlock (&bias->lock);
}

/* From now on no thread is the owner. */
void
prio_bias_leave_for_good (PrioBias *bias)
{
  prio_lock_lock (&bias->lock);
  __atomic_store_n (&bias->home, 0, __ATOMIC_SEQ_CST);
  prio_lock_unlock (&bias->lock);
}

/* Keeps the owner, if that is another thread, from entering until prio_bias_thaw ().
 * Returns whether a barrier is needed. */
gboolean
prio_bias_freeze (PrioBias *bias)
{
  gsize home;

  prio_lock_lock (&bias->lock);
  if (prio_bias_is_home (bias))
    return FALSE;

  home = __atomic_fetch_or (&bias->home, PRIO_BIAS_FROZEN, __ATOMIC_SEQ_CST);
  return needs_barrier (home);
}

void
prio_bias_freeze_barrier (void)
{
  heavy_barrier ();
}

/* Returns when the owner, if that is another thread, has left. */
void
prio_bias_freeze_await (PrioBias *bias)
{
  if (!prio_bias_is_home (bias))
    wait_until_left (bias);
}

/* The child does not have the owner, if that is another thread. */
void
prio_bias_thaw (PrioBias *bias, gboolean in_child)
{
  if (!prio_bias_is_home (bias))
    {
      gsize thread = bias->home & ~PRIO_BIAS_FLAGS;

      /* At the fork the owner may have been about to notice that the lock is frozen. */
      if (in_child)
        __atomic_store_n (&bias->busy, FALSE, __ATOMIC_RELAXED);
      __atomic_store_n (&bias->home, in_child || thread == 0 ? 0 : home_of (thread), __ATOMIC_SEQ_CST);
    }
  prio_lock_unlock (&bias->lock);
}
