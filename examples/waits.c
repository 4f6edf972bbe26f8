/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits.c: how long tasks waited, by priority */

#include "config.h"

#include "waits.h"

#include <glib/gi18n.h>

void
waits_init (Waits *waits)
{
  for (guint i = 0; i < G_N_ELEMENTS (waits->waits); i++)
    waits->waits[i] = g_array_new (FALSE, FALSE, sizeof (gint64));
}

void
waits_clear (Waits *waits)
{
  for (guint i = 0; i < G_N_ELEMENTS (waits->waits); i++)
    g_array_unref (waits->waits[i]);
}

/* Records the wait of a task that was posted at @posted and starts now. */
void
waits_add (Waits *waits, PrioTaskPriority priority, gint64 posted)
{
  gint64 wait = g_get_monotonic_time () - posted;

  g_array_append_val (waits->waits[priority], wait);
}

static gint
compare_waits (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

static double
milliseconds_at (GArray *sorted, double share)
{
  return g_array_index (sorted, gint64, (guint) ((sorted->len - 1) * share)) / 1000.0;
}

/* Prints a table of @waits, and next to it the longest waits of @plain, unless that is NULL. */
void
waits_print (Waits *waits, Waits *plain)
{
  g_autoptr (GEnumClass) class = g_type_class_ref (PRIO_TYPE_TASK_PRIORITY);
  g_autofree char *plain_p99 = g_strdup_printf ("--plain: %s", _("p99"));

  g_print ("%-16s%10s%14s%14s%14s", _("Waiting times"), _("tasks"), _("median"), _("p99"), _("longest"));
  if (plain != NULL)
    g_print ("%18s%14s", plain_p99, _("longest"));
  g_print ("\n");
  for (gint i = PRIO_TASK_PRIORITY_USER_BLOCKING; i >= PRIO_TASK_PRIORITY_BACKGROUND; i--)
    {
      GArray *sorted = waits->waits[i];

      g_array_sort (sorted, compare_waits);
      g_print ("%-16s%10u", g_enum_get_value (class, i)->value_nick, sorted->len);
      if (sorted->len > 0)
        g_print ("%11.2f ms%11.2f ms%11.2f ms", milliseconds_at (sorted, 0.5), milliseconds_at (sorted, 0.99),
                 milliseconds_at (sorted, 1));
      if (plain != NULL && plain->waits[i]->len > 0)
        {
          g_array_sort (plain->waits[i], compare_waits);
          g_print ("%15.2f ms%11.2f ms", milliseconds_at (plain->waits[i], 0.99), milliseconds_at (plain->waits[i], 1));
        }
      g_print ("\n");
    }
}
