/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-heap-private.h: a priority queue from which any item can be removed
 *
 * Promises: the item with the smallest (key, tie) comes first.  Items that are inserted in ascending order, as most
 * are, go to the row, a sorted array.  Adding and removing them takes O(1).  All other items go to a heap, in O(log n).
 * The arrays contain the keys, so comparisons do not access the items. */

#pragma once

#include <glib.h>

#define PRIO_HEAP_NONE G_MAXUINT32

/* Embedded in each record that can be in a heap. */
typedef struct
{
  guint32 index; /* the item's position, or PRIO_HEAP_NONE; only prio-heap.c reads positions */
} PrioHeapNode;

typedef struct
{
  guint64 key;
  guint64 tie; /* orders items with equal keys */
  PrioHeapNode *node; /* NULL in the row if the item has been removed, which leaves a gap */
} PrioHeapItem;

typedef struct
{
  guint32 n_items; /* the number of items in the row and the heap */

  PrioHeapItem *items; /* the heap */
  guint32 length;
  guint32 allocated;

  /* The row is empty if both indices are 0.  @row_end is one more than the last index.  Neither the first nor the last
   * item is a gap. */
  PrioHeapItem *row;
  guint32 row_start, row_end;
  guint32 row_allocated;
} PrioHeap;

void prio_heap_clear (PrioHeap *heap);
void prio_heap_insert (PrioHeap *heap, PrioHeapNode *node, guint64 key, guint64 tie);
void prio_heap_remove (PrioHeap *heap, PrioHeapNode *node);
void prio_heap_foreach (PrioHeap *heap, void (*func) (PrioHeapItem *item, gpointer data), gpointer data);
void prio_heap_rekey (PrioHeap *heap, PrioHeapNode *node, guint64 key);

static inline gboolean
prio_heap_item_before (const PrioHeapItem *a, const PrioHeapItem *b)
{
  return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

/* Returns the smallest item; the heap must not be empty. */
static inline PrioHeapItem *
prio_heap_first (PrioHeap *heap)
{
  if (heap->length == 0)
    return &heap->row[heap->row_start];
  if (heap->row_end == 0 || prio_heap_item_before (&heap->items[0], &heap->row[heap->row_start]))
    return &heap->items[0];
  return &heap->row[heap->row_start];
}
