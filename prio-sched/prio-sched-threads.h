/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-threads.h: channels, and waits of a thread for a task */

#pragma once

#include <prio-sched.h>

#define PRIO_SCHED_INSIDE

#include "prio-channel.h"
#include "prio-thread-wait.h"

#undef PRIO_SCHED_INSIDE
