/* prio-scheduler-post-private.h: what posts of all kinds have in common
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "scheduler/prio-scheduler-private.h"
#include "signal/prio-registration-private.h"

/* A task without a result that is to be posted: the options are read once, into this, and it goes down whole, to the thread that owns the
 * loop too. */
typedef struct
{
  PrioOp op;            /* its target is the run queue, or nothing for a number */
  PrioSignalNode *node; /* of the signal, or NULL */
  gint64 due;           /* µs, or 0 */
  gint64 expiry;        /* when its timeout passes, µs, or PRIO_NO_EXPIRY */
  const char *name;     /* for those who observe the loop, or NULL; it is not sent to another thread */
  PrioJob job;          /* its function, or that of numbers (prio-number) */
  gint8 priority;       /* PrioTaskPriority */
  guint8 turn;          /* PrioEntryTurn */
} PrioPost;

void prio_post_add (const PrioPost *self, PrioRunQueue *run_queue, PrioRegistration *registration);
gboolean prio_post_submit (PrioPost *self, PrioLoop *loop);

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
