/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-first.c: finds the first task of a scheduler */

#include "config.h"

#include "loop/prio-first-private.h"

#include "loop/prio-dispatch-private.h"

/* Returns the queue in @group whose head runs first; NULL if @group is empty. */
static PrioQueue *
first_of_group (PrioReadyGroup *group)
{
  guint top;

  if (group->mask == 0)
    return NULL;
  top = 31 - (guint) __builtin_clz (group->mask);
  return prio_queue_from_ready (prio_heap_first (&group->queues[top])->node);
}

static gboolean
is_before (PrioQueue *a, PrioQueue *b)
{
  gint64 expired_a, expired_b;

  if (a->effective != b->effective)
    return a->effective > b->effective;
  if (a->effective != PRIO_EFFECTIVE_EXPIRED)
    return a->head->order < b->head->order;
  expired_a = ((PrioEntry *) a->head)->expiry;
  expired_b = ((PrioEntry *) b->head)->expiry;
  return expired_a != expired_b ? expired_a < expired_b : a->head->order < b->head->order;
}

/* Queues tasks whose delay has passed, and expires timeouts.  Then returns the queue whose head is the first task of
 * @run_queue, or NULL.  Ignores parts whose groups run as many tasks as they may. */
PrioQueue *
prio_run_queue_first (PrioRunQueue *run_queue)
{
  PrioQueue *first;

  prio_loop_expire_delays (run_queue->loop, prio_clock_now ());
  first = first_of_group (&run_queue->ready);
  for (PrioRunQueue *part = run_queue->parts; part != NULL; part = part->next_part)
    {
      PrioQueue *other = part->full ? NULL : first_of_group (&part->ready);

      if (other != NULL && (first == NULL || is_before (other, first)))
        first = other;
    }
  return first;
}
