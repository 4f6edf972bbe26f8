/* prio-debug.c: messages for G_MESSAGES_DEBUG=PrioSched
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "base/prio-debug-private.h"

#include "prio-enums.h"

gboolean prio_debugs;

void
prio_debug_look_up (void)
{
  __atomic_store_n (&prio_debugs, !g_log_writer_default_would_drop (G_LOG_LEVEL_DEBUG, G_LOG_DOMAIN), __ATOMIC_RELAXED);
}

const char *
prio_priority_name (gint priority)
{
  switch (priority)
    {
    case PRIO_TASK_PRIORITY_BACKGROUND:
      return "background";
    case PRIO_TASK_PRIORITY_USER_VISIBLE:
      return "user-visible";
    case PRIO_TASK_PRIORITY_USER_BLOCKING:
      return "user-blocking";
    default:
      return "none";
    }
}
