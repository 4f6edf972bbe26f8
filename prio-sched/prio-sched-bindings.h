/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-bindings.h: functions that language bindings need, and programs do not
 *
 * The functions are in the introspection data, but not in the manual.  They stay in the ABI, but are made for the
 * bindings of this release: a later release may add another function for the same purpose. */

#pragma once

#include <prio-sched.h>

#define PRIO_SCHED_INSIDE

#include "prio-hooks.h"
#include "prio-runner.h"
#include "prio-task-group-id.h"

#undef PRIO_SCHED_INSIDE
