/* prio-count.c: how many tasks wait
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-count-private.h"

#include "loop/prio-id-queue-private.h"

static guint
count_queues (const PrioQueue *queues, guint n_queues)
{
  guint n = 0;

  for (guint i = 0; i < n_queues; i++)
    {
      for (PrioJob *job = queues[i].head; job != NULL; job = job->next)
        n++;
    }
  return n;
}

/* Of @n items of the heap of delays; in its row there may be gaps. */
static guint
count_items (PrioRunQueue *run_queue, const PrioHeapItem *items, guint n_items)
{
  guint n = 0;

  for (guint i = 0; i < n_items; i++)
    {
      PrioRunQueue *other = items[i].node != NULL ? prio_entry_from_delay (items[i].node)->run_queue : NULL;

      n += other != NULL && (other == run_queue || other->outer == run_queue);
    }
  return n;
}

static guint
count_delayed (PrioRunQueue *run_queue)
{
  const PrioHeap *delays = &run_queue->loop->delays;
  guint n = count_items (run_queue, delays->items, delays->length);

  if (delays->row_end > delays->row_start)
    n += count_items (run_queue, delays->row + delays->row_start, delays->row_end - delays->row_start);
  return n;
}

static guint
count_queued (PrioRunQueue *run_queue)
{
  guint n = count_queues (run_queue->jobs, PRIO_N_EFFECTIVE) + count_queues (run_queue->entries, PRIO_N_EFFECTIVE);

  for (PrioGroup *group = run_queue->groups; group != NULL; group = group->next)
    n += count_queues (group->queues, G_N_ELEMENTS (group->queues));
  for (PrioIdQueue *ids = run_queue->id_queues; ids != NULL; ids = ids->next)
    n += count_queues (ids->queues, PRIO_N_EFFECTIVE);
  return n;
}

/* The tasks of @run_queue, and of its parts, that are queued or delayed. */
guint
prio_run_queue_count (PrioRunQueue *run_queue)
{
  guint n = count_queued (run_queue) + count_delayed (run_queue);

  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    n += count_queued (part);
  return n;
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
