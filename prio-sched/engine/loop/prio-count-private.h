/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-count-private.h: counts waiting tasks
 *
 * Each call walks over the queues, so that posting and running tasks need no counter.
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "loop/prio-run-queue-private.h"

guint prio_run_queue_count (PrioRunQueue *run_queue);
guint prio_group_count (PrioGroup *group);

/* Visits a waiting task.  @queue is the queue to which @job belongs, or NULL if @job is delayed. */
typedef void (*PrioWaitingFunc) (PrioJob *job, const PrioQueue *queue, gpointer data);

void prio_run_queue_foreach_waiting (PrioRunQueue *run_queue, PrioWaitingFunc func, gpointer data);
