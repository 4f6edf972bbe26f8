/* prio-options.h: what may be given with a task, by name
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include <gio/gio.h>

#include "prio-enums.h"

G_BEGIN_DECLS

typedef struct _PrioSchedulingState PrioSchedulingState;

/**
 * PrioTaskOptions:
 * @priority: how urgent the task is; 0, which is %PRIO_PRIORITY_UNSET, for the priority of
 *   @signal or, if that has none, %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @size: 0, or the size of the structure
 * @signal: (nullable): what may abort the task: a [class@PrioSched.TaskSignal], or any
 *   other cancellable
 * @delay: milliseconds to wait before the task is queued
 * @name: (nullable): what to call the task where a human looks; it is copied
 * @source_object: (nullable): of whose `_async` function the task is the result; the
 *   scheduler's, if this is %NULL.  Only for tasks that have a result
 * @source_tag: (nullable): which `_async` function that is, as for
 *   [method@Gio.AsyncResult.is_tagged].  Only for tasks that have a result
 * @reserved: for later versions of the library; all %NULL
 *
 * What a task may be posted with: the draft's `SchedulerPostTaskOptions` (§2.2), and more.
 *
 * All zero is the default, and so is %NULL in place of a pointer to one.  A compound literal
 * names what is wanted:
 *
 * ```c
 * task = prio_scheduler_post_task (scheduler,
 *                                  &(PrioTaskOptions) { .signal = signal, .delay = 100, .name = "thumbnail" },
 *                                  make_thumbnail, g_object_ref (file), g_object_unref);
 * ```
 *
 * A priority that is given beats the signal's, and never changes.
 *
 * A program built against a later version of the library, which knows more options, sets in
 * them what is reserved here: this version refuses that with a message, instead of
 * ignoring it.  Nothing in the structure is used after the call.
 *
 * Since: 1.0
 */
typedef struct
{
  PrioTaskPriority priority;
  guint size;
  GCancellable *signal;
  guint64 delay;
  const char *name;
  GObject *source_object;
  gpointer source_tag;

  /*< private >*/
  gpointer reserved[4];
} PrioTaskOptions;

/**
 * PrioYieldOptions:
 * @priority: how urgent the continuation is; 0, which is %PRIO_PRIORITY_UNSET, for the
 *   priority that is inherited or, if @signal is given, that of @signal, or
 *   %PRIO_TASK_PRIORITY_USER_VISIBLE if that has none
 * @size: 0, or the size of the structure
 * @signal: (nullable): what may abort the continuation, instead of what is inherited
 * @state: (nullable): the state to inherit from, and to go on under, instead of that of
 *   the running task
 * @name: (nullable): what to call the continuation where a human looks; it is copied
 * @flags: what else is not inherited, or is
 * @reserved: for later versions of the library; all %NULL
 *
 * What a yield may be given.  What is not given is inherited from the running task.
 *
 * All zero is the default, and so is %NULL in place of a pointer to one: then it is the
 * draft's `yield()`, which has no options.
 *
 * Since: 1.0
 */
typedef struct
{
  PrioTaskPriority priority;
  guint size;
  GCancellable *signal;
  PrioSchedulingState *state;
  const char *name;
  PrioYieldFlags flags;

  /*< private >*/
  gpointer reserved[4];
} PrioYieldOptions;

G_END_DECLS
