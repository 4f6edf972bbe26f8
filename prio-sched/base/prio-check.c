/* prio-check.c: checks that several public functions share
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "base/prio-check-private.h"

#include "base/prio-debug-private.h"

/* Logs a critical for @function, and for the task @name unless that is NULL. */
void
prio_complain (const char *function, const char *name, const char *format, ...)
{
  g_autofree char *what = NULL;
  g_autofree char *escaped = prio_debug_escape (name);
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);

  if (escaped != NULL)
    g_critical ("%s(): %s (task \"%s\")", function, what, escaped);
  else
    g_critical ("%s(): %s", function, what);
}

/* Describes @instance in words. */
char *
prio_describe (gpointer instance)
{
  if (instance == NULL)
    return g_strdup ("NULL");
  if (G_IS_OBJECT (instance))
    return g_strdup_printf ("a %s", G_OBJECT_TYPE_NAME (instance));
  return g_strdup_printf ("%p", instance);
}

gboolean
prio_check_type (const char *function, gpointer instance, GType type)
{
  g_autofree char *description = NULL;

  if (G_LIKELY (G_TYPE_CHECK_INSTANCE_TYPE (instance, type)))
    return TRUE;

  description = prio_describe (instance);
  prio_complain (function, NULL, "%s is not a %s", description, g_type_name (type));
  return FALSE;
}

gboolean
prio_complain_of_callable (const char *function, const char *what, const char *name)
{
  prio_complain (function, name, "%s is NULL, and has to be a function", what);
  return FALSE;
}

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
