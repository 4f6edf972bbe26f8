/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-long-task-private.h: long tasks, for prio-watch.c */

#pragma once

#include "prio-long-task.h"

void prio_scheduler_watch_from_environment (PrioScheduler *self);
void prio_scheduler_end_long_tasks (PrioScheduler *self);
