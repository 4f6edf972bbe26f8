/* prio-biased-lock.pml: the biased lock, for Spin
 *
 * tests/library/check-models.py runs it: without a mutant nothing may be violated, and with each of them something is.
 *
 * Each thread has a store buffer, first in, first out, which drains at any moment (TSO).  Plain stores go through it: a
 * record's `inside`, the guarded data, `symmetric`.  Exchanges, and PrioLock, drain the writer's own buffer first.  membarrier (2)
 * drains the buffer of each other thread, one after the other, within the call.  A sandbox denies it at some moment, or never.
 *
 * -DN: threads, 2 or 3; -DK: what each of them does.  NOBODY is 0 here, since a thread's record is its number, from 1.  A thread
 * that gets the record of one that has ended is, to the lock, the same thread.  Left out: stores that other processors see out of
 * order, several locks that are frozen together, and what the compiler does.
 *
 * The C, and what stands for it (a change of one of these functions has to be looked at here; then check-models.py --update):
 *
 * @models base/prio-biased-lock-private.h prio_biased_lock_is_owner b9b3c1601221
 *     OWNER == SELF
 * @models base/prio-biased-lock-private.h prio_biased_lock_leave 546bfde0daba
 *     ST (INSIDE (SELF), 0)
 * @models base/prio-biased-lock-private.h prio_biased_lock_enter_quickly 1310484b1fbc
 *     ENTER: `r = owner`, the first look; ST (INSIDE (SELF), 1); `r = owner`, the second
 * @models base/prio-biased-lock.c prio_biased_lock_enter_slow 3fd81391c6f2
 *     ENTER, the loop: the exchange is `DRAINED -> mem[…] = 1`; the lock of a frozen one is LOCK (), UNLOCK ()
 * @models base/prio-biased-lock-private.h prio_biased_lock_acquire 1fb123bdc35d
 * @models base/prio-biased-lock.c prio_biased_lock_acquire_slow 73bb2e319786
 *     ACQUIRE: the exchange of `owner`, NEEDS and HEAVY, AWAIT, and the store of `owner`
 * @models base/prio-biased-lock.c needs_barrier bf3b49d3b014
 *     NEEDS
 * @models base/prio-biased-lock.c heavy_barrier 07865e309577
 *     HEAVY: membarrier (), or `symmetric` and the wait for PRIO_BIASED_LOCK_GRACE
 * @models base/prio-biased-lock.c wait_until_left 856de2e27515
 *     AWAIT
 * @models base/prio-biased-lock.c owner_word 2107e11835b2
 *     WORD
 * @models base/prio-biased-lock.c prio_biased_lock_init cc703bc2f142
 *     init
 * @models base/prio-biased-lock.c prio_biased_lock_freeze ca7b8fd60e86
 *     FORK: LOCK () and `owner = r | FROZEN`
 * @models base/prio-biased-lock.c prio_biased_lock_freeze_await dfb0738de2ac
 *     FORK: AWAIT
 * @models base/prio-biased-lock.c prio_biased_lock_thaw df3a11ff7f1c
 *     FORK: in the child within the atomic step, in the parent after it
 * @models base/prio-biased-lock.c prio_biased_lock_release_records 3de427ae4886
 *     FORK: `mem[INSIDE (u)]` in the child
 *
 * @holds -DN=2 -DK=2
 * @holds-long -DN=2 -DK=3
 * @holds-long -DN=3 -DK=2 -DWITHOUT_OTHERS
 * @mutant -DONE_FLAG             the lock has a flag, and not each owner a record
 * @mutant -DNO_BARRIER_ACQUIRE   the new owner makes no other thread pass a barrier
 * @mutant -DNO_BARRIER_FREEZE    nor does one that forks
 * @mutant -DNO_GRACE             where membarrier () is denied, it waits for no store
 * @mutant -DNO_SECOND_LOOK       after it has said that it enters
 * @mutant -DNO_EXCHANGE          a store, where real barriers are needed
 * @mutant -DQUICKLY_ANYWAY       the quick way where real barriers are needed
 * @mutant -DUPGRADE_IN_PLACE      an owner that needs real barriers no longer says so without the lock
 * @mutant -DNO_AWAIT_ACQUIRE     the new owner does not wait until the former one has left
 * @mutant -DNO_AWAIT_FREEZE      nor does one that forks
 * @mutant -DNO_THAW_IN_CHILD     the owner stays one that the child has not got
 * @mutant -DNO_RECORDS_IN_CHILD  the records stay as they are
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef N
#define N 2
#endif
#ifndef K
#define K 2
#endif

#define PLACES 3                  /* of a store buffer */
#define SYMMETRIC 8               /* the flags of `owner` */
#define FROZEN 16
#ifdef ONE_FLAG
#define INSIDE(t) 0
#else
#define INSIDE(t) ((t) & 3)       /* of the record t, which may have flags; 0: outside, 1: this lock, 2: another one */
#endif
#define DATA 4                    /* what the lock guards */
#define SYM 5                     /* `symmetric` */

