/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-thread-wait.h: blocks a thread until a task has completed */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-threads.h> can be included directly."
#endif

#include "prio-task.h"

G_BEGIN_DECLS

PRIO_AVAILABLE_IN_ALL
gboolean prio_task_wait (PrioTask *self, gint64 timeout_msec, GCancellable *cancellable, GError **error);

G_END_DECLS
