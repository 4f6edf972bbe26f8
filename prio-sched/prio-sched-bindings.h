/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-bindings.h: functions that language bindings need, and programs do not
 *
 * It is in the introspection data, and not in the manual.
 */

#pragma once

#include <prio-sched.h>

#define PRIO_SCHED_INSIDE

#include "prio-hooks.h"
#include "prio-runner.h"
#include "prio-task-group-id.h"

#undef PRIO_SCHED_INSIDE