/* `context`: who runs the context, as GMainContext has it; `alone`: who is inside; `newest`: what DATA has to be. */
byte owner = 1, lock, context, alone, newest, n_stores[N], stores[N * PLACES], mem[6];
bool by_entry, denied;

#define SELF (me + 1)
#define OWNER (owner & 7)
#define DRAINED (n_stores[me] == 0)
#define STORE(v, x) ((v) * 8 + (x))
#define OWN (me * PLACES)
#define IN(i, v) (n_stores[me] > i && stores[OWN + i] / 8 == (v))
#define LD(v) (IN (2, v) -> stores[OWN + 2] % 8 : (IN (1, v) -> stores[OWN + 1] % 8 : (IN (0, v) -> stores[OWN] % 8 : mem[v])))

inline ST (v, x) { atomic { n_stores[me] < PLACES -> stores[OWN + n_stores[me]] = STORE (v, x); n_stores[me]++ } }
inline LOCK () { atomic { lock == 0 && DRAINED -> lock = SELF } }
inline UNLOCK () { atomic { DRAINED -> lock = 0 } }

inline DRAIN_OTHERS ()
{
  u = 0;
  do
  :: u < N -> if :: u != me -> (n_stores[u] == 0) :: else fi; u++
  :: else -> u = 0; break
  od
}

#define NEEDS(r) ((r) != 0 && ((r) & SYMMETRIC) == 0)
#define WORD(t) ((t) | (LD (SYM) -> SYMMETRIC : 0))

inline HEAVY ()
{
  if
  :: !denied -> DRAIN_OTHERS ()
  :: denied ->
     ST (SYM, 1);
#ifndef NO_GRACE
     DRAIN_OTHERS ()
#endif
  fi
}

/* The record 0 stands for nobody, and is never inside. */
inline AWAIT (r) { (LD (INSIDE (r)) != 1) }

/* One alone, who sees what the one before has written. */
inline WORK (entered)
{
  atomic { assert (alone == 0); alone = SELF; by_entry = entered }
  atomic { assert (LD (DATA) == newest); newest = (newest + 1) & 3; n_stores[me] < PLACES -> stores[OWN + n_stores[me]] = STORE (DATA, newest); n_stores[me]++ }
  atomic { alone = 0 }
}

inline ENTER ()
{
  ok = false;
  r = owner;
#ifdef QUICKLY_ANYWAY
  r = r & ~SYMMETRIC;
#endif
  if
  :: r == SELF ->
     ST (INSIDE (SELF), 1);
#ifdef NO_SECOND_LOOK
     ok = true
#else
     r = owner;
#ifdef QUICKLY_ANYWAY
     r = r & ~SYMMETRIC;
#endif
     if :: r == SELF -> ok = true :: else -> ST (INSIDE (SELF), 0) fi
#endif
  :: else
  fi;

  do
  :: !ok && OWNER == SELF ->
#ifdef NO_EXCHANGE
     ST (INSIDE (SELF), 1);
#else
     atomic { DRAINED -> mem[INSIDE (SELF)] = 1 }
#endif
     r = owner;
     if
     :: (r & ~SYMMETRIC) == SELF -> ok = true; break
     :: else ->
        ST (INSIDE (SELF), 0);
        if :: r & FROZEN -> LOCK (); UNLOCK () :: else fi
     fi
  :: ok || OWNER != SELF -> break
  od;
  if :: ok -> WORK (true); ST (INSIDE (SELF), 0) :: else fi     /* or else through the mailbox */
}

