/* prio-scheduler-post-private.h: what posts of all kinds have in common
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "scheduler/prio-scheduler-private.h"
#include "signal/prio-registration-private.h"

/* The task has no timeout. */
#define PRIO_NO_EXPIRY 0

PrioRegistration *prio_registration_for_op (PrioLoop *loop, PrioRunQueue *run_queue, const PrioOp *op, gboolean *aborted);

void prio_run_queue_add_op (PrioRunQueue *run_queue, const PrioOp *op, PrioRegistration *registration);

/* When the timeout in @options passes, for a task that is delayed until @due, or 0; PRIO_NO_EXPIRY if there is none. */
static inline gint64
prio_task_options_expiry (const PrioTaskOptions *options, gint64 due)
{
  return G_LIKELY (options->timeout == 0) ? PRIO_NO_EXPIRY : prio_expiry_after (due, options->timeout);
}

/* Where a new task with @options stands among its equals. */
static inline guint8
prio_task_options_turn (const PrioTaskOptions *options)
{
  return options->takes_turns ? PRIO_ENTRY_TAKES_TURNS : PRIO_ENTRY_IS_NEW;
}

/* Sets the signal and the priority of a new entry. */
static inline void
prio_entry_bind (PrioEntry *entry, PrioRegistration *registration, PrioTaskPriority priority)
{
  entry->abort = prio_registration_group (registration);
  if (priority != PRIO_PRIORITY_UNSET)
    {
      entry->priority = (guint8) priority;
    }
  else if (registration != NULL && registration->node->is_task_signal)
    {
      entry->follows = &registration->group;
      prio_registration_hold (registration);
    }
  else
    {
      entry->priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
    }
}
