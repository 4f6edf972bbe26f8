/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-observing.c: implements functions of prio-observe.h that use several folders of the engine */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

typedef void (*CallFunc) (PrioLoop *loop, gpointer data);

static void
op_call (PrioLoop *loop, const PrioOp *op)
{
  ((CallFunc) op->target) (loop, op->data);
}

void
prio_observed_call (PrioLoop *loop, CallFunc func, gpointer data)
{
  prio_loop_submit (loop, &(PrioOp) { .apply = op_call, .target = (gpointer) func, .data = data });
}

gboolean
prio_observed_has_microtasks (PrioLoop *loop)
{
  return prio_loop_has_microtasks (loop);
}

gboolean
prio_observed_is_here (PrioLoop *loop)
{
  return prio_loop_is_owner_thread (loop);
}

/* Calls @func later.  Does not carry out operations of other threads, which could abort a task here. */
void
prio_observed_call_later (PrioLoop *loop, GDestroyNotify func, gpointer data)
{
  if (!prio_loop_enter_only (loop))
    return;
  prio_loop_defer_release (loop, func, data);
  prio_loop_leave (loop);
}

void
prio_scheduler_leave (PrioScheduler *self)
{
  prio_loop_leave (self->run_queue->loop);
}

PrioLoop *
prio_scheduler_get_loop (PrioScheduler *self)
{
  return self->run_queue->loop;
}

PrioRunQueue *
prio_scheduler_get_run_queue (PrioScheduler *self)
{
  return self->run_queue;
}
