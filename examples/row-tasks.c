/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* row-tasks.c: a task for each of very many rows, rows in view first
 *
 * Every row has a task in a group that runs a few at a time, and its own controller, which sets the priority of the row:
 * user-blocking in view, user-visible on the next screen in both directions, background otherwise.  The group starts the
 * most urgent row whenever a place is free.
 */

#include "row-tasks.h"

typedef struct
{
  RowTasks *tasks;
  PrioTaskController *controller; /* NULL for a row without work */
} Row;

/* The rows from @first to before @first + @n. */
typedef struct
{
  guint first, n;
} Range;

struct _RowTasks
{
  PrioTaskGroup *group;
  Row *rows;
  guint n_rows;
  Range view, near; /* @view is in the middle of @near */
  RowFunc func;
  gpointer user_data;
};

static gboolean
contains (Range range, guint row)
{
  return row - range.first < range.n;
}

static PrioTaskPriority
priority_of (RowTasks *self, guint row)
{
  return contains (self->view, row)   ? PRIO_TASK_PRIORITY_USER_BLOCKING
         : contains (self->near, row) ? PRIO_TASK_PRIORITY_USER_VISIBLE
                                      : PRIO_TASK_PRIORITY_BACKGROUND;
}

static void
set_priorities (RowTasks *self, Range range)
{
  for (guint i = range.first; i < range.first + range.n; i++)
    {
      if (self->rows[i].controller != NULL)
        prio_task_controller_set_priority (self->rows[i].controller, priority_of (self, i), NULL);
    }
}

static Range
cut (RowTasks *self, gint64 first, gint64 end)
{
  first = CLAMP (first, 0, self->n_rows);
  end = CLAMP (end, first, self->n_rows);
  return (Range) { (guint) first, (guint) (end - first) };
}

/* Called when @n_rows rows, starting with @first, are in view. */
void
row_tasks_set_view (RowTasks *self, guint first, guint n_rows)
{
  Range before = self->near;

  self->view = cut (self, first, (gint64) first + n_rows);
  self->near = cut (self, (gint64) first - n_rows, (gint64) first + 2 * (gint64) n_rows);
  set_priorities (self, before);
  set_priorities (self, self->near);
}

PrioTaskGroup *
row_tasks_get_group (RowTasks *self)
{
  return self->group;
}

static void
run (PrioTask *task, gpointer data)
{
  Row *row = data;
  RowTasks *self = row->tasks;

  self->func (task, (guint) (row - self->rows), self->user_data);
}

gboolean
row_tasks_is_posted (RowTasks *self, guint row)
{
  return self->rows[row].controller != NULL;
}

/* Posts the task of @row, unless it has been posted or is done. */
void
row_tasks_post (RowTasks *self, guint row)
{
  PrioTaskController *controller;
  PrioTaskOptions options = PRIO_TASK_OPTIONS ();

  if (row_tasks_is_posted (self, row))
    return;
  controller = prio_task_controller_new (priority_of (self, row));
  options.signal = prio_task_controller_get_signal (controller);
  self->rows[row].controller = controller;
  g_object_unref (prio_task_group_post_task (self->group, &options, run, &self->rows[row], NULL));
}

/* Marks @row as done; it may be posted again. */
void
row_tasks_done (RowTasks *self, guint row)
{
  g_clear_object (&self->rows[row].controller);
}

/* Aborts the task of @row, which may be posted again. */
void
row_tasks_abort (RowTasks *self, guint row)
{
  g_autoptr (PrioTaskController) controller = g_steal_pointer (&self->rows[row].controller);

  if (controller != NULL)
    prio_task_controller_abort (controller, NULL);
}

/* Creates tasks for @n_rows rows; at most @limit run at a time. */
RowTasks *
row_tasks_new (PrioScheduler *scheduler, guint n_rows, guint limit, RowFunc func, gpointer user_data)
{
  RowTasks *self = g_new0 (RowTasks, 1);

  self->group = prio_task_group_new (scheduler, limit, PRIO_TASK_PRIORITY_BACKGROUND);
  self->rows = g_new (Row, n_rows);
  self->n_rows = n_rows;
  self->func = func;
  self->user_data = user_data;
  for (guint i = 0; i < n_rows; i++)
    self->rows[i] = (Row) { self, NULL };
  return self;
}

/* Aborts the tasks that are left, and frees @self.  Work that their functions have started finds its signal aborted,
 * and must not use @self. */
void
row_tasks_free (RowTasks *self)
{
  prio_task_group_abort (self->group, NULL);
  for (guint i = 0; i < self->n_rows; i++)
    g_clear_object (&self->rows[i].controller);
  g_object_unref (self->group);
  g_free (self->rows);
  g_free (self);
}
