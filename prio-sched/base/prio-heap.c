/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-heap.c: a priority queue from which any item can be removed
 *
 * Each node has four children: the heap is half as deep as a binary heap, and the keys of four children are adjacent in
 * memory. */

#include "config.h"

#include "base/prio-heap-private.h"

#define ARITY 4

/* Set in the index of an item that is in the row. */
#define IN_ROW (1u << 31)
/* Larger arrays are shrunk or freed when few items are left. */
#define MAX_KEPT 1024

static inline void
heap_place (PrioHeap *heap, guint32 index, PrioHeapItem item)
{
  heap->items[index] = item;
  item.node->index = index;
}

static void
sift_up (PrioHeap *heap, guint32 index, PrioHeapItem item)
{
  while (index > 0)
    {
      guint32 parent = (index - 1) / ARITY;

      if (!prio_heap_item_before (&item, &heap->items[parent]))
        break;
      heap_place (heap, index, heap->items[parent]);
      index = parent;
    }

  heap_place (heap, index, item);
}

static guint32
smallest_child (PrioHeap *heap, guint32 index)
{
  guint32 first = index * ARITY + 1;
  guint32 end = MIN (first + ARITY, heap->length);
  guint32 smallest = first;

  for (guint32 child = first + 1; child < end; child++)
    {
      if (prio_heap_item_before (&heap->items[child], &heap->items[smallest]))
        smallest = child;
    }

  return smallest;
}

static void
sift_down (PrioHeap *heap, guint32 index, PrioHeapItem item)
{
  while ((guint64) index * ARITY + 1 < heap->length)
    {
      guint32 child = smallest_child (heap, index);

      if (!prio_heap_item_before (&heap->items[child], &item))
        break;
      heap_place (heap, index, heap->items[child]);
      index = child;
    }

  heap_place (heap, index, item);
}

static void
sift (PrioHeap *heap, guint32 index, PrioHeapItem item)
{
  if (index > 0 && prio_heap_item_before (&item, &heap->items[(index - 1) / ARITY]))
    sift_up (heap, index, item);
  else
    sift_down (heap, index, item);
}

void
prio_heap_clear (PrioHeap *heap)
{
  g_free (heap->items);
  g_free (heap->row);
  *heap = (PrioHeap) { 0 };
}

static void
heap_insert (PrioHeap *heap, PrioHeapItem item)
{
  if (heap->length == heap->allocated)
    {
      heap->allocated = MAX (heap->allocated * 2, 8);
      heap->items = g_renew (PrioHeapItem, heap->items, heap->allocated);
    }

  sift_up (heap, heap->length++, item);
}

static void
heap_remove (PrioHeap *heap, guint32 index)
{
  PrioHeapItem last = heap->items[--heap->length];

  if (index != heap->length)
    sift (heap, index, last);

  if (heap->allocated > MAX_KEPT && heap->length < heap->allocated / 8)
    {
      heap->allocated /= 4;
      heap->items = g_renew (PrioHeapItem, heap->items, heap->allocated);
    }
}

static void
row_close_gaps (PrioHeap *heap)
{
  guint32 end = 0;

  for (guint32 i = heap->row_start; i < heap->row_end; i++)
    {
      if (heap->row[i].node == NULL)
        continue;
      heap->row[end] = heap->row[i];
      heap->row[end].node->index = end | IN_ROW;
      end++;
    }
  heap->row_start = 0;
  heap->row_end = end;
}

/* Makes room at the end of the row: closes any gaps, and then doubles the array if it is at least half full. */
static void
row_make_room (PrioHeap *heap)
{
  if (heap->row_end > heap->n_items - heap->length)
    row_close_gaps (heap);

  if (heap->row_end >= heap->row_allocated / 2)
    {
      heap->row_allocated = MAX (heap->row_allocated * 2, 8);
      heap->row = g_renew (PrioHeapItem, heap->row, heap->row_allocated);
    }
}

static void
row_append (PrioHeap *heap, PrioHeapItem item)
{
  if (heap->row_end == heap->row_allocated)
    row_make_room (heap);

  item.node->index = heap->row_end | IN_ROW;
  heap->row[heap->row_end++] = item;
}

static void
row_remove (PrioHeap *heap, guint32 index)
{
  heap->row[index].node = NULL;

  while (heap->row_start < heap->row_end && heap->row[heap->row_start].node == NULL)
    heap->row_start++;
  while (heap->row_start < heap->row_end && heap->row[heap->row_end - 1].node == NULL)
    heap->row_end--;

  if (heap->row_start < heap->row_end)
    return;

  heap->row_start = heap->row_end = 0;
  if (heap->row_allocated > MAX_KEPT)
    {
      g_clear_pointer (&heap->row, g_free);
      heap->row_allocated = 0;
    }
}

void
prio_heap_insert (PrioHeap *heap, PrioHeapNode *node, guint64 key, guint64 tie)
{
  PrioHeapItem item = { key, tie, node };

  if (heap->row_end == 0 || prio_heap_item_before (&heap->row[heap->row_end - 1], &item))
    row_append (heap, item);
  else
    heap_insert (heap, item);
  heap->n_items++;
}

void
prio_heap_remove (PrioHeap *heap, PrioHeapNode *node)
{
  guint32 index = node->index;

  if ((index & IN_ROW) != 0)
    row_remove (heap, index & ~IN_ROW);
  else
    heap_remove (heap, index);
  node->index = PRIO_HEAP_NONE;
  heap->n_items--;
}

void
prio_heap_rekey (PrioHeap *heap, PrioHeapNode *node, guint64 key)
{
  PrioHeapItem item;

  if ((node->index & IN_ROW) != 0)
    {
      guint64 tie = heap->row[node->index & ~IN_ROW].tie;

      prio_heap_remove (heap, node);
      prio_heap_insert (heap, node, key, tie);
      return;
    }

  item = heap->items[node->index];
  item.key = key;
  sift (heap, node->index, item);
}

/* Calls @func for each item, in no particular order.  @func may change keys, but neither the order nor the items. */
void
prio_heap_foreach (PrioHeap *heap, void (*func) (PrioHeapItem *item, gpointer data), gpointer data)
{
  for (guint32 i = 0; i < heap->length; i++)
    func (&heap->items[i], data);
  for (guint32 i = heap->row_start; i < heap->row_end; i++)
    {
      if (heap->row[i].node != NULL)
        func (&heap->row[i], data);
    }
}
