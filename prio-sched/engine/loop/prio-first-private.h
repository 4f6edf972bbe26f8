/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-first-private.h: finds the first task of a scheduler
 *
 * Promises: prio_run_queue_first () finds the task of a run queue and its parts that would run first, even if the run
 * queue is paused.  The task stays in its queue.  The cost grows with the number of parts.
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "loop/prio-run-queue-private.h"

PrioQueue *prio_run_queue_first (PrioRunQueue *run_queue);
