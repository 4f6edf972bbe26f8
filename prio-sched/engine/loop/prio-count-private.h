/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-count-private.h: counts waiting tasks
 *
 * Promises: each call walks over the queues, so posting and running tasks need no counter.
 *
 * Everything here belongs to the owner thread.
 */

#pragma once

#include "loop/prio-run-queue-private.h"

guint prio_run_queue_count (PrioRunQueue *run_queue);
guint prio_group_count (PrioGroup *group);

/* @queue is the queue of @job, or NULL if it is delayed. */
typedef void (*PrioWaitingFunc) (PrioJob *job, const PrioQueue *queue, gpointer data);

void prio_run_queue_foreach_waiting (PrioRunQueue *run_queue, PrioWaitingFunc func, gpointer data);
