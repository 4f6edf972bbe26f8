/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-hooks.h: functions of schedulers, tasks, signals, states and idle callbacks for language bindings */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-bindings.h> can be included directly."
#endif

#include "prio-scheduler.h"
#include "prio-scheduling-state.h"

G_BEGIN_DECLS

/**
 * PrioTaskReadyCallback:
 * @source_object: (nullable): the options' source object, or the task; for a continuation, the scheduler
 * @result: the task
 * @user_data: the data that was registered with the callback
 *
 * Handles the completion of a task.
 *
 * The function is called on the thread that runs the scheduler's main context, or not at all if the context is
 * destroyed first.  A [callback@Gio.AsyncReadyCallback] has the same arguments, and can be used without a cast.
 *
 * Since: 1.0
 */
typedef void (*PrioTaskReadyCallback) (GObject *source_object, GAsyncResult *result, gpointer user_data);

/**
 * PrioSchedulingStateFinder: (skip)
 *
 * Returns the state of the calling code, if the code runs in a fiber: see prio_scheduling_state_set_finder().
 *
 * The function is called on any thread, and with locks of the library held, so it must neither call the library nor
 * take a lock.
 *
 * Returns: (transfer none) (nullable): the state, which has to be valid at least until the fiber is suspended, or %NULL
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
PrioIdleDeadline *prio_idle_deadline_dup_current (void);

PRIO_AVAILABLE_IN_ALL
void prio_scheduler_end_slice (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_scheduler_dup_first_task (PrioScheduler *self);

PRIO_AVAILABLE_IN_ALL
PrioSchedulingState *prio_scheduling_state_new (PrioSchedulingState *parent, PrioScheduler *scheduler,
                                                PrioTaskPriority priority) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
