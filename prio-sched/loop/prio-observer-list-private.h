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

/* Calls a function of every observer that has it: all are told of the same moment, which is their last argument. */
#define PRIO_TELL(function, now, ...)                                                                                 \
  do                                                                                                                  \
    {                                                                                                                 \
      gint64 told_at = now;                                                                                           \
                                                                                                                      \
      for (PrioObserver *o = __atomic_load_n (&prio_observers, __ATOMIC_ACQUIRE); o != NULL;                          \
           o = __atomic_load_n (&o->next, __ATOMIC_ACQUIRE))                                                          \
        {                                                                                                             \
          if (o->function != NULL)                                                                                    \
            o->function (o, __VA_ARGS__, told_at);                                                                    \
        }                                                                                                             \
    }                                                                                                                 \
  while (0)
