/* prio-count.c: how many tasks wait
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-count-private.h"

/* Of one run queue, and of its parts. */
typedef struct
{
  PrioRunQueue *run_queue;
  guint n;
} Count;

static void
count_queue (PrioHeapItem *item, gpointer count)
{
  for (PrioJob *job = prio_queue_from_ready (item->node)->head; job != NULL; job = job->next)
    ((Count *) count)->n++;
}

static void
count_delayed (PrioHeapItem *item, gpointer data)
{
  Count *count = data;
  PrioRunQueue *other = prio_entry_from_delay (item->node)->run_queue;

  count->n += other == count->run_queue || other->outer == count->run_queue;
}

/* Whatever is queued is in a queue of the ready group, or among the expired entries behind the first one. */
static void
count_queued (PrioRunQueue *run_queue, Count *count)
{
  prio_ready_group_foreach (&run_queue->ready, count_queue, count);
  count->n += run_queue->late.n_items;
}

/* The tasks of @run_queue, and of its parts, that are queued or delayed. */
guint
prio_run_queue_count (PrioRunQueue *run_queue)
{
  Count count = { run_queue, 0 };

  count_queued (run_queue, &count);
  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    count_queued (part, &count);
  prio_heap_foreach (&run_queue->loop->delays, count_delayed, &count);
  return count.n;
}

/* The entries that are queued or delayed, and are aborted with @group. */
guint
prio_group_count (PrioGroup *group)
{
  guint n = 0;

  for (PrioEntry *entry = group->entries; entry != NULL; entry = entry->abort_next)
    {
      PrioEntryState state = prio_entry_get_state (entry);

      n += state == PRIO_ENTRY_QUEUED || state == PRIO_ENTRY_DELAYED;
    }
  return n;
}
