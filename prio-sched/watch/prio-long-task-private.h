/* prio-long-task-private.h: what holds a main loop for long, for prio-watch.c
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-long-task.h"

GParamSpec *prio_scheduler_make_long_task (GType type);
void prio_scheduler_watch_from_environment (PrioScheduler *self);
void prio_scheduler_clear_watcher (PrioScheduler *self);
