/* prio-count-private.h: how many tasks wait
 *
 * Promises: it is counted when it is asked for, by a walk over the queues, so that nothing is counted when tasks are posted and run.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

guint prio_run_queue_count (PrioRunQueue *run_queue);
guint prio_group_count (PrioGroup *group);

/* @queue is where @job stands, or NULL if it is delayed. */
typedef void (*PrioWaitingFunc) (PrioJob *job, const PrioQueue *queue, gpointer data);

void prio_run_queue_foreach_waiting (PrioRunQueue *run_queue, PrioWaitingFunc func, gpointer data);
