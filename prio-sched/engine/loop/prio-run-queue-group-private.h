/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-run-queue-group-private.h: adds, removes, moves and aborts groups of a run queue
 *
 * Promises: a group moves to another priority at a cost that does not depend on the number of its entries.  An abort
 * removes the group's entries from their queues at once.  The entries are processed later, a few at a time, or all
 * together before another event is reported to observers.
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "loop/prio-run-queue-private.h"

void prio_group_attach (PrioGroup *group, PrioRunQueue *run_queue, PrioEffective effective);
void prio_group_leave (PrioGroup *group);
void prio_group_abort (PrioGroup *group);
void prio_group_set_priority (PrioGroup *group, PrioTaskPriority priority);
void prio_groups_process_aborted (PrioLoop *loop, guint max);
