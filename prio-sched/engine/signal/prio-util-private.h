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

/* Like g_return_if_fail (), for prio_check_… (). */
#ifdef G_DISABLE_CHECKS
#define prio_return_if_wrong(check) G_STMT_START { } G_STMT_END
#define prio_return_val_if_wrong(check, value) G_STMT_START { } G_STMT_END
#else
#define prio_return_if_wrong(check) G_STMT_START { if (G_UNLIKELY (!(check))) return; } G_STMT_END
#define prio_return_val_if_wrong(check, value) G_STMT_START { if (G_UNLIKELY (!(check))) return (value); } G_STMT_END
#endif

gboolean prio_check_priority (const char *function, gint priority);
