/* prio-trace-private.h: a trace of what the schedulers of this process do
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-trace.h"

#include "prio-observe.h"

void prio_trace_start_from_environment (void);

/* How a task is called in reports: by its name, or else by its kind. */
const char *prio_trace_task_name (const PrioObserved *task);

void prio_trace_held (const char *name, gint64 duration, gint64 now);

/* What has become of a task that has ended, in a word. */
const char *prio_trace_end_name (const PrioObserved *task);
