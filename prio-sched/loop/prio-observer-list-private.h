/* prio-observer-list-private.h: the observers there are
 *
 * Threads: the list is read on any thread, and changed under a lock.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-observer-private.h"

extern PrioObserver *prio_observers G_GNUC_INTERNAL; /* atomic */
extern const PrioObservingFuncs prio_observing_funcs G_GNUC_INTERNAL;

gboolean prio_observers_exist (void);
void prio_observer_comes (gpointer observer);
void prio_observers_new_loop (PrioLoop *loop);
gboolean prio_observer_introduce (PrioObserver *self, PrioLoop *loop);

/* Whether @self knows @loop: until it has been told of what waits there, it is not told of anything else. */
static inline gboolean
prio_observer_knows (PrioObserver *self, PrioLoop *loop)
{
  guint times = __atomic_load_n (&self->times, __ATOMIC_ACQUIRE);

  return times != 0 && loop->introduced[self->place - 1] == times;
}

/* Calls a function of every observer of @loop that has it: all are told of the same moment, which is their last argument. */
#define PRIO_TELL(function, now, loop, ...)                                                                           \
  do                                                                                                                  \
    {                                                                                                                 \
      gint64 told_at = now;                                                                                           \
                                                                                                                      \
      for (PrioObserver *o = __atomic_load_n (&prio_observers, __ATOMIC_ACQUIRE); o != NULL;                          \
           o = __atomic_load_n (&o->next, __ATOMIC_ACQUIRE))                                                          \
        {                                                                                                             \
          if (o->function != NULL && prio_observer_knows (o, loop))                                                   \
            o->function (o, loop, ##__VA_ARGS__, told_at);                                                            \
        }                                                                                                             \
    }                                                                                                                 \
  while (0)
