/* prio-count-private.h: how many tasks wait
 *
 * Promises: it is counted when it is asked for, by a walk over the queues, so that nothing is counted when tasks are posted and run.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

#define PRIO_N_PRIORITIES (PRIO_N_EFFECTIVE / 2)

/* By priority, from background. */
typedef struct
{
  guint64 queued[PRIO_N_PRIORITIES], delayed[PRIO_N_PRIORITIES];
  guint64 dropped[PRIO_N_PRIORITIES]; /* an abort has dropped them, and has not come to each yet */
} PrioWaiting;

void prio_run_queue_count_waiting (PrioRunQueue *run_queue, PrioWaiting *waiting);
guint prio_run_queue_count (PrioRunQueue *run_queue);
guint prio_group_count (PrioGroup *group);

/* An entry that follows a group, and is boosted, has no priority in its own field: it is asked of prio-lending. */
static inline guint
prio_count_index (PrioTaskPriority priority)
{
  guint index = (guint) (priority - PRIO_TASK_PRIORITY_BACKGROUND);

  g_assert (index < PRIO_N_PRIORITIES);
  return index;
}
