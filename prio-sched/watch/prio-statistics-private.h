/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-statistics-private.h: the statistics of a scheduler, for prio-watch.c */

#pragma once

#include "prio-statistics.h"

void prio_scheduler_end_statistics (PrioScheduler *self);
