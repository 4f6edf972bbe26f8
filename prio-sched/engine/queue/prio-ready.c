/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-ready.c: the ready set: which task is next */

#include "config.h"

#include "queue/prio-ready-private.h"

#include <string.h>

static PrioReadyGroup *
group_at (PrioHeapNode *node, PrioEffective effective)
{
  return (gpointer) ((gchar *) (node - effective) - G_STRUCT_OFFSET (PrioReadyGroup, places));
}

/* Returns the queue of @effective in @group with the oldest head; there must be one. */
static PrioQueue *
oldest_of_group (PrioReadyGroup *group, PrioEffective effective)
{
  return prio_queue_from_ready (prio_heap_first (&group->queues[effective])->node);
}

/* Calls @func for each queue in @group.  Some of the queues may be empty. */
void
prio_ready_group_foreach (PrioReadyGroup *group, void (*func) (PrioHeapItem *item, gpointer data), gpointer data)
{
  for (PrioEffective effective = 0; effective < PRIO_N_LEVELS; effective++)
    prio_heap_foreach (&group->queues[effective], func, data);
}

/* Returns the queue of @effective with the oldest head; there must be one. */
PrioQueue *
prio_ready_oldest (PrioReady *ready, PrioEffective effective)
{
  return oldest_of_group (group_at (prio_heap_first (&ready->groups[effective])->node, effective), effective);
}

void
prio_ready_group_init (PrioReadyGroup *group)
{
  for (guint i = 0; i < PRIO_N_LEVELS; i++)
    group->places[i].index = PRIO_HEAP_NONE;
}

void
prio_ready_group_clear (PrioReadyGroup *group)
{
  g_assert (group->mask == 0);

  for (guint i = 0; i < PRIO_N_LEVELS; i++)
    prio_heap_clear (&group->queues[i]);
}

void
prio_ready_clear (PrioReady *ready)
{
  for (guint i = 0; i < PRIO_N_LEVELS; i++)
    prio_heap_clear (&ready->groups[i]);
  *ready = (PrioReady) { 0 };
}

/* Updates the position of @group, whose oldest head of @effective may have changed. */
static inline void
rekey_group (PrioReady *ready, PrioReadyGroup *group, PrioEffective effective)
{
  if (ready->groups[effective].n_items > 1 && !group->paused)
    prio_heap_rekey (&ready->groups[effective], &group->places[effective],
                     oldest_of_group (group, effective)->head->order);
}

/* Updates the position of @queue, whose head has changed. */
void
prio_ready_rekey (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue)
{
  PrioEffective effective = queue->effective;

  if (group->queues[effective].n_items > 1)
    {
      prio_heap_rekey (&group->queues[effective], &queue->ready, queue->head->order);
      rekey_group (ready, group, effective);
    }
  else if (!group->paused)
    {
      prio_heap_rekey (&ready->groups[effective], &group->places[effective], queue->head->order);
    }
}

static inline void
find_only (PrioReady *ready, PrioEffective effective)
{
  PrioHeap *groups = &ready->groups[effective];
  PrioReadyGroup *group;

  ready->only[effective] = NULL;
  if (groups->n_items != 1)
    return;

  group = group_at (prio_heap_first (groups)->node, effective);
  if (group->queues[effective].n_items == 1)
    ready->only[effective] = oldest_of_group (group, effective);
}

/* Returns the key of @queue among other schedulers' queues: the age of its head or, for a queue of expired tasks, the
 * head's expiry.  Sets @tie to the age of an expired head, and otherwise to 0. */
static inline guint64
key_of (PrioQueue *queue, guint64 *tie)
{
  if (G_LIKELY (queue->effective != PRIO_EFFECTIVE_EXPIRED))
    {
      *tie = 0;
      return queue->head->order;
    }
  *tie = queue->head->order;
  return (guint64) ((PrioEntry *) queue->head)->expiry;
}

static inline void
insert_group (PrioReady *ready, PrioReadyGroup *group, PrioEffective effective)
{
  guint64 tie, key = key_of (oldest_of_group (group, effective), &tie);

  prio_heap_insert (&ready->groups[effective], &group->places[effective], key, tie);
}

