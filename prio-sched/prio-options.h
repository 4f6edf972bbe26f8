/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-options.h: the options of tasks and yields */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include "prio-task-signal.h"

G_BEGIN_DECLS

/**
 * PrioTaskOptions:
 * @size: the size of the structure, which `PRIO_TASK_OPTIONS()` sets, or 0
 * @priority: how urgent the task is; %PRIO_TASK_PRIORITY_UNSET, which is 0, for the priority of @signal or, if @signal
 *   has no priority, %PRIO_TASK_PRIORITY_USER_VISIBLE
 * @timeout: milliseconds from the post of the task, or from the end of its delay, after which the task precedes all
 *   tasks whose timeout has not passed; 0 for none.  A negative timeout counts as passed at once.  This timeout ends
 *   neither the task, as a signal of [ctor@PrioSched.TaskSignal.new_timeout] does, nor a wait, as the timeout of
 *   [method@PrioSched.Task.wait] does
 * @signal: (nullable): a signal that may abort the task and, unless @priority is set, determines its priority
 * @delay: milliseconds to wait before the task is queued.  For a function that runs in a thread, a delay or a timeout
 *   is refused with a critical message
 * @cancellable: (nullable): instead of @signal, a cancellable of other code, such as the argument of an `_async`
 *   function: it may abort the task, but has no priority, unless it is a [class@PrioSched.TaskSignal] after all.
 *   Options that have both are refused
 * @name: (nullable): the task's name in messages and tools for developers; it is copied
 * @source_object: (nullable): the object whose `_async` function returns the task as its
 *   result; %NULL for the task itself.  Only for tasks that have a result
 * @source_tag: (nullable): identifies this `_async` function, as for [method@Gio.AsyncResult.is_tagged].  Only for
 *   tasks that have a result
 * @takes_turns: whether the task's continuations and steps wait behind tasks of the same priority that are queued
 *   already
 *
 * The options of a task: the WICG draft's `SchedulerPostTaskOptions` (§2.2), and more.
 *
 * A structure of zeros stands for the defaults, and so does %NULL.  The macro
 * `PRIO_TASK_OPTIONS()` makes options by the names of the fields:
 *
 * ```c
 * task = prio_scheduler_post_task (scheduler,
 *                                  &PRIO_TASK_OPTIONS (.signal = signal, .delay = 100, .name = "thumbnail"),
 *                                  make_thumbnail, g_object_ref (file), g_object_unref);
 * ```
 *
 * Options from the macro are valid until the end of the enclosing block.  In C++, where the macro needs C++20, they
 * are valid until the end of the call, and the fields have to be in the order of the structure.
 *
 * The library does not use the structure after the call.  The structure can grow: later versions add fields at the end,
 * whose default is zero, and @size says which fields the program knows; 0 stands for the fields of version 1.0, and
 * fields of later versions then have no effect.  If a program that was built for a later version sets fields that this
 * version does not know, the library refuses the options, with a critical message.  The library accepts options whose
 * unknown fields are zero.
 *
 * A given priority takes precedence over the signal's, and never changes.
 *
 * Without a timeout, order is strict: a task waits as long as there is a more urgent task.  A timeout limits the wait.
 * After that time, the task precedes all other tasks of the main context, except tasks whose timeout passed earlier.
 * Even then, the task does not run while its scheduler is paused, or its group's limit is reached.  The task and its
 * continuations can call [method@PrioSched.Scheduler.did_timeout].  Continuations keep the timeout that has passed, and
 * so precede all urgent tasks until the task ends.  A future of the crate for Rust has a new timeout after each await.
 *
 * In the WICG draft, a continuation runs before all new tasks of its priority: a long task makes short tasks of that
 * priority wait until it ends, apart from [property@PrioSched.Scheduler:starvation-limit].  With @takes_turns, its next
 * continuation or step is queued like a new task, behind them.  So the task takes longer the more tasks are posted.
 *
 * Since: 1.0
 */
