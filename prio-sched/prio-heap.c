/* prio-heap.c: a heap of things that know their place in it
 *
 * Four children a node: half the depth of a binary heap, and the four keys that
 * a step compares lie side by side.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-heap-private.h"

#define ARITY 4

static inline gboolean
item_before (const PrioHeapItem *a, const PrioHeapItem *b)
{
  return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

static inline void
heap_place (PrioHeap *heap, guint32 index, PrioHeapItem item)
{
  heap->items[index] = item;
  item.node->index = index;
}

/* Moves the hole at @index up until @item fits. */
static void
sift_up (PrioHeap *heap, guint32 index, PrioHeapItem item)
{
  while (index > 0)
    {
      guint32 parent = (index - 1) / ARITY;

      if (!item_before (&item, &heap->items[parent]))
        break;
      heap_place (heap, index, heap->items[parent]);
      index = parent;
    }

  heap_place (heap, index, item);
}

/* The index of the smallest child of @index; there is one. */
static guint32
smallest_child (PrioHeap *heap, guint32 index)
{
  guint32 first = index * ARITY + 1;
  guint32 end = MIN (first + ARITY, heap->length);
  guint32 smallest = first;

  for (guint32 child = first + 1; child < end; child++)
    {
      if (item_before (&heap->items[child], &heap->items[smallest]))
        smallest = child;
    }

  return smallest;
}

/* Moves the hole at @index down until @item fits. */
static void
sift_down (PrioHeap *heap, guint32 index, PrioHeapItem item)
{
  while ((guint64) index * ARITY + 1 < heap->length)
    {
      guint32 child = smallest_child (heap, index);

      if (!item_before (&heap->items[child], &item))
        break;
      heap_place (heap, index, heap->items[child]);
      index = child;
    }

  heap_place (heap, index, item);
}

static void
sift (PrioHeap *heap, guint32 index, PrioHeapItem item)
{
  if (index > 0 && item_before (&item, &heap->items[(index - 1) / ARITY]))
    sift_up (heap, index, item);
  else
    sift_down (heap, index, item);
}

void
prio_heap_clear (PrioHeap *heap)
{
  g_clear_pointer (&heap->items, g_free);
  heap->length = 0;
  heap->allocated = 0;
}

void
prio_heap_insert (PrioHeap *heap, PrioHeapNode *node, guint64 key, guint64 tie)
{
  if (heap->length == heap->allocated)
    {
      heap->allocated = heap->allocated == 0 ? 8 : heap->allocated * 2;
      heap->items = g_renew (PrioHeapItem, heap->items, heap->allocated);
    }

  sift_up (heap, heap->length++, (PrioHeapItem) { key, tie, node });
}

void
prio_heap_remove (PrioHeap *heap, PrioHeapNode *node)
{
  guint32 index = node->index;
  PrioHeapItem last = heap->items[--heap->length];

  if (index != heap->length)
    sift (heap, index, last);
  node->index = PRIO_HEAP_NONE;

  /* What a burst needed is not kept for ever. */
  if (heap->allocated > 1024 && heap->length < heap->allocated / 8)
    {
      heap->allocated /= 4;
      heap->items = g_renew (PrioHeapItem, heap->items, heap->allocated);
    }
}

void
prio_heap_rekey_slow (PrioHeap *heap, PrioHeapNode *node, guint64 key)
{
  PrioHeapItem item = heap->items[node->index];

  item.key = key;
  sift (heap, node->index, item);
}
