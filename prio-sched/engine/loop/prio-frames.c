/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-frames.c: when the next frame is due */

#include "config.h"

#include "loop/prio-frames-private.h"

/* The assumed time between two frames if none has been announced, µs. */
#define USUAL_INTERVAL 16667

void (*prio_frames_look) (gint64 now);

static gint64
first_key (PrioHeap *heap)
{
  return heap->n_items > 0 ? (gint64) prio_heap_first (heap)->key : 0;
}

/* Updates `next` and `interval`.  Removes due times that have passed, because a running clock announces its next frame
 * itself.  Sets `next` atomically, because other threads read it. */
void
prio_frames_update (PrioLoop *loop, gint64 now)
{
  gint64 next;

  while ((next = first_key (&loop->frames.due)) != 0 && next <= now)
    {
      PrioHeapNode *node = prio_heap_first (&loop->frames.due)->node;

      prio_heap_remove (&loop->frames.due, node);
      ((PrioFrame *) (gpointer) ((gchar *) node - G_STRUCT_OFFSET (PrioFrame, due)))->is_due = FALSE;
    }
  __atomic_store_n (&loop->frames.next, next, __ATOMIC_RELAXED);
  loop->frames.interval = first_key (&loop->frames.intervals);
}

/* Sets the key of @node in @heap to @key, or removes @node if @key is 0. */
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
prio_frames_clear (PrioFrames *frames)
{
  prio_heap_clear (&frames->due);
  prio_heap_clear (&frames->intervals);
}

static void
put (PrioLoop *loop, PrioFrame *frame, gint64 due, gint64 interval)
{
  rekey (&loop->frames.due, &frame->due, &frame->is_due, due);
  rekey (&loop->frames.intervals, &frame->interval, &frame->has_interval, interval);
  prio_frames_update (loop, prio_clock_now ());
}

void
prio_frames_remove (PrioLoop *loop, PrioFrame *frame)
{
  put (loop, frame, 0, 0);
}

PrioFrame *
prio_frame_new (void)
{
  return g_new0 (PrioFrame, 1);
}

gint64
prio_frame_after (PrioLoop *loop, gint64 now)
{
  gint64 due = prio_loop_next_frame (loop, now);
  gint64 interval = prio_loop_frame_interval (loop);

  return MAX (due, prio_time_after (now, interval != 0 ? interval : USUAL_INTERVAL));
}

static void
op_announce (PrioLoop *loop, const PrioOp *op)
{
  gint64 due = ((const PrioTimedOp *) op)->due, interval = (gint64) GPOINTER_TO_SIZE (op->data);

  put (loop, op->target, due, interval);
  if (due != 0 && G_UNLIKELY (prio_loop_is_observed (loop)))
    prio_loop_observing (loop)->frame_announced (loop, due, interval);
}

void
prio_frame_announce (PrioLoop *loop, PrioFrame *frame, gint64 due, gint64 interval)
{
  PrioTimedOp self = { { .apply = op_announce, .target = frame, .data = GSIZE_TO_POINTER ((gsize) interval), .size = sizeof self }, due };

  prio_loop_submit (loop, &self.op);
}

static void
op_free (PrioLoop *loop, const PrioOp *op)
{
  prio_frames_remove (loop, op->target);
  g_free (op->target);
}

void
prio_frame_free (PrioLoop *loop, PrioFrame *frame)
{
  prio_loop_submit_quietly (loop, &(PrioOp) { .apply = op_free, .target = frame });
}
