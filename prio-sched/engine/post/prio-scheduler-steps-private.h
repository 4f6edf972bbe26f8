/* prio-scheduler-steps-private.h: tasks of steps: a function that is called again and again
 *
 * Promises: the task makes steps as long as it need not yield, and then goes on as a continuation.  The data of the
 * steps is valid until the last step has returned.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "scheduler/prio-scheduler-private.h"

typedef struct _PrioSteps PrioSteps;

PrioSteps *prio_steps_new (PrioStepFunc func, gpointer data, GDestroyNotify notify);
void prio_steps_unref (gpointer steps);
void prio_steps_run (PrioTask *task, gpointer steps);
