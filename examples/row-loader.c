/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* row-loader.c: loads a file for each of very many rows, rows in view first
 *
 * A group reads a few files at a time, and its feed asks for the next row when a file has been read.
 */

#include "row-loader.h"

#include <prio-sched-feed.h>

/* A list model whose rows have nothing but a position. */
#define ROW_TYPE_LIST (row_list_get_type ())
G_DECLARE_FINAL_TYPE (RowList, row_list, ROW, LIST, GObject)

struct _RowList
{
  GObject parent_instance;
  guint n_rows;
};

static GType
get_item_type (GListModel *list G_GNUC_UNUSED)
{
  return G_TYPE_OBJECT;
}

static guint
get_n_items (GListModel *list)
{
  return ROW_LIST (list)->n_rows;
}

static gpointer
get_item (GListModel *list, guint position)
{
  return position < ROW_LIST (list)->n_rows ? g_object_ref (list) : NULL;
}

static void
implement_list_model (GListModelInterface *interface)
{
  interface->get_item_type = get_item_type;
  interface->get_n_items = get_n_items;
  interface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (RowList, row_list, G_TYPE_OBJECT, G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, implement_list_model))

static void
row_list_class_init (RowListClass *class G_GNUC_UNUSED)
{
}

static void
row_list_init (RowList *self G_GNUC_UNUSED)
{
}

struct _RowLoader
{
  PrioTaskGroup *group;
  PrioFeed *feed;
  guint n_rows, n_loaded;
  guint n_reads;   /* files that are being read */
  RowFile file;
  RowLoaded loaded; /* NULL once the owner has freed the loader */
  gpointer user_data;
};

/* A file that is being read. */
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
    self->loaded (read->row, contents, error, self->user_data);

  /* Now the next row may start. */
  if (error == NULL)
    prio_task_return_boolean (read->task, TRUE);
  else
    prio_task_return_error (read->task, g_steal_pointer (&error));
  g_object_unref (read->task);
  self->n_reads--;
  self->n_loaded++;
}

static void
load (PrioTask *task, gpointer user_data)
{
  Read *read = g_memdup2 (user_data, sizeof *read);
  g_autoptr (GFile) file = read->loader->file (read->row, read->loader->user_data);

  read->task = g_object_ref (task);
  read->loader->n_reads++;
  prio_task_defer (task);
  g_file_load_bytes_async (file, prio_task_get_cancellable (task), read_file, read);
}

static PrioTask *
begin_row (PrioTaskGroup *group, gpointer item G_GNUC_UNUSED, guint row, PrioTaskSignal *signal, gpointer user_data)
{
  Read *read = g_new (Read, 1);

  *read = (Read) { user_data, row, NULL };
  return prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.signal = signal), load, read, g_free);
}

/* Called when @n_rows rows, starting with @first, are in view. */
void
row_loader_set_view (RowLoader *self, guint first, guint n_rows)
{
  prio_feed_set_view (self->feed, first, n_rows);
}

/* Returns how many of the rows have been loaded, from 0 to 1. */
double
row_loader_get_progress (RowLoader *self)
{
  return (double) self->n_loaded / self->n_rows;
}

/* Makes a loader that reads at most @limit files at a time. */
RowLoader *
row_loader_new (PrioScheduler *scheduler, guint n_rows, guint limit, RowFile file, RowLoaded loaded, gpointer user_data)
{
  RowLoader *self = g_new0 (RowLoader, 1);
  g_autoptr (RowList) list = g_object_new (ROW_TYPE_LIST, NULL);

  list->n_rows = n_rows;
  self->group = prio_task_group_new (scheduler, limit, PRIO_TASK_PRIORITY_USER_VISIBLE);
  self->n_rows = n_rows;
  self->file = file;
  self->loaded = loaded;
  self->user_data = user_data;
  self->feed = prio_feed_new_for_model (self->group, G_LIST_MODEL (list), begin_row, self, NULL);
  /* The feed loads all rows, the nearest to the view first. */
  g_object_set (self->feed, "look-ahead", G_MAXDOUBLE, NULL);
  return self;
}

/* Aborts the loads that have not finished, and waits until no file is being read.  Does not call @loaded
 * meanwhile. */
void
row_loader_free (RowLoader *self)
{
  self->loaded = NULL;
  g_object_unref (self->feed);
  prio_task_group_abort (self->group, NULL);
  while (self->n_reads > 0 || prio_task_group_get_n_tasks (self->group) > 0)
    g_main_context_iteration (NULL, TRUE);
  g_object_unref (self->group);
  g_free (self);
}
