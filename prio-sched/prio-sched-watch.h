/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-watch.h: statistics, long tasks, and the trace
 *
 * None of these changes how tasks behave. */

#pragma once

#include <prio-sched.h>

#define PRIO_SCHED_INSIDE

#include "prio-long-task.h"
#include "prio-scheduler-list.h"
#include "prio-statistics.h"
#include "prio-trace.h"

#undef PRIO_SCHED_INSIDE
