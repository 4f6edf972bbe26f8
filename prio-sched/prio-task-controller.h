/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-controller.h: the object that may abort a signal and change its priority */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include "prio-task-signal.h"

G_BEGIN_DECLS

#define PRIO_TYPE_TASK_CONTROLLER (prio_task_controller_get_type ())

PRIO_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (PrioTaskController, prio_task_controller, PRIO, TASK_CONTROLLER, GObject)

PRIO_AVAILABLE_IN_ALL
PrioTaskController *prio_task_controller_new (PrioTaskPriority priority);
PRIO_AVAILABLE_IN_ALL
PrioTaskSignal *prio_task_controller_get_signal (PrioTaskController *self);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_controller_set_priority (PrioTaskController *self, PrioTaskPriority priority, GError **error);
PRIO_AVAILABLE_IN_ALL
void prio_task_controller_abort (PrioTaskController *self, const GError *reason);

G_END_DECLS
