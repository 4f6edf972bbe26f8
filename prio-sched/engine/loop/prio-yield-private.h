/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-yield-private.h: decides whether the running code should yield */

#pragma once

#include "loop/prio-current-private.h"
#include "loop/prio-idle-private.h"

gboolean prio_loop_should_yield (PrioLoop *loop, PrioRunQueue *run_queue, const PrioState *state);
gint64 prio_loop_end_of_idle (const PrioIdleDeadline *deadline, gint64 now);
