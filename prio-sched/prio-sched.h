/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched.h: Prioritized Task Scheduling for the GLib main loop */

#pragma once

#include <gio/gio.h>

#define PRIO_SCHED_INSIDE

#include "prio-version-macros.h"
#include "prio-types.h"
#include "prio-error.h"
#include "prio-sched-enumtypes.h"
#include "prio-idle-deadline.h"
#include "prio-options.h"
#include "prio-scheduling-state.h"
#include "prio-task-signal.h"
#include "prio-task-controller.h"
#include "prio-task.h"
#include "prio-scheduler.h"
#include "prio-task-group.h"
#include "prio-worker.h"

#undef PRIO_SCHED_INSIDE
