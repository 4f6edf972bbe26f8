/* prio-trace-private.h: a trace of what the schedulers of this process do
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-trace.h"

void prio_trace_start_from_environment (void);
