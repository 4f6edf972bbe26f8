/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-feed.h: feeds, which ask for tasks when there is a place for them */

#pragma once

#include <prio-sched.h>

#define PRIO_SCHED_INSIDE

#include "prio-feed.h"

#undef PRIO_SCHED_INSIDE
