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
 * What the web calls long, in milliseconds, for [method@PrioSched.Scheduler.add_long_task_func]: a user notices when
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
 * @longest: how long its longest run took, in milliseconds
 * @ended: when that run ended, in microseconds of [func@GLib.get_monotonic_time]
 * @total: how long all its runs took that were counted, in milliseconds
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
 *   g_print ("%s: %.1f ms\n", task->name != NULL ? task->name : "(no name)", task->longest);
 * }
 * ```
 *
 * Since: 1.0
 */
typedef struct
{
  const char *name;
  gint priority;
  double longest;
  gint64 ended;
  double total;
  guint64 n_runs;
} PrioLongTask;

PRIO_AVAILABLE_IN_ALL
GType         prio_long_task_get_type                     (void) G_GNUC_CONST;
PRIO_AVAILABLE_IN_ALL
PrioLongTask *prio_long_task_copy                         (const PrioLongTask *task);
PRIO_AVAILABLE_IN_ALL
void          prio_long_task_free                         (PrioLongTask       *task);

/**
 * PrioLongTaskFunc:
 * @name: (nullable): the task's name; the name of another source ([method@GLib.Source.set_name]) or, if it has none of its own, of
 *   its callback's function, which may be `FILE+0xADDRESS`, as `addr2line -f` takes it; %NULL if nothing of that is known
 * @priority: the task's own [enum@PrioSched.TaskPriority]; %PRIO_PRIORITY_UNSET for anything that is not a task
 * @duration: how long it took, in milliseconds
 * @user_data: the data that was added with the function
 *
 * Called on the thread that runs a main context, when something has held that for long: see
 * [method@PrioSched.Scheduler.add_long_task_func].
 *
 * Since: 1.0
 */
typedef void (*PrioLongTaskFunc) (const char *name,
                                  gint        priority,
                                  double      duration,
                                  gpointer    user_data);

PRIO_AVAILABLE_IN_ALL
guint         prio_scheduler_add_long_task_func           (PrioScheduler      *self,
                                                           guint               threshold,
                                                           PrioLongTaskFunc    func,
                                                           gpointer            user_data,
                                                           GDestroyNotify      notify);
PRIO_AVAILABLE_IN_ALL
void          prio_scheduler_remove_long_task_func        (PrioScheduler      *self,
                                                           guint               id);
PRIO_AVAILABLE_IN_ALL
GPtrArray    *prio_scheduler_get_longest_tasks            (PrioScheduler      *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PrioLongTask, prio_long_task_free)

G_END_DECLS
