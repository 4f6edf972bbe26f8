/* prio-frames.c: when the next frame is due
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-frames-private.h"

/* Computes `next_frame` and `frame_interval`.  A time that has passed does not count any more: a clock that is late
 * will announce another one, and a clock that has stopped will not.  Other threads may read `next_frame`. */
void
prio_frames_update (PrioLoop *loop, gint64 now)
{
  gint64 next = 0;

  while (next == 0 && loop->frames_due.n_items > 0)
    {
      PrioHeapItem *first = prio_heap_first (&loop->frames_due);
      PrioHeapNode *node = first->node;

      if ((gint64) first->key > now)
        {
          next = (gint64) first->key;
        }
      else
        {
          prio_heap_remove (&loop->frames_due, node);
          ((PrioFrame *) (gpointer) ((gchar *) node - G_STRUCT_OFFSET (PrioFrame, due)))->is_due = FALSE;
        }
    }
  __atomic_store_n (&loop->next_frame, next, __ATOMIC_RELAXED);
  loop->frame_interval = loop->frame_intervals.n_items > 0 ? (gint64) prio_heap_first (&loop->frame_intervals)->key : 0;
}

/* Puts @node into @heap with another key, or takes it out if that is 0. */
static void
rekey (PrioHeap *heap, PrioHeapNode *node, gboolean *is_in, gint64 key)
{
  if (*is_in)
    prio_heap_remove (heap, node);
  *is_in = key != 0;
  if (*is_in)
    prio_heap_insert (heap, node, (guint64) key, 0);
}

void
prio_frames_put (PrioLoop *loop, PrioFrame *frame, gint64 due, gint64 interval)
{
  rekey (&loop->frames_due, &frame->due, &frame->is_due, due);
  rekey (&loop->frame_intervals, &frame->interval, &frame->has_interval, interval);
  prio_frames_update (loop, prio_clock_now ());
  if (G_UNLIKELY (loop->observing != NULL))
    loop->observing->frame_announced (loop, due, interval);
}

void
prio_frames_remove (PrioLoop *loop, PrioFrame *frame)
{
  rekey (&loop->frames_due, &frame->due, &frame->is_due, 0);
  rekey (&loop->frame_intervals, &frame->interval, &frame->has_interval, 0);
  prio_frames_update (loop, prio_clock_now ());
}
