/* prio-heap-private.h: a heap of things that know their place in it
 *
 * Promises: the item of the smallest (key, tie) at the root; insertion and
 * removal of any item in O(log n), insertion in order in O(1).  The keys lie in
 * the array, so that sifting touches no item but for its index.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#define PRIO_HEAP_NONE G_MAXUINT32

/* Embedded in what is put into a heap. */
typedef struct
{
  guint32 index; /* where it is, or PRIO_HEAP_NONE */
} PrioHeapNode;

typedef struct
{
  guint64 key;
  guint64 tie; /* orders items of the same key */
  PrioHeapNode *node;
} PrioHeapItem;

typedef struct
{
  PrioHeapItem *items;
  guint32 length;
  guint32 allocated;
} PrioHeap;

void prio_heap_clear (PrioHeap *heap);
void prio_heap_insert (PrioHeap *heap, PrioHeapNode *node, guint64 key, guint64 tie);
void prio_heap_remove (PrioHeap *heap, PrioHeapNode *node);
void prio_heap_rekey_slow (PrioHeap *heap, PrioHeapNode *node, guint64 key);

/* Gives @node a larger or smaller @key. */
static inline void
prio_heap_rekey (PrioHeap *heap, PrioHeapNode *node, guint64 key)
{
  if (G_LIKELY (heap->length == 1))
    heap->items[0].key = key;
  else
    prio_heap_rekey_slow (heap, node, key);
}
