/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-testing.h: a clock that a test sets, for tests of programs that use the library */

#pragma once

#include <prio-sched.h>

#define PRIO_SCHED_INSIDE

#include "prio-testing.h"

#undef PRIO_SCHED_INSIDE
