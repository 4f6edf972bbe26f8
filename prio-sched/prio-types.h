/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-types.h: priorities and states, and the names of types that several headers need
 *
 * Times in all headers: a time that the program chooses is a whole number of milliseconds, as for g_timeout_add () and
 * in the WICG draft: unsigned, unless a negative number has a meaning.  A time that is measured, or may be shorter than
 * a millisecond, is a double, in milliseconds too.  A moment is a gint64 in microseconds of g_get_monotonic_time (). */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include <glib-object.h>

#include "prio-version-macros.h"

G_BEGIN_DECLS

typedef struct _PrioScheduler PrioScheduler;
typedef struct _PrioSchedulingState PrioSchedulingState;
typedef struct _PrioTaskOptions PrioTaskOptions;

/**
 * PrioTaskPriority:
 * @PRIO_TASK_PRIORITY_UNSET: no priority, where one is optional: then the priority of a [class@PrioSched.TaskSignal]
 *   counts or, without one, %PRIO_TASK_PRIORITY_USER_VISIBLE; for a yield, the task's priority; in a group, the group's
 * @PRIO_TASK_PRIORITY_BACKGROUND: work that the user does not notice: logs, caches, indexes
 * @PRIO_TASK_PRIORITY_USER_VISIBLE: work that the user can see, but does not wait for; the default
 * @PRIO_TASK_PRIORITY_USER_BLOCKING: work that the user waits for
 *
 * How urgent a task is (§2.1 of the WICG draft).
 *
 * While a task of a higher priority can run, no task of a lower priority runs, unless its timeout has passed or another
 * task lends it a priority.  A continuation, the part of a task after a yield, runs before new tasks of its priority,
 * apart from `takes_turns` and [property@PrioSched.Scheduler:starvation-limit], and after more urgent tasks.
 *
 * A greater number is more urgent, so programs may compare priorities.  GLib's priorities have the reverse order.
 * The numbers have no gaps, so no priority will be added between them.  GLib's constants, such as %G_PRIORITY_HIGH, are
 * rejected with a critical message.  The value 0, which is %G_PRIORITY_DEFAULT, is also rejected as an argument, but
 * stands for %PRIO_TASK_PRIORITY_UNSET in options.
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_TASK_PRIORITY_UNSET,
  PRIO_TASK_PRIORITY_BACKGROUND,
  PRIO_TASK_PRIORITY_USER_VISIBLE,
  PRIO_TASK_PRIORITY_USER_BLOCKING
} PrioTaskPriority;

/**
 * PrioTaskState:
 * @PRIO_TASK_STATE_PENDING: delayed or queued, or waiting for a thread
 * @PRIO_TASK_STATE_RUNNING: the task has begun, or is a task of [ctor@PrioSched.Task.new], and has no result yet
 * @PRIO_TASK_STATE_FULFILLED: completed, with or without a value
 * @PRIO_TASK_STATE_FAILED: completed with an error
 * @PRIO_TASK_STATE_ABORTED: completed by its signal's abort, by [method@PrioSched.Task.cancel] or
 *   [method@PrioSched.Task.return_error_if_aborted], or because its main context was destroyed or its worker stopped
 *
 * The state of a [class@PrioSched.Task].  Compare states by name, because a later version may add states:
 * [property@PrioSched.Task:completed] says whether the task has ended.
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_TASK_STATE_PENDING,
  PRIO_TASK_STATE_RUNNING,
  PRIO_TASK_STATE_FULFILLED,
  PRIO_TASK_STATE_FAILED,
  PRIO_TASK_STATE_ABORTED
} PrioTaskState;

/**
 * PrioYieldFlags:
 * @PRIO_YIELD_NONE: options that are not set are inherited; if a signal is set, its priority is used
 * @PRIO_YIELD_DROP_SIGNAL: no signal is inherited: only a signal in the options can abort the continuation
 * @PRIO_YIELD_DROP_PRIORITY: no priority is inherited: if no priority is set, the signal's priority counts, or
 *   %PRIO_TASK_PRIORITY_USER_VISIBLE if there is no signal
 * @PRIO_YIELD_KEEP_PRIORITY: the priority is inherited, even if a signal or a priority is set
 *
 * Flags that change which options a continuation inherits from the task that yields.  They provide the options
 * that `yield()` had in an older version of the WICG draft.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  PRIO_YIELD_NONE          = 0,
  PRIO_YIELD_DROP_SIGNAL   = 1 << 0,
  PRIO_YIELD_DROP_PRIORITY = 1 << 1,
  PRIO_YIELD_KEEP_PRIORITY = 1 << 2
} PrioYieldFlags;

/**
 * PrioTaskGroupWait:
 * @PRIO_TASK_GROUP_WAIT_DRAINED: until all tasks have completed, whatever their results
 * @PRIO_TASK_GROUP_WAIT_ALL: until all tasks have completed, or until a task fails or is aborted: like `Promise.all()`
 * @PRIO_TASK_GROUP_WAIT_ANY: until the first task is fulfilled: like `Promise.any()`; fails when no task is left
 * @PRIO_TASK_GROUP_WAIT_FIRST: until the first task completes, however it ends: like `Promise.race()`; fails when no
 *   task is left
 *
 * The condition that ends a wait of [method@PrioSched.TaskGroup.wait_async].
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_TASK_GROUP_WAIT_DRAINED,
  PRIO_TASK_GROUP_WAIT_ALL,
  PRIO_TASK_GROUP_WAIT_ANY,
  PRIO_TASK_GROUP_WAIT_FIRST
} PrioTaskGroupWait;

G_END_DECLS
