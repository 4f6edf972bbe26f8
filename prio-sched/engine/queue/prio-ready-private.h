/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-ready-private.h: the ready set: which task is next
 *
 * Promises: the ready set finds the queue whose head is the oldest task of the highest effective priority, over all
 * schedulers of a context, in O(1) if each priority has one queue.  Updating the set after a head was removed takes
 * O(log queues), and pausing or resuming a scheduler O(log schedulers), however many queues it has.
 *
 * There are two levels.  A scheduler has a ready group: its queues that have a head, with the order of the head as the
 * key.  The loop has the ready set: the groups of all schedulers that are not paused, with the order of the oldest head
 * as the key.  Both levels have one heap for each effective priority.
 *
 * The key of an item that is alone in its heap may be out of date, because nothing is compared with it.  The key is set
 * when a second item is added.  Most calls need no heap, because `only` is the queue that is alone in its effective
 * priority.
 *
 * Each scheduler has one queue for entries whose timeout has passed.  The queue contains only the first of these
 * entries, and its key is that entry's expiry.
 *
 * A queue of jobs that was alone stays in the heaps when it becomes empty, because a task that posts itself again fills
 * it at once.  The masks say that the queue is not ready.  It is evicted when another queue of its effective priority
 * is added, when a scheduler is paused, resumed or ends, and when an observer is added.
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "queue/prio-queue-private.h"

/* The queues of a scheduler that have a head. */
typedef struct
{
  guint mask; /* bit E: there are queues of effective priority E */
  gboolean paused;
  PrioHeap queues[PRIO_N_LEVELS];
  PrioHeapNode places[PRIO_N_LEVELS]; /* nodes in the ready set, unless the scheduler is paused */
} PrioReadyGroup;

/* The groups of all schedulers of a loop that are not paused. */
typedef struct
{
  guint mask;                        /* bit E: there are queues of effective priority E */
  PrioQueue *only[PRIO_N_LEVELS]; /* the only queue of a level, even if empty; NULL if there are several or none */
  PrioHeap groups[PRIO_N_LEVELS];
  /* Used by prio-starvation.c; indexed by the effective priority of continuations. */
  guint64 blocked[PRIO_N_EFFECTIVE];      /* the order of the new task that waits, or has waited, behind continuations */
  gint64 blocked_since[PRIO_N_EFFECTIVE]; /* when a continuation was first chosen before that task, µs, or 0 */
  PrioEffective starves;                  /* the effective priority for which a warning is due, or 0 */
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

/* Returns whether @queue is in the heaps; but FALSE for an empty queue of jobs, even if it is still in the heaps. */
static inline gboolean
prio_ready_contains (PrioQueue *queue)
{
  return queue->ready.index != PRIO_HEAP_NONE && (queue->head != NULL || queue->kind != PRIO_QUEUE_JOBS);
}

/* Adds @queue, which was empty or has another effective priority now, to @group, the group of its scheduler. */
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

/* Updates @group after @queue, which is in @group, has become empty. */
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

/* Updates @group after the head of @queue, which is in @group, has been removed. */
static inline void
prio_ready_head_gone (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue)
{
  if (G_UNLIKELY (queue->head == NULL))
    prio_ready_emptied (ready, group, queue);
  else if (G_UNLIKELY (ready->only[queue->effective] != queue))
    prio_ready_rekey (ready, group, queue);
}

/* Returns the highest effective priority that has a task in a scheduler that is not paused, or -1. */
static inline int
prio_ready_top (PrioReady *ready)
{
  return ready->mask != 0 ? 31 - __builtin_clz (ready->mask) : -1;
}

/* Returns the queue of @effective with the oldest head; there must be one. */
static inline PrioQueue *
prio_ready_first_of (PrioReady *ready, PrioEffective effective)
{
  return G_LIKELY (ready->only[effective] != NULL) ? ready->only[effective] : prio_ready_oldest (ready, effective);
}

/* Returns the queue whose head is the next task, or NULL. */
static inline PrioQueue *
prio_ready_first (PrioReady *ready)
{
  return ready->mask != 0 ? prio_ready_first_of (ready, (PrioEffective) prio_ready_top (ready)) : NULL;
}

/* Returns whether @queue has the next task, and is alone in its effective priority. */
static inline gboolean
prio_ready_is_alone (PrioReady *ready, PrioQueue *queue, PrioEffective effective)
{
  return ready->only[effective] == queue && ready->mask >> effective == 1;
}
