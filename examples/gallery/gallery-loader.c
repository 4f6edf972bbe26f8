/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-loader.c: decodes the rows of a model, rows in view first
 *
 * With prio-sched, each row has a task in a group with a limit, and a thread does its work.  Rows in view are user-blocking,
 * the next screen is user-visible, all other rows are background; this changes as the user scrolls (../row-tasks.c).  The task
 * of a row that leaves the list is aborted, and starts again in the background.  A thread that was decoding it cannot be
 * stopped: it finishes, and its result is dropped; so gallery-thumbnail.c refuses pictures that take very long.
 *
 * With idle sources, each row that the list shows has an idle source, which is removed when the row leaves the list.
 * One more idle source decodes all other rows.  GLib calls all ready sources in the order in which they were added,
 * before it looks at the window again.  The sources decode in the main loop.  So the two ways differ in the order, and in
 * the thread that does the work.
 */

#include "gallery-loader.h"

#include "../row-tasks.h"

#define N_POSTED 100 /* rows posted at a time */
#define MAX_WAIT 300 /* ms to wait for threads at the end of the program */

struct _GalleryLoader
{
  GalleryModel *model;
  PrioScheduler *scheduler;
  guint limit, first, n_view;
  gboolean logs, paused, is_closed, is_started;
  GalleryWay way;
  GHashTable *shown; /* row number → id of its idle source, or 0: the rows that the list has and that are not complete */
  GHashTable *left;  /* row numbers: rows whose widgets the list has just released */
  guint will_give_up; /* the source that aborts the work for those rows, or 0 */
  guint n_loads;      /* rows that are being decoded */

  /* With prio-sched, the tasks of all rows run.  With idle sources, the scheduler is paused, and keeps them. */
  RowTasks *tasks;   /* NULL before the first row starts */
  PrioTask *posting; /* posts all rows in the background, or NULL */
  guint next_posted;

  /* With idle sources. */
  guint next_rest, rest;
};

static guint n_loaders; /* loaders that have not been finalized */

/* A row that a thread decodes. */
typedef struct
{
  GalleryLoader *loader;
  guint row;
  PrioTask *task;
} Load;

static void
say (GalleryLoader *self, const char *what, guint row, const char *how)
{
  if (self->logs)
    g_print ("%s %u %s\n", what, row, how);
}

static const char *
nick (PrioTaskPriority priority)
{
  return priority == PRIO_TASK_PRIORITY_USER_BLOCKING  ? "user-blocking"
         : priority == PRIO_TASK_PRIORITY_USER_VISIBLE ? "user-visible"
                                                       : "background";
}

static void
set_done (GalleryLoader *self, guint row, GalleryThumbnail *thumbnail, const GError *error)
{
  g_hash_table_remove (self->shown, GUINT_TO_POINTER (row));
  say (self, "done", row, thumbnail != NULL ? "decoded" : "broken");
  gallery_model_set_done (self->model, row, thumbnail, error);
}

static void
finalize (GalleryLoader *self)
{
  g_hash_table_unref (self->shown);
  g_hash_table_unref (self->left);
  g_object_unref (self->scheduler);
  g_object_unref (self->model);
  g_free (self);
  n_loaders--;
}

static void
decode (PrioTask *task, gpointer file)
{
  GError *error = NULL;
  GalleryThumbnail *thumbnail = gallery_thumbnail_new (file, prio_task_get_cancellable (task), &error);

  if (thumbnail != NULL)
    prio_task_return_pointer (task, thumbnail, gallery_thumbnail_free);
  else
    prio_task_return_error (task, error);
}

static void
decoded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree Load *load = data;
  g_autoptr (PrioTask) task = load->task;
  GalleryLoader *self = load->loader;
  g_autoptr (GError) error = NULL;
  GalleryThumbnail *thumbnail = prio_task_propagate_pointer (PRIO_TASK (result), &error);

  self->n_loads--;
  /* The row may have left the list and have another task by now, and the whole loader may be closed. */
  if (g_cancellable_is_cancelled (prio_task_get_cancellable (task)))
    say (self, "given-up", load->row, "");
  else
    {
      row_tasks_done (self->tasks, load->row);
      set_done (self, load->row, thumbnail, error);
    }
  g_clear_pointer (&thumbnail, gallery_thumbnail_free);
  /* Now the next row may start. */
  prio_task_return_boolean (task, TRUE);
  if (self->is_closed && self->n_loads == 0)
    finalize (self);
}

static void
load (PrioTask *task, guint row, gpointer data)
{
  GalleryLoader *self = data;
  Load *new_load = g_new (Load, 1);
  PrioTaskOptions options = PRIO_TASK_OPTIONS (.cancellable = prio_task_get_cancellable (task), .name = "thumbnail");
  g_autoptr (PrioTask) decoding = NULL;

  say (self, "begin", row, nick (prio_task_get_priority (task)));
  *new_load = (Load) { self, row, g_object_ref (task) };
  self->n_loads++;
  prio_task_defer (task);
  decoding = prio_scheduler_run_in_thread (self->scheduler, &options, decode,
                                           g_object_ref (gallery_model_get_file (self->model, row)), g_object_unref);
  prio_task_wait_async (decoding, NULL, decoded, new_load);
}

