/* prio-ready-private.h: which task is next
 *
 * Promises: the queue whose head is the oldest task of the highest effective
 * priority, over all schedulers of a context: a look with one queue a priority,
 * O(log queues) to put it right after its head has gone.  A scheduler is paused
 * and resumed in O(log schedulers), however many queues it has.
 *
 * There are two levels.  A scheduler has a group: its queues that have a head, each under
 * the order of that.  The loop has the set: the groups of all schedulers that are
 * not paused, each under the order of its oldest head.  Both levels keep one heap for each
 * effective priority.
 *
 * What stands alone in its heap has no key to rely on: none is compared, and it is set when
 * another comes.  A queue that is the only one of its effective priority in the set is known
 * without a look at the heaps.
 *
 * A queue of jobs that was the only one stays where it is when it gets empty, as the one of a
 * task that posts itself does each time; the masks say that it is not there.  It is driven out by
 * the next queue of its effective priority, a pause, or the end of its scheduler.
 *
 * Everything here belongs to the home thread of the loop.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-queue-private.h"

/* The queues of a scheduler that have a head. */
typedef struct
{
  guint mask; /* bit E: there are queues of effective priority E */
  gboolean paused;
  PrioHeap queues[PRIO_N_EFFECTIVE];
  PrioHeapNode places[PRIO_N_EFFECTIVE]; /* in the set, if it is not paused */
} PrioReadyGroup;

/* The groups of all schedulers of a loop that are not paused. */
typedef struct
{
  guint mask;                        /* bit E: there are queues of effective priority E */
  PrioQueue *only[PRIO_N_EFFECTIVE]; /* the queue, if there is one, or was; NULL if there are more, or none */
  PrioHeap groups[PRIO_N_EFFECTIVE];
} PrioReady;

void prio_ready_group_init (PrioReadyGroup *group);
void prio_ready_group_clear (PrioReadyGroup *group);
void prio_ready_set_paused (PrioReady *ready, PrioReadyGroup *group, gboolean paused);
void prio_ready_clear (PrioReady *ready);

void prio_ready_drive_out (PrioReady *ready);
void prio_ready_add_another (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue);
void prio_ready_remove (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue);
void prio_ready_rekey (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue);
PrioQueue *prio_ready_oldest (PrioReady *ready, PrioEffective effective);

/* Whether @queue is in its group. */
static inline gboolean
prio_ready_contains (PrioQueue *queue)
{
  return queue->ready.index != PRIO_HEAP_NONE && (queue->head != NULL || queue->kind != PRIO_QUEUE_JOBS);
}

/* @queue, of a scheduler whose group is @group, has got a head, or another effective
 * priority. */
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

/* @queue, which is in @group, has no head any more. */
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

/* Puts @queue, which is in @group, right after its head has gone. */
static inline void
prio_ready_head_gone (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue)
{
  if (G_UNLIKELY (queue->head == NULL))
    prio_ready_emptied (ready, group, queue);
  else if (G_UNLIKELY (ready->only[queue->effective] != queue))
    prio_ready_rekey (ready, group, queue);
}

/* The highest effective priority there is, or -1. */
static inline int
prio_ready_top (PrioReady *ready)
{
  return ready->mask != 0 ? 31 - __builtin_clz (ready->mask) : -1;
}

/* The queue with the next task of all, or NULL. */
static inline PrioQueue *
prio_ready_first (PrioReady *ready)
{
  PrioEffective top;

  if (ready->mask == 0)
    return NULL;

  top = (PrioEffective) prio_ready_top (ready);
  return G_LIKELY (ready->only[top] != NULL) ? ready->only[top] : prio_ready_oldest (ready, top);
}

/* Whether @queue has the next task of all, and no other of its effective priority has one. */
static inline gboolean
prio_ready_is_alone (PrioReady *ready, PrioQueue *queue, PrioEffective effective)
{
  return ready->only[effective] == queue && ready->mask >> effective == 1;
}
