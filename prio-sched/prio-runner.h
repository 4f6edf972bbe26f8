/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-runner.h: runs tasks that are identified by numbers */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-bindings.h> can be included directly."
#endif

#include "prio-post-result.h"
#include "prio-worker.h"

G_BEGIN_DECLS

#define PRIO_TYPE_RUNNER (prio_runner_get_type ())

/**
 * PrioRunner:
 *
 * Runs tasks that are identified by numbers.  In C, include `<prio-sched-bindings.h>`.
 *
 * Runners are for language bindings, and for programs that have their own table of tasks.  A task of a runner is a
 * number that the caller chooses, without an object, a closure, or a separate call from C.  One function runs all
 * tasks.  The function is called with the number of the first task, and gets further numbers from
 * [func@PrioSched.Runner.next], until the result is 0.
 *
 * ```c
 * static void
 * run (guint id, gpointer user_data)
 * {
 *   if (id == 0)
 *     forget_rejected_tasks ();
 *
 *   for (; id != 0; id = prio_runner_next ())
 *     run_task (id);
 * }
 * ```
 *
 * Between two numbers, the library does the same as between any two tasks: it calls microtasks, chooses the next task
 * of all schedulers of the main context, and stops at the end of the time slice.
 *
 * Since: 1.0
 */
typedef struct _PrioRunner PrioRunner;

/**
 * PrioRunnerFunc:
 * @id: the number of the task to run first; 0 to report that [method@PrioSched.Runner.take_rejected] has new numbers
 * @user_data: the data given to [ctor@PrioSched.Runner.new]
 *
 * Runs tasks of a [struct@PrioSched.Runner], or the idle callback @id that was requested with
 * [method@PrioSched.Runner.request_idle_callback], on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
typedef void (*PrioRunnerFunc) (guint id, gpointer user_data);

/**
 * PrioRunnerNameFunc:
 * @id: the number of a task that is about to begin, is being posted during a trace, or has waited for too long
 * @user_data: the data given to [method@PrioSched.Runner.set_name_func]
 *
 * Returns the name of a task.  The function is called on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full) (nullable): the task's name, or %NULL
 *
 * Since: 1.0
 */
typedef char *(*PrioRunnerNameFunc) (guint id, gpointer user_data);

PRIO_AVAILABLE_IN_ALL
GType prio_runner_get_type (void) G_GNUC_CONST;

PRIO_AVAILABLE_IN_ALL
PrioRunner *prio_runner_new (PrioScheduler *scheduler, PrioRunnerFunc func, gpointer user_data, GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
PrioRunner *prio_runner_ref (PrioRunner *self);
PRIO_AVAILABLE_IN_ALL
void prio_runner_unref (PrioRunner *self);

PRIO_AVAILABLE_IN_ALL
void prio_runner_set_name_func (PrioRunner *self, PrioRunnerNameFunc func, gpointer user_data, GDestroyNotify notify);

PRIO_AVAILABLE_IN_ALL
PrioPostResult prio_runner_post (PrioRunner *self, guint id, gint priority);
PRIO_AVAILABLE_IN_ALL
PrioPostResult prio_runner_post_full (PrioRunner *self, guint id, gint priority, GCancellable *signal, guint64 delay,
                                      gint timeout, gboolean takes_turns);
PRIO_AVAILABLE_IN_ALL
PrioPostResult prio_runner_yield (PrioRunner *self, guint id);
PRIO_AVAILABLE_IN_ALL
PrioPostResult prio_runner_yield_full (PrioRunner *self, guint id, gint priority, GCancellable *signal, guint64 delay,
                                       gint64 expiry, gboolean takes_turns);

PRIO_AVAILABLE_IN_ALL
gboolean prio_runner_cancel (PrioRunner *self, guint id);
PRIO_AVAILABLE_IN_ALL
guint prio_runner_get_first (PrioRunner *self);
PRIO_AVAILABLE_IN_ALL
gboolean prio_runner_is_owner (PrioRunner *self);

PRIO_AVAILABLE_IN_ALL
guint prio_runner_add_lender (PrioRunner *self, guint id, gint priority, GCancellable *signal);
PRIO_AVAILABLE_IN_ALL
void prio_runner_remove_lender (PrioRunner *self, guint lender);
PRIO_AVAILABLE_IN_ALL
void prio_runner_begin_wait (PrioRunner *self, guint lender, guint awaited);
PRIO_AVAILABLE_IN_ALL
void prio_runner_begin_wait_for_id (PrioRunner *self, guint lender, guint id);
PRIO_AVAILABLE_IN_ALL
void prio_runner_end_wait (PrioRunner *self, guint lender, guint awaited);

PRIO_AVAILABLE_IN_ALL
guint prio_runner_request_idle_callback (PrioRunner *self, guint timeout);

PRIO_AVAILABLE_IN_ALL
gboolean prio_runner_end (void);
PRIO_AVAILABLE_IN_ALL
guint prio_runner_next (void);
PRIO_AVAILABLE_IN_ALL
void prio_runner_add_checkpoint_func (GMainContext *context, GSourceFunc func, gpointer user_data, GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
gboolean prio_runner_set_runs_jobs (gboolean runs_jobs);
PRIO_AVAILABLE_IN_ALL
gboolean prio_runner_get_runs_jobs (void);
PRIO_AVAILABLE_IN_ALL
guint *prio_runner_take_rejected (PrioRunner *self, gsize *n_rejected);

PRIO_AVAILABLE_IN_ALL
PrioTask *prio_scheduler_run_in_thread_full (PrioScheduler *self, PrioWorker *worker, gint priority,
                                             GCancellable *signal, const char *name, PrioTaskFunc func,
                                             gpointer user_data, GDestroyNotify notify);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PrioRunner, prio_runner_unref)

G_END_DECLS
