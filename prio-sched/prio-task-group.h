/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group.h: a group of tasks, of which a limited number runs at a time */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include "prio-scheduler.h"

G_BEGIN_DECLS

#define PRIO_TYPE_TASK_GROUP (prio_task_group_get_type ())

PRIO_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (PrioTaskGroup, prio_task_group, PRIO, TASK_GROUP, GObject)

PRIO_AVAILABLE_IN_ALL
PrioTaskGroup *prio_task_group_new (PrioScheduler *scheduler, guint limit, PrioTaskPriority priority);
PRIO_AVAILABLE_IN_ALL
PrioScheduler *prio_task_group_dup_scheduler (PrioTaskGroup *self);
PRIO_AVAILABLE_IN_ALL
guint prio_task_group_get_limit (PrioTaskGroup *self);
PRIO_AVAILABLE_IN_ALL
void prio_task_group_set_limit (PrioTaskGroup *self, guint limit);
PRIO_AVAILABLE_IN_ALL
guint prio_task_group_get_n_tasks (PrioTaskGroup *self);
PRIO_AVAILABLE_IN_ALL
PrioTaskSignal *prio_task_group_get_signal (PrioTaskGroup *self);
PRIO_AVAILABLE_IN_ALL
PrioTaskPriority prio_task_group_get_priority (PrioTaskGroup *self);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_group_set_priority (PrioTaskGroup *self, PrioTaskPriority priority, GError **error);

PRIO_AVAILABLE_IN_ALL
PrioTask *prio_task_group_post_task (PrioTaskGroup *self, const PrioTaskOptions *options, PrioTaskFunc func,
                                     gpointer user_data, GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_task_group_post_steps (PrioTaskGroup *self, const PrioTaskOptions *options, PrioStepFunc func,
                                      gpointer user_data, GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_task_group_run_in_thread (PrioTaskGroup *self, const PrioTaskOptions *options, PrioTaskFunc func,
                                         gpointer user_data, GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
void prio_task_group_cancel_pending (PrioTaskGroup *self);
PRIO_AVAILABLE_IN_ALL
void prio_task_group_abort (PrioTaskGroup *self, const GError *reason);

PRIO_AVAILABLE_IN_ALL
void prio_task_group_wait_async (PrioTaskGroup *self, PrioTaskGroupWait until, GCancellable *cancellable,
                                 GAsyncReadyCallback callback, gpointer user_data);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_group_wait_finish (PrioTaskGroup *self, GAsyncResult *result, PrioTask **task, GError **error);

G_END_DECLS
