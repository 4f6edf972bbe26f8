/* prio-first-private.h: the first task of a scheduler
 *
 * Promises: it finds the head of the queues of a run queue and of its parts, the oldest of the highest effective priority, without
 * taking it out, whether or not the run queue is paused.  It takes as long as there are parts.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

PrioQueue *prio_run_queue_first (PrioRunQueue *run_queue);
