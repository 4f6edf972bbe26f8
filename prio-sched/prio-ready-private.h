/* prio-ready-private.h: which task is next
 *
 * Promises: the queue whose head is the oldest task of the highest effective
 * priority, over all schedulers of a context: a look with one queue a priority,
 * O(log queues) to put it right after its head has gone.  A queue is in the set
 * if, and only if, it has a head and its scheduler is not paused; it stands under
 * the order of its head, unless it stands alone.
 *
 * Everything here belongs to the home thread of the loop.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-queue-private.h"

typedef struct
{
  guint mask; /* bit E: there are queues of effective priority E */
  PrioHeap queues[PRIO_N_EFFECTIVE];
} PrioReady;

static inline PrioQueue *
prio_ready_oldest (PrioHeap *queues)
{
  return (gpointer) ((gchar *) prio_heap_first (queues)->node - G_STRUCT_OFFSET (PrioQueue, ready));
}

static inline void
prio_ready_add (PrioReady *ready, PrioQueue *queue)
{
  PrioHeap *queues = &ready->queues[queue->effective];

  /* The key of one that stood alone has not been kept up to date. */
  if (queues->n_items == 1)
    prio_heap_first (queues)->key = prio_ready_oldest (queues)->head->order;

  prio_heap_insert (queues, &queue->ready, queue->head->order, 0);
  ready->mask |= 1u << queue->effective;
}

static inline gboolean
prio_ready_contains (PrioQueue *queue)
{
  return queue->ready.index != PRIO_HEAP_NONE;
}

static inline void
prio_ready_remove (PrioReady *ready, PrioQueue *queue)
{
  PrioHeap *queues = &ready->queues[queue->effective];

  prio_heap_remove (queues, &queue->ready);
  if (queues->n_items == 0)
    ready->mask &= ~(1u << queue->effective);
}

/* Puts @queue, which is in the set, right after its head has gone. */
static inline void
prio_ready_head_gone (PrioReady *ready, PrioQueue *queue)
{
  PrioHeap *queues = &ready->queues[queue->effective];

  if (G_UNLIKELY (queue->head == NULL))
    prio_ready_remove (ready, queue);
  else if (queues->n_items > 1)
    prio_heap_rekey (queues, &queue->ready, queue->head->order);
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
  if (ready->mask == 0)
    return NULL;

  return prio_ready_oldest (&ready->queues[prio_ready_top (ready)]);
}

static inline void
prio_ready_clear (PrioReady *ready)
{
  for (guint i = 0; i < PRIO_N_EFFECTIVE; i++)
    prio_heap_clear (&ready->queues[i]);
  ready->mask = 0;
}