/* Posts the next rows.  Returns whether more rows are left. */
static gboolean
post_some (PrioTask *task, gpointer data)
{
  GalleryLoader *self = data;
  guint n_rows = gallery_model_get_n_rows (self->model);
  guint end = self->next_posted + MIN (N_POSTED, n_rows - self->next_posted);

  for (; self->next_posted < end; self->next_posted++)
    {
      if (!gallery_model_is_done (self->model, self->next_posted))
        row_tasks_post (self->tasks, self->next_posted);
    }
  return self->next_posted < n_rows;
}

static void
decode_here (GalleryLoader *self, guint row, const char *how)
{
  g_autoptr (GError) error = NULL;
  GalleryThumbnail *thumbnail;

  say (self, "begin", row, how);
  thumbnail = gallery_thumbnail_new (gallery_model_get_file (self->model, row), NULL, &error);
  if (self->tasks != NULL)
    row_tasks_abort (self->tasks, row);
  set_done (self, row, thumbnail, error);
  g_clear_pointer (&thumbnail, gallery_thumbnail_free);
}

typedef struct
{
  GalleryLoader *loader;
  guint row;
} Idle;

static gboolean
decode_shown (gpointer data)
{
  Idle *idle = data;

  decode_here (idle->loader, idle->row, "idle");
  return G_SOURCE_REMOVE;
}

static gboolean
decode_rest (gpointer data)
{
  GalleryLoader *self = data;
  guint n_rows = gallery_model_get_n_rows (self->model);

  while (self->next_rest < n_rows && gallery_model_is_done (self->model, self->next_rest))
    self->next_rest++;
  if (self->next_rest < n_rows)
    {
      decode_here (self, self->next_rest, "low-idle");
      return G_SOURCE_CONTINUE;
    }
  self->rest = 0;
  return G_SOURCE_REMOVE;
}

/* Starts to decode @row, which the list shows. */
static void
want (GalleryLoader *self, guint row)
{
  Idle *idle;
  guint id;

  if (!self->is_started)
    return;
  if (self->way == GALLERY_WAY_PRIO_SCHED)
    {
      row_tasks_post (self->tasks, row);
      return;
    }
  idle = g_new (Idle, 1);
  *idle = (Idle) { self, row };
  id = g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, decode_shown, idle, g_free);
  g_hash_table_insert (self->shown, GUINT_TO_POINTER (row), GUINT_TO_POINTER (id));
}

/* Pauses the tasks, and removes the idle sources.  Threads finish the pictures that they are decoding. */
static void
stop (GalleryLoader *self)
{
  GHashTableIter iter;
  gpointer row, id;

  self->is_started = FALSE;
  prio_scheduler_pause (self->scheduler);
  g_clear_handle_id (&self->rest, g_source_remove);

  g_hash_table_iter_init (&iter, self->shown);
  while (g_hash_table_iter_next (&iter, &row, &id))
    {
      if (id != NULL)
        g_source_remove (GPOINTER_TO_UINT (id));
      g_hash_table_iter_replace (&iter, NULL);
    }
}

static int
compare (gconstpointer a, gconstpointer b)
{
  return GPOINTER_TO_UINT (a) < GPOINTER_TO_UINT (b) ? -1 : GPOINTER_TO_UINT (a) > GPOINTER_TO_UINT (b);
}

static void
begin_tasks (GalleryLoader *self)
{
  PrioTaskOptions background = PRIO_TASK_OPTIONS (.priority = PRIO_TASK_PRIORITY_BACKGROUND, .name = "post rows", .takes_turns = TRUE);

  self->tasks = row_tasks_new (self->scheduler, gallery_model_get_n_rows (self->model), self->limit, load, self);
  row_tasks_set_view (self->tasks, self->first, self->n_view);
  self->posting = prio_scheduler_post_steps (self->scheduler, &background, post_some, self, NULL);
}

static void
start (GalleryLoader *self)
{
  g_autoptr (GList) rows = NULL;

  /* The list has not been laid out yet. */
  if (self->n_view == 0)
    return;

  self->is_started = TRUE;
  if (self->way == GALLERY_WAY_PRIO_SCHED && self->tasks == NULL)
    begin_tasks (self);
  if (self->way == GALLERY_WAY_PRIO_SCHED)
    prio_scheduler_resume (self->scheduler);
  else
    self->rest = g_idle_add_full (G_PRIORITY_LOW, decode_rest, self, NULL);

  rows = g_list_sort (g_hash_table_get_keys (self->shown), compare);
  for (GList *row = rows; row != NULL; row = row->next)
    want (self, GPOINTER_TO_UINT (row->data));
}

