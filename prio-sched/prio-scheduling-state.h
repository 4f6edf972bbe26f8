/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduling-state.h: the state that a task runs in */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include <gio/gio.h>

#include "prio-types.h"

G_BEGIN_DECLS

#define PRIO_TYPE_SCHEDULING_STATE (prio_scheduling_state_get_type ())

PRIO_AVAILABLE_IN_ALL
GType prio_scheduling_state_get_type (void) G_GNUC_CONST;
PRIO_AVAILABLE_IN_ALL
PrioSchedulingState *prio_scheduling_state_ref_current (void);
PRIO_AVAILABLE_IN_ALL
PrioSchedulingState *prio_scheduling_state_ref (PrioSchedulingState *state);
PRIO_AVAILABLE_IN_ALL
void prio_scheduling_state_unref (PrioSchedulingState *state);
PRIO_AVAILABLE_IN_ALL
PrioScheduler *prio_scheduling_state_dup_scheduler (PrioSchedulingState *state);
PRIO_AVAILABLE_IN_ALL
GCancellable *prio_scheduling_state_get_cancellable (PrioSchedulingState *state);
PRIO_AVAILABLE_IN_ALL
PrioTaskPriority prio_scheduling_state_get_priority (PrioSchedulingState *state);
PRIO_AVAILABLE_IN_ALL
gpointer prio_scheduling_state_wrap_callback (GAsyncReadyCallback callback, gpointer user_data);
PRIO_AVAILABLE_IN_ALL
void prio_scheduling_state_call_wrapped (GObject *source_object, GAsyncResult *result, gpointer wrapped);
PRIO_AVAILABLE_IN_ALL
void prio_scheduling_state_resume_async (PrioSchedulingState *state, GAsyncReadyCallback callback, gpointer user_data);
PRIO_AVAILABLE_IN_ALL
gboolean prio_scheduling_state_resume_finish (PrioSchedulingState *state, GAsyncResult *result, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PrioSchedulingState, prio_scheduling_state_unref)

G_END_DECLS
