/* prio-due-private.h: what is due at a time: delayed entries, and the timeouts of queued ones
 *
 * Promises: the delayed entries of a loop by when they are due, and then by age; the queued entries that have a timeout, by when that
 * passes, and then by age.  An entry is in one of the two at a time, at its node `delay`.
 *
 * Everything here belongs to the owner thread of the loop.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "queue/prio-queue-private.h"

typedef struct
{
  PrioHeap delays, deadlines; /* by time, µs */
  guint64 next_delay;         /* the age of the next delayed entry */
} PrioDue;

static inline void
prio_due_clear (PrioDue *due)
{
  prio_heap_clear (&due->delays);
  prio_heap_clear (&due->deadlines);
}

static inline gboolean
prio_due_has_delays (const PrioDue *due)
{
  return due->delays.n_items > 0;
}

static inline gboolean
prio_due_has_deadlines (const PrioDue *due)
{
  return due->deadlines.n_items > 0;
}

/* Whether anything depends on the time. */
static inline gboolean
prio_due_is_used (const PrioDue *due)
{
  return prio_due_has_delays (due) || prio_due_has_deadlines (due);
}

/* The delayed entry that is due first; there must be one. */
static inline PrioEntry *
prio_due_first_delayed (PrioDue *due)
{
  return prio_entry_from_delay (prio_heap_first (&due->delays)->node);
}

/* When the first delayed entry is due, µs; G_MAXINT64 if there is none. */
static inline gint64
prio_due_next (PrioDue *due)
{
  return prio_due_has_delays (due) ? (gint64) prio_heap_first (&due->delays)->key : G_MAXINT64;
}

static inline void
prio_due_add_delayed (PrioDue *due, PrioEntry *entry, gint64 time)
{
  prio_heap_insert (&due->delays, &entry->delay, (guint64) time, due->next_delay++);
}

static inline void
prio_due_remove_delayed (PrioDue *due, PrioEntry *entry)
{
  prio_heap_remove (&due->delays, &entry->delay);
}

static inline void
prio_due_add_deadline (PrioDue *due, PrioEntry *entry)
{
  prio_heap_insert (&due->deadlines, &entry->delay, (guint64) entry->expiry, entry->job.order);
}

static inline void
prio_due_remove_deadline (PrioDue *due, PrioEntry *entry)
{
  prio_heap_remove (&due->deadlines, &entry->delay);
}

static inline PrioEntry *
prio_due_take_first (PrioHeap *heap, gint64 now)
{
  PrioHeapItem *first = heap->n_items > 0 ? prio_heap_first (heap) : NULL;
  PrioHeapNode *node;

  if (first == NULL || first->key > (guint64) now)
    return NULL;
  node = first->node;
  prio_heap_remove (heap, node);
  return prio_entry_from_delay (node);
}

/* Takes out the first delayed entry if it is due, or returns NULL. */
static inline PrioEntry *
prio_due_take_delayed (PrioDue *due, gint64 now)
{
  return prio_due_take_first (&due->delays, now);
}

/* Takes out the first entry whose timeout has passed, or returns NULL. */
static inline PrioEntry *
prio_due_take_deadline (PrioDue *due, gint64 now)
{
  return prio_due_take_first (&due->deadlines, now);
}

/* Calls @func for each delayed entry, in any order. */
static inline void
prio_due_foreach_delayed (PrioDue *due, void (*func) (PrioHeapItem *item, gpointer data), gpointer data)
{
  prio_heap_foreach (&due->delays, func, data);
}
