/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-owner-lock-private.h: a lock that only its owner thread enters
 *
 * Promises: a thread is inside between prio_owner_lock_enter () and prio_owner_lock_leave ().  At most one thread is
 * inside, and that thread is the owner.  On every other thread prio_owner_lock_enter () returns FALSE, and the thread
 * uses the mailbox (prio-mailbox) instead.  prio_owner_lock_acquire () makes the calling thread the owner, and returns
 * when the former owner has left.
 *
 * How: a mutex is locked while the owner is inside, and while the owner changes.  Only a thread that runs a batch of
 * tasks (prio_thread.dispatches) needs no mutex: it owns the GMainContext, so the owner cannot change.
 *
 * Rules: only the thread that owns the GMainContext calls prio_owner_lock_acquire ().  A thread that is inside runs no
 * user code, takes only locks under which no other lock is taken, and enters no other owner lock. */

#pragma once

#include "base/prio-lock-private.h"
#include "base/prio-thread-private.h"

typedef struct _PrioOwnerLock
{
  gsize owner; /* a thread's id, or PRIO_NO_THREAD; atomic, and changed with @mutex locked */
  PrioLock mutex;
} PrioOwnerLock;

static inline gboolean
prio_owner_lock_is_owner (PrioOwnerLock *lock)
{
  return __atomic_load_n (&lock->owner, __ATOMIC_RELAXED) == prio_thread.id;
}

static inline void
prio_owner_lock_init (PrioOwnerLock *lock)
{
  prio_lock_init (&lock->mutex);
  lock->owner = prio_thread_get_id ();
}

static inline void
prio_owner_lock_clear (PrioOwnerLock *lock)
{
  prio_lock_clear (&lock->mutex);
}

/* Sets the owner, which may be PRIO_NO_THREAD.  Returns when the former owner has left the lock. */
static inline void
prio_owner_lock_set_owner (PrioOwnerLock *lock, gsize owner)
{
  prio_lock_lock (&lock->mutex);
  __atomic_store_n (&lock->owner, owner, __ATOMIC_RELAXED);
  prio_lock_unlock (&lock->mutex);
}

static inline void
prio_owner_lock_acquire (PrioOwnerLock *lock)
{
  if (G_UNLIKELY (!prio_owner_lock_is_owner (lock)))
    prio_owner_lock_set_owner (lock, prio_thread_get_id ());
}

/* Enters the lock, or returns FALSE if this thread is not the owner. */
static inline gboolean
prio_owner_lock_enter (PrioOwnerLock *lock)
{
  if (!prio_owner_lock_is_owner (lock))
    return FALSE;

  if (prio_thread.dispatches != lock)
    {
      prio_lock_lock (&lock->mutex);
      if (G_UNLIKELY (!prio_owner_lock_is_owner (lock)))
        {
          prio_lock_unlock (&lock->mutex);
          return FALSE;
        }
    }
  prio_thread.inside = lock;
  return TRUE;
}

static inline void
prio_owner_lock_leave (PrioOwnerLock *lock)
{
  prio_thread.inside = NULL;
  if (prio_thread.dispatches != lock)
    prio_lock_unlock (&lock->mutex);
}
