/* prio-core-group-private.h: the groups of a core: they come and go, move, and are aborted
 *
 * Promises: a group moves to another priority, however many entries follow it; its abort takes
 * them out of their queues at once, and releases them a few at a time.
 *
 * Everything here is home.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-core-private.h"

void prio_group_join (PrioGroup *group, PrioCore *core, PrioTaskPriority priority);
void prio_group_leave (PrioGroup *group);
void prio_group_abort (PrioGroup *group);
void prio_group_set_priority (PrioGroup *group, PrioTaskPriority priority);
void prio_groups_reap (PrioLoop *loop, guint max);
