/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-loader.c: has the rows of a model decoded, those in view first
 *
 * By prio-sched, each row has a task in a group with a limit, whose work is done in a thread.  Rows in view are user-blocking,
 * the next screen is user-visible, all the rest is background, and that changes as one scrolls (../row-tasks.c).  What
 * is left is aborted, and begins anew in the background.  Where it was being decoded, the thread goes on to the end of that,
 * which nobody can stop, and what comes of it is given up; so gallery-thumbnail.c decodes nothing that takes very long.
 *
 * By idles, each row that the list shows has an idle source, which is removed when the row is left, and one more decodes the
 * rest.  GLib calls all that are ready before it looks at the window again, in the order in which they were added.  They decode
 * in the main loop, as idle sources do that need no thread: so what one compares is the order, and where the work is done.
 */

#include "gallery-loader.h"

#include "../row-tasks.h"

#define N_POSTED 100 /* rows at a time */
#define MAX_WAIT 300 /* ms, for threads at the end of the program */

struct _GalleryLoader
{
  GalleryModel *model;
  PrioScheduler *scheduler;
  guint limit, first, n_view;
  gboolean logs, paused, is_closed, is_started;
  GalleryWay way;
  GHashTable *shown; /* of the row's number: those that the list has and that are not complete; values are ids of idles, or 0 */
  GHashTable *left;  /* of the row's number: those that the list has just let go of */
  guint will_give_up; /* the source that gives those up, or 0 */
  guint n_loads;      /* rows that are being decoded */

  /* By prio-sched; the tasks of all rows stay in the scheduler, which is paused otherwise. */
  RowTasks *tasks;   /* or NULL: it has not begun */
  PrioTask *posting; /* posts the rows of the background, or NULL */
  guint next_posted;

  /* By idles. */
  guint next_rest, rest;
};

static guint n_loaders; /* that have not been finalized */

/* A row that is decoded in a thread. */
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
  GalleryThumbnail *thumbnail = gallery_thumbnail_new (file, prio_task_get_signal (task), &error);

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
  /* A row that was left may have another task by now, and all of it may have been given up. */
  if (g_cancellable_is_cancelled (prio_task_get_signal (task)))
    say (self, "given-up", load->row, "");
  else
    {
      row_tasks_done (self->tasks, load->row);
      set_done (self, load->row, thumbnail, error);
    }
  g_clear_pointer (&thumbnail, gallery_thumbnail_free);
  /* Now the next one may begin. */
  prio_task_return_boolean (task, TRUE);
  if (self->is_closed && self->n_loads == 0)
    finalize (self);
}

static void
load (PrioTask *task, guint row, gpointer data)
{
  GalleryLoader *self = data;
  Load *new_load = g_new (Load, 1);
  PrioTaskOptions options = PRIO_TASK_OPTIONS (.signal = prio_task_get_signal (task), .name = "thumbnail");
  g_autoptr (PrioTask) decoding = NULL;

  say (self, "begin", row, nick (prio_task_get_priority (task)));
  *new_load = (Load) { self, row, g_object_ref (task) };
  self->n_loads++;
  prio_task_defer (task);
  decoding = prio_scheduler_run_in_thread (self->scheduler, &options, decode,
                                           g_object_ref (gallery_model_get_file (self->model, row)), g_object_unref);
  prio_task_wait_async (decoding, decoded, new_load);
}

/* A step: posts some rows of all that are left. */
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

/* Has @row decoded, as one that the list has. */
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

/* What is being decoded in a thread goes on. */
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
  PrioTaskOptions background = PRIO_TASK_OPTIONS (.priority = PRIO_TASK_PRIORITY_BACKGROUND, .name = "post rows");

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

/* What is left is decoded in this way from now on. */
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

/* The rows from @first on are in view, as many as @n_rows. */
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

/* The list has a widget for @row. */
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

/* What was begun for the row is aborted, and it is one of the rest again. */
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

/* The list has no widget for @row any more.  It may get another one at once: so what was begun for it is aborted once the list
 * has been laid out, before anything else is begun. */
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

/* @scheduler is the loader's alone, which pauses it.  @limit is how many rows are decoded at a time.  With @logs it prints what it does. */
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

/* What is still decoded has been aborted, and what comes of it is given up. */
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

/* Waits until nothing is decoded for loaders that have been freed, but not for long; for the end of a program. */
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
