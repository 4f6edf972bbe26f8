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

/* Any thread, outside: tells @observer, which is static, of all loops, until it is removed.  Does nothing if it is told already.
 * This releases what other threads have ended, so call it without a lock: a destroy notify may add and remove observers. */
void
prio_observer_add (PrioObserver *observer)
{
  static guint n_places, times;
  gboolean is_new;

  prio_loop_add_leaf_lock (&lock);
  prio_lock_lock (&lock);
  is_new = *find_link (observer) == NULL;
  if (is_new)
    {
      if (observer->place == 0)
        observer->place = ++n_places;
      g_assert (observer->place <= PRIO_MAX_OBSERVERS);
      __atomic_store_n (&observer->next, prio_observers, __ATOMIC_RELAXED);
      __atomic_store_n (&prio_observers, observer, __ATOMIC_RELEASE);
      /* After this no loop is introduced as before. */
      __atomic_store_n (&observer->times, ++times, __ATOMIC_RELEASE);
    }
  prio_lock_unlock (&lock);

  if (is_new)
    prio_loops_observe (&prio_observing_funcs, observer);
}

/* Any thread, outside, without a lock too.  Does nothing if it has been removed.  A call that another thread has begun may still go
 * on. */
void
prio_observer_remove (PrioObserver *observer)
{
  PrioObserver **link;
  gboolean was_there;

  prio_lock_lock (&lock);
  link = find_link (observer);
  was_there = *link != NULL;
  if (was_there)
    {
      __atomic_store_n (&observer->times, 0, __ATOMIC_RELEASE);
      __atomic_store_n (link, observer->next, __ATOMIC_RELEASE);
    }
  prio_lock_unlock (&lock);

  if (was_there && !prio_observers_exist ())
    prio_loops_observe (&prio_observing_funcs, NULL);
}
