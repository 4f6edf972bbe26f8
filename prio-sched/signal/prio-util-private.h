/* prio-util-private.h: checks that several public functions share
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-task-signal.h"

#define PRIO_IS_PRIORITY(priority) \
  ((gint) (priority) >= PRIO_TASK_PRIORITY_BACKGROUND && \
   (gint) (priority) <= PRIO_TASK_PRIORITY_USER_BLOCKING)

#define PRIO_IS_PRIORITY_OR_UNSET(priority) \
  ((priority) == PRIO_PRIORITY_UNSET || PRIO_IS_PRIORITY (priority))

/* The likely type is checked first, which needs no call. */
#define PRIO_IS_SIGNAL_OR_NULL(signal) \
  ((signal) == NULL || PRIO_IS_TASK_SIGNAL (signal) || G_IS_CANCELLABLE (signal))
