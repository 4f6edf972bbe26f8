/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-count.c: counts waiting tasks */

#include "config.h"

#include "loop/prio-count-private.h"

#include "loop/prio-lending-private.h"

/* Returns how many queued and delayed tasks an abort of @group would abort, without the library's own. */
guint
prio_group_count (PrioGroup *group)
{
  guint n = 0;

  for (PrioEntry *entry = group->entries; entry != NULL; entry = entry->abort_next)
    {
      PrioEntryState state = prio_entry_get_state (entry);

      n += entry->use != PRIO_ENTRY_OF_LIBRARY && (state == PRIO_ENTRY_QUEUED || state == PRIO_ENTRY_DELAYED);
    }
  return n;
}

typedef struct
{
  PrioRunQueue *run_queue;
  PrioWaitingFunc func;
  gpointer data;
} Visit;

static void
visit_queue (PrioHeapItem *item, gpointer data)
{
  const Visit *visit = data;
  const PrioQueue *queue = prio_queue_from_ready (item->node);

  for (PrioJob *job = queue->head; job != NULL; job = job->next)
    visit->func (job, queue, visit->data);
}

static void
visit_late (PrioHeapItem *item, gpointer data)
{
  const Visit *visit = data;
  PrioEntry *entry = prio_entry_from_delay (item->node);

  visit->func (&entry->job, &entry->run_queue->expired, visit->data);
}

static gboolean
is_of (PrioRunQueue *part, PrioRunQueue *run_queue)
{
  return part == run_queue || part->outer == run_queue;
}

static void
visit_delayed (PrioHeapItem *item, gpointer data)
{
  const Visit *visit = data;
  PrioEntry *entry = prio_entry_from_delay (item->node);

  if (is_of (entry->run_queue, visit->run_queue))
    visit->func (&entry->job, NULL, visit->data);
}

static void
visit_part (PrioRunQueue *part, Visit *visit)
{
  prio_ready_group_foreach (&part->ready, visit_queue, visit);
  prio_heap_foreach (&part->late, visit_late, visit);
}

/* Calls @func for each task of @run_queue, and of its parts, that is queued or delayed. */
void
prio_run_queue_foreach_waiting (PrioRunQueue *run_queue, PrioWaitingFunc func, gpointer data)
{
  Visit visit = { run_queue, func, data };

  visit_part (run_queue, &visit);
  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    visit_part (part, &visit);
  prio_heap_foreach (&run_queue->loop->due.delays, visit_delayed, &visit);
}

static void
add_entry (guint64 *counts, PrioEntry *entry)
{
  if (entry->use != PRIO_ENTRY_OF_LIBRARY)
    counts[prio_count_index (prio_lending_get_own (entry))]++;
}

static void
add (PrioJob *job, const PrioQueue *queue, gpointer data)
{
  PrioWaiting *waiting = data;

  if (queue == NULL || queue->kind == PRIO_QUEUE_ENTRIES)
    add_entry (queue == NULL ? waiting->delayed : waiting->queued, (PrioEntry *) job);
  else
    waiting->queued[prio_count_index (prio_effective_priority (queue->effective))]++;
}

static void
add_dropped (PrioGroup *group, PrioWaiting *waiting)
{
  for (PrioEntry *entry = group->entries; entry != NULL; entry = entry->abort_next)
    {
      if (prio_entry_get_state (entry) == PRIO_ENTRY_DROPPED)
        add_entry (waiting->dropped, entry);
    }
}

void
prio_run_queue_count_waiting (PrioRunQueue *run_queue, PrioWaiting *waiting)
{
  *waiting = (PrioWaiting) { 0 };
  prio_run_queue_foreach_waiting (run_queue, add, waiting);
  for (PrioGroup *group = prio_loop_first_aborted (run_queue->loop); group != NULL; group = group->next_aborted)
    {
      if (is_of (group->run_queue, run_queue))
        add_dropped (group, waiting);
    }
}

/* Returns how many tasks of @run_queue, and of its parts, are queued or delayed, without the library's own tasks. */
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
