/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits.h: how long tasks waited, by priority */

#pragma once

#include <prio-sched.h>

typedef struct
{
  GArray *waits[PRIO_TASK_PRIORITY_USER_BLOCKING + 1]; /* of gint64, µs */
} Waits;

void waits_init (Waits *waits);
void waits_clear (Waits *waits);
void waits_add (Waits *waits, PrioTaskPriority priority, gint64 posted);
void waits_print (Waits *waits, Waits *plain);
