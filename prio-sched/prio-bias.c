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

/* In `home`: the home thread uses real barriers. */
#define SYMMETRIC ((gsize) 1)

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

/* The taker's barrier, after it has written `home`, which was @former: what the former
 * home thread did before it can see that is visible on return. */
static void
heavy_barrier (gsize former)
{
  if (former == 0 || (former & SYMMETRIC) != 0)
    return;

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

static inline gsize
home_of_this_thread (void)
{
  return (gsize) &prio_thread | (__atomic_load_n (&symmetric, __ATOMIC_RELAXED) ? SYMMETRIC : 0);
}

/* The thread that makes a loop record is its home until another runs the context:
 * a program posts its first tasks before it runs its loop. */
void
prio_bias_init (PrioBias *bias)
{
  choose_barrier ();
  bias->home = home_of_this_thread ();
  bias->busy = FALSE;
}

/* Not at home, or at home where a barrier has to be passed.  An exchange and a
 * load, both sequentially consistent, are something that ThreadSanitizer, which
 * knows no barriers, can follow. */
gboolean
prio_bias_enter_slow (PrioBias *bias)
{
  if (!prio_bias_is_home (bias))
    return FALSE;

  __atomic_exchange_n (&bias->busy, TRUE, __ATOMIC_SEQ_CST);
  if ((__atomic_load_n (&bias->home, __ATOMIC_SEQ_CST) & ~SYMMETRIC) == (gsize) &prio_thread)
    return TRUE;

  prio_bias_leave (bias);
  return FALSE;
}

void
prio_bias_take (PrioBias *bias)
{
  if (prio_bias_is_home (bias))
    return;

  /* First nobody's, so that the former home thread cannot get in any more. */
  heavy_barrier (__atomic_exchange_n (&bias->home, 0, __ATOMIC_SEQ_CST));
  wait_until_left (bias);
  __atomic_store_n (&bias->home, home_of_this_thread (), __ATOMIC_SEQ_CST);
}

/* From now on no thread is at home. */
void
prio_bias_leave_for_good (PrioBias *bias)
{
  __atomic_store_n (&bias->home, 0, __ATOMIC_SEQ_CST);
}
