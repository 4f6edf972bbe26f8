/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conformance-groups.c: the groups of a program, and the waits for them
 *
 * An operation on a group does nothing unless this thread runs its context.
 */

#include "conformance.h"

void
make_group (Program *program, const char *name, JsonObject *description)
{
  Place *place = place_of (program, description);
  PrioTaskGroup *group = prio_task_group_new (scheduler_in (place, description),
                                              (guint) json_object_get_int_member (description, "limit"),
                                              priority_in (description));

  g_object_set_data (G_OBJECT (group), "place", place);
  g_hash_table_insert (program->groups, (gpointer) name, group);
}

/* Returns the group that @operation names, or NULL if it belongs to another context. */
PrioTaskGroup *
group_in (Program *program, JsonObject *operation)
{
  PrioTaskGroup *group = g_hash_table_lookup (program->groups, json_object_get_string_member (operation, "group"));

  return g_object_get_data (G_OBJECT (group), "place") == here ? group : NULL;
}

static PrioTaskGroupWait
until_in (JsonObject *operation)
{
  g_autoptr (GEnumClass) class = g_type_class_ref (PRIO_TYPE_TASK_GROUP_WAIT);

  return g_enum_get_value_by_nick (class, json_object_get_string_member (operation, "until"))->value;
}

/* Returns how the wait ended. */
static char *
finish (GObject *group, GAsyncResult *result)
{
  g_autoptr (PrioTask) task = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *name = NULL;

  if (prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, &task, &error))
    {
      name = task != NULL ? prio_task_dup_name (task) : NULL;
      return task != NULL ? g_strdup_printf ("task %s", name) : g_strdup ("ok");
    }
  if (is_thrown (error))
    return g_strdup ("threw");
  return g_strdup (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND) ? "none" : "aborted");
}

static void
waited (GObject *group, GAsyncResult *result, gpointer data)
{
  g_autofree char *how = finish (group, result);
  Body *body = data;

  program_log_when (body->program, "waited %s.%u %s", body->label, ++body->n_yields, how);
  body_perform (body);
  body_unref (body);
}

/* Waits for a group; @body continues when the wait is over. */
void
body_wait (Body *body, JsonObject *operation, PrioTaskGroup *group)
{
  body->refs++;
  prio_task_group_wait_async (group, until_in (operation), signal_in (body->program, operation), waited, body);
}

static void
watched (GObject *group, GAsyncResult *result, gpointer data)
{
  g_autofree char *how = finish (group, result);
  Body *body = data;

  program_log_when (body->program, "waited %s %s", body->label, how);
  body_perform (body);
  body_unref (body);
}

static void
set_priority (Program *program, PrioTaskGroup *group, JsonObject *operation)
{
  PrioTaskPriority priority = priority_from_nick (json_object_get_string_member (operation, "to"));
  g_autoptr (GError) error = NULL;

  if (!prio_task_group_set_priority (group, priority, &error))
    {
      g_assert_error (error, PRIO_ERROR, PRIO_ERROR_NOT_ALLOWED);
      program_log (program, "notallowed %s", json_object_get_string_member (operation, "group"));
    }
}

/* Returns FALSE if @op is not an operation on a group. */
gboolean
perform_with_group (Program *program, const char *op, JsonObject *operation)
{
  static const char *const operations[] = { "limit", "group priority", "group abort", "cancel queued", "watch", NULL };
  PrioTaskGroup *group;

  if (!g_strv_contains (operations, op))
    return FALSE;

  group = group_in (program, operation);
  if (group == NULL)
    return TRUE;

  if (g_str_equal (op, "limit"))
    prio_task_group_set_limit (group, (guint) json_object_get_int_member (operation, "limit"));
  else if (g_str_equal (op, "group priority"))
    set_priority (program, group, operation);
  else if (g_str_equal (op, "group abort"))
    {
      program->n_cancelling++;
      prio_task_group_abort (group, NULL);
      program->n_cancelling--;
    }
  else if (g_str_equal (op, "cancel queued"))
    prio_task_group_cancel_pending (group);
  else
    prio_task_group_wait_async (group, until_in (operation), signal_in (program, operation), watched,
                                body_new (program, operation, "w"));
  return TRUE;
}
