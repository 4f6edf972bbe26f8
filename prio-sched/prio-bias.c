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
gboolean prio_bias_symmetric = TRUE;

#ifdef HAVE_MEMBARRIER
static gboolean
membarrier (int command)
{
  return syscall (SYS_membarrier, command, 0, 0) == 0;
}
#endif

static void
choose_barrier (void)
{
  static gsize chosen = 0;

  if (g_once_init_enter (&chosen))
    {
#ifdef HAVE_MEMBARRIER
      if (membarrier (MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
          membarrier (MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        prio_bias_symmetric = FALSE;
#endif
      g_once_init_leave (&chosen, 1);
    }
}

/* The taker's barrier: on return, every thread has passed one. */
static void
heavy_barrier (void)
{
#ifdef HAVE_MEMBARRIER
  if (!prio_bias_symmetric && !membarrier (MEMBARRIER_CMD_PRIVATE_EXPEDITED))
    {
      /* A forked child may have to register anew; it has one thread only, until
       * this call has returned. */
      if (!membarrier (MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) ||
          !membarrier (MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        g_error ("prio-sched: membarrier() worked, and works no more");
    }
#endif
}

/* The thread that makes a loop record is its home until another runs the context:
 * a program posts its first tasks before it runs its loop. */
void
prio_bias_init (PrioBias *bias)
{
  choose_barrier ();
  bias->home = &prio_thread;
  bias->busy = 0;
}

void
prio_bias_take (PrioBias *bias)
{
  if (prio_bias_is_home (bias))
    return;

  /* First nobody's, so that the former home thread cannot get in any more. */
  __atomic_store_n (&bias->home, NULL, __ATOMIC_SEQ_CST);
  heavy_barrier ();
  while (__atomic_load_n (&bias->busy, __ATOMIC_SEQ_CST) != 0)
    g_thread_yield ();
  __atomic_store_n (&bias->home, &prio_thread, __ATOMIC_SEQ_CST);
}

/* From now on no thread is at home. */
void
prio_bias_leave_for_good (PrioBias *bias)
{
  __atomic_store_n (&bias->home, NULL, __ATOMIC_SEQ_CST);
}
