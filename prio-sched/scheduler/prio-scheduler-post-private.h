/* prio-scheduler-post-private.h: what posts of all kinds have in common
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "scheduler/prio-scheduler-private.h"
#include "signal/prio-registration-private.h"

/* The task has no timeout. */
#define PRIO_NO_EXPIRY -1

void prio_entry_bind (PrioEntry *entry, PrioRegistration *registration, PrioTaskPriority priority);
PrioRegistration *prio_registration_for_op (PrioLoop *loop, PrioRunQueue *run_queue, const PrioOp *op, gboolean *aborted);

/* When the timeout in @options passes, for a task that is delayed until @due, or 0; PRIO_NO_EXPIRY if there is none. */
static inline gint64
prio_task_options_expiry (const PrioTaskOptions *options, gint64 due)
{
  return G_LIKELY (options->timeout == 0) ? PRIO_NO_EXPIRY : prio_expiry_after (due, options->timeout);
}
