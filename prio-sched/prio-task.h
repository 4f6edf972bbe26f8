/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task.h: a task that has a result */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include <gio/gio.h>

#include "prio-types.h"

G_BEGIN_DECLS

#define PRIO_TYPE_TASK (prio_task_get_type ())

PRIO_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (PrioTask, prio_task, PRIO, TASK, GObject)

/**
 * PrioTaskFunc:
 * @task: the task that runs
 * @user_data: the data that the task was posted with
 *
 * Does the work of a task.
 *
 * The function gives the task a result with one of the `prio_task_return_…` functions.  A task that has no result when
 * the function returns is fulfilled with no value, unless the function has called [method@PrioSched.Task.defer].
 *
 * The function is called on the thread that runs the scheduler's main context; for
 * [method@PrioSched.Scheduler.run_in_thread], in a thread of a pool; for [method@PrioSched.Worker.run], in its thread.
 *
 * Since: 1.0
 */
typedef void (*PrioTaskFunc) (PrioTask *task, gpointer user_data);

/**
 * PrioStepFunc: (skip)
 * @task: the task that runs
 * @user_data: the data that the task was posted with
 *
 * Does one step of a task's work.
 *
 * A step may give the task its result, as a [callback@PrioSched.TaskFunc] does, and is then the last step.  The
 * function is called on the thread that runs the scheduler's main context.
 *
 * Returns: %G_SOURCE_CONTINUE if there is more to do, or %G_SOURCE_REMOVE if this was the last step
 *
 * Since: 1.0
 */
typedef gboolean (*PrioStepFunc) (PrioTask *task, gpointer user_data);

PRIO_AVAILABLE_IN_ALL
PrioTask *prio_task_new (PrioScheduler *scheduler, const PrioTaskOptions *options);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_is_valid (gpointer result, gpointer source_object, gpointer source_tag);
PRIO_AVAILABLE_IN_ALL
PrioTaskState prio_task_get_state (PrioTask *self);
PRIO_AVAILABLE_IN_ALL
PrioTaskPriority prio_task_get_priority (PrioTask *self);
PRIO_AVAILABLE_IN_ALL
char *prio_task_dup_name (PrioTask *self);
PRIO_AVAILABLE_IN_ALL
void prio_task_set_name (PrioTask *self, const char *name);
PRIO_AVAILABLE_IN_ALL
double prio_task_get_progress (PrioTask *self);
PRIO_AVAILABLE_IN_ALL
void prio_task_set_progress (PrioTask *self, double progress);
PRIO_AVAILABLE_IN_ALL
GCancellable *prio_task_get_cancellable (PrioTask *self);
PRIO_AVAILABLE_IN_ALL
const GError *prio_task_get_error (PrioTask *self);
PRIO_AVAILABLE_IN_ALL
void prio_task_wait_async (PrioTask *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_wait_finish (PrioTask *self, GAsyncResult *result, GError **error);
PRIO_AVAILABLE_IN_ALL
void prio_task_cancel (PrioTask *self);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_get_return_on_abort (PrioTask *self);
PRIO_AVAILABLE_IN_ALL
void prio_task_set_return_on_abort (PrioTask *self, gboolean return_on_abort);

PRIO_AVAILABLE_IN_ALL
void prio_task_defer (PrioTask *self);
PRIO_AVAILABLE_IN_ALL
void prio_task_delay_step (PrioTask *self, guint64 delay);
PRIO_AVAILABLE_IN_ALL
void prio_task_return_pointer (PrioTask *self, gpointer result, GDestroyNotify destroy);
PRIO_AVAILABLE_IN_ALL
void prio_task_return_boolean (PrioTask *self, gboolean result);
PRIO_AVAILABLE_IN_ALL
void prio_task_return_int (PrioTask *self, gssize result);
PRIO_AVAILABLE_IN_ALL
void prio_task_return_value (PrioTask *self, const GValue *result);
PRIO_AVAILABLE_IN_ALL
void prio_task_return_error (PrioTask *self, GError *error);
PRIO_AVAILABLE_IN_ALL
void prio_task_return_new_error (PrioTask *self, GQuark domain, gint code, const char *format, ...)
  G_GNUC_PRINTF (4, 5);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_return_error_if_aborted (PrioTask *self);

PRIO_AVAILABLE_IN_ALL
gpointer prio_task_propagate_pointer (PrioTask *self, GError **error);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_propagate_boolean (PrioTask *self, GError **error);
PRIO_AVAILABLE_IN_ALL
gssize prio_task_propagate_int (PrioTask *self, GError **error);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_propagate_value (PrioTask *self, GValue *value, GError **error);

G_END_DECLS
