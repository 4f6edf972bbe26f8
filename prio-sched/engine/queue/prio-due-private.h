/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-due-private.h: delayed entries, and timeouts of queued entries
 *
 * Promises: one heap contains the delayed entries of a loop, sorted by due time, then age.  The other contains the
 * queued entries with a timeout, sorted by expiry, then age.  An entry is in at most one of them at a time, with its
 * node `delay`.
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "queue/prio-queue-private.h"

typedef struct
{
  PrioHeap delays, deadlines; /* by time, µs */
  guint64 next_delay;         /* the number of the next delayed entry; of two equal times, the lower number is first */
} PrioDue;

static inline void
prio_due_clear (PrioDue *self)
{
  prio_heap_clear (&self->delays);
  prio_heap_clear (&self->deadlines);
}

static inline gboolean
prio_due_has_delays (const PrioDue *self)
{
  return self->delays.n_items > 0;
}

static inline gboolean
prio_due_has_deadlines (const PrioDue *self)
{
  return self->deadlines.n_items > 0;
}

static inline gboolean
prio_due_is_used (const PrioDue *self)
{
  return prio_due_has_delays (self) || prio_due_has_deadlines (self);
}

/* Returns the delayed entry that is due first; there must be one. */
static inline PrioEntry *
prio_due_first_delayed (PrioDue *self)
{
  return prio_entry_from_delay (prio_heap_first (&self->delays)->node);
}

/* Returns when the first delayed entry is due, µs; G_MAXINT64 if there is none. */
static inline gint64
prio_due_next (PrioDue *self)
{
  return prio_due_has_delays (self) ? (gint64) prio_heap_first (&self->delays)->key : G_MAXINT64;
}

static inline void
prio_due_add_delayed (PrioDue *self, PrioEntry *entry, gint64 time)
{
  prio_heap_insert (&self->delays, &entry->delay, (guint64) time, self->next_delay++);
}

static inline void
prio_due_add_deadline (PrioDue *self, PrioEntry *entry)
{
  prio_heap_insert (&self->deadlines, &entry->delay, (guint64) entry->expiry, entry->job.order);
}

/* Removes @entry from @heap (delays or deadlines). */
static inline void
prio_due_remove (PrioHeap *heap, PrioEntry *entry)
{
  prio_heap_remove (heap, &entry->delay);
}

/* Removes and returns the first entry of @heap (delays or deadlines); NULL if there is none whose time has come. */
static inline PrioEntry *
prio_due_take (PrioHeap *heap, gint64 now)
{
  PrioHeapItem *first = heap->n_items > 0 ? prio_heap_first (heap) : NULL;
  PrioHeapNode *node;

  if (first == NULL || first->key > (guint64) now)
    return NULL;
  node = first->node;
  prio_heap_remove (heap, node);
  return prio_entry_from_delay (node);
}
