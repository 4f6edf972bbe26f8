/* prio-biased-lock-private.h: a biased lock, which costs its owner thread nothing
 *
 * Promises: at most one thread, the owner, is inside, that is, between
 * prio_biased_lock_enter () and prio_biased_lock_leave ().  This costs the owner a few plain
 * loads and stores.  On every other thread prio_biased_lock_enter () returns FALSE, and the
 * thread uses the mailbox instead.  prio_biased_lock_acquire () makes the calling thread the
 * owner, and returns when the former owner has left.
 *
 * How: the lock is Dekker's algorithm.  Each thread that has been an owner has a record,
 * PrioOwner, which says what it is inside of.  The owner writes the lock into its record and then checks
 * that it still is the owner; the new owner writes `owner` and then checks that the record of the
 * former one does not name the lock.  Each side needs a full barrier between its two steps.  The
 * frequent side omits its barrier, because the rare side can make the kernel run
 * one on every thread of the process: membarrier (2).  Where that call does not
 * exist, and under ThreadSanitizer, both sides use a real barrier.
 *
 * No thread writes into the record of another one.  So a thread that is kept away after a first look at `owner`, and
 * comes back when others have owned the lock, disturbs none of them: it writes into its own record, sees that it is
 * not the owner, and takes that back.  A new owner has to wait for nobody but the one before it, who has waited for
 * the one before that; and for one entry at most, since a first look at `owner` fails from then on.
 *
 * A record outlives its thread, since a new owner may still look at it.  A thread that has ended is inside nothing, so
 * the next thread that needs a record gets that one, and there are no more records than there have been such threads at
 * a time.  To a lock, a thread with the record of another one is that other one: it may find that it is the owner.
 * No two threads have the same record.
 *
 * A process has to be registered for membarrier (2).  Where there are several threads the kernel waits for some 10 ms
 * meanwhile, so that a thread of its own does that, and until then every owner uses real barriers.
 *
 * A sandbox may deny membarrier () at any moment.  From then on every owner uses
 * real barriers; the lowest bit of `owner` says so.  One case remains, once per
 * lock: a former owner that has entered without a barrier.  It may have read `owner`
 * before the new owner wrote it, while its store to its record is not visible yet.  The
 * former owner cannot help: it may sleep for ever, or have ended.  The new owner
 * waits for PRIO_BIASED_LOCK_GRACE µs.  In this time the former owner
 *
 * - is switched out, or moves to another processor, at least once: the kernel's
 *   scheduler passes a full barrier, on which membarrier () itself relies; or
 * - stays on its processor and is interrupted by the tick, which comes every 10 ms
 *   or more often: an interrupt drains the store buffer on x86 by definition, and
 *   the kernel's own locks pass barriers elsewhere; or
 * - stays on a processor without a tick, where no interrupt is certain.  C11 only
 *   wants stores to become visible "within a reasonable amount of time" (7.17.3,
 *   16).  A retired store leaves the buffer as soon as its cache line has arrived,
 *   after microseconds at the most: this last case rests on the processor, and not
 *   on a promise of the language.
 *
 * A thread that reads `owner` after the new owner has written it sees that it is not
 * the owner any more.
 *
 * Around fork () the lock is frozen: the owner is outside, and waits if it wants to
 * enter.  The child process does not have the owner thread; it finds the guarded data
 * consistent, and the lock without an owner.  Freezing works like acquiring, but the
 * owner stays the same.
 *
 * Rules: only the thread that owns the GMainContext calls prio_biased_lock_acquire (); there
 * is one at a time.  A thread is inside one lock at a time.  Inside, no user code runs and only leaf locks
 * are taken, so that the new owner waits for nanoseconds.  It waits longer while the former owner carries out
 * operations of other threads, aborts a signal with many tasks, or pauses a scheduler with
 * many signals: the new owner would otherwise have to do this work itself.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "base/prio-lock-private.h"
#include "base/prio-thread-private.h"

typedef struct _PrioOwner PrioOwner;

typedef struct
{
  gsize owner;   /* the PrioOwner, or PRIO_BIASED_LOCK_NOBODY, with the flags below; atomic */
  PrioLock lock; /* held while `owner` changes */
} PrioBiasedLock;

/* Aligned so that threads do not share a cache line, and a pointer has bits for the flags. */
struct _PrioOwner
{
  PrioBiasedLock *inside; /* or NULL; atomic; written by the thread alone, and by the child of a fork () */
  PrioOwner *next;        /* of all; under the lock of prio-biased-lock.c, as is the rest */
  PrioOwner *next_unused;
  gboolean used; /* by a thread that has not ended */
} __attribute__ ((aligned (64)));

