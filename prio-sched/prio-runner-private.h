/* prio-runner-private.h: what the queues and the dispatch ask of a PrioRunner
 *
 * Promises: a runner's tokens are jobs of 40 bytes in six queues of its own or, with
 * a signal or a delay, entries like any other.  Its function is called once for a row
 * of them, and asks for the next with prio_runner_next (), which ends one and begins
 * another exactly as the batch would.  What is refused is collected, and told at the
 * next checkpoint.
 *
 * It is closed, and its function released, when its scheduler has gone and its last
 * token has ended, or with the context.  The record stays until nobody refers to it.
 *
 * Everything but the references is home.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-core-private.h"
#include "prio-runner.h"

struct _PrioRunner
{
  gint refs;      /* atomic: of the users together, of bindings, and of operations on their way */
  PrioLoop *loop;
  PrioCore *core; /* NULL once it is closed */
  PrioRunnerFunc func;
  gpointer data;
  GDestroyNotify notify;

  PrioQueue queues[PRIO_N_EFFECTIVE];
  gsize users; /* the scheduler, and tokens that are queued or running */
  GArray *refused; /* of guint */
  PrioRunner *next, *prev; /* among those of the core */
};

void prio_runner_release (PrioRunner *runner);
void prio_runner_refuse (PrioRunner *runner, guint id);

/* The runner that @queue, of tokens, is part of. */
static inline PrioRunner *
prio_runner_from_queue (PrioQueue *queue)
{
  return (gpointer) ((gchar *) (queue - queue->effective) - G_STRUCT_OFFSET (PrioRunner, queues));
}

/* The runner whose token is at the head of @queue, or NULL. */
static inline PrioRunner *
prio_runner_of_head (PrioQueue *queue)
{
  if (queue->kind == PRIO_QUEUE_TOKENS)
    return prio_runner_from_queue (queue);
  if (queue->kind == PRIO_QUEUE_ENTRIES && ((PrioEntry *) queue->head)->kind == PRIO_ENTRY_TOKEN)
    return queue->head->data;
  return NULL;
}

/* Calls @runner's function, unless that has been released. */
static inline void
prio_runner_call (PrioRunner *runner, guint id)
{
  if (G_LIKELY (runner->func != NULL))
    runner->func (id, runner->data);
}
