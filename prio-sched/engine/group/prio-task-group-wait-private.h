/* prio-task-group-wait-private.h: waits for the tasks of a group hear of what has ended
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "group/prio-member-private.h"

void prio_task_group_settle_waits (PrioTaskGroup *self, PrioTask *task);
