/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-combined-private.h: signals that depend on both a group's signal and a task's own signal */

#pragma once

#include "prio-task-signal.h"

typedef struct
{
  GHashTable *by_own; /* the task's own signal → Shared; NULL until needed */
  guint limit; /* the size of @by_own at which entries of finalized signals are removed */
} PrioCombined;

PrioTaskSignal *prio_combined_get (PrioCombined *self, PrioTaskSignal *signal, GCancellable *own);
void prio_combined_clear (PrioCombined *self);
