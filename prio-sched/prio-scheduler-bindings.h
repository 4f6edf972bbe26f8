/* prio-scheduler-bindings.h: the slice, the first task and the state, for bindings
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-bindings.h> can be included directly."
#endif

#include "prio-scheduler.h"
#include "prio-scheduling-state.h"

G_BEGIN_DECLS

PRIO_AVAILABLE_IN_ALL
void                 prio_scheduler_end_slice      (PrioScheduler       *self);
PRIO_AVAILABLE_IN_ALL
PrioTask            *prio_scheduler_dup_first_task (PrioScheduler       *self);

PRIO_AVAILABLE_IN_ALL
PrioSchedulingState *prio_scheduling_state_new     (PrioSchedulingState *parent,
                                                    PrioScheduler       *scheduler,
                                                    PrioTaskPriority     priority) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
