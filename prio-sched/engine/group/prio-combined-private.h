/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-combined-private.h: signals that depend on a group's and on a task's signal */

#pragma once

#include "prio-task-signal.h"

typedef struct
{
  GHashTable *by_own; /* by the signals of the tasks; NULL until one is needed */
  guint limit;
} PrioCombined;

PrioTaskSignal *prio_combined_get (PrioCombined *self, PrioTaskSignal *signal, GCancellable *own);
void prio_combined_clear (PrioCombined *self);
