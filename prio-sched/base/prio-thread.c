/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-thread.c: the library's record of a thread */

#include "config.h"

#include "base/prio-thread-private.h"

PRIO_TLS PrioThread prio_thread;

gsize
prio_thread_get_id (void)
{
  static gsize last;

  if (prio_thread.id == 0)
    prio_thread.id = __atomic_add_fetch (&last, 1, __ATOMIC_RELAXED);
  return prio_thread.id;
}
