/* prio-shares-private.h: shares of time that the program has said
 *
 * Promises: a share that a scheduler says counts for all tasks of its main context, and of several the largest, as long
 * as the scheduler or one of its tasks is there.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

void prio_shares_update (PrioLoop *loop);

/* Whether @run_queue says one. */
static inline gboolean
prio_shares_are_said (PrioRunQueue *run_queue)
{
  return run_queue->frame_share != 0;
}
