/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-private.h: the fields of PrioTaskGroup, and its public functions */

#pragma once

#include "group/prio-task-group-impl-private.h"
#include "prio-task-group.h"
