/* prio-mailbox.pml: the mailbox beside a loop that sleeps, for Spin
 *
 * tests/library/check-models.py runs this model: without a mutant it must hold, and with each mutant it must fail.
 *
 * The state is written by exchanges and under the lock, so the model interleaves statements, and does not reorder them.
 * -DP is the number of threads that push one operation each.  -DL is how often the thread that runs the loop posts in
 * the prepare of another source.  The governor may leave when the loop falls asleep, as in the default context.  A lost
 * wake-up is an invalid end state: the loop is in poll () while work waits.  With -DEND, the context ends instead.
 *
 * The functions in C, and their models.  If one changes, check the model; then run check-models.py --update.
 *
 * @models engine/loop/prio-mailbox.c prio_mailbox_push dc496e77ddae
 *     Pusher
 * @models engine/loop/prio-mailbox.c take f537b4fbbd6c
 *     TAKE
 * @models engine/loop/prio-mailbox.c prio_mailbox_close a924d13011e6
 *     Ender: `closed = (n == 0)`
 * @models engine/loop/prio-mailbox-private.h prio_mailbox_fall_asleep bce4354b76e6
 *     Loop: the statement that makes the state ASLEEP
 * @models engine/loop/prio-mailbox-private.h prio_mailbox_wake 9fa63db77a68
 *     WAKE
 * @models engine/loop/prio-loop.c prio_loop_catch_up c2827fa4ed15
 *     CATCH_UP
 * @models engine/loop/prio-loop.c come_back f69526df3cd8
 *     COME_BACK
 * @models engine/loop/prio-loop.c submit_from_elsewhere 6077b64599c2
 *     Pusher: COME_BACK () after the push
 * @models engine/loop/prio-loop-private.h prio_loop_enter fb2fb71e99ed
 *     Loop: `if :: state != EMPTY -> CATCH_UP ()`
 * @models engine/loop/prio-loop-source.c take_over 04d1dd604443
 *     Loop: `if :: state == FILLED -> CATCH_UP ()`
 * @models engine/loop/prio-loop-source.c leave_if_idle 7cc74eb47bdf
 *     Loop: `here = 0`
 * @models engine/loop/prio-loop-source.c prepare 4e751583a798
 *     Loop, prepare
 * @models engine/loop/prio-loop-source.c governor_check 1a235f5cf336
 *     Loop, check
 * @models engine/loop/prio-loop-end.c prio_loop_tear_down 3fe760b2bc1e
 *     Ender
 *
 * @holds -DP=2
 * @holds -DP=2 -DEND
 * @holds-long -DP=3 -DL=2
 * @holds-long -DP=4 -DEND
 * @mutant -DNO_WAKEUP         a push does not wake the context
 * @mutant -DENTER_NO_WAKE     the owner's enter does not wake the context
 * @mutant -DPUSH_BEFORE       the state becomes FILLED before the operation is in the mailbox
 * @mutant -DTAKE_LATE         the state becomes EMPTY after the lock is released
 * @mutant -DSLEEP_STORE       a plain store, not an exchange, makes the state ASLEEP
 * @mutant -DLEAVE_LATE        the governor leaves after the state is ASLEEP
 * @mutant -DPUSH_STAYS_AWAY   a push does not bring the governor back
 * @mutant -DENTER_STAYS_AWAY  the owner's enter does not bring the governor back
 * @mutant -DBACK_NO_WAKEUP    the governor comes back after GLib is past it, and GLib does not ask it
 * @mutant -DEND -DCLOSE_LATE  the mailbox is closed after the lock is released
 * @mutant -DEND -DBACK_UNLOCKED  a push brings the governor back without the lock
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef P
#define P 2
#endif
#ifndef L
#define L 1
#endif

mtype = { EMPTY, FILLED, ASLEEP };
mtype state = EMPTY;

/* `n`: operations in the mailbox; `mine`: tasks in the queues; `event`: the context's wake-up. */
byte lock, n, mine, pushed, done;
bool event, closed, awake, over;

/* Whether the governor is in the context. */
bool here = 1;

inline LOCK (w) { atomic { lock == 0 -> lock = w } }
inline UNLOCK () { lock = 0 }

