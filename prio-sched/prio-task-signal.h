/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-signal.h: a signal that aborts tasks and sets their priority */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include <gio/gio.h>

#include "prio-types.h"

G_BEGIN_DECLS

#define PRIO_TYPE_TASK_SIGNAL (prio_task_signal_get_type ())

PRIO_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (PrioTaskSignal, prio_task_signal, PRIO, TASK_SIGNAL, GCancellable)

PRIO_AVAILABLE_IN_ALL
PrioTaskSignal *prio_task_signal_new_aborted (const GError *reason);
PRIO_AVAILABLE_IN_ALL
PrioTaskSignal *prio_task_signal_new_timeout (guint64 timeout);
PRIO_AVAILABLE_IN_ALL
PrioTaskSignal *prio_task_signal_new_any (GCancellable **signals, gsize n_signals, PrioTaskPriority priority);
PRIO_AVAILABLE_IN_ALL
PrioTaskSignal *prio_task_signal_new_any_following (GCancellable **signals, gsize n_signals,
                                                    PrioTaskSignal *priority_source);
PRIO_AVAILABLE_IN_ALL
PrioTaskPriority prio_task_signal_get_priority (PrioTaskSignal *self);
PRIO_AVAILABLE_IN_ALL
gboolean prio_task_signal_is_aborted (PrioTaskSignal *self);
PRIO_AVAILABLE_IN_ALL
GError *prio_task_signal_dup_reason (PrioTaskSignal *self);
PRIO_AVAILABLE_IN_ALL
guint prio_task_signal_count_pending (PrioTaskSignal *self);

G_END_DECLS
