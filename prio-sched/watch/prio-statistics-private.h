/* prio-statistics-private.h: the numbers of a scheduler's tasks
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "base/prio-histogram-private.h"
#include "loop/prio-count-private.h"
#include "prio-statistics.h"

/* Of one priority. */
typedef struct
{
  guint64 n_run, n_continued, n_aborted;
  PrioHistogram waits, runs; /* µs */
} PrioCount;

/* Nothing in it changes once it has been given away. */
struct _PrioStatistics
{
  PrioCount of[PRIO_N_PRIORITIES]; /* from background */
  PrioWaiting waiting;
};
