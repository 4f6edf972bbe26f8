/* prio-bias-private.h: a lock that costs its home thread nothing
 *
 * Promises: at most one thread, the home thread, is between prio_bias_enter ()
 * and prio_bias_leave (), at the price of a few plain loads and stores.  Every
 * other thread is told that it is not at home, and goes another way (the inbox).
 * prio_bias_take () makes the calling thread the home thread, and returns when
 * the former one is out.
 *
 * How: it is Dekker's algorithm.  The home thread raises `busy` and then looks
 * whether it still is the home thread; the taker writes `home` and then looks
 * whether anybody is busy.  Between the two steps each needs a full barrier.  The
 * frequent side leaves its own out, since the rare side can have the kernel run
 * one on every thread of the process: membarrier (2).  Where that is not to be
 * had, and under ThreadSanitizer, both sides use a real one.
 *
 * A sandbox may deny membarrier () at any moment.  From then on whoever comes home
 * uses real barriers, which the lowest bit of `home` says.  There remains, once per
 * lock, a former home thread that may have come in without one.  What it has to fear
 * is this: it has read `home` before the taker wrote it, and its store to `busy` is
 * not visible yet.  The taker does not count on its help, since it may be asleep for
 * ever or have ended, but waits for PRIO_BIAS_GRACE µs.  In this time the thread
 *
 * - is switched out, or moved to another processor, at least once: the scheduler
 *   passes a full barrier, the one that membarrier () itself counts on; or
 * - stays on its processor, and is interrupted by the tick, which comes every 10 ms
 *   or more often: an interrupt drains the store buffer on x86 by definition, and the
 *   kernel's own locks pass barriers elsewhere; or
 * - stays on one that has been freed of the tick, where no interrupt can be counted
 *   on.  C11 only wants stores to become visible "within a reasonable amount of
 *   time" (7.17.3, 16).  A store that has been retired leaves the buffer as soon as
 *   its cache line has come, after microseconds at the most: this last case rests on
 *   the processor, and not on a promise of the language.
 *
 * Whoever reads `home` later than the taker wrote it finds itself not at home.
 *
 * Around fork () the lock is frozen: the home thread is out, and waits if it wants to
 * come in, so that the child, which has not got that thread, finds what the lock guards
 * whole, with nobody at home.  It is the same as taking, but that the home thread
 * remains the one that it was.
 *
 * Rules: prio_bias_take () is called by the owner of the GMainContext only, of
 * which there is one at a time.  Nothing of the user's runs, and no lock but a
 * leaf is taken, between enter and leave, so that the taker waits for
 * nanoseconds.  It waits longer for what other threads have sent in the meantime, for
 * the abort of a signal with many tasks, and for a pause with many signals: work that it
 * would find to be done if it had come first.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-lock-private.h"
#include "prio-thread-private.h"

typedef struct
{
  /* &prio_thread of the home thread, or NULL; atomic.  With a flag of these the short way
   * in below is never taken. */
  gsize home;
  guint busy;    /* whether the home thread is in; written by it alone */
  PrioLock lock; /* of whoever changes `home` */
} PrioBias;

#define PRIO_BIAS_SYMMETRIC ((gsize) 1) /* barriers have to be real */
#define PRIO_BIAS_FROZEN ((gsize) 2)    /* some thread forks */
#define PRIO_BIAS_FLAGS (PRIO_BIAS_SYMMETRIC | PRIO_BIAS_FROZEN)

/* Three ticks of the slowest clock that Linux has, µs. */
#define PRIO_BIAS_GRACE 30000

void prio_bias_init (PrioBias *bias);
void prio_bias_clear (PrioBias *bias);
void prio_bias_take_slow (PrioBias *bias);
void prio_bias_leave_for_good (PrioBias *bias);
gboolean prio_bias_enter_slow (PrioBias *bias);

/* Before fork (): each is frozen, then one barrier is passed for all that ask for it, then each is awaited. */
gboolean prio_bias_freeze (PrioBias *bias);
void prio_bias_freeze_barrier (void);
void prio_bias_freeze_await (PrioBias *bias);
void prio_bias_thaw (PrioBias *bias, gboolean in_child);

static inline gboolean
prio_bias_is_home (PrioBias *bias)
{
  return (__atomic_load_n (&bias->home, __ATOMIC_RELAXED) & ~PRIO_BIAS_FLAGS) == (gsize) &prio_thread;
}

/* Makes this the home thread; returns when the former one is out. */
static inline void
prio_bias_take (PrioBias *bias)
{
  if (G_UNLIKELY (!prio_bias_is_home (bias)))
    prio_bias_take_slow (bias);
}

static inline void
prio_bias_leave (PrioBias *bias)
{
  __atomic_store_n (&bias->busy, FALSE, __ATOMIC_RELEASE);
}

/* Comes in, if this is the home thread and barriers need not be real.  Not to be
 * called again before leaving. */
static inline gboolean
prio_bias_enter_quickly (PrioBias *bias)
{
  gsize self = (gsize) &prio_thread;

  if (G_UNLIKELY (__atomic_load_n (&bias->home, __ATOMIC_RELAXED) != self))
    return FALSE;

  __atomic_store_n (&bias->busy, TRUE, __ATOMIC_RELAXED);
  __atomic_signal_fence (__ATOMIC_SEQ_CST);
  if (G_LIKELY (__atomic_load_n (&bias->home, __ATOMIC_ACQUIRE) == self))
    return TRUE;

  prio_bias_leave (bias);
  return FALSE;
}

/* Comes in, if this is the home thread. */
static inline gboolean
prio_bias_enter (PrioBias *bias)
{
  return prio_bias_enter_quickly (bias) || prio_bias_enter_slow (bias);
}
