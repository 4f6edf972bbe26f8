/* prio-bias.c: a lock that costs its home thread nothing
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

/* Whether both sides need real barriers; atomic.  Once so, always so. */
static gboolean symmetric = TRUE;

#ifdef HAVE_MEMBARRIER
static gboolean
membarrier (int command)
{
  return syscall (SYS_membarrier, command, 0, 0) == 0;
}

/* A child of fork () may have to register anew. */
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

/* Whether the home thread that @home says comes in without a barrier. */
static inline gboolean
needs_barrier (gsize home)
{
  return home != 0 && (home & PRIO_BIAS_SYMMETRIC) == 0;
}

/* The taker's barrier, after it has written `home`: what a home thread that needs it did
 * before it can see that is visible on return. */
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

/* So often the taker looks before it sleeps: who is inside on another processor is out soon. */
#define SPINS 100
/* Between two looks after that, µs; each nap is twice as long as the last. */
#define MIN_NAP 20
#define MAX_NAP 1000

/* Sleeps, so that a former home thread of lower priority gets on even when the two share
 * a processor.  It is not woken: who leaves would have to look for it, each time. */
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

/* @thread as a home thread that has to be seen from now on. */
static inline gsize
home_of (gsize thread)
{
  return thread | (__atomic_load_n (&symmetric, __ATOMIC_RELAXED) ? PRIO_BIAS_SYMMETRIC : 0);
}

/* The thread that makes a loop record is its home until another runs the context:
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

/* Not at home, or at home where a barrier has to be passed.  An exchange and a
 * load, both sequentially consistent, are something that ThreadSanitizer, which
 * knows no barriers, can follow. */
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
          /* Held until it is thawed. */
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
  /* First nobody's, so that the former home thread cannot get in any more. */
  if (needs_barrier (__atomic_exchange_n (&bias->home, 0, __ATOMIC_SEQ_CST)))
    heavy_barrier ();
  wait_until_left (bias);
  __atomic_store_n (&bias->home, home_of ((gsize) &prio_thread), __ATOMIC_SEQ_CST);
  prio_lock_unlock (&bias->lock);
}

/* From now on no thread is at home. */
void
prio_bias_leave_for_good (PrioBias *bias)
{
  prio_lock_lock (&bias->lock);
  __atomic_store_n (&bias->home, 0, __ATOMIC_SEQ_CST);
  prio_lock_unlock (&bias->lock);
}

/* Keeps the home thread from coming in until prio_bias_thaw (), if that is another one.
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

/* Returns when the home thread is out, if that is another one. */
void
prio_bias_freeze_await (PrioBias *bias)
{
  if (!prio_bias_is_home (bias))
    wait_until_left (bias);
}

/* The child has not got the home thread, if that is another one. */
void
prio_bias_thaw (PrioBias *bias, gboolean in_child)
{
  if (!prio_bias_is_home (bias))
    {
      gsize thread = bias->home & ~PRIO_BIAS_FLAGS;

      /* In the child it may have been on the point of finding out that the lock is frozen. */
      if (in_child)
        __atomic_store_n (&bias->busy, FALSE, __ATOMIC_RELAXED);
      __atomic_store_n (&bias->home, in_child || thread == 0 ? 0 : home_of (thread), __ATOMIC_SEQ_CST);
    }
  prio_lock_unlock (&bias->lock);
}
