/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conformance-lending.c: tasks that wait for others
 *
 * An operation on a task does nothing unless this thread runs its context.
 */

#include "conformance.h"

/* Returns whether the schedulers of this number lend. */
gboolean
lends (Program *program, guint number)
{
  for (guint i = 0; program->lends != NULL && i < json_array_get_length (program->lends); i++)
    {
      if (json_array_get_int_element (program->lends, i) == number)
        return TRUE;
    }
  return FALSE;
}

typedef struct
{
  Program *program;
  PrioTask *task;
} Hearing;

static void
hear (gpointer data)
{
  Hearing *hearing = data;

  prio_task_then (hearing->task, task_completed, hearing->program, NULL);
}

/* Waits for the task, as its poster, unless it is posted alone. */
void
hear_of (Program *program, PrioTask *task, JsonObject *operation)
{
  Hearing hearing = { program, task };

  if (json_object_get_boolean_member_with_default (operation, "alone", FALSE))
    prio_scheduling_state_run (NULL, hear, &hearing);
  else
    hear (&hearing);
}

/* Returns the task that @operation names, or NULL if it belongs to another context or does not exist. */
PrioTask *
task_here (Program *program, JsonObject *operation)
{
  const char *member = json_object_has_member (operation, "task") ? "task" : "id";
  PrioTask *task = g_hash_table_lookup (program->tasks, GINT_TO_POINTER (json_object_get_int_member (operation, member)));

  return task != NULL && g_object_get_data (G_OBJECT (task), "place") == here ? task : NULL;
}

static void
awaited (GObject *source, GAsyncResult *result, gpointer data)
{
  Body *body = data;

  program_log_when (body->program, "awaited %s.%u %s", body->label, ++body->n_yields, outcome_of (PRIO_TASK (result)));
  body_perform (body);
  body_unref (body);
}

/* Waits for @task; @body continues when it has its result. */
void
body_await (Body *body, PrioTask *task)
{
  body->refs++;
  prio_task_then (task, awaited, body, NULL);
}

static void
heard (GObject *source, GAsyncResult *result, gpointer data)
{
  Body *body = data;

  program_log_when (body->program, "awaited %s %s", body->label, outcome_of (PRIO_TASK (result)));
  body_perform (body);
  body_unref (body);
}

/* Returns FALSE if @op is another operation. */
gboolean
perform_with_lending (Program *program, const char *op, JsonObject *operation)
{
  PrioTask *task;

  if (g_str_equal (op, "lends"))
    {
      prio_scheduler_set_lends_priority (scheduler_in (here, operation), json_object_get_boolean_member (operation, "to"));
      return TRUE;
    }
  if (!g_str_equal (op, "then"))
    return FALSE;

  task = task_here (program, operation);
  if (task != NULL)
    prio_task_then (task, heard, body_new (program, operation, "t"), NULL);
  return TRUE;
}
