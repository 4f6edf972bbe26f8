/* prio-shares.c: shares of time that the program has said
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-shares-private.h"

/* A scheduler of @loop has said another share, or has gone. */
void
prio_shares_update (PrioLoop *loop)
{
  guint frame_share = 0;

  for (PrioRunQueue *run_queue = loop->run_queues; run_queue != NULL; run_queue = run_queue->next)
    frame_share = MAX (frame_share, __atomic_load_n (&run_queue->frame_share, __ATOMIC_RELAXED));

  loop->turn.frame_share = frame_share;
  if (frame_share == 0)
    loop->turn.frame_due = 0;
}
