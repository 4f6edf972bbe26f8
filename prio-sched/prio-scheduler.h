/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler.h: prioritized tasks in a main context */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include "prio-idle-deadline.h"
#include "prio-options.h"
#include "prio-task.h"

G_BEGIN_DECLS

#define PRIO_TYPE_SCHEDULER (prio_scheduler_get_type ())
#define PRIO_SCHEDULER(object) (G_TYPE_CHECK_INSTANCE_CAST ((object), PRIO_TYPE_SCHEDULER, PrioScheduler))
#define PRIO_IS_SCHEDULER(object) (G_TYPE_CHECK_INSTANCE_TYPE ((object), PRIO_TYPE_SCHEDULER))

typedef struct { GObjectClass parent_class; } PrioSchedulerClass;

PRIO_AVAILABLE_IN_ALL
GType prio_scheduler_get_type (void) G_GNUC_CONST;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PrioScheduler, g_object_unref)

PRIO_AVAILABLE_IN_ALL
PrioScheduler *prio_scheduler_get_default (void);
PRIO_AVAILABLE_IN_ALL
PrioScheduler *prio_scheduler_ref_thread_default (void);
PRIO_AVAILABLE_IN_ALL
PrioScheduler *prio_scheduler_new (GMainContext *context);
PRIO_AVAILABLE_IN_ALL
GMainContext *prio_scheduler_get_context (PrioScheduler *self);

PRIO_AVAILABLE_IN_ALL
void prio_scheduler_post (PrioScheduler *self, PrioTaskPriority priority, GSourceFunc func, gpointer user_data,
                          GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
gboolean prio_scheduler_post_full (PrioScheduler *self, const PrioTaskOptions *options, GSourceFunc func,
                                   gpointer user_data, GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_scheduler_post_task (PrioScheduler *self, const PrioTaskOptions *options, PrioTaskFunc func,
                                    gpointer user_data, GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_scheduler_post_steps (PrioScheduler *self, const PrioTaskOptions *options, PrioStepFunc func,
                                     gpointer user_data, GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_scheduler_run_in_thread (PrioScheduler *self, const PrioTaskOptions *options, PrioTaskFunc func,
                                        gpointer user_data, GDestroyNotify notify) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_yield_async (PrioScheduler *self, const PrioYieldOptions *options, GAsyncReadyCallback callback,
                                 gpointer user_data);
PRIO_AVAILABLE_IN_ALL
gboolean prio_scheduler_yield_finish (PrioScheduler *self, GAsyncResult *result, GError **error);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_sleep_async (PrioScheduler *self, guint64 delay, const PrioYieldOptions *options,
                                 GAsyncReadyCallback callback, gpointer user_data);
PRIO_AVAILABLE_IN_ALL
gboolean prio_scheduler_sleep_finish (PrioScheduler *self, GAsyncResult *result, GError **error);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_queue_microtask (PrioScheduler *self, GSourceOnceFunc func, gpointer user_data,
                                     GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
guint prio_scheduler_request_idle_callback (PrioScheduler *self, guint timeout, PrioIdleFunc func, gpointer user_data,
                                            GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_cancel_idle_callback (PrioScheduler *self, guint id);

PRIO_AVAILABLE_IN_ALL
void prio_scheduler_follow_frame_clock (PrioScheduler *self, GObject *frame_clock);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_unfollow_frame_clock (PrioScheduler *self, GObject *frame_clock);
PRIO_AVAILABLE_IN_ALL
gint64 prio_scheduler_get_next_frame (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_set_next_frame (PrioScheduler *self, gint64 next_frame);

PRIO_AVAILABLE_IN_ALL
gboolean prio_scheduler_should_yield (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
gboolean prio_scheduler_did_timeout (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
double prio_scheduler_get_time_slice (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_set_time_slice (PrioScheduler *self, double time_slice);
PRIO_AVAILABLE_IN_ALL
guint prio_scheduler_get_starvation_limit (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_set_starvation_limit (PrioScheduler *self, guint starvation_limit);
PRIO_AVAILABLE_IN_ALL
double prio_scheduler_get_task_share (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_set_task_share (PrioScheduler *self, double share);
PRIO_AVAILABLE_IN_ALL
gboolean prio_scheduler_get_lends_priority (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_set_lends_priority (PrioScheduler *self, gboolean lends_priority);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_pause (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
void prio_scheduler_resume (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
gboolean prio_scheduler_get_paused (PrioScheduler *self);
PRIO_AVAILABLE_IN_ALL
guint prio_scheduler_count_pending (PrioScheduler *self);

G_END_DECLS
