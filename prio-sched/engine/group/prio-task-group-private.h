/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-group-private.h: checks the arguments of functions of a group */

#pragma once

#include "group/prio-task-group-impl-private.h"
#include "prio-task-group.h"
