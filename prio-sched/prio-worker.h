/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-worker.h: a thread with its own main context and scheduler */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include "prio-scheduler.h"

G_BEGIN_DECLS

/**
 * PrioWorkerStop:
 * @PRIO_WORKER_STOP_ABORT: the tasks are aborted with %PRIO_ERROR_CLOSED
 * @PRIO_WORKER_STOP_FINISH: the tasks run before the worker stops
 *
 * How a worker that stops ends its queued and delayed tasks.
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_WORKER_STOP_ABORT,
  PRIO_WORKER_STOP_FINISH
} PrioWorkerStop;

#define PRIO_TYPE_WORKER (prio_worker_get_type ())

PRIO_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (PrioWorker, prio_worker, PRIO, WORKER, GObject)

PRIO_AVAILABLE_IN_ALL
PrioWorker *prio_worker_new (const char *name);
PRIO_AVAILABLE_IN_ALL
PrioScheduler *prio_worker_get_scheduler (PrioWorker *self);
PRIO_AVAILABLE_IN_ALL
void prio_worker_stop (PrioWorker *self, PrioWorkerStop how);
PRIO_AVAILABLE_IN_ALL
void prio_worker_join (PrioWorker *self);

PRIO_AVAILABLE_IN_ALL
PrioTask *prio_worker_run (PrioWorker *self, PrioScheduler *scheduler, const PrioTaskOptions *options,
                           PrioTaskFunc func, gpointer user_data, GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