/* Updates the position of the queue of expired tasks in @group, whose head has changed. */
void
prio_ready_rekey_expired (PrioReady *ready, PrioReadyGroup *group)
{
  PrioHeap *groups = &ready->groups[PRIO_EFFECTIVE_EXPIRED];

  if (group->paused || groups->n_items == 1)
    return;

  prio_heap_remove (groups, &group->places[PRIO_EFFECTIVE_EXPIRED]);
  insert_group (ready, group, PRIO_EFFECTIVE_EXPIRED);
}

static void
enter_set (PrioReady *ready, PrioReadyGroup *group, PrioEffective effective)
{
  PrioHeap *groups = &ready->groups[effective];

  if (groups->n_items == 1)
    {
      PrioHeapItem *other = prio_heap_first (groups);

      other->key = key_of (prio_ready_oldest (ready, effective), &other->tie);
    }

  insert_group (ready, group, effective);
  ready->mask |= 1u << effective;
}

static void
leave_set (PrioReady *ready, PrioReadyGroup *group, PrioEffective effective)
{
  prio_heap_remove (&ready->groups[effective], &group->places[effective]);
  if (ready->groups[effective].n_items == 0)
    ready->mask &= ~(1u << effective);
}

/* Removes the queue of @effective that is empty and still in the heaps, if there is one. */
static void
evict (PrioReady *ready, PrioEffective effective)
{
  PrioQueue *queue = ready->only[effective];
  PrioReadyGroup *group;

  if (queue == NULL || (ready->mask >> effective & 1) != 0)
    return;

  g_assert (queue->head == NULL);
  group = group_at (prio_heap_first (&ready->groups[effective])->node, effective);
  prio_heap_remove (&group->queues[effective], &queue->ready);
  leave_set (ready, group, effective);
  ready->only[effective] = NULL;
}

/* Removes all queues that are empty and still in the heaps. */
void
prio_ready_evict (PrioReady *ready)
{
  for (PrioEffective effective = 0; effective < PRIO_N_LEVELS; effective++)
    evict (ready, effective);
}

/* Adds @queue, which is not in the heaps. */
void
prio_ready_add_another (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue)
{
  PrioEffective effective = queue->effective;
  PrioHeap *queues = &group->queues[effective];

  evict (ready, effective);

  if (queues->n_items == 1)
    prio_heap_first (queues)->key = oldest_of_group (group, effective)->head->order;

  prio_heap_insert (queues, &queue->ready, queue->head->order, 0);
  group->mask |= 1u << effective;
  if (group->paused)
    return;

  if (queues->n_items == 1)
    enter_set (ready, group, effective);
  else if (prio_heap_first (queues)->node == &queue->ready)
    rekey_group (ready, group, effective);
  find_only (ready, effective);
}

/* Removes @queue from @group, because the queue has become empty, or gets another effective priority. */
void
prio_ready_remove (PrioReady *ready, PrioReadyGroup *group, PrioQueue *queue)
{
  PrioEffective effective = queue->effective;
  PrioHeap *queues = &group->queues[effective];

  prio_heap_remove (queues, &queue->ready);
  if (queues->n_items == 0)
    group->mask &= ~(1u << effective);
  if (group->paused)
    return;

  if (queues->n_items == 0)
    leave_set (ready, group, effective);
  else
    rekey_group (ready, group, effective);
  find_only (ready, effective);
}

/* Pauses or resumes @group.  While it is paused, prio_ready_first () finds none of its tasks. */
void
prio_ready_set_paused (PrioReady *ready, PrioReadyGroup *group, gboolean paused)
{
  if (group->paused == paused)
    return;

  prio_ready_evict (ready);
  group->paused = paused;
  memset (ready->blocked_since, 0, sizeof ready->blocked_since); /* all waits behind continuations begin anew */

  for (guint left = group->mask; left != 0; left &= left - 1)
    {
      PrioEffective effective = (PrioEffective) __builtin_ctz (left);

      if (paused)
        leave_set (ready, group, effective);
      else
        enter_set (ready, group, effective);
      find_only (ready, effective);
    }
}
