/* prio-scheduler-list-private.h: which schedulers there are
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-loop-private.h"
#include "prio-scheduler.h"

void prio_scheduler_enlist (PrioScheduler *self);
void prio_scheduler_unlist (PrioScheduler *self);
GPtrArray *prio_schedulers_find (gboolean (*matches) (PrioScheduler *self, gconstpointer data), gconstpointer data);
gint64 prio_schedulers_get_threshold (PrioLoop *loop);
