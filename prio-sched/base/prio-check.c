/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-check.c: checks that several public functions share */

#include "config.h"

#include "base/prio-check-private.h"

char *
prio_describe (gpointer instance)
{
  if (instance == NULL)
    return g_strdup ("NULL");
  if (G_IS_OBJECT (instance))
    return g_strdup_printf ("a %s", G_OBJECT_TYPE_NAME (instance));
  return g_strdup_printf ("%p, perhaps freed,", instance);
}

gboolean
prio_check_type (const char *function, gpointer instance, GType type)
{
  g_autofree char *description = NULL;

  if (G_LIKELY (G_TYPE_CHECK_INSTANCE_TYPE (instance, type)))
    return TRUE;

  description = prio_describe (instance);
  g_critical ("%s(): %s is not a %s", function, description, g_type_name (type));
  return FALSE;
}

gboolean
prio_check_callable (const char *function, const char *what, gboolean is_given)
{
  if (!is_given)
    g_critical ("%s(): %s is NULL, and has to be a function", function, what);
  return is_given;
}

gboolean
prio_check_priority (const char *function, gint priority)
{
  if (G_LIKELY (PRIO_IS_PRIORITY (priority)))
    return TRUE;

  g_critical ("%s(): %d is not a PrioTaskPriority: these are 1 (background), 2 (user-visible) and 3 "
              "(user-blocking); GLib's G_PRIORITY_DEFAULT and others are none", function, priority);
  return FALSE;
}

/* Returns the priority in @value.  If it is invalid, logs a critical message and returns user-visible. */
PrioTaskPriority
prio_priority_of_value (const GValue *value)
{
  gint priority = g_value_get_enum (value);

  return prio_check_priority ("g_object_new", priority) ? (PrioTaskPriority) priority : PRIO_TASK_PRIORITY_USER_VISIBLE;
}
