/* prio-options.h: the options of tasks and yields, by name
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include <gio/gio.h>

#include "prio-enums.h"
#include "prio-version-macros.h"

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
 * @name: (nullable): the task's name in messages and tools for developers; it is copied
 * @source_object: (nullable): the object whose `_async` function returns the task as its
 *   result; %NULL for the scheduler.  Only for tasks that have a result
 * @source_tag: (nullable): identifies that `_async` function, as for
 *   [method@Gio.AsyncResult.is_tagged].  Only for tasks that have a result
 * @timeout: milliseconds from when the task is posted, or from the end of its delay, after which it
 *   goes before every task whose timeout has not passed; 0 for none.  A negative one has passed
 *   from the beginning
 * @reserved: reserved for later versions of the library; all %NULL
 *
 * The options of a task: the draft's `SchedulerPostTaskOptions` (§2.2), and more.
 *
 * All fields zero are the defaults, and so is %NULL instead of a pointer.  A compound literal
 * names the options to set:
 *
 * ```c
 * task = prio_scheduler_post_task (scheduler,
 *                                  &(PrioTaskOptions) { .signal = signal, .delay = 100, .name = "thumbnail" },
 *                                  make_thumbnail, g_object_ref (file), g_object_unref);
 * ```
 *
 * A given priority takes precedence over the signal's, and never changes.
 *
 * Without a timeout, order is strict: a task waits as long as there is a more urgent one.  A
 * timeout limits that.  After it the task is above all others of the main context but those
 * whose timeout has passed before; these go by that time, and then by age.  It stays where it is
 * meanwhile: a scheduler that is paused runs it after that, and a group when it has a place.  The
 * task, and what follows its yields, finds out by [method@PrioSched.Scheduler.did_timeout].
 *
 * A program that was built for a later version of the library may set fields that are
 * reserved here.  This version rejects those with a critical message, instead of ignoring
 * them.  The structure is not used after the call.
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
  gint timeout;

  /*< private >*/
  gpointer reserved[3];
} PrioTaskOptions;

#ifndef __GI_SCANNER__
/* The timeout is in the place of one that was reserved. */
G_STATIC_ASSERT (sizeof (PrioTaskOptions) == G_STRUCT_OFFSET (PrioTaskOptions, source_tag) + 5 * sizeof (gpointer));
#endif

/**
 * PrioYieldOptions:
 * @priority: how urgent the continuation is; 0, which is %PRIO_PRIORITY_UNSET, for the
 *   priority that is inherited or, if @signal is given, that of @signal, or
 *   %PRIO_TASK_PRIORITY_USER_VISIBLE if that has none
 * @size: 0, or the size of the structure
 * @signal: (nullable): what may abort the continuation, instead of the inherited signal
 * @state: (nullable): the state to inherit from, and to continue under, instead of that of
 *   the running task
 * @name: (nullable): the continuation's name in messages and tools for developers; it is copied
 * @flags: what is inherited and what is not
 * @reserved: reserved for later versions of the library; all %NULL
 *
 * The options of a yield.  What is not given is inherited from the running task.
 *
 * All fields zero are the defaults, and so is %NULL instead of a pointer: that is the
 * draft's `yield()`, which has no options.
 *
 * ```c
 * prio_scheduler_yield_full_async (scheduler,
 *                                  &(PrioYieldOptions) { .priority = PRIO_TASK_PRIORITY_BACKGROUND, .name = "thumbnails" },
 *                                  make_next_thumbnail, self);
 * ```
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

#define PRIO_TYPE_TASK_OPTIONS (prio_task_options_get_type ())
#define PRIO_TYPE_YIELD_OPTIONS (prio_yield_options_get_type ())

PRIO_AVAILABLE_IN_1_0
GType prio_task_options_get_type (void) G_GNUC_CONST;
PRIO_AVAILABLE_IN_1_0
GType prio_yield_options_get_type (void) G_GNUC_CONST;

G_END_DECLS
