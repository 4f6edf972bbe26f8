/* prio-task-group-private.h: what the functions of a group check first
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "group/prio-task-group-impl-private.h"
#include "prio-task-group.h"