/* Sets how the remaining rows are decoded, or pauses decoding. */
void
gallery_loader_set_way (GalleryLoader *self, GalleryWay way, gboolean paused)
{
  if (way == self->way && paused == self->paused)
    return;

  stop (self);
  self->way = way;
  self->paused = paused;
  if (self->logs)
    g_print ("way %s\n", paused ? "paused" : way == GALLERY_WAY_IDLES ? "idles" : "prio-sched");
  if (!paused)
    start (self);
}

/* Called when @n_rows rows, starting with @first, are in view. */
void
gallery_loader_set_view (GalleryLoader *self, guint first, guint n_rows)
{
  if (first == self->first && n_rows == self->n_view)
    return;

  self->first = first;
  self->n_view = n_rows;
  if (self->logs)
    g_print ("view %u %u\n", first, n_rows);
  if (self->tasks != NULL)
    row_tasks_set_view (self->tasks, first, n_rows);
  if (!self->is_started && !self->paused)
    start (self);
}

/* Called when the list has a widget for @row. */
void
gallery_loader_enter (GalleryLoader *self, GalleryRow *row)
{
  guint number = gallery_row_get_number (row);

  g_hash_table_remove (self->left, GUINT_TO_POINTER (number));
  if (gallery_row_is_complete (row))
    {
      say (self, "kept", number, "");
      return;
    }
  say (self, "enter", number, "");
  g_hash_table_insert (self->shown, GUINT_TO_POINTER (number), NULL);
  want (self, number);
}

/* Aborts the work for @row, and posts the row again: out of view, it has background priority. */
static void
give_up (GalleryLoader *self, guint row)
{
  if (self->tasks == NULL || !row_tasks_is_posted (self->tasks, row))
    return;
  say (self, "abort", row, "");
  row_tasks_abort (self->tasks, row);
  if (!gallery_model_is_done (self->model, row))
    row_tasks_post (self->tasks, row);
}

static gboolean
give_up_left (gpointer data)
{
  GalleryLoader *self = data;
  GHashTableIter iter;
  gpointer row;

  self->will_give_up = 0;
  g_hash_table_iter_init (&iter, self->left);
  while (g_hash_table_iter_next (&iter, &row, NULL))
    {
      give_up (self, GPOINTER_TO_UINT (row));
      g_hash_table_iter_remove (&iter);
    }
  return G_SOURCE_REMOVE;
}

/* Called when the list has no widget for @row any more.  Because the row may get another widget at once, the work is
 * aborted only after the list has been laid out, before any other work starts. */
void
gallery_loader_leave (GalleryLoader *self, GalleryRow *row)
{
  guint number = gallery_row_get_number (row);
  guint idle = GPOINTER_TO_UINT (g_hash_table_lookup (self->shown, GUINT_TO_POINTER (number)));

  if (!g_hash_table_remove (self->shown, GUINT_TO_POINTER (number)))
    return;
  if (idle != 0)
    {
      say (self, "abort", number, "");
      g_source_remove (idle);
    }
  g_hash_table_add (self->left, GUINT_TO_POINTER (number));
  if (self->will_give_up == 0)
    self->will_give_up = g_idle_add_full (G_PRIORITY_HIGH, give_up_left, self, NULL);
}

/* Makes a loader.  It pauses and resumes @scheduler, so no other code may use that.  @limit is how many rows are
 * decoded at a time.  With @logs, the loader prints events. */
GalleryLoader *
gallery_loader_new (PrioScheduler *scheduler, GalleryModel *model, guint limit, gboolean logs)
{
  GalleryLoader *self = g_new0 (GalleryLoader, 1);

  self->model = g_object_ref (model);
  self->scheduler = g_object_ref (scheduler);
  self->limit = limit;
  self->logs = logs;
  self->paused = TRUE;
  self->shown = g_hash_table_new (NULL, NULL);
  self->left = g_hash_table_new (NULL, NULL);
  n_loaders++;
  return self;
}

/* Frees the loader, once no thread decodes a picture for it.  Drops the results of these threads. */
void
gallery_loader_free (GalleryLoader *self)
{
  stop (self);
  if (self->logs)
    g_print ("closed\n");
  g_clear_handle_id (&self->will_give_up, g_source_remove);
  if (self->posting != NULL)
    prio_task_cancel (self->posting);
  g_clear_object (&self->posting);
  g_clear_pointer (&self->tasks, row_tasks_free);
  self->is_closed = TRUE;
  if (self->n_loads == 0)
    finalize (self);
}

static gboolean
over (gpointer is_over)
{
  *(gboolean *) is_over = TRUE;
  return G_SOURCE_REMOVE;
}

/* Waits, at the end of the program and for MAX_WAIT at most, until freed loaders have stopped decoding. */
void
gallery_loader_wait_for_all (void)
{
  gboolean is_over = FALSE;
  guint id = g_timeout_add (MAX_WAIT, over, &is_over);

  while (n_loaders > 0 && !is_over)
    g_main_context_iteration (NULL, TRUE);
  if (!is_over)
    g_source_remove (id);
}
