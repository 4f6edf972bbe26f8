/* prio-statistics-private.h: what is told of a scheduler
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-count-private.h"
#include "prio-statistics.h"

/* Nothing in it changes once it has been given away. */
struct _PrioStatistics
{
  PrioCounts counts;
  PrioWaiting waiting;
};
