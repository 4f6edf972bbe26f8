/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-engine.h: functions of the engine for the rooms above, beside the public headers and prio-observe.h
 *
 * Any thread may call these, unless they say otherwise.
 */

#pragma once

#include "prio-numbers.h"
#include "prio-scheduler.h"

/* Calls @callback soon, in the context of @self and without a state, with a yield that fails with @error, which this takes. */
void prio_scheduler_fail_to_yield (PrioScheduler *self, GError *error, GAsyncReadyCallback callback, gpointer data);
/* A followed clock has announced a frame, or is followed no more: notifies `next-frame` if that is another one. */
void prio_scheduler_tell_next_frame (PrioScheduler *self);
/* Returns whether an unpaused task of the program, or a microtask, waits.  On the thread that runs the context. */
gboolean prio_scheduler_is_busy (PrioScheduler *self);
/* Closes all schedulers of the context before its end: tasks that are queued, or posted later, are aborted.
 * Outside, on the thread that runs the context. */
void prio_scheduler_close (PrioScheduler *self);
/* Runs @func as a task of @self, for the public @function, where @other runs its tasks, and when it would run one; or in a thread of the
 * pool if that is NULL.  With the checks that @function promises. */
PrioTask *prio_scheduler_run_in (PrioScheduler *self, const char *function, const PrioTaskOptions *options, PrioScheduler *other,
                                 PrioTaskFunc func, gpointer data, GDestroyNotify notify);
/* Returns whether @options are valid, and there is a function; if not, logs a critical message for @function. */
gboolean prio_check_options (const char *function, const PrioTaskOptions *options, gboolean has_func);

/* Posts @func as a task that observers do not see, and statistics do not count.  If it is due at PRIO_NEVER, it is in no
 * queue, and the loop keeps it until it has a result, is aborted, or its context is destroyed. */
PrioTask *prio_scheduler_post_hidden (PrioScheduler *self, const PrioTaskOptions *options, gint64 due, PrioTaskFunc func, gpointer data,
                                      GDestroyNotify notify);
/* Fulfils a hidden task that is in no queue. */
void prio_task_fulfil (PrioTask *task);
/* Returns how many tasks of a group have a place, or will have one before the main loop can ask for more. */
guint prio_task_group_get_room (PrioTaskGroup *self);
/* Sets whether there will be more tasks: then waits continue even if none is left.  Outside. */
void prio_task_group_set_fed (PrioTaskGroup *self, gboolean is_fed);

/* Makes @task, whose function calls this in its state, continue with @func when its function has returned: as a
 * continuation, at @due, µs, or when its turn comes if that is 0.  @data is released after @func, or when @task has
 * ended. */
void prio_task_go_on (PrioTask *task, gint64 due, PrioTaskFunc func, gpointer data, GDestroyNotify notify);
/* Returns the time in @delay ms from now, for prio_task_go_on (). */
gint64 prio_task_due_after (guint64 delay);
/* In the function of @task: returns whether it has no result, has not been deferred, and is not aborted; and tells whether it should
 * yield. */
gboolean prio_task_may_go_on (PrioTask *task, gboolean *should_yield);
/* Returns (transfer none) the loop of the scheduler of @task. */
PrioLoop *prio_task_get_loop (PrioTask *task);
/* Returns whether the result of @task comes later. */
gboolean prio_task_is_deferred (PrioTask *task);

/* Posts the number @id with valid @options; if @expiry is not NULL, as a continuation whose timeout passes then. */
PrioPostResult prio_numbers_post_full (PrioRunner *self, guint id, const PrioTaskOptions *options,
                                       const gint64 *expiry);
