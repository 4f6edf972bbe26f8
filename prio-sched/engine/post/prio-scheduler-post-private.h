/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-post-private.h: sets the signal and the priority of an entry that is being posted */

#pragma once

#include "scheduler/prio-scheduler-private.h"
#include "signal/prio-registration-private.h"

static inline void
prio_entry_bind (PrioEntry *entry, PrioRegistration *registration, PrioTaskPriority priority)
{
  entry->abort = prio_registration_group (registration);
  if (priority != PRIO_TASK_PRIORITY_UNSET)
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
