/* prio-count.c: how many tasks wait
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-count-private.h"

#include "loop/prio-lending-private.h"

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

/* What the functions below need. */
typedef struct
{
  PrioRunQueue *run_queue;
  PrioWaiting *waiting;
} ByPriority;

/* Adds @entry to @counts, by its own priority. */
static void
add_entry (guint64 *counts, PrioEntry *entry)
{
  if (entry->use != PRIO_ENTRY_OF_LIBRARY)
    counts[prio_count_index (prio_lending_get_own (entry))]++;
}

static void
add_queue (PrioHeapItem *item, gpointer data)
{
  const ByPriority *by = data;
  PrioQueue *queue = prio_queue_from_ready (item->node);

  for (PrioJob *job = queue->head; job != NULL; job = job->next)
    {
      if (queue->kind == PRIO_QUEUE_ENTRIES)
        add_entry (by->waiting->queued, (PrioEntry *) job);
      else
        by->waiting->queued[prio_count_index (prio_effective_priority (queue->effective))]++;
    }
}

static void
add_late (PrioHeapItem *item, gpointer data)
{
  add_entry (((const ByPriority *) data)->waiting->queued, prio_entry_from_delay (item->node));
}

static gboolean
is_of (PrioRunQueue *part, PrioRunQueue *run_queue)
{
  return part == run_queue || part->outer == run_queue;
}

static void
add_delayed (PrioHeapItem *item, gpointer data)
{
  const ByPriority *by = data;
  PrioEntry *entry = prio_entry_from_delay (item->node);

  if (is_of (entry->run_queue, by->run_queue))
    add_entry (by->waiting->delayed, entry);
}

static void
add_dropped (PrioGroup *group, ByPriority *by)
{
  if (!is_of (group->run_queue, by->run_queue))
    return;

  for (PrioEntry *entry = group->entries; entry != NULL; entry = entry->abort_next)
    {
      if (prio_entry_get_state (entry) == PRIO_ENTRY_DROPPED)
        add_entry (by->waiting->dropped, entry);
    }
}

static void
add_queued (PrioRunQueue *part, ByPriority *by)
{
  prio_ready_group_foreach (&part->ready, add_queue, by);
  prio_heap_foreach (&part->late, add_late, by);
}

/* Counts the tasks of @run_queue, and of its parts, that wait. */
void
prio_run_queue_count_waiting (PrioRunQueue *run_queue, PrioWaiting *waiting)
{
  PrioLoop *loop = run_queue->loop;
  ByPriority by = { run_queue, waiting };

  *waiting = (PrioWaiting) { 0 };
  add_queued (run_queue, &by);
  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    add_queued (part, &by);
  prio_due_foreach_delayed (&loop->due, add_delayed, &by);
  for (PrioGroup *group = prio_loop_first_aborted (loop); group != NULL; group = group->next_aborted)
    add_dropped (group, &by);
}

/* Returns how many tasks of @run_queue, and of its parts, are queued or delayed. */
guint
prio_run_queue_count (PrioRunQueue *run_queue)
{
  PrioWaiting waiting;
  guint64 n = 0;

  prio_run_queue_count_waiting (run_queue, &waiting);
  for (guint i = 0; i < PRIO_N_PRIORITIES; i++)
    n += waiting.queued[i] + waiting.delayed[i];
  return (guint) n;
}
