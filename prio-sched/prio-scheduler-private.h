/* prio-scheduler-private.h: the inside of PrioScheduler, for prio-scheduler*.c
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-core-private.h"
#include "prio-scheduler.h"

struct _PrioScheduler
{
  GObject parent_instance;

  GMainContext *context;
  PrioCore *core;
  gint paused; /* atomic: what was asked for last */
};

void prio_scheduler_submit_task (PrioScheduler *self, PrioTask *task, GCancellable *signal, gint priority,
                                 gint64 due);
