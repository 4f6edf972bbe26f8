/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-loop-end-private.h: ends a loop, and releases its tasks */

#pragma once

#include "loop/prio-loop-private.h"

gboolean prio_loop_release_some (PrioLoop *loop);
void prio_loop_tear_down (PrioLoop *loop);
