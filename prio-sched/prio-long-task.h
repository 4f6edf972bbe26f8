/* prio-long-task.h: what holds a main loop for long
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-watch.h> can be included directly."
#endif

#include <gio/gio.h>

#include "prio-scheduler.h"

G_BEGIN_DECLS

/**
 * PRIO_LONG_TASK_THRESHOLD:
 *
 * What the web calls long, in milliseconds, for [property@PrioSched.Scheduler:long-task-threshold]: a user notices when
 * an answer comes 100 ms late.
 *
 * Since: 1.0
 */
#define PRIO_LONG_TASK_THRESHOLD 50

#define PRIO_TYPE_LONG_TASK (prio_long_task_get_type ())

/**
 * PrioLongTask:
 * @name: (nullable): the name of the task, or of another source or its callback, to 63 bytes; %NULL if it has none, or is not known
 * @priority: the task's own [enum@PrioSched.TaskPriority]; %PRIO_PRIORITY_UNSET for anything that is not a task
 * @longest: how long its longest run took, in microseconds
 * @ended: when that run ended, in microseconds of [func@GLib.get_monotonic_time]
 * @total: how long all its runs took that were counted, in microseconds
 * @n_runs: how many runs those were
 *
 * What has held a main loop for the longest, by name: see [method@PrioSched.Scheduler.get_longest_tasks].  In C, include
 * `<prio-sched-watch.h>`.
 *
 * ```c
 * static void
 * print (gpointer data, gpointer user_data)
 * {
 *   const PrioLongTask *task = data;
 *
 *   g_print ("%s: %.1f ms\n", task->name != NULL ? task->name : "(no name)", task->longest / 1000.0);
 * }
 * ```
 *
 * Since: 1.0
 */
typedef struct
{
  const char *name;
  gint priority;
  gint64 longest;
  gint64 ended;
  gint64 total;
  guint64 n_runs;
} PrioLongTask;

PRIO_AVAILABLE_IN_ALL
GType         prio_long_task_get_type                     (void) G_GNUC_CONST;
PRIO_AVAILABLE_IN_ALL
PrioLongTask *prio_long_task_copy                         (const PrioLongTask *task);
PRIO_AVAILABLE_IN_ALL
void          prio_long_task_free                         (PrioLongTask       *task);

PRIO_AVAILABLE_IN_ALL
guint         prio_scheduler_get_long_task_threshold      (PrioScheduler      *self);
PRIO_AVAILABLE_IN_ALL
void          prio_scheduler_set_long_task_threshold      (PrioScheduler      *self,
                                                           guint               threshold);
PRIO_AVAILABLE_IN_ALL
GPtrArray    *prio_scheduler_get_longest_tasks            (PrioScheduler      *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PrioLongTask, prio_long_task_free)

G_END_DECLS
