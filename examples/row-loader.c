/* row-loader.c: loads a file for each of very many rows, those in view first
 *
 * Which row is next is left to the library (row-tasks.c).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "row-loader.h"

#include "row-tasks.h"

struct _RowLoader
{
  guint n_reads; /* files that are being read */
  RowTasks *tasks;
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
      row_tasks_done (self->tasks, read->row);
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
load (PrioTask *task, guint row, gpointer user_data)
{
  RowLoader *self = user_data;
  Read *read = g_new (Read, 1);
  g_autoptr (GFile) file = self->file (row, self->user_data);

  *read = (Read) { self, row, g_object_ref (task) };
  self->n_reads++;
  prio_task_defer (task);
  g_file_load_bytes_async (file, prio_task_get_signal (task), read_file, read);
}

/* The rows from @first on are in view, as many as @n_rows. */
void
row_loader_set_view (RowLoader *self, guint first, guint n_rows)
{
  row_tasks_set_view (self->tasks, first, n_rows);
}

PrioTaskGroup *
row_loader_get_group (RowLoader *self)
{
  return row_tasks_get_group (self->tasks);
}

/* @limit is how many files are read at a time. */
RowLoader *
row_loader_new (PrioScheduler *scheduler, guint n_rows, guint limit, RowFile file, RowLoaded loaded, gpointer user_data)
{
  RowLoader *self = g_new0 (RowLoader, 1);

  self->tasks = row_tasks_new (scheduler, n_rows, limit, load, self);
  self->file = file;
  self->loaded = loaded;
  self->user_data = user_data;
  for (guint i = 0; i < n_rows; i++)
    row_tasks_post (self->tasks, i);
  return self;
}

/* Aborts what has not been loaded, and waits until nothing is read any more.  The owner is not called meanwhile. */
void
row_loader_free (RowLoader *self)
{
  PrioTaskGroup *group = g_object_ref (row_tasks_get_group (self->tasks));

  self->loaded = NULL;
  row_tasks_free (self->tasks);
  while (self->n_reads > 0 || prio_task_group_get_n_pending (group) > 0)
    g_main_context_iteration (NULL, TRUE);
  g_object_unref (group);
  g_free (self);
}
