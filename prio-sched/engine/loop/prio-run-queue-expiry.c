/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-run-queue-expiry.c: tasks whose timeout has passed
 *
 * An entry with a timeout is in the queue of its priority, and in the loop's heap of deadlines.  When the timeout has
 * passed, the entry leaves both, and becomes one of the run queue's expired entries.  Expired entries precede all other
 * entries of every scheduler, and are sorted by expiry, then age.  They are not always added in this order, because a
 * timeout may have passed before its task was posted.  The first expired entry is alone in a queue, so that the ready
 * set finds it like any other head. */

#include "config.h"

#include "loop/prio-lending-private.h"

static PrioReady *
ready_of (PrioRunQueue *run_queue)
{
  return &run_queue->loop->ready;
}

/* Adds @entry, whose age is set, to the expired entries. */
static void
insert (PrioEntry *entry)
{
  PrioRunQueue *run_queue = entry->run_queue;
  PrioQueue *queue = &run_queue->expired;
  PrioEntry *first = (PrioEntry *) queue->head, *late = entry;

  entry->timed = PRIO_TIMED_EXPIRED;
  if (G_UNLIKELY (entry->lends))
    prio_lending_prepare (entry);
  if (first == NULL)
    {
      prio_queue_append_entry (queue, entry);
      prio_run_queue_make_ready (run_queue, queue);
      return;
    }

  if (entry->expiry < first->expiry || (entry->expiry == first->expiry && entry->job.order < first->job.order))
    {
      prio_queue_pop_entry (queue);
      prio_queue_append_entry (queue, entry);
      late = first;
    }
  prio_heap_insert (&run_queue->late, &late->delay, (guint64) late->expiry, late->job.order);
  if (late == first)
    prio_ready_rekey_expired (ready_of (run_queue), &run_queue->ready);
}

/* Makes the next expired entry the first, after the first was removed. */
void
prio_run_queue_next_expired (PrioRunQueue *run_queue)
{
  PrioQueue *queue = &run_queue->expired;
  PrioHeapNode *node;

  if (run_queue->late.n_items == 0)
    {
      prio_ready_emptied (ready_of (run_queue), &run_queue->ready, queue);
      return;
    }

  node = prio_heap_first (&run_queue->late)->node;
  prio_heap_remove (&run_queue->late, node);
  prio_queue_append_entry (queue, prio_entry_from_delay (node));
  prio_ready_rekey_expired (ready_of (run_queue), &run_queue->ready);
}

/* Queues @entry, which has a timeout.  An expired entry that continues keeps its age. */
void
prio_run_queue_enqueue_timed (PrioEntry *entry)
{
  PrioLoop *loop = entry->run_queue->loop;

  if (entry->timed == PRIO_TIMED_EXPIRED)
    {
      insert (entry);
    }
  else if (entry->expiry <= prio_clock_now ())
    {
      entry->job.order = prio_loop_next_order (loop);
      insert (entry);
    }
  else
    {
      prio_entry_append (entry);
      prio_due_add_deadline (&loop->due, entry);
    }
}

/* Returns whether an abort has dropped the queue that @entry was in. */
static gboolean
is_queue_dropped (PrioEntry *entry)
{
  return entry->follows != NULL && entry->follows->dropped;
}

/* Removes @entry, which is QUEUED and has a timeout, from its queue and the deadlines, or from the expired entries. */
void
prio_run_queue_dequeue_timed (PrioEntry *entry)
{
  PrioRunQueue *run_queue = entry->run_queue;

  if (entry->timed == PRIO_TIMED_WAITS)
    {
      prio_due_remove (&run_queue->loop->due.deadlines, entry);
      if (!is_queue_dropped (entry))
        prio_run_queue_unlink (entry);
    }
  else if (run_queue->expired.head == &entry->job)
    {
      prio_queue_pop_entry (&run_queue->expired);
      prio_run_queue_next_expired (run_queue);
    }
  else
    {
      prio_heap_remove (&run_queue->late, &entry->delay);
    }
}

/* Prepares @entry, which has a timeout and has left its queue, to run.  Checks whether the timeout has passed, because
 * the loop may not have noticed yet. */
void
prio_run_queue_begin_timed (PrioEntry *entry)
{
  if (entry->timed == PRIO_TIMED_EXPIRED)
    return;

  prio_due_remove (&entry->run_queue->loop->due.deadlines, entry);
  if (entry->expiry <= prio_clock_now ())
    entry->timed = PRIO_TIMED_EXPIRED;
}

void
prio_loop_expire_deadlines (PrioLoop *loop, gint64 now)
{
  PrioEntry *entry;

  while ((entry = prio_due_take (&loop->due.deadlines, now)) != NULL)
    {
      prio_run_queue_unlink (entry);
      if (G_UNLIKELY (entry->boosted))
        prio_lending_rejoin (entry);
      insert (entry);
    }
}
