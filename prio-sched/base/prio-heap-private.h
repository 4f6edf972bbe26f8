/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-heap-private.h: a priority queue whose items know their index
 *
 * Promises: the item with the smallest (key, tie) comes first.  Items that are inserted in ascending order, as ages and
 * most delays are, go to the row, a sorted array, where adding and removing an item takes O(1).  All other items go to
 * a heap: O(log n).  Any item can be removed, not only the first.  The arrays hold the keys, so sifting touches only
 * the index of an item.
 */

#pragma once

#include <glib.h>

#define PRIO_HEAP_NONE G_MAXUINT32

/* Embedded in each item. */
typedef struct
{
  guint32 index; /* its position, which only prio-heap.c interprets, or PRIO_HEAP_NONE */
} PrioHeapNode;

typedef struct
{
  guint64 key;
  guint64 tie; /* orders items with equal keys */
  PrioHeapNode *node; /* NULL: a gap in the row, whose item has been removed */
} PrioHeapItem;

typedef struct
{
  guint32 n_items; /* in the row and the heap */

  PrioHeapItem *items; /* the heap */
  guint32 length;
  guint32 allocated;

  /* The row, from @row_start to before @row_end; both are 0 if it is empty.  Its first and last items are not gaps. */
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
