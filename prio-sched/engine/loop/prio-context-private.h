/* prio-context-private.h: finds or creates the loop of a context
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-loop-private.h"

PrioLoop *prio_loop_for_context (GMainContext *context);
