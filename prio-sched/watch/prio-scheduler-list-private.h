/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-list-private.h: the list of all schedulers */

#pragma once

#include "prio-scheduler.h"

void prio_scheduler_enlist (PrioScheduler *self);
void prio_scheduler_unlist (PrioScheduler *self);
