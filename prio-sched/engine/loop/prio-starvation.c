/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-starvation.c: new tasks that wait behind continuations of their priority */

#include "config.h"

#include "loop/prio-starvation-private.h"

#include "base/prio-debug-private.h"
#include "loop/prio-number-private.h"

/* Returns (transfer full) the name of the next task of @effective for a message. */
static char *
name_of (PrioReady *ready, PrioEffective effective)
{
  PrioQueue *queue = (ready->mask >> effective & 1) != 0 ? prio_ready_first_of (ready, effective) : NULL;
  PrioRunner *runner = queue != NULL ? prio_numbers_of (queue->head) : NULL;
  PrioEntry *entry = queue != NULL && queue->kind == PRIO_QUEUE_ENTRIES ? (PrioEntry *) queue->head : NULL;
  g_autofree char *name = NULL;

  if (runner != NULL && runner->name_func != NULL)
    name = runner->name_func (queue->head->id, runner->name_data);
  else if (entry != NULL && entry->funcs->get_name != NULL)
    name = entry->funcs->get_name (entry);
  return prio_debug_escape (name != NULL ? name : "without a name");
}

/* Warns about a task that has waited too long.  The caller has entered no loop, as name_of () may run user code. */
void
prio_starvation_warn (PrioReady *ready)
{
  g_autofree char *yields = name_of (ready, ready->starves), *waits = name_of (ready, ready->starves - 1);

  ready->starves = 0;
  g_warning ("A task (%s) has waited behind yields of a task (%s) of the same priority for longer than the starvation-limit, "
             "and has a turn now.  Tasks that are posted with takes_turns alternate", waits, yields);
}

/* Returns the queue of the next task: @queue, whose head is a continuation, or the queue of a new task of the same
 * priority that has waited for the limit.  The first time in a scheduler, requests a warning and returns @queue. */
PrioQueue *
prio_starvation_relieve (PrioReady *ready, PrioQueue *queue, gint64 now)
{
  PrioQueue *waits = prio_ready_first_of (ready, queue->effective - 1);
  PrioRunQueue *scheduler = waits->run_queue->outer != NULL ? waits->run_queue->outer : waits->run_queue;
  gint64 limit = 1000 * (gint64) __atomic_load_n (&scheduler->starvation_limit, __ATOMIC_RELAXED);
  gint64 *since = &ready->blocked_since[queue->effective];

  if (*since == 0 || ready->blocked[queue->effective] != waits->head->order)
    *since = now;
  ready->blocked[queue->effective] = waits->head->order;
  if (limit == 0 || now - *since < limit)
    return queue;
  if (!scheduler->starvation_told && !prio_run_queue_is_own (scheduler))
    ready->starves = queue->effective;
  scheduler->starvation_told = TRUE;
  return ready->starves == 0 ? waits : queue;
}
