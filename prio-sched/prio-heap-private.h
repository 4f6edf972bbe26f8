/* prio-heap-private.h: a priority queue of things that know their place in it
 *
 * Promises: the item of the smallest (key, tie) first.  What is inserted in order,
 * as ages and most delays are, stands in a row: it comes and goes in O(1).  What
 * is not stands in a heap: O(log n).  Any item can be taken out, at the same cost.
 * The keys lie in the arrays, so that sifting touches no item but for its index.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#define PRIO_HEAP_NONE G_MAXUINT32

/* Embedded in what is put into a heap. */
typedef struct
{
  guint32 index; /* where it is, for prio-heap.c to read, or PRIO_HEAP_NONE */
} PrioHeapNode;

typedef struct
{
  guint64 key;
  guint64 tie; /* orders items of the same key */
  PrioHeapNode *node; /* NULL in the row: taken out */
} PrioHeapItem;

typedef struct
{
  guint32 n_items; /* in all */

  PrioHeapItem *items; /* the heap */
  guint32 length;
  guint32 allocated;

  /* The row: from @row_start to before @row_end, the first and the last of which
   * are not taken out; or both 0. */
  PrioHeapItem *row;
  guint32 row_start, row_end;
  guint32 row_allocated;
} PrioHeap;

void prio_heap_clear (PrioHeap *heap);
void prio_heap_insert (PrioHeap *heap, PrioHeapNode *node, guint64 key, guint64 tie);
void prio_heap_remove (PrioHeap *heap, PrioHeapNode *node);
void prio_heap_rekey (PrioHeap *heap, PrioHeapNode *node, guint64 key);

static inline gboolean
prio_heap_item_before (const PrioHeapItem *a, const PrioHeapItem *b)
{
  return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

/* The smallest; there has to be one. */
static inline PrioHeapItem *
prio_heap_first (PrioHeap *heap)
{
  if (heap->length == 0)
    return &heap->row[heap->row_start];
  if (heap->row_end == 0 || prio_heap_item_before (&heap->items[0], &heap->row[heap->row_start]))
    return &heap->items[0];
  return &heap->row[heap->row_start];
}
