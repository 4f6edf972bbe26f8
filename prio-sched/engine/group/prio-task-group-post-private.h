/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-post-private.h: posts and ends tasks of a group */

#pragma once

#include "group/prio-member-private.h"

PrioMember *prio_task_group_add (PrioTaskGroup *self, const PrioTaskOptions *options, PrioTaskOptions *own, PrioTaskFunc func,
                                 gpointer user_data, GDestroyNotify notify);
void prio_member_hear_of (PrioMember *member);