struct _PrioTaskOptions
{
  gsize size;
  PrioTaskPriority priority;
  gint timeout;
  PrioTaskSignal *signal;
  guint64 delay;
  GCancellable *cancellable;
  const char *name;
  GObject *source_object;
  gpointer source_tag;
  gboolean takes_turns;
  /*< private >*/
  guint reserved;
};

/**
 * PRIO_TASK_OPTIONS:
 * @...: initializers of the fields of a [struct@PrioSched.TaskOptions], such as `.delay = 500`, or nothing
 *
 * Makes the options of a task in place, and sets their field `size`.
 *
 * ```c
 * prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.delay = 500), save, document, NULL);
 * ```
 *
 * Since: 1.0
 */
#define PRIO_TASK_OPTIONS(...) _PRIO_OPTIONS_LITERAL (PrioTaskOptions, .size = sizeof (PrioTaskOptions), __VA_ARGS__)

/* C++ does not allow & on a temporary structure, but allows it on a reference to the structure. */
#ifdef __GI_SCANNER__
#elif defined (__cplusplus)
#define _PRIO_OPTIONS_LITERAL(type, ...) (static_cast<const type &> (type { __VA_ARGS__ }))
#else
#define _PRIO_OPTIONS_LITERAL(type, ...) ((type) { __VA_ARGS__ })
#endif

/**
 * PrioYieldOptions:
 * @size: the size of the structure, which `PRIO_YIELD_OPTIONS()` sets, or 0
 * @priority: how urgent the continuation is; %PRIO_TASK_PRIORITY_UNSET, which is 0, for the inherited priority or, if
 *   @signal is given, for the signal's priority, or %PRIO_TASK_PRIORITY_USER_VISIBLE if the signal has none
 * @flags: flags that change the inheritance
 * @signal: (nullable): the signal that may abort the continuation, instead of the inherited signal
 * @cancellable: (nullable): instead of @signal, any cancellable that may abort the continuation; options that have both
 *   are refused
 * @state: (nullable): the state that the continuation inherits from and runs in, instead of the running task's state
 * @name: (nullable): the continuation's name in messages and tools for developers; it is copied
 * @takes_turns: whether the continuation waits behind tasks of the same priority that are queued already.  The
 *   continuation of a task that takes turns always does: see [struct@PrioSched.TaskOptions]
 *
 * The options of a yield.  Options that are not given are inherited from the running task.
 *
 * A structure of zeros stands for the defaults, and so does %NULL.  The `yield()` of the WICG draft, without options,
 * uses the defaults.  The structure grows as [struct@PrioSched.TaskOptions] does.
 *
 * ```c
 * prio_scheduler_yield_async (scheduler,
 *                             &PRIO_YIELD_OPTIONS (.priority = PRIO_TASK_PRIORITY_BACKGROUND, .name = "thumbnails"),
 *                             make_next_thumbnail, self);
 * ```
 *
 * Since: 1.0
 */
typedef struct
{
  gsize size;
  PrioTaskPriority priority;
  PrioYieldFlags flags;
  PrioTaskSignal *signal;
  GCancellable *cancellable;
  PrioSchedulingState *state;
  const char *name;
  gboolean takes_turns;
  /*< private >*/
  guint reserved;
} PrioYieldOptions;

/**
 * PRIO_YIELD_OPTIONS:
 * @...: initializers of the fields of a [struct@PrioSched.YieldOptions], or nothing
 *
 * Makes the options of a yield in place, and sets their field `size`.
 *
 * Since: 1.0
 */
#define PRIO_YIELD_OPTIONS(...) _PRIO_OPTIONS_LITERAL (PrioYieldOptions, .size = sizeof (PrioYieldOptions), __VA_ARGS__)

#define PRIO_TYPE_TASK_OPTIONS (prio_task_options_get_type ())
#define PRIO_TYPE_YIELD_OPTIONS (prio_yield_options_get_type ())

PRIO_AVAILABLE_IN_ALL
GType prio_task_options_get_type (void) G_GNUC_CONST;
PRIO_AVAILABLE_IN_ALL
GType prio_yield_options_get_type (void) G_GNUC_CONST;

G_END_DECLS
