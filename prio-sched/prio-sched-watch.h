/* prio-sched-watch.h: what schedulers have done, and how long it took
 *
 * Statistics, long tasks, and the trace: none of them changes what tasks do.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <prio-sched.h>

#define PRIO_SCHED_INSIDE

#include "prio-long-task.h"
#include "prio-scheduler-list.h"
#include "prio-statistics.h"
#include "prio-trace.h"

#undef PRIO_SCHED_INSIDE
