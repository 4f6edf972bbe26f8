/* row-loader.c: loads a file for each of very many rows, those in view first
 *
 * Every row has a task in a group that runs a few at a time, and a controller of its own, which says how urgent the row is:
 * user-blocking in view, user-visible on the next screen in both directions, background otherwise.  That is all: the
 * group begins the most urgent row whenever a file has been read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "row-loader.h"

typedef struct
{
  RowLoader *loader;
  PrioTaskController *controller; /* or NULL: it has been loaded */
} Row;

/* The rows from @first on, as many as @n. */
typedef struct
{
  guint first, n;
} Range;

struct _RowLoader
{
  guint n_reads; /* files that are being read */
  PrioTaskGroup *group;
  Row *rows;
  guint n_rows;
  Range view, near; /* @near has @view in the middle */
  RowFile file;
  RowLoaded loaded; /* or NULL: its owner has freed it */
  gpointer user_data;
};

/* A file that is read. */
typedef struct
{
  RowLoader *loader;
  guint row;
  PrioTask *task;
} Read;

static void
read_file (GObject *file, GAsyncResult *result, gpointer user_data)
{
  g_autofree Read *read = user_data;
  RowLoader *self = read->loader;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) contents = g_file_load_bytes_finish (G_FILE (file), result, NULL, &error);

  if (self->loaded != NULL)
    {
      g_clear_object (&self->rows[read->row].controller);
      self->loaded (read->row, contents, error, self->user_data);
    }

  /* Now the next one may begin. */
  if (error == NULL)
    prio_task_return_boolean (read->task, TRUE);
  else
    prio_task_return_error (read->task, g_steal_pointer (&error));
  g_object_unref (read->task);
  self->n_reads--;
}

static void
load (PrioTask *task, gpointer user_data)
{
  Row *row = user_data;
  RowLoader *self = row->loader;
  Read *read = g_new (Read, 1);
  guint number = (guint) (row - self->rows);
  g_autoptr (GFile) file = self->file (number, self->user_data);

  *read = (Read) { self, number, g_object_ref (task) };
  self->n_reads++;
  prio_task_defer (task);
  g_file_load_bytes_async (file, prio_task_get_signal (task), read_file, read);
}

static gboolean
contains (Range range, guint row)
{
  return row - range.first < range.n;
}

static void
set_priorities (RowLoader *self, Range range)
{
  for (guint i = range.first; i < range.first + range.n; i++)
    {
      PrioTaskPriority priority = contains (self->view, i)   ? PRIO_TASK_PRIORITY_USER_BLOCKING
                                  : contains (self->near, i) ? PRIO_TASK_PRIORITY_USER_VISIBLE
                                                             : PRIO_TASK_PRIORITY_BACKGROUND;

      if (self->rows[i].controller != NULL)
        prio_task_controller_set_priority (self->rows[i].controller, priority, NULL);
    }
}

static Range
cut (RowLoader *self, gint64 first, gint64 end)
{
  first = CLAMP (first, 0, self->n_rows);
  end = CLAMP (end, first, self->n_rows);
  return (Range) { (guint) first, (guint) (end - first) };
}

/* The rows from @first on are in view, as many as @n_rows. */
void
row_loader_set_view (RowLoader *self, guint first, guint n_rows)
{
  Range before = self->near;

  self->view = cut (self, first, (gint64) first + n_rows);
  self->near = cut (self, (gint64) first - n_rows, (gint64) first + 2 * (gint64) n_rows);
  set_priorities (self, before);
  set_priorities (self, self->near);
}

PrioTaskGroup *
row_loader_get_group (RowLoader *self)
{
  return self->group;
}

/* @limit is how many files are read at a time. */
RowLoader *
row_loader_new (PrioScheduler *scheduler, guint n_rows, guint limit, RowFile file, RowLoaded loaded, gpointer user_data)
{
  RowLoader *self = g_new0 (RowLoader, 1);

  self->group = prio_task_group_new (scheduler, limit, PRIO_TASK_PRIORITY_BACKGROUND);
  self->rows = g_new (Row, n_rows);
  self->n_rows = n_rows;
  self->file = file;
  self->loaded = loaded;
  self->user_data = user_data;

  for (guint i = 0; i < n_rows; i++)
    {
      PrioTaskController *controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
      PrioTaskOptions options = { .signal = G_CANCELLABLE (prio_task_controller_get_signal (controller)) };

      self->rows[i] = (Row) { self, controller };
      g_object_unref (prio_task_group_post_task (self->group, &options, load, &self->rows[i], NULL));
    }
  return self;
}

/* Aborts what has not been loaded, and waits until nothing is read any more.  The owner is not called meanwhile. */
void
row_loader_free (RowLoader *self)
{
  self->loaded = NULL;
  prio_task_group_abort (self->group, NULL);
  while (self->n_reads > 0 || prio_task_group_get_pending (self->group) > 0)
    g_main_context_iteration (NULL, TRUE);
  for (guint i = 0; i < self->n_rows; i++)
    g_clear_object (&self->rows[i].controller);
  g_object_unref (self->group);
  g_free (self->rows);
  g_free (self);
}
