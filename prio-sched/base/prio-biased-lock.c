/* prio-biased-lock.c: a biased lock, which costs its owner thread nothing
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "base/prio-biased-lock-private.h"
#include "base/prio-lock-private.h"

/* Not each C library comes with the kernel's headers. */
#if defined (__linux__) && !defined (PRIO_THREAD_SANITIZER) && __has_include(<linux/membarrier.h>)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#define HAVE_MEMBARRIER 1
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define HAVE_SINGLE_THREADED 1
#endif
#endif

PRIO_TLS PrioThread prio_thread;

G_STATIC_ASSERT (G_ALIGNOF (PrioOwner) > (PRIO_BIASED_LOCK_FLAGS | PRIO_BIASED_LOCK_NOBODY));

/* The records of threads.  None is freed: a thread that has been kept away may look at any of them. */
static PrioLock records_lock = PRIO_LOCK_INIT;
static PrioOwner *records, *unused_records;

static void give_back_record (gpointer data);

static GPrivate record_of_thread = G_PRIVATE_INIT (give_back_record);

gboolean prio_biased_lock_symmetric = TRUE;
#define symmetric prio_biased_lock_symmetric

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

static gpointer
register_process (gpointer data G_GNUC_UNUSED)
{
  if (register_and_membarrier ())
    __atomic_store_n (&symmetric, FALSE, __ATOMIC_RELEASE);
  return NULL;
}

/* The kernel waits for no thread where there is but one. */
static gboolean
is_alone (void)
{
#ifdef HAVE_SINGLE_THREADED
  return __libc_single_threaded;
#else
  return FALSE;
#endif
}
#endif

static void
choose_barrier (void)
{
  static gsize chosen = 0;

  if (g_once_init_enter (&chosen))
    {
#ifdef HAVE_MEMBARRIER
      GThread *thread = is_alone () ? NULL : g_thread_try_new ("prio-barrier", register_process, NULL, NULL);

      if (thread != NULL)
        g_thread_unref (thread);
      else
        register_process (NULL);
#endif
      g_once_init_leave (&chosen, 1);
    }
}

/* The thread ends, so that it is outside.  If one of its other destructors needs a record, it gets another. */
static void
give_back_record (gpointer data)
{
  PrioOwner *record = data;

  prio_thread.owner = NULL;
  prio_lock_lock (&records_lock);
  record->used = FALSE;
  record->next_unused = unused_records;
  unused_records = record;
  prio_lock_unlock (&records_lock);
}

static PrioOwner *
add_record (void)
{
  PrioOwner *record = g_aligned_alloc0 (1, sizeof *record, G_ALIGNOF (PrioOwner));

  prio_lock_lock (&records_lock);
  record->used = TRUE;
  record->next = records;
  records = record;
  prio_lock_unlock (&records_lock);
  return record;
}

/* Gives this thread a record, if it has none. */
static void
need_record (void)
{
  PrioOwner *record;

  if (prio_thread.owner != NULL)
    return;

  prio_lock_lock (&records_lock);
  record = unused_records;
  if (record != NULL)
    {
      unused_records = record->next_unused;
      record->used = TRUE;
    }
  prio_lock_unlock (&records_lock);
  if (record == NULL)
    record = add_record ();

  prio_thread.owner = record;
  g_private_set (&record_of_thread, record);
}

static inline PrioOwner *
record_of (gsize owner)
{
  owner &= ~PRIO_BIASED_LOCK_FLAGS;
  return owner != PRIO_BIASED_LOCK_NOBODY ? (PrioOwner *) owner : NULL;
}

/* Whether the owner that the word @owner names enters without a barrier, so that a new owner needs one. */
static inline gboolean
needs_barrier (gsize owner)
{
  return record_of (owner) != NULL && (owner & PRIO_BIASED_LOCK_SYMMETRIC) == 0;
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
wait_until_left (PrioBiasedLock *lock, gsize owner)
{
  PrioOwner *former = record_of (owner);
  gulong interval = MIN_SLEEP;

  for (guint i = 0; former != NULL && __atomic_load_n (&former->inside, __ATOMIC_SEQ_CST) == lock; i++)
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

/* The value of `owner` if that is @record. */
static inline gsize
owner_word (PrioOwner *record)
{
  return (gsize) record | (__atomic_load_n (&symmetric, __ATOMIC_RELAXED) ? PRIO_BIASED_LOCK_SYMMETRIC : 0);
}

/* The thread that creates a loop is its owner until another thread runs the context:
 * a program posts its first tasks before it runs its loop. */
void
prio_biased_lock_init (PrioBiasedLock *lock)
{
  choose_barrier ();
  need_record ();
  lock->owner = owner_word (prio_thread.owner);
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
  PrioOwner *self = prio_thread.owner;

  while (prio_biased_lock_is_owner (lock))
    {
      PrioBiasedLock *outer G_GNUC_UNUSED;
      gsize owner;

      PRIO_BIASED_LOCK_MOMENT (LOOKED);
      outer = __atomic_exchange_n (&self->inside, lock, __ATOMIC_SEQ_CST);
      g_assert (outer == NULL);
      PRIO_BIASED_LOCK_MOMENT (RAISED);
      owner = __atomic_load_n (&lock->owner, __ATOMIC_SEQ_CST);
      if ((owner & ~PRIO_BIASED_LOCK_SYMMETRIC) == (gsize) self)
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
  gsize former;

  need_record ();
  prio_lock_lock (&lock->lock);
  /* Without an owner at first, so that the former owner cannot enter any more. */
  former = __atomic_exchange_n (&lock->owner, PRIO_BIASED_LOCK_NOBODY, __ATOMIC_SEQ_CST);
  if (needs_barrier (former))
    heavy_barrier ();
  wait_until_left (lock, former);
  __atomic_store_n (&lock->owner, owner_word (prio_thread.owner), __ATOMIC_SEQ_CST);
  prio_lock_unlock (&lock->lock);
}

/* From now on no thread is the owner. */
void
prio_biased_lock_leave_for_good (PrioBiasedLock *lock)
{
  prio_lock_lock (&lock->lock);
  __atomic_store_n (&lock->owner, PRIO_BIASED_LOCK_NOBODY, __ATOMIC_SEQ_CST);
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
    wait_until_left (lock, __atomic_load_n (&lock->owner, __ATOMIC_RELAXED));
}

void
prio_biased_lock_hold_records (void)
{
  prio_lock_lock (&records_lock);
}

/* The child has no other thread than this one: their records are free.  At the fork, one of them may have written what it
 * enters, and not yet noticed that the lock is frozen. */
void
prio_biased_lock_release_records (gboolean in_child)
{
  for (PrioOwner *record = in_child ? records : NULL; record != NULL; record = record->next)
    {
      if (!record->used || record == prio_thread.owner)
        continue;
      __atomic_store_n (&record->inside, NULL, __ATOMIC_RELAXED);
      record->used = FALSE;
      record->next_unused = unused_records;
      unused_records = record;
    }
  prio_lock_unlock (&records_lock);
}

/* If the owner is another thread, it does not exist in the child. */
void
prio_biased_lock_thaw (PrioBiasedLock *lock, gboolean in_child)
{
  if (!prio_biased_lock_is_owner (lock))
    {
      PrioOwner *owner = in_child ? NULL : record_of (lock->owner);

      __atomic_store_n (&lock->owner, owner != NULL ? owner_word (owner) : PRIO_BIASED_LOCK_NOBODY, __ATOMIC_SEQ_CST);
    }
  prio_lock_unlock (&lock->lock);
}
