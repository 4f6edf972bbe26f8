/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-time.c: lets a test set the time of all loops (prio-observe.h) */

#include "config.h"

#include "loop/prio-dispatch-private.h"
#include "loop/prio-yield-private.h"

static gint64
earlier (gint64 time, gint64 span)
{
  return time != PRIO_NEVER ? MAX (time - span, 0) : time;
}

static void
bring_forward (PrioHeapItem *item, gpointer span)
{
  PrioEntry *entry = prio_entry_from_delay (item->node);

  item->key = (guint64) earlier ((gint64) item->key, *(gint64 *) span);
  entry->expiry = earlier (entry->expiry, *(gint64 *) span);
}

/* Wakes the loop, as every operation does, so that it sees the new time.  When a test returns to the system's clock,
 * moves delays and timeouts to this clock, and forgets other times, such as announced frames. */
static void
op_set (PrioLoop *loop, const PrioOp *op)
{
  gint64 span = ((const PrioTimedOp *) op)->due;

  if (span == 0)
    return;
  /* All keys change by the same amount, so their order remains. */
  prio_heap_foreach (&loop->due.delays, bring_forward, &span);
  prio_heap_foreach (&loop->due.deadlines, bring_forward, &span);
  prio_frames_update (loop, G_MAXINT64);
  memset (loop->ready.blocked_since, 0, sizeof loop->ready.blocked_since);
  loop->turn = (PrioTurn) { .task_share = loop->turn.task_share };
  prio_turn_init (&loop->turn);
  loop->idles.deadline = loop->input.next_probe = 0;
  prio_loop_end_slice (loop);
}

void
prio_time_set (gint64 time)
{
  gint64 before = prio_clock_now ();
  PrioTimedOp set = { { .apply = op_set, .size = sizeof set }, 0 };

  prio_clock_set (time);
  set.due = time == 0 ? before - prio_clock_now () : 0;
  prio_loops_submit (&set.op, NULL);
}

gint64
prio_loop_next_time (PrioLoop *loop)
{
  if (loop->ready.mask != 0 || prio_loop_is_behind (loop) || prio_loop_has_microtasks (loop) || prio_loop_has_releases (loop))
    return 0;
  return prio_due_next (&loop->due);
}
