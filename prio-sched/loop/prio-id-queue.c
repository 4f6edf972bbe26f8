/* prio-id-queue.c: tasks that are only numbers: task ids
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-id-queue-private.h"

#include "loop/prio-counts-private.h"

/* Any thread: no other thread knows @ids yet. */
void
prio_id_queue_init (PrioIdQueue *ids, PrioRunQueue *run_queue, const PrioIdQueueFuncs *funcs)
{
  ids->funcs = funcs;
  ids->run_queue = run_queue;
  ids->users = 1;
  for (PrioEffective i = 0; i < PRIO_N_EFFECTIVE; i++)
    prio_queue_init (&ids->queues[i], run_queue, i, PRIO_QUEUE_IDS);
}

/* Adds @ids to its run queue.  The scheduler is its first user. */
void
prio_id_queue_open (PrioIdQueue *ids)
{
  PrioRunQueue *run_queue = ids->run_queue;

  prio_run_queue_hold (run_queue);
  ids->next = run_queue->id_queues;
  if (ids->next != NULL)
    ids->next->prev = ids;
  run_queue->id_queues = ids;
}

/* @ids has no users any more. */
void
prio_id_queue_close (PrioIdQueue *ids)
{
  PrioRunQueue *run_queue = g_steal_pointer (&ids->run_queue);

  if (run_queue == NULL)
    return;

  if (ids->prev != NULL)
    ids->prev->next = ids->next;
  else
    run_queue->id_queues = ids->next;
  if (ids->next != NULL)
    ids->next->prev = ids->prev;
  ids->next = ids->prev = NULL;

  ids->funcs->closed (ids);
  prio_run_queue_release (run_queue);
}

/* The scheduler of @run_queue has gone, and is no user of its PrioIdQueues any more. */
void
prio_id_queues_let_go (PrioRunQueue *run_queue)
{
  for (PrioIdQueue *ids = run_queue->id_queues, *next; ids != NULL; ids = next)
    {
      next = ids->next;
      prio_id_queue_release (ids);
    }
}

/* Posts @id, which nothing can abort.  @ids must not be closed. */
void
prio_id_queue_append (PrioIdQueue *ids, guint id, PrioEffective effective)
{
  PrioLoop *loop = ids->run_queue->loop;
  PrioQueue *queue = &ids->queues[effective];
  PrioJob *job = prio_slab_alloc (&loop->jobs);

  job->order = loop->next_order++;
  job->data = GUINT_TO_POINTER (id);
  prio_id_queue_hold (ids);
  if (prio_queue_append (queue, job))
    {
      if (G_UNLIKELY (loop->ages != NULL))
        prio_loop_note_post (loop, job->order);
      prio_run_queue_job_begins_queue (ids->run_queue, queue);
    }
}

static void
id_aborted (PrioEntry *entry)
{
  PrioIdQueue *ids = entry->job.data;

  ids->funcs->rejected (ids, entry->job.id);
  prio_run_queue_release_entry (entry);
}

static void
id_released (PrioEntry *entry)
{
  PrioIdQueue *ids = entry->job.data;

  prio_id_queue_release (ids);
  prio_slab_free (&entry->run_queue->loop->entries, entry);
}

const PrioEntryFuncs prio_id_funcs = {
  .aborted = id_aborted,
  .released = id_released,
};

/* An entry for the task @id with a signal or a delay.  It is a user of @ids; the caller sets its
 * priority. */
PrioEntry *
prio_id_queue_new_entry (PrioIdQueue *ids, guint id, gboolean continuation)
{
  PrioEntry *entry = prio_run_queue_new_entry (ids->run_queue, NULL, ids, NULL);

  prio_id_queue_hold (ids);
  entry->funcs = &prio_id_funcs;
  entry->use = PRIO_ENTRY_OF_ID;
  entry->job.id = id;
  entry->continuation = continuation;
  return entry;
}
