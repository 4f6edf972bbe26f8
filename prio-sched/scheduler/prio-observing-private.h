/* prio-observing-private.h: what observes the loops from the first scheduler on, if that is wanted
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "scheduler/prio-sysprof-private.h"
#include "scheduler/prio-trace-private.h"

/* Outside. */
static inline void
prio_observing_start (void)
{
  prio_trace_start_from_environment ();
  prio_sysprof_start ();
}
