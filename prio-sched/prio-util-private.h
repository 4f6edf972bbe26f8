/* prio-util-private.h: checks that several public functions share
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-enums.h"

#define PRIO_IS_PRIORITY(priority) \
  ((gint) (priority) >= PRIO_TASK_PRIORITY_BACKGROUND && \
   (gint) (priority) <= PRIO_TASK_PRIORITY_USER_BLOCKING)

#define PRIO_IS_PRIORITY_OR_UNSET(priority) \
  ((priority) == PRIO_PRIORITY_UNSET || PRIO_IS_PRIORITY (priority))
