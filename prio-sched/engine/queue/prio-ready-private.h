/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-ready-private.h: the ready set: which task is next
 *
 * Promises: it finds the queue whose head is the oldest task of the highest effective priority, over all schedulers of
 * a context, in O(1) if each priority has one queue.  Updating the set after a head was removed takes O(log queues),
 * and pausing or resuming a scheduler O(log schedulers), however many queues it has.
 *
 * There are two levels.  A scheduler has a ready group: its queues that have a head, with the order of the head as the
 * key.  The loop has the ready set: the groups of all schedulers that are not paused, with the order of the oldest head
 * as the key.  Both levels have one heap for each effective priority.
 *
 * The key of an item that is alone in its heap may be out of date: nothing is compared with it, and it is set when a
 * second item is added.  `only` is the queue that is alone in its effective priority, so that most calls need not look
 * into the heaps.
 *
 * Each scheduler has one queue for expired entries, whose timeout has passed.  It contains only the first of them, and
 * is ordered by that entry's expiry.
 *
 * A queue of jobs that was alone stays in the heaps when it becomes empty, because a task that posts itself again fills
 * it at once; the masks say that it is not ready.  The next queue of its effective priority, a pause and the end of its
 * scheduler evict it.
 *
 * Everything here belongs to the owner thread of the loop.
 */

#pragma once

#include "queue/prio-queue-private.h"

/* The queues of a scheduler that have a head. */
typedef struct
{
  guint mask; /* bit E: there are queues of effective priority E */
  gboolean paused;
  PrioHeap queues[PRIO_N_LEVELS];
  PrioHeapNode places[PRIO_N_LEVELS]; /* its nodes in the ready set, unless it is paused */
} PrioReadyGroup;

/* The groups of all schedulers of a loop that are not paused. */
typedef struct
{
  guint mask;                        /* bit E: there are queues of effective priority E */
  PrioQueue *only[PRIO_N_LEVELS]; /* the only queue, even if it is empty; NULL if there are several or none */
  PrioHeap groups[PRIO_N_LEVELS];
} PrioReady;

void prio_ready_group_init (PrioReadyGroup *group);
void prio_ready_group_clear (PrioReadyGroup *group);
void prio_ready_set_paused (PrioReady *ready, PrioReadyGroup *group, gboolean paused);
void prio_ready_clear (PrioReady *ready);

void prio_ready_evict (PrioReady *ready);
void prio_ready_add_another (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue);
void prio_ready_remove (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue);
void prio_ready_rekey (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue);
void prio_ready_rekey_expired (PrioReady *ready, PrioReadyGroup *group);
void prio_ready_group_foreach (PrioReadyGroup *group, void (*func) (PrioHeapItem *item, gpointer data), gpointer data);
PrioQueue *prio_ready_oldest (PrioReady *ready, PrioEffective effective);

/* Returns whether @queue is in its ready group, and not only left in the heaps. */
static inline gboolean
prio_ready_contains (PrioQueue *queue)
{
  return queue->ready.index != PRIO_HEAP_NONE && (queue->head != NULL || queue->kind != PRIO_QUEUE_JOBS);
}

/* Adds @queue, which was empty and has a head now, or has another effective priority.  @group is its scheduler's. */
static inline void
prio_ready_add (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue)
{
  if (ready->only[queue->effective] == queue)
    {
      group->mask |= 1u << queue->effective;
      ready->mask |= 1u << queue->effective;
    }
  else
    {
      prio_ready_add_another (ready, group, queue);
    }
}

/* Call this when @queue, which is in @group, has become empty. */
static inline void
prio_ready_emptied (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue)
{
  if (queue->kind == PRIO_QUEUE_JOBS && ready->only[queue->effective] == queue)
    {
      group->mask &= ~(1u << queue->effective);
      ready->mask &= ~(1u << queue->effective);
    }
  else
    {
      prio_ready_remove (ready, group, queue);
    }
}

/* Call this when the head of @queue, which is in @group, has been removed. */
static inline void
prio_ready_head_gone (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue)
{
  if (G_UNLIKELY (queue->head == NULL))
    prio_ready_emptied (ready, group, queue);
  else if (G_UNLIKELY (ready->only[queue->effective] != queue))
    prio_ready_rekey (ready, group, queue);
}

/* Returns the highest effective priority that has a task, or -1. */
static inline int
prio_ready_top (PrioReady *ready)
{
  return ready->mask != 0 ? 31 - __builtin_clz (ready->mask) : -1;
}

/* Returns the queue whose head is the next task, or NULL. */
static inline PrioQueue *
prio_ready_first (PrioReady *ready)
{
  PrioEffective effective;

  if (ready->mask == 0)
    return NULL;

  effective = (PrioEffective) prio_ready_top (ready);
  return G_LIKELY (ready->only[effective] != NULL) ? ready->only[effective] : prio_ready_oldest (ready, effective);
}

/* Returns whether @queue has the next task, and is alone in its effective priority. */
static inline gboolean
prio_ready_is_alone (PrioReady *ready, PrioQueue *queue, PrioEffective effective)
{
  return ready->only[effective] == queue && ready->mask >> effective == 1;
}