inline COME_BACK (w)
{
  if
  :: !here ->
#ifndef BACK_UNLOCKED
     LOCK (w);
#endif
     if
#ifndef BACK_UNLOCKED
     :: closed -> skip
#endif
     :: else ->
        assert (!over);
#ifdef BACK_NO_WAKEUP
        here = 1
#else
        atomic { here = 1; event = 1 }
#endif
     fi;
#ifndef BACK_UNLOCKED
     UNLOCK ()
#endif
  :: else
  fi
}

proctype Pusher (byte me)
{
  mtype old;

#ifdef PUSH_BEFORE
  atomic { old = state; state = FILLED }
  if :: old == ASLEEP -> event = 1 :: else fi;
#endif
  LOCK (me);
  if
  :: closed -> UNLOCK (); goto out
  :: else
  fi;
  n++;
  pushed++;
#ifndef PUSH_BEFORE
  if
  :: state != FILLED ->
     atomic { old = state; state = FILLED }
#ifndef NO_WAKEUP
     if :: old == ASLEEP -> assert (!over); event = 1 :: else fi
#endif
  :: else
  fi;
#endif
  UNLOCK ();
#ifndef PUSH_STAYS_AWAY
  COME_BACK (me);
#endif
out:
  skip
}

inline TAKE ()
{
  LOCK (9);
  done = done + n;
  n = 0;
#ifdef TAKE_LATE
  UNLOCK ();
  state = EMPTY
#else
  state = EMPTY;
  UNLOCK ()
#endif
}

inline WAKE ()
{
  if
  :: state == ASLEEP -> atomic { if :: state == ASLEEP -> state = EMPTY :: else fi }
  :: else
  fi
}

inline CATCH_UP ()
{
#ifndef ENTER_STAYS_AWAY
  COME_BACK (9);
#endif
  if
  :: state == FILLED -> TAKE ()
  :: else ->
#ifndef ENTER_NO_WAKE
     WAKE ();
     if :: !awake -> event = 1 :: else fi
#endif
     skip
  fi
}

proctype Loop ()
{
  byte posts;
  bool slept;

prepare:
  if :: !here -> slept = true; goto others :: else fi;
again:
  if :: state == FILLED -> CATCH_UP () :: else fi;
  awake = false;
  slept = false;
  if
  :: mine > 0 -> skip                      /* a task: poll () does not wait */
  :: else ->
#ifndef LEAVE_LATE
     if :: here = 0 :: skip fi;
#endif
#ifdef SLEEP_STORE
     if :: state == EMPTY -> state = ASLEEP; slept = true :: state == ASLEEP -> slept = true :: else -> goto again fi;
#else
     atomic { if :: state == ASLEEP || state == EMPTY -> state = ASLEEP; slept = true :: else -> goto again fi };
#endif
#ifdef LEAVE_LATE
     if :: here = 0 :: skip fi;
#endif
  fi;

others:

  /* The prepare of another source posts. */
  if
  :: posts < L -> posts++; if :: state != EMPTY -> CATCH_UP () :: else fi; mine++
  :: skip
  fi;

  /* poll () */
  if
  :: slept ->
     if
     :: event -> event = 0
     :: pushed == P && done == P && mine == 0 && n == 0 && !event -> goto out     /* no work: it may sleep for ever */
     fi
  :: else -> event = 0
  fi;

  /* check */
  if :: !here -> goto prepare :: else fi;
  if :: state == FILLED -> CATCH_UP () :: else fi;
  awake = true;
  WAKE ();

  /* dispatch */
  mine = 0;
  if :: state == FILLED -> TAKE () :: else fi;
  goto prepare;

out:
  assert (done == P && mine == 0)
}

/* Ends the context: no operation enters a closed mailbox, and no thread wakes a context that has gone. */
proctype Ender ()
{
  bool was_empty;

  if :: here = 0 :: skip fi;
  awake = true;
  WAKE ();
  do
  :: TAKE ();
     LOCK (9);
     was_empty = n == 0;
#ifdef CLOSE_LATE
     UNLOCK ();
     closed = was_empty;
#else
     closed = was_empty;
     UNLOCK ();
#endif
     if :: closed -> break :: else fi
  od;
  over = true;
  assert (n == 0 && done == pushed)
}

init
{
  atomic {
    byte i = 0;

    do :: i < P -> run Pusher (i + 1); i++ :: else -> break od;
#ifdef END
    run Ender ()
#else
    run Loop ()
#endif
  }
}
