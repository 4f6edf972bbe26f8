/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-private.h: the structure of PrioScheduler, and functions that several files with its methods share */

#pragma once

#include "loop/prio-run-queue-private.h"
#include "scheduler/prio-options-private.h"
#include "task/prio-task-private.h"
#include "prio-scheduler.h"

struct _PrioScheduler
{
  GObject parent_instance;

  GMainContext *context;
  PrioRunQueue *run_queue;
  gint64 next_frame; /* when the next frame is due, as reported last; atomic */
};

extern GType prio_scheduler_type G_GNUC_INTERNAL; /* set when the class is initialized */

/* Returns whether the type of @self is exactly PrioScheduler, which is quick to check.  If not, the caller uses
 * PRIO_IS_SCHEDULER (). */
static inline gboolean
prio_scheduler_check (PrioScheduler *self)
{
  return self != NULL && self->parent_instance.g_type_instance.g_class != NULL &&
         self->parent_instance.g_type_instance.g_class->g_type == prio_scheduler_type;
}

static inline gboolean
prio_check_scheduler (const char *function, PrioScheduler *self)
{
  return G_LIKELY (prio_scheduler_check (self)) || prio_check_type (function, self, PRIO_TYPE_SCHEDULER);
}

PrioTask *prio_run_queue_make_task (PrioRunQueue *run_queue, const PrioTaskOptions *options);
PrioTask *prio_run_queue_post_task (PrioRunQueue *run_queue, const PrioTaskOptions *options, PrioTaskFunc func, gpointer data,
                                    GDestroyNotify notify);
void prio_task_submit_hidden (PrioTask *task, PrioTaskPriority priority, gint64 due, PrioTaskFunc func, gpointer data, GDestroyNotify notify);
void prio_run_queue_continue (PrioRunQueue *run_queue, const PrioYieldOptions *options, gpointer source_tag, gint64 due,
                              GAsyncReadyCallback callback, gpointer data, GDestroyNotify notify, PrioTask **waits);
GParamSpec *prio_scheduler_make_lends_priority (void);
GParamSpec *prio_scheduler_make_task_share (void);
void prio_scheduler_submit_change (PrioScheduler *self, PrioOpFunc apply, const char *property);
void prio_scheduler_submit_task (PrioTask *task, GCancellable *signal, GCancellable *followed, PrioTaskPriority priority, gint64 due);
