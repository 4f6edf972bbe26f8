/* prio-observer.c: who is told what the loops do
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-observer-private.h"

void
prio_observer_add (PrioObserver *observer)
{
  (void) observer;
}

void
prio_observer_remove (PrioObserver *observer)
{
  (void) observer;
}
