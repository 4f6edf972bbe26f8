/* prio-long-task-private.h: what holds a main loop for long, for prio-watch.c and prio-holding.c
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "watch/prio-holding-private.h"

#include "prio-long-task.h"

void prio_long_task_held (PrioLoop *loop, PrioHeld *held);

void prio_scheduler_watch_from_environment (PrioScheduler *self);
void prio_scheduler_end_long_tasks (PrioScheduler *self);
