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
 * Rules: prio_bias_take () is called by the owner of the GMainContext only, of
 * which there is one at a time.  Nothing of the user's runs, and no lock but a
 * leaf is taken, between enter and leave, so that the taker waits for
 * nanoseconds.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-thread-private.h"

typedef struct
{
  /* &prio_thread of the home thread, or NULL; atomic.  One more than that where
   * barriers have to be real: then the short way in below is never taken. */
  gsize home;
  guint busy; /* whether the home thread is in; written by it alone */
} PrioBias;

void prio_bias_init (PrioBias *bias);
void prio_bias_take (PrioBias *bias);
void prio_bias_leave_for_good (PrioBias *bias);
gboolean prio_bias_enter_slow (PrioBias *bias);

static inline gboolean
prio_bias_is_home (PrioBias *bias)
{
  return (__atomic_load_n (&bias->home, __ATOMIC_RELAXED) & ~(gsize) 1) == (gsize) &prio_thread;
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
