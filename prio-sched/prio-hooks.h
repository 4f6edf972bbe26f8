/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-hooks.h: functions of schedulers, tasks, signals, states and idle callbacks for language bindings */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-bindings.h> can be included directly."
#endif

#include "prio-idle-deadline.h"
#include "prio-scheduler.h"
#include "prio-scheduling-state.h"
#include "prio-task-signal.h"
#include "prio-task.h"

G_BEGIN_DECLS

/**
 * PrioTaskReadyCallback:
 * @source_object: (nullable): the source object that the task was posted with, or else the task
 * @result: the task
 * @user_data: the data that was registered with the callback
 *
 * Called when a task has completed.
 *
 * It is called on the thread that runs the scheduler's main context.  It has the arguments of a
 * [callback@Gio.AsyncReadyCallback], so that such a callback can be used without a cast.
 *
 * Since: 1.0
 */
typedef void (*PrioTaskReadyCallback) (GObject      *source_object,
                                       GAsyncResult *result,
                                       gpointer      user_data);

/**
 * PrioSchedulingStateFinder: (skip)
 *
 * Returns the state of the calling code, if it is a fiber: see prio_scheduling_state_set_finder().
 *
 * It is called on any thread, and under locks of the library, so it must not call the library, nor take a lock.
 *
 * Returns: (transfer none) (nullable): the state, which lives on at least until the fiber is suspended, or %NULL
 *
 * Since: 1.0
 */
typedef PrioSchedulingState *(*PrioSchedulingStateFinder) (void);

PRIO_AVAILABLE_IN_ALL
void prio_task_then (PrioTask *self, PrioTaskReadyCallback callback, gpointer user_data, GDestroyNotify notify);

PRIO_AVAILABLE_IN_ALL
void prio_task_signal_pin (PrioTaskSignal *self);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_signal_has_fixed_priority (PrioTaskSignal *self);

PRIO_AVAILABLE_IN_ALL
void prio_scheduling_state_run (PrioSchedulingState *state, GSourceOnceFunc func, gpointer user_data);
PRIO_AVAILABLE_IN_ALL
void prio_scheduling_state_set_finder (PrioSchedulingStateFinder find);

PRIO_AVAILABLE_IN_ALL
PrioIdleDeadline *prio_idle_deadline_get_current (void);

PRIO_AVAILABLE_IN_ALL
void prio_scheduler_end_slice (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_scheduler_dup_first_task (PrioScheduler *self);

PRIO_AVAILABLE_IN_ALL
PrioSchedulingState *prio_scheduling_state_new (PrioSchedulingState *parent, PrioScheduler *scheduler,
                                                PrioTaskPriority priority) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
