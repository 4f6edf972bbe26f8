/* prio-id-queue-private.h: tasks that are numbers, and run in a row
 *
 * Promises: such a task is a task id: a job of 40 bytes in one of six queues or, with a signal
 * or a delay, an entry like any other.  The function that runs them is called once for a row
 * of them; it asks for the next, which ends one and begins another exactly as the batch would
 * (prio-dispatch).
 *
 * What the numbers mean, and who runs them, is for the layers above to say: they embed this
 * record, and give it its functions.  It is closed when its users, its scheduler and its
 * task ids, have gone, the last with the context at the latest.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

/* Nothing of the user's is called but by `run`. */
typedef struct
{
  void (*run) (PrioIdQueue *ids, guint id);      /* in a dispatch: a task, or an idle callback */
  void (*rejected) (PrioIdQueue *ids, guint id); /* the task will not run */
  void (*closed) (PrioIdQueue *ids);             /* nothing will run any more, and nothing can be posted */
  void (*ref) (PrioIdQueue *ids);                /* any thread: something on its way refers to it */
  GDestroyNotify unref;
} PrioIdQueueFuncs;

struct _PrioIdQueue
{
  const PrioIdQueueFuncs *funcs;
  PrioRunQueue *run_queue; /* NULL once it is closed */
  PrioQueue queues[PRIO_N_EFFECTIVE];
  gsize users; /* the scheduler, idle callbacks, and task ids that are queued or running */
  PrioIdQueue *next, *prev; /* among those of the run queue */
};

extern const PrioEntryFuncs prio_id_funcs G_GNUC_INTERNAL;

void prio_id_queue_init (PrioIdQueue *ids, PrioRunQueue *run_queue, const PrioIdQueueFuncs *funcs);
void prio_id_queue_open (PrioIdQueue *ids);
void prio_id_queue_close (PrioIdQueue *ids);
void prio_id_queue_append (PrioIdQueue *ids, guint id, PrioEffective effective);
PrioEntry *prio_id_queue_new_entry (PrioIdQueue *ids, guint id, gboolean continuation);
void prio_id_queues_let_go (PrioRunQueue *run_queue);

static inline void
prio_id_queue_hold (PrioIdQueue *ids)
{
  ids->users++;
}

/* A user less; with the last it is closed. */
static inline void
prio_id_queue_release (PrioIdQueue *ids)
{
  if (G_UNLIKELY (--ids->users == 0))
    prio_id_queue_close (ids);
}

/* The one that @queue, of task ids, is part of. */
static inline PrioIdQueue *
prio_id_queue_from_queue (PrioQueue *queue)
{
  return (gpointer) ((gchar *) (queue - queue->effective) - G_STRUCT_OFFSET (PrioIdQueue, queues));
}

/* The one whose task id is at the head of @queue, or NULL. */
static inline PrioIdQueue *
prio_id_queue_of_head (PrioQueue *queue)
{
  if (queue->kind == PRIO_QUEUE_IDS)
    return prio_id_queue_from_queue (queue);
  if (queue->kind == PRIO_QUEUE_ENTRIES && ((PrioEntry *) queue->head)->funcs == &prio_id_funcs)
    return queue->head->data;
  return NULL;
}