/* prio_biased_lock_enter_quickly () fails if one of them is set. */
#define PRIO_BIASED_LOCK_SYMMETRIC ((gsize) 1) /* both sides need real barriers */
#define PRIO_BIASED_LOCK_FROZEN ((gsize) 2)    /* a thread is in fork () */
#define PRIO_BIASED_LOCK_NOBODY ((gsize) 4)    /* unlike the address of any record, and NULL */
#define PRIO_BIASED_LOCK_FLAGS (PRIO_BIASED_LOCK_SYMMETRIC | PRIO_BIASED_LOCK_FROZEN)

/* A test stops a thread here: after it has looked whether it is the owner (LOOKED), after it has said that it
 * enters (RAISED), or each time it finds that the former owner has not left (WAITS). */
#ifndef PRIO_BIASED_LOCK_MOMENT
#define PRIO_BIASED_LOCK_MOMENT(name) ((void) 0)
#endif

/* Three ticks of the slowest clock that Linux has, µs. */
#define PRIO_BIASED_LOCK_GRACE 30000

/* Whether both sides need real barriers; atomic.  It is TRUE at first, and it may become FALSE once, and TRUE again. */
extern gboolean prio_biased_lock_symmetric;

void prio_biased_lock_init (PrioBiasedLock *lock);
void prio_biased_lock_clear (PrioBiasedLock *lock);
void prio_biased_lock_acquire_slow (PrioBiasedLock *lock);
void prio_biased_lock_leave_for_good (PrioBiasedLock *lock);
gboolean prio_biased_lock_enter_slow (PrioBiasedLock *lock);

/* Before fork (): freeze each lock, pass one barrier if any of them needs one, then await each owner, and last,
 * as a leaf, hold the records.  After it, the same from the end. */
gboolean prio_biased_lock_freeze (PrioBiasedLock *lock);
void prio_biased_lock_freeze_barrier (void);
void prio_biased_lock_freeze_await (PrioBiasedLock *lock);
void prio_biased_lock_hold_records (void);
void prio_biased_lock_release_records (gboolean in_child);
void prio_biased_lock_thaw (PrioBiasedLock *lock, gboolean in_child);

static inline gboolean
prio_biased_lock_is_owner (PrioBiasedLock *lock)
{
  return (__atomic_load_n (&lock->owner, __ATOMIC_RELAXED) & ~PRIO_BIASED_LOCK_FLAGS) == (gsize) prio_thread.owner;
}

/* Makes this thread the owner; returns when the former owner has left.  An owner that has needed real barriers needs none
 * from here on, if the process has been registered meanwhile. */
static inline void
prio_biased_lock_acquire (PrioBiasedLock *lock)
{
  gsize owner = __atomic_load_n (&lock->owner, __ATOMIC_RELAXED);

  if (G_LIKELY (owner == (gsize) prio_thread.owner))
    return;
  if (!prio_biased_lock_is_owner (lock) ||
      ((owner & PRIO_BIASED_LOCK_SYMMETRIC) != 0 && !__atomic_load_n (&prio_biased_lock_symmetric, __ATOMIC_ACQUIRE)))
    prio_biased_lock_acquire_slow (lock);
}

static inline void
prio_biased_lock_leave (PrioBiasedLock *lock)
{
  __atomic_store_n (&prio_thread.owner->inside, NULL, __ATOMIC_RELEASE);
}

/* Enters, if this thread is the owner and needs no real barrier.  The store is a release because it may hide that
 * this thread has left another lock, from who awaits that.  The lock is not recursive. */
static inline gboolean
prio_biased_lock_enter_quickly (PrioBiasedLock *lock)
{
  PrioOwner *self = prio_thread.owner;

  if (G_UNLIKELY (__atomic_load_n (&lock->owner, __ATOMIC_RELAXED) != (gsize) self))
    return FALSE;

  PRIO_BIASED_LOCK_MOMENT (LOOKED);
  __atomic_store_n (&self->inside, lock, __ATOMIC_RELEASE);
  __atomic_signal_fence (__ATOMIC_SEQ_CST);
  PRIO_BIASED_LOCK_MOMENT (RAISED);
  if (G_LIKELY (__atomic_load_n (&lock->owner, __ATOMIC_ACQUIRE) == (gsize) self))
    return TRUE;

  prio_biased_lock_leave (lock);
  return FALSE;
}

/* Enters, if this thread is the owner. */
static inline gboolean
prio_biased_lock_enter (PrioBiasedLock *lock)
{
  return prio_biased_lock_enter_quickly (lock) || prio_biased_lock_enter_slow (lock);
}
