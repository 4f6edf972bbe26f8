/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-feed.h: feeds, which ask a function for a group's next task whenever the group has a free place */

#pragma once

#include <prio-sched.h>

#define PRIO_SCHED_INSIDE

#include "prio-feed.h"

#undef PRIO_SCHED_INSIDE
