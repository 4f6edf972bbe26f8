/* prio-observer-list.c: the observers there are
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-observer-list-private.h"

PrioObserver *prio_observers;

/* Guards changes of the list; read on any thread. */
static PrioLock lock = PRIO_LOCK_INIT;

gboolean
prio_observers_exist (void)
{
  return __atomic_load_n (&prio_observers, __ATOMIC_ACQUIRE) != NULL;
}

/* Under the lock of the loops' table. */
void
prio_observer_comes (gpointer observer)
{
  PrioObserver *self = observer;

  self->come = __atomic_load_n (&self->times, __ATOMIC_ACQUIRE);
}

/* Under that lock: nothing waits in @loop.  Those that are about to come are introduced then. */
void
prio_observers_new_loop (PrioLoop *loop)
{
  for (PrioObserver *o = __atomic_load_n (&prio_observers, __ATOMIC_ACQUIRE); o != NULL;
       o = __atomic_load_n (&o->next, __ATOMIC_ACQUIRE))
    loop->introduced[o->place - 1] = o->come;
}

/* Inside: @self knows @loop from now on.  Returns FALSE if it does already, or has gone. */
gboolean
prio_observer_introduce (PrioObserver *self, PrioLoop *loop)
{
  guint times = __atomic_load_n (&self->times, __ATOMIC_ACQUIRE);

  if (times == 0 || loop->introduced[self->place - 1] == times)
    return FALSE;
  loop->introduced[self->place - 1] = times;
  return TRUE;
}

/* Under the lock: where the list refers to @observer, or its end. */
static PrioObserver **
find_link (PrioObserver *observer)
{
  PrioObserver **link = &prio_observers;

  while (*link != NULL && *link != observer)
    link = &(*link)->next;
  return link;
}

/* Under the lock: adds or removes @observer if that is a change.  Returns whether it is. */
static gboolean
change (PrioObserver *observer)
{
  static guint n_places, times;
  PrioObserver **link = find_link (observer);
  gboolean is_told = observer->users > 0;

  if (is_told == (*link != NULL))
    return FALSE;
  if (!is_told)
    {
      __atomic_store_n (&observer->times, 0, __ATOMIC_RELEASE);
      __atomic_store_n (link, observer->next, __ATOMIC_RELEASE);
      return TRUE;
    }

  if (observer->place == 0)
    observer->place = ++n_places;
  g_assert (observer->place <= PRIO_MAX_OBSERVERS);
  __atomic_store_n (&observer->next, prio_observers, __ATOMIC_RELAXED);
  __atomic_store_n (&prio_observers, observer, __ATOMIC_RELEASE);
  /* After this no loop is introduced as before. */
  __atomic_store_n (&observer->times, ++times, __ATOMIC_RELEASE);
  return TRUE;
}

/* Sets how many want @observer to be told, or adds to that if @counts. */
static void
set_users (PrioObserver *observer, gboolean counts, gint users)
{
  gboolean is_change, is_told;

  prio_loop_add_leaf_lock (&lock);
  prio_lock_lock (&lock);
  observer->users = counts ? observer->users + users : users;
  is_told = observer->users > 0;
  is_change = change (observer);
  prio_lock_unlock (&lock);

  if (is_change && is_told)
    prio_loops_observe (&prio_observing_funcs, observer);
  else if (is_change && !prio_observers_exist ())
    prio_loops_observe (&prio_observing_funcs, NULL);
}

/* Any thread, outside: tells @observer, which is static, of all loops, until it is removed.  Does nothing if it is told already.
 * This releases what other threads have ended, so call it without a lock: a destroy notify may add and remove observers. */
void
prio_observer_add (PrioObserver *observer)
{
  set_users (observer, FALSE, 1);
}

/* Any thread, outside, without a lock too.  Does nothing if it has been removed.  A call that another thread has begun may still go
 * on. */
void
prio_observer_remove (PrioObserver *observer)
{
  set_users (observer, FALSE, 0);
}

/* The same as prio_observer_add (), until as many calls of prio_observer_release () have been made, which may come first. */
void
prio_observer_hold (PrioObserver *observer)
{
  set_users (observer, TRUE, 1);
}

void
prio_observer_release (PrioObserver *observer)
{
  set_users (observer, TRUE, -1);
}

/* Inside: @loop is observed from now on, and knows @observer, though another thread, which has added it, may not have come to
 * this loop. */
void
prio_observer_ensure (PrioObserver *observer, PrioLoop *loop)
{
  if (prio_loop_is_dead (loop) || prio_observer_knows (observer, loop))
    return;
  loop->observing = &prio_observing_funcs;
  loop->observing->begins (loop, observer);
}
