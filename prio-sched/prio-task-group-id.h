/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-id.h: tasks of a group that are identified by numbers */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-bindings.h> can be included directly."
#endif

#include "prio-runner.h"
#include "prio-task-group.h"

G_BEGIN_DECLS

PRIO_AVAILABLE_IN_ALL
guint prio_task_group_post_id (PrioTaskGroup *self, PrioRunner *runner, guint id, gint priority, GCancellable *signal,
                               guint64 delay, gint timeout, gboolean takes_turns, const char *name,
                               GCancellable **combined, PrioPostResult *posted);
PRIO_AVAILABLE_IN_ALL
void prio_task_group_return_id (PrioTaskGroup *self, guint handle, const char *failure);
PRIO_AVAILABLE_IN_ALL
guint prio_task_group_add_lender (PrioTaskGroup *self, guint handle);
PRIO_AVAILABLE_IN_ALL
void prio_task_group_wait_id (PrioTaskGroup *self, PrioTaskGroup *own, guint handle, PrioTaskGroupWait until,
                              GCancellable *cancellable, PrioRunner *runner, guint id);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_group_finish_id (PrioTaskGroup *self, guint id, PrioTask **task, guint *handle, GError **error);

G_END_DECLS