#define MAY_UPGRADE ((owner & SYMMETRIC) && LD (SYM) == 0)

inline ACQUIRE ()
{
  if
  :: OWNER == SELF && !MAY_UPGRADE
#ifdef UPGRADE_IN_PLACE
  :: OWNER == SELF && MAY_UPGRADE -> r = owner; atomic { DRAINED -> owner = r & ~SYMMETRIC }
  :: OWNER != SELF ->
#else
  :: OWNER != SELF || MAY_UPGRADE ->
#endif
     LOCK ();
     atomic { r = owner; owner = 0 }
#ifndef NO_BARRIER_ACQUIRE
     if :: NEEDS (r) -> HEAVY () :: else fi;
#endif
#ifndef NO_AWAIT_ACQUIRE
     AWAIT (r);
#endif
     atomic { r = WORD (SELF); DRAINED -> owner = r }
     UNLOCK ()
  fi
}

inline FORK ()
{
  LOCK ();
  if
  :: OWNER == SELF -> mine = true
  :: else ->
     mine = false;
     atomic { r = owner; owner = r | FROZEN }
#ifndef NO_BARRIER_FREEZE
     if :: NEEDS (r) -> HEAVY () :: else fi;
#endif
#ifndef NO_AWAIT_FREEZE
     AWAIT (r)
#endif
  fi;
  /* The child has a copy of the memory, and this thread only. */
  atomic {
    DRAINED ->
    assert (alone == 0 || !by_entry);
    if :: context == 0 || context == SELF -> assert (mem[DATA] == newest) :: else fi;
    /* It acquires the lock, and finds nobody inside.  `left`: whom it finds as the former owner. */
    left = (mine -> SELF : 0);
#ifdef NO_THAW_IN_CHILD
    left = OWNER;
#endif
    assert (left == SELF || left == 0 || mem[INSIDE (left)] != 1);
    /* The next thread that it starts gets the record of one that it has not got: it is not inside. */
#ifdef NO_RECORDS_IN_CHILD
    u = 0;
    do
    :: u < N -> if :: u != me -> assert (mem[INSIDE (u + 1)] == 0) :: else fi; u++
    :: else -> u = 0; break
    od;
#endif
    left = 0
  }
  if
  :: !mine -> atomic { r = OWNER; if :: r != 0 -> r = WORD (r) :: else fi; DRAINED -> owner = r }
  :: else
  fi;
  UNLOCK ()
}

proctype Thread (byte me)
{
  byte r, k, u, left;
  bool ok, mine;

  do
  :: k < K ->
     k++;
     if
     :: ENTER ()
     :: /* an iteration of the context */
        atomic { context == 0 && DRAINED -> context = SELF }
        ACQUIRE ();
        WORK (false);
        atomic { DRAINED -> context = 0 }
     :: FORK ()
#if !defined (ONE_FLAG) && !defined (WITHOUT_OTHERS)
     :: /* another lock */
        ST (INSIDE (SELF), 2);
        ST (INSIDE (SELF), 0)
#endif
     fi
  :: else -> break
  od
}

proctype Memory (byte t)
{
end:
  do
  :: atomic {
       n_stores[t] > 0 ->
       mem[stores[t * PLACES] / 8] = stores[t * PLACES] % 8;
       stores[t * PLACES] = stores[t * PLACES + 1];
       stores[t * PLACES + 1] = stores[t * PLACES + 2];
       stores[t * PLACES + 2] = 0;
       n_stores[t]--
     }
  od
}

/* The first thread has made the lock.  Real barriers are needed until the process is registered, which another thread may do,
 * and from some moment on, or never. */
init
{
  atomic {
    byte t = 0;

    if :: mem[SYM] = 1; owner = 1 | SYMMETRIC :: skip fi;
    do :: t < N -> run Thread (t); run Memory (t); t++ :: else -> break od
  }
end:
  if :: mem[SYM] == 1 -> if :: mem[SYM] = 0 :: denied = true fi :: else fi;
end_registered:
  denied = true
}
