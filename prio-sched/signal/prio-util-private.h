/* prio-util-private.h: checks that several public functions share
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "signal/prio-signal-node-private.h"

#define PRIO_IS_PRIORITY(priority) \
  ((gint) (priority) >= PRIO_TASK_PRIORITY_BACKGROUND && \
   (gint) (priority) <= PRIO_TASK_PRIORITY_USER_BLOCKING)

#define PRIO_IS_PRIORITY_OR_UNSET(priority) \
  ((priority) == PRIO_PRIORITY_UNSET || PRIO_IS_PRIORITY (priority))

/* The likely type is checked first, which needs no call. */
#define PRIO_IS_SIGNAL_OR_NULL(signal) \
  ((signal) == NULL || prio_signal_node_is_embedded (signal) || G_IS_CANCELLABLE (signal))
