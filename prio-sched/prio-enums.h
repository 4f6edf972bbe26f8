/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-enums.h: priorities and states */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include <glib-object.h>

#include "prio-version-macros.h"

G_BEGIN_DECLS

/**
 * PrioTaskPriority:
 * @PRIO_TASK_PRIORITY_UNSET: no priority, where a priority is optional: then the signal's priority counts, or
 *   %PRIO_TASK_PRIORITY_USER_VISIBLE if the signal is not a [class@PrioSched.TaskSignal]
 * @PRIO_TASK_PRIORITY_BACKGROUND: work that the user does not notice: logs, caches, indexes
 * @PRIO_TASK_PRIORITY_USER_VISIBLE: work that the user can see, but does not wait for; the default
 * @PRIO_TASK_PRIORITY_USER_BLOCKING: work that the user waits for
 *
 * How urgent a task is (§2.1 of the draft).
 *
 * Tasks run in strict order of priority: as long as a task of a higher priority can run, no task of a lower priority
 * does.  A continuation, the part of a task after a yield, runs before new tasks of its priority and after tasks of the
 * next higher priority.
 *
 * A greater number is more urgent, which is the reverse of GLib's source priorities.  None of GLib's constants is a
 * valid value: %G_PRIORITY_DEFAULT, which is 0, %G_PRIORITY_HIGH and the others are rejected with a critical message.
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
 * @PRIO_TASK_STATE_PENDING: delayed or queued
 * @PRIO_TASK_STATE_RUNNING: its function has been called, and it has no result yet
 * @PRIO_TASK_STATE_FULFILLED: completed, with or without a value
 * @PRIO_TASK_STATE_FAILED: completed with an error
 * @PRIO_TASK_STATE_ABORTED: completed by its signal's abort, by [method@PrioSched.Task.cancel] or
 *   [method@PrioSched.Task.return_error_if_aborted], or because its context was destroyed
 *
 * The state of a [class@PrioSched.Task].
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
 * @PRIO_YIELD_NONE: options that are not given are inherited; a given signal brings its priority
 * @PRIO_YIELD_DROP_SIGNAL: no signal is inherited: only a given signal can abort the continuation
 * @PRIO_YIELD_DROP_PRIORITY: no priority is inherited: unless it is given, the signal's priority counts, or else
 *   %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @PRIO_YIELD_KEEP_PRIORITY: the priority is inherited, even if a signal or a priority is given
 *
 * Flags that change the inheritance of a continuation from the task that yields.  They cover the options that `yield()`
 * had in an older draft.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  PRIO_YIELD_NONE       = 0,
  PRIO_YIELD_DROP_SIGNAL   = 1 << 0,
  PRIO_YIELD_DROP_PRIORITY = 1 << 1,
  PRIO_YIELD_KEEP_PRIORITY = 1 << 2
} PrioYieldFlags;

/**
 * PrioTaskGroupWait:
 * @PRIO_TASK_GROUP_WAIT_DRAINED: until no task is queued or running, however they ended
 * @PRIO_TASK_GROUP_WAIT_ALL: until no task is queued or running, or the first of them fails or is aborted:
 *   like `Promise.all()`
 * @PRIO_TASK_GROUP_WAIT_ANY: until the first task is fulfilled: like `Promise.any()`
 * @PRIO_TASK_GROUP_WAIT_FIRST: until the first task completes, however it ends: like `Promise.race()`
 *
 * The end of a wait with [method@PrioSched.TaskGroup.wait_async].
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

/**
 * PrioPostResult:
 * @PRIO_POST_RESULT_REJECTED: the task will not run: its signal is aborted already, or the main context or the
 *   scheduler is gone
 * @PRIO_POST_RESULT_OUTSIDE: the task was posted from outside any task of the main context
 * @PRIO_POST_RESULT_INSIDE: the task was posted from inside a task, whose state is current
 *
 * The outcome of a post to a [struct@PrioSched.Runner].
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_POST_RESULT_REJECTED,
  PRIO_POST_RESULT_OUTSIDE,
  PRIO_POST_RESULT_INSIDE
} PrioPostResult;

/**
 * PrioWorkerStop:
 * @PRIO_WORKER_STOP_ABORT: they are aborted with %PRIO_ERROR_CLOSED
 * @PRIO_WORKER_STOP_FINISH: they run first
 *
 * How a worker that stops ends its queued tasks.
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_WORKER_STOP_ABORT,
  PRIO_WORKER_STOP_FINISH
} PrioWorkerStop;

/**
 * PrioChannelPace:
 * @PRIO_CHANNEL_PACE_EACH: for each value, as soon as tasks of its priority run
 * @PRIO_CHANNEL_PACE_TURN: at most once in a turn of the main loop, after which other sources have their turn
 * @PRIO_CHANNEL_PACE_FRAME: at most once a frame, or 60 times a second where no frame is known
 *
 * How often a [class@PrioSched.Channel] calls its function.
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_CHANNEL_PACE_EACH,
  PRIO_CHANNEL_PACE_TURN,
  PRIO_CHANNEL_PACE_FRAME
} PrioChannelPace;

G_END_DECLS
