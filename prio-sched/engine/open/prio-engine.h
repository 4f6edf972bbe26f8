/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-engine.h: functions of the engine for above/, watch/ and bindings/
 *
 * Unless a comment says otherwise, any thread may call a function. */

#pragma once

#include "prio-numbers.h"
#include "prio-scheduler.h"

/* Calls @callback later, in the context of @self and without a scheduling state, with the result of a yield that fails
 * with @error.  Takes ownership of @error. */
void prio_scheduler_fail_to_yield (PrioScheduler *self, GError *error, GAsyncReadyCallback callback, gpointer data);
/* Notifies `next-frame` if it has changed.  Called when a frame clock announces a frame, or is no longer followed. */
void prio_scheduler_tell_next_frame (PrioScheduler *self);
/* Runs @func as a task of @self in a thread of the pool or, if @other is not NULL, in the thread of that scheduler.
 * With a wrong argument, logs a critical message for @function, and returns NULL. */
PrioTask *prio_scheduler_run_in (PrioScheduler *self, const char *function, const PrioTaskOptions *options, PrioScheduler *other,
                                 PrioTaskFunc func, gpointer data, GDestroyNotify notify);

/* Posts @func as a task that observers do not see, and statistics do not count.  If @due is PRIO_NEVER, the task is in
 * no queue, and the loop keeps it alive until it has a result, is aborted, or its context is destroyed. */
PrioTask *prio_scheduler_post_hidden (PrioScheduler *self, const PrioTaskOptions *options, gint64 due, PrioTaskFunc func, gpointer data,
                                      GDestroyNotify notify);
/* Fulfils a task of prio_scheduler_post_hidden () that is in no queue. */
void prio_task_fulfil (PrioTask *task);
/* Returns the number of tasks at which the feeds of a group stop posting (prio-task-group-thread.c). */
guint prio_task_group_get_room (PrioTaskGroup *self);
/* Sets whether feeds will post more tasks.  While @is_fed, waits for the group continue even if no task is left.  The
 * caller has entered no loop (prio-numbers.h). */
void prio_task_group_set_fed (PrioTaskGroup *self, gboolean is_fed);

/* Makes @task, whose function is the caller, continue with @func in a continuation after the caller has returned: at
 * @due, in µs, or at once if @due is 0.  @data is released after @func, or when @task has ended. */
void prio_task_go_on (PrioTask *task, gint64 due, PrioTaskFunc func, gpointer data, GDestroyNotify notify);
/* Returns whether @task, whose function is the caller, can continue: it has no result, has not deferred its result, and
 * is not aborted.  Sets @should_yield to whether @task should yield first. */
gboolean prio_task_may_go_on (PrioTask *task, gboolean *should_yield);
PrioLoop *prio_task_get_loop (PrioTask *task);
/* Returns whether @task has its result, or is aborted. */
static inline gboolean
prio_task_is_over (PrioTask *task)
{
  return prio_task_get_state (task) >= PRIO_TASK_STATE_FULFILLED;
}
/* Returns whether @task has deferred its result, and does not have it yet. */
gboolean prio_task_is_deferred (PrioTask *task);

/* Returns how many tasks of this process wait for a thread, or run in one. */
guint prio_threads_count (void);

/* Posts the task @id with @options, which are valid.  If @expiry is not NULL, posts a continuation, whose timeout
 * passes at *@expiry, in µs. */
PrioPostResult prio_numbers_post_full (PrioRunner *self, guint id, const PrioTaskOptions *options,
                                       const gint64 *expiry);
