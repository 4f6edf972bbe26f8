/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-feed.h: feeds, which call a function for each next task of a group */

#pragma once

#include <prio-sched.h>

#define PRIO_SCHED_INSIDE

#include "prio-feed.h"

#undef PRIO_SCHED_INSIDE
