/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-idle-deadline.h: the deadline of an idle callback */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include <glib-object.h>

#include "prio-version-macros.h"

G_BEGIN_DECLS

#define PRIO_TYPE_IDLE_DEADLINE (prio_idle_deadline_get_type ())

typedef struct _PrioIdleDeadline PrioIdleDeadline;

/**
 * PrioIdleFunc:
 * @deadline: the deadline, which tells how much time is left
 * @user_data: the data that the callback was requested with
 *
 * Does work in idle time.
 *
 * The function is called on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
typedef void (*PrioIdleFunc) (PrioIdleDeadline *deadline, gpointer user_data);

PRIO_AVAILABLE_IN_ALL
GType prio_idle_deadline_get_type (void) G_GNUC_CONST;
PRIO_AVAILABLE_IN_ALL
PrioIdleDeadline *prio_idle_deadline_copy (const PrioIdleDeadline *deadline);
PRIO_AVAILABLE_IN_ALL
void prio_idle_deadline_free (PrioIdleDeadline *deadline);
PRIO_AVAILABLE_IN_ALL
double prio_idle_deadline_get_time_remaining (const PrioIdleDeadline *deadline);
PRIO_AVAILABLE_IN_ALL
gboolean prio_idle_deadline_did_timeout (const PrioIdleDeadline *deadline);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PrioIdleDeadline, prio_idle_deadline_free)

G_END_DECLS
