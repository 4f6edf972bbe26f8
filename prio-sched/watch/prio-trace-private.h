/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-trace-private.h: a trace of the schedulers of this process */

#pragma once

#include "prio-trace.h"

#include "prio-observe.h"

void prio_trace_start_from_environment (void);

/* Returns the task's name or, if it has none, the name of its kind. */
const char *prio_trace_task_name (const PrioObserved *task);

void prio_trace_held (const char *name, gint64 duration, gint64 now);

/* Returns a word for the outcome of a task that has ended. */
const char *prio_trace_end_name (const PrioObserved *task);
