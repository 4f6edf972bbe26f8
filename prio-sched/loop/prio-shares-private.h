/* prio-shares-private.h: shares of time that the program has said
 *
 * Promises: a share that a scheduler says counts for all tasks of its main context, and of several the largest, as long
 * as the scheduler or one of its tasks is there.  Those that are less urgent have their least share of the time that they and
 * more urgent ones run, while they wait: what more urgent ones run makes time due to them, and what they run before
 * those is taken from it.  What they run while nothing more urgent waits is not, and settles what is due to those.
 * (What is due to background tasks beside other sources is in prio-turn.)
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

typedef struct
{
  guint share; /* or 0 */
  gint64 due;  /* time due to the tasks of the priority, µs; if negative, due to more urgent ones */
} PrioLeastShare;

struct _PrioShares
{
  PrioLeastShare of[PRIO_N_SHARED]; /* by priority, from `background` on */
  gint64 since;                     /* what tasks have run since then is not counted yet, µs */
};

void prio_shares_update (PrioLoop *loop);
void prio_shares_count (PrioLoop *loop, guint effective, gboolean ahead, gint64 now);
PrioQueue *prio_shares_choose (PrioLoop *loop, PrioQueue *first, gint *ran, gint64 since, gboolean *ahead);

/* Whether some is still due at @now to the tasks of the effective priority @effective, which run ahead of more urgent ones. */
static inline gboolean
prio_shares_last (const PrioShares *shares, guint effective, gint64 now)
{
  return now - shares->since < shares->of[effective / 2].due;
}

/* Whether @run_queue says one. */
static inline gboolean
prio_shares_are_said (PrioRunQueue *run_queue)
{
  return (run_queue->frame_share | run_queue->least_shares[0] | run_queue->least_shares[1]) != 0;
}
