/* prio-id-queue.c: tasks that are numbers, and run in a row
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-id-queue-private.h"

/* Any thread: @ids is nobody else's yet. */
void
prio_id_queue_init (PrioIdQueue *ids, PrioCore *core, const PrioIdQueueFuncs *funcs)
{
  ids->funcs = funcs;
  ids->core = core;
  ids->users = 1;
  for (PrioEffective i = 0; i < PRIO_N_EFFECTIVE; i++)
    prio_queue_init (&ids->queues[i], core, i, PRIO_QUEUE_TOKENS);
}

/* It takes part in the scheduler's life, which is its first user. */
void
prio_id_queue_open (PrioIdQueue *ids)
{
  PrioCore *core = ids->core;

  prio_core_hold (core);
  ids->next = core->id_queues;
  if (ids->next != NULL)
    ids->next->prev = ids;
  core->id_queues = ids;
}

/* It has no users any more. */
void
prio_id_queue_close (PrioIdQueue *ids)
{
  PrioCore *core = g_steal_pointer (&ids->core);

  if (core == NULL)
    return;

  if (ids->prev != NULL)
    ids->prev->next = ids->next;
  else
    core->id_queues = ids->next;
  if (ids->next != NULL)
    ids->next->prev = ids->prev;
  ids->next = ids->prev = NULL;

  ids->funcs->closed (ids);
  prio_core_release (core);
}

/* The scheduler of @core has gone. */
void
prio_id_queues_let_go (PrioCore *core)
{
  for (PrioIdQueue *ids = core->id_queues, *next; ids != NULL; ids = next)
    {
      next = ids->next;
      prio_id_queue_release (ids);
    }
}

/* Posts @id, which nothing can abort.  It is not closed. */
void
prio_id_queue_append (PrioIdQueue *ids, guint id, PrioEffective effective)
{
  PrioLoop *loop = ids->core->loop;
  PrioQueue *queue = &ids->queues[effective];
  PrioJob *job = prio_slab_alloc (&loop->jobs);

  job->order = loop->next_order++;
  job->data = GUINT_TO_POINTER (id);
  prio_id_queue_hold (ids);
  if (prio_queue_append (queue, job))
    prio_core_make_ready (ids->core, queue);
}

static void
token_refused (PrioEntry *entry)
{
  PrioIdQueue *ids = entry->job.data;

  ids->funcs->rejected (ids, entry->job.id);
  prio_core_discharge (entry);
}

static void
token_released (PrioEntry *entry)
{
  PrioIdQueue *ids = entry->job.data;

  prio_id_queue_release (ids);
  prio_slab_free (&entry->core->loop->entries, entry);
}

const PrioEntryFuncs prio_token_funcs = {
  .refused = token_refused,
  .released = token_released,
};

/* A record for the task @id with a signal or a delay, for one more user; its priority is set by
 * the caller. */
PrioEntry *
prio_id_queue_new_entry (PrioIdQueue *ids, guint id, gboolean continuation)
{
  PrioEntry *entry = prio_core_new_entry (ids->core, NULL, ids, NULL);

  prio_id_queue_hold (ids);
  entry->funcs = &prio_token_funcs;
  entry->job.id = id;
  entry->continuation = continuation;
  return entry;
}
