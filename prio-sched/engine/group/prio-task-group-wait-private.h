/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-wait-private.h: settles waits for the tasks of a group */

#pragma once

#include "group/prio-member-private.h"

void prio_task_group_settle_waits (PrioTaskGroup *self, PrioTask *task);
