/* prio-scheduler-inner.c: schedulers of the library's own: parts of another one
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-scheduler-private.h"

static void
op_add_part (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  PrioRunQueue *outer = op->data;

  __atomic_store_n (&((PrioRunQueue *) op->target)->slice, prio_run_queue_get_slice (outer), __ATOMIC_RELAXED);
  prio_run_queue_set_outer (op->target, outer);
}

static void
op_set_full (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_run_queue_set_full (op->target, TRUE);
}

static __thread gboolean hides;

/* Whether the scheduler that this thread is making is one of the library's own. */
gboolean
prio_scheduler_is_inner_now (void)
{
  return hides;
}

static PrioScheduler *
new_hidden (GMainContext *context)
{
  PrioScheduler *self;

  hides = TRUE;
  self = prio_scheduler_new (context);
  hides = FALSE;
  return self;
}

/* A scheduler whose tasks are said to be those of @outer, and run in its main context, and are paused with it, but
 * can be held back apart.  It does not keep the context alive. */
PrioScheduler *
prio_scheduler_new_inner (PrioScheduler *outer)
{
  PrioScheduler *self = new_hidden (outer->context);
  PrioOp op = { .apply = op_add_part, .target = self->run_queue, .data = outer->run_queue };

  prio_loop_submit (self->run_queue->loop, &op);
  prio_run_queue_share_scheduler (self->run_queue, outer->run_queue);
  self->run_queue->has_places = TRUE;
  g_clear_pointer (&self->context, g_main_context_unref);
  return self;
}

/* One whose tasks never run: they wait for an abort, for the end of the context, or for prio_task_settle_queued (). */
PrioScheduler *
prio_scheduler_new_parked (PrioScheduler *outer)
{
  PrioScheduler *self = new_hidden (outer->context);
  PrioOp op = { .apply = op_set_full, .target = self->run_queue };

  prio_loop_submit (self->run_queue->loop, &op);
  g_clear_pointer (&self->context, g_main_context_unref);
  return self;
}
