/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-long-task.h: reports of tasks and sources that block a main loop for long */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-watch.h> can be included directly."
#endif

#include "prio-scheduler.h"

G_BEGIN_DECLS

/**
 * PRIO_LONG_TASK_THRESHOLD:
 *
 * The web's threshold for long tasks, in milliseconds, for [method@PrioSched.Scheduler.add_long_task_func].  The
 * threshold is half of the shortest delay that a user notices.
 *
 * Since: 1.0
 */
#define PRIO_LONG_TASK_THRESHOLD 50

/**
 * PrioLongTaskFunc:
 * @name: (nullable): the name of a task; the function of an idle callback, in C; the name of another source
 *   ([method@GLib.Source.set_name]) or, without one, its callback's function; for many short sources, their number and
 *   functions, such as `20000 callbacks of load_row`; or %NULL if nothing is known.  If only the address of a function
 *   is known, @name is `FILE+0xADDRESS`, for `addr2line -f`
 * @priority: the task's own priority; %PRIO_TASK_PRIORITY_UNSET for anything that is not a task,
 *   such as an idle callback
 * @duration: how long the main context was blocked, in milliseconds
 * @user_data: the data given to [method@PrioSched.Scheduler.add_long_task_func]
 *
 * Handles a report that a task or another source has blocked a main context for long.  The function is called on the
 * thread that runs the main context: see [method@PrioSched.Scheduler.add_long_task_func].
 *
 * Since: 1.0
 */
typedef void (*PrioLongTaskFunc) (const char *name, PrioTaskPriority priority, double duration, gpointer user_data);

PRIO_AVAILABLE_IN_ALL
guint prio_scheduler_add_long_task_func (PrioScheduler *self, guint threshold, PrioLongTaskFunc func,
                                         gpointer user_data, GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_remove_long_task_func (PrioScheduler *self, guint id);

G_END_DECLS
