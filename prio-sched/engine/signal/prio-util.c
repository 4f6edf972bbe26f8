/* prio-util.c: checks that several public functions share
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "signal/prio-util-private.h"

/* Whether @priority is one; if not, says so for @function. */
gboolean
prio_check_priority (const char *function, gint priority)
{
  if (G_LIKELY (PRIO_IS_PRIORITY (priority)))
    return TRUE;

  g_critical ("%s(): %d is not a PrioTaskPriority: these are 1 (background), 2 (user-visible) and 3 "
              "(user-blocking); GLib's G_PRIORITY_DEFAULT and others are none", function, priority);
  return FALSE;
}
