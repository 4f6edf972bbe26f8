/* prio-id-queue-private.h: tasks that are only numbers: task ids
 *
 * Promises: a task id is a job of 40 bytes in one of six queues or, with a signal
 * or a delay, an entry like any other.  The function that runs them is called once for several
 * of them; it asks for the next one.  That ends one task id and begins another exactly as the batch
 * does for other tasks (prio-dispatch).
 *
 * The layers above decide what the numbers mean, and run them: they embed this
 * record, and supply its functions.  It is closed when it has no users any more; its users are
 * its scheduler, idle callbacks and task ids, and the last of them goes with the context at the latest.
 *
 * One that waits and is an entry is found by its number at once; one that is a job only by looking for it.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

/* Only `run` and `get_name` call user code. */
typedef struct
{
  void (*run) (PrioIdQueue *ids, guint id);      /* in a dispatch: a task, or an idle callback */
  void (*rejected) (PrioIdQueue *ids, guint id); /* the task will not run */
  char *(*get_name) (PrioIdQueue *ids, guint id); /* in a dispatch, while somebody observes: its name, or NULL */
  void (*closed) (PrioIdQueue *ids);             /* nothing will run any more, and nothing can be posted */
  void (*ref) (PrioIdQueue *ids);                /* any thread: something on its way refers to it */
  GDestroyNotify unref;
} PrioIdQueueFuncs;

struct _PrioIdQueue
{
  const PrioIdQueueFuncs *funcs;
  PrioRunQueue *run_queue; /* NULL once it is closed */
  PrioQueue queues[PRIO_N_EFFECTIVE];
  PrioEntry **index; /* its entries, by the lowest bits of their numbers; NULL as long as there are none */
  guint n_places;    /* of the index: a power of two */
  guint n_entries;   /* in it */
  gsize users; /* the scheduler, idle callbacks, task ids that are queued or running, and who is yet to report rejected ones */
  PrioIdQueue *next, *prev; /* among the PrioIdQueues of the run queue */
};

extern const PrioEntryFuncs prio_id_funcs G_GNUC_INTERNAL;

void prio_id_queue_init (PrioIdQueue *ids, PrioRunQueue *run_queue, const PrioIdQueueFuncs *funcs);
void prio_id_queue_open (PrioIdQueue *ids);
void prio_id_queue_close (PrioIdQueue *ids);
void prio_id_queue_append (PrioIdQueue *ids, guint id, PrioEffective effective);
PrioEntry *prio_id_queue_new_entry (PrioIdQueue *ids, guint id);
PrioEntry *prio_id_queue_find (PrioIdQueue *ids, guint id);
gboolean prio_id_queue_cancel (PrioIdQueue *ids, guint id);
void prio_id_queues_let_go (PrioRunQueue *run_queue);

static inline void
prio_id_queue_hold (PrioIdQueue *ids)
{
  ids->users++;
}

/* Removes a user; after the last one it is closed. */
static inline void
prio_id_queue_release (PrioIdQueue *ids)
{
  if (G_UNLIKELY (--ids->users == 0))
    prio_id_queue_close (ids);
}

/* The PrioIdQueue of which @queue, of task ids, is part. */
static inline PrioIdQueue *
prio_id_queue_from_queue (PrioQueue *queue)
{
  return (gpointer) ((gchar *) (queue - queue->effective) - G_STRUCT_OFFSET (PrioIdQueue, queues));
}

/* The PrioIdQueue whose task id is at the head of @queue, or NULL. */
static inline PrioIdQueue *
prio_id_queue_of_head (PrioQueue *queue)
{
  if (queue->kind == PRIO_QUEUE_IDS)
    return prio_id_queue_from_queue (queue);
  if (queue->kind == PRIO_QUEUE_ENTRIES && (((PrioEntry *) queue->head)->use & PRIO_ENTRY_OF_ID) != 0)
    return queue->head->data;
  return NULL;
}
