/* prio-id-queue.c: tasks that are only numbers: task ids
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-id-queue-private.h"

#include "loop/prio-lending-private.h"

#define MIN_PLACES 16

/* As many jobs of each queue are looked at to find one. */
#define MAX_LOOKED_AT 1000

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
  ids->n_places = 0;
  g_clear_pointer (&ids->index, g_free);

  ids->funcs->closed (ids);
  prio_run_queue_release (run_queue);
}

/* The scheduler of @run_queue has gone, and is not a user of its PrioIdQueues any more. */
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
  PrioJob *job = prio_loop_alloc_job (loop);

  job->order = prio_loop_next_order (loop);
  job->data = GUINT_TO_POINTER (id);
  prio_id_queue_hold (ids);
  if (prio_queue_append (queue, job))
    prio_run_queue_job_begins_queue (ids->run_queue, queue);
}

static inline PrioEntry **
place_of (PrioIdQueue *ids, guint id)
{
  return &ids->index[id & (ids->n_places - 1)];
}

static void
enter_index (PrioIdQueue *ids, PrioEntry *entry)
{
  PrioEntry **place = place_of (ids, entry->job.id);

  entry->job.next_id = *place;
  *place = entry;
}

static void
make_index (PrioIdQueue *ids, guint n_places)
{
  PrioEntry **before = ids->index;
  guint n_before = ids->n_places;

  ids->index = g_new0 (PrioEntry *, n_places);
  ids->n_places = n_places;
  for (guint i = 0; i < n_before; i++)
    {
      for (PrioEntry *entry = before[i], *next; entry != NULL; entry = next)
        {
          next = entry->job.next_id;
          enter_index (ids, entry);
        }
    }
  g_free (before);
}

static void
leave_index (PrioIdQueue *ids, PrioEntry *entry)
{
  PrioEntry **link = place_of (ids, entry->job.id);

  while (*link != entry)
    link = &(*link)->job.next_id;
  *link = entry->job.next_id;
  /* After a burst. */
  if (--ids->n_entries == 0 && ids->n_places > MIN_PLACES)
    {
      ids->n_places = 0;
      g_clear_pointer (&ids->index, g_free);
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

  if (G_UNLIKELY (entry->lends))
    prio_lending_end (entry, FALSE);
  leave_index (ids, entry);
  prio_id_queue_release (ids);
  prio_loop_free_entry (entry->run_queue->loop, entry);
}

const PrioEntryFuncs prio_id_funcs = {
  .aborted = id_aborted,
  .released = id_released,
};

/* An entry for the task @id with a signal or a delay.  It is a user of @ids; the caller sets its
 * priority. */
PrioEntry *
prio_id_queue_new_entry (PrioIdQueue *ids, guint id)
{
  PrioEntry *entry = prio_run_queue_new_entry (ids->run_queue, NULL, ids, NULL);

  prio_id_queue_hold (ids);
  entry->funcs = &prio_id_funcs;
  entry->use = PRIO_ENTRY_OF_ID;
  entry->job.id = id;
  if (ids->n_entries++ == ids->n_places)
    make_index (ids, MAX (2 * ids->n_places, MIN_PLACES));
  enter_index (ids, entry);
  return entry;
}

/* Takes the job that is @id out of @queue, if it is among the oldest there. */
static gboolean
cancel_job (PrioIdQueue *ids, PrioQueue *queue, guint id)
{
  PrioRunQueue *run_queue = ids->run_queue;
  PrioJob *before = NULL, *job = queue->head;

  for (guint i = 0; job != NULL && GPOINTER_TO_UINT (job->data) != id; i++)
    {
      before = job;
      job = i < MAX_LOOKED_AT ? job->next : NULL;
    }
  if (job == NULL)
    return FALSE;

  if (before == NULL)
    {
      prio_queue_pop_job (queue);
      prio_run_queue_head_gone (run_queue, queue);
    }
  else
    {
      before->next = job->next;
      if (queue->tail == job)
        queue->tail = before;
    }
  prio_loop_free_job (run_queue->loop, job);
  ids->funcs->rejected (ids, id);
  prio_id_queue_release (ids);
  return TRUE;
}

static gboolean
waits (PrioEntry *entry)
{
  PrioEntryState state = prio_entry_get_state (entry);

  return state == PRIO_ENTRY_DELAYED || state == PRIO_ENTRY_QUEUED;
}

/* The entry of a task that runs is still in the index, and its number may be that of another task already.
 *
 * Returns: (nullable): the entry of the task @id that is delayed or queued; NULL if there is none, or if it is a job */
PrioEntry *
prio_id_queue_find (PrioIdQueue *ids, guint id)
{
  PrioEntry *entry = ids->n_entries > 0 ? *place_of (ids, id) : NULL;

  while (entry != NULL && (entry->job.id != id || !waits (entry)))
    entry = entry->job.next_id;
  return entry;
}

/* The task @id, which waits, will not run: it is rejected.  Returns FALSE if it does not wait, is being aborted already, or is
 * a job behind many others. */
gboolean
prio_id_queue_cancel (PrioIdQueue *ids, guint id)
{
  PrioEntry *entry = prio_id_queue_find (ids, id);

  if (entry != NULL)
    {
      prio_run_queue_abort_entry (entry);
      return TRUE;
    }

  for (PrioEffective i = 0; i < PRIO_N_EFFECTIVE; i++)
    {
      if (cancel_job (ids, &ids->queues[i], id))
        return TRUE;
    }
  return FALSE;
}
