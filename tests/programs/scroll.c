/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* scroll.c: frames while 100,000 pictures are scrolled from end to end, by who loads them
 *
 *   scroll [--rows N] [--seconds S] [--rounds N] [WAY…]
 *
 * The ways are: none, nothing is loaded; feed, prio_gtk_feed_view (); expert, threads that take the rows in view from a list
 * that the scrollbar replaces; task, a GTask for each row that GTK binds; and idle, an idle source for each of these.
 *
 * Each way runs in a process.  The table has the frames while the bar is dragged, the longest gap between two of them, how
 * many frames the rows in view take after that, how many rows were loaded, and how much memory the last round has added
 * to the second one.
 */

#include <prio-sched-gtk.h>

#include <stdio.h>
#include <stdlib.h>

#define SIZE 160     /* of a picture file */
#define SHOWN 40     /* of a picture in a row */
#define N_KEPT 400   /* pictures in memory */
#define N_THREADS 2

/* A row. */
#define PICTURE_TYPE (picture_get_type ())
G_DECLARE_FINAL_TYPE (Picture, picture, SCROLL, PICTURE, GObject)

struct _Picture
{
  GObject parent_instance;
  GdkTexture *texture;
  guint pending; /* idle source */
};

G_DEFINE_FINAL_TYPE (Picture, picture, G_TYPE_OBJECT)

static GParamSpec *texture_property;

static void
picture_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_object (value, SCROLL_PICTURE (object)->texture);
}

static void
picture_finalize (GObject *object)
{
  g_clear_object (&SCROLL_PICTURE (object)->texture);
  G_OBJECT_CLASS (picture_parent_class)->finalize (object);
}

static void
picture_class_init (PictureClass *class)
{
  G_OBJECT_CLASS (class)->get_property = picture_get_property;
  G_OBJECT_CLASS (class)->finalize = picture_finalize;
  texture_property = g_param_spec_object ("texture", NULL, NULL, GDK_TYPE_TEXTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property (G_OBJECT_CLASS (class), 1, texture_property);
}

static void
picture_init (Picture *self)
{
}

typedef struct
{
  int n_rows, n_rounds;
  double seconds;
  const char *way;
  GtkWidget *window, *view;
  GtkAdjustment *bar;
  GListStore *rows;
  GBytes *file;
  GHashTable *bound; /* GtkListItem */
  GQueue kept;       /* Picture, loaded */
  guint n_loaded, n_frames;
  gint64 last_frame, begun;
  double longest; /* ms */
  gboolean is_dragged;

  /* of the way "expert" */
  GMutex lock;
  GCond changed;
  GQueue wanted; /* Picture, the next first */
} Scroll;

static Scroll scroll;

/* Loading a row */

/* Decodes the file; any thread may call it. */
static GdkTexture *
decode (void)
{
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (scroll.file);
  g_autoptr (GdkPixbuf) pixbuf = gdk_pixbuf_new_from_stream_at_scale (stream, SHOWN, SHOWN, TRUE, NULL, NULL);
  g_autoptr (GBytes) pixels = gdk_pixbuf_read_pixel_bytes (pixbuf);

  return gdk_memory_texture_new (SHOWN, SHOWN, GDK_MEMORY_R8G8B8, pixels, (gsize) gdk_pixbuf_get_rowstride (pixbuf));
}

/* Shows @texture, and drops the picture that was shown first. */
static void
set_texture (Picture *picture, GdkTexture *texture)
{
  if (picture->texture == NULL)
    {
      scroll.n_loaded++;
      picture->texture = g_object_ref (texture);
      g_queue_push_tail (&scroll.kept, picture);
      g_object_notify_by_pspec (G_OBJECT (picture), texture_property);
    }
  if (scroll.kept.length > N_KEPT)
    g_clear_object (&((Picture *) g_queue_pop_head (&scroll.kept))->texture);
}

static GBytes *
file_new (void)
{
  g_autoptr (GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, SIZE, SIZE);
  guint8 *pixels = gdk_pixbuf_get_pixels (pixbuf);
  char *data;
  gsize size;

  for (int i = 0; i < SIZE * gdk_pixbuf_get_rowstride (pixbuf); i++)
    pixels[i] = (guint8) (i * 7 + i / 480 * 3 + i % 13);
  if (!gdk_pixbuf_save_to_buffer (pixbuf, &data, &size, "png", NULL, NULL))
    abort ();
  return g_bytes_new_take (data, size);
}

/* feed */

static void
loaded (GObject *task, GAsyncResult *result, gpointer picture)
{
  g_auto (GValue) value = G_VALUE_INIT;

  if (prio_task_propagate_value (PRIO_TASK (task), &value, NULL))
    set_texture (picture, g_value_get_object (&value));
}

static void
load_in_thread (PrioTask *task, gpointer data)
{
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, GDK_TYPE_TEXTURE);
  g_value_take_object (&value, decode ());
  prio_task_return_value (task, &value);
}

static PrioTask *
load_row (PrioTaskGroup *group, gpointer item, guint position, PrioTaskSignal *signal, gpointer data)
{
  PrioTask *task;

  if (SCROLL_PICTURE (item)->texture != NULL)
    return NULL;
  task = prio_task_group_run_in_thread (group, &PRIO_TASK_OPTIONS (.signal = signal), load_in_thread, NULL, NULL);
  prio_task_wait_async (task, NULL, loaded, item);
  return task;
}

/* expert */

typedef struct
{
  Picture *picture;
  GdkTexture *texture;
} Result;

static gboolean
show_result (gpointer data)
{
  Result *result = data;

  set_texture (result->picture, result->texture);
  g_object_unref (result->texture);
  g_object_unref (result->picture);
  g_free (result);
  return G_SOURCE_REMOVE;
}

static gpointer
work (gpointer data)
{
  for (;;)
    {
      Result *result = g_new (Result, 1);

      g_mutex_lock (&scroll.lock);
      while (scroll.wanted.length == 0)
        g_cond_wait (&scroll.changed, &scroll.lock);
      result->picture = g_queue_pop_head (&scroll.wanted);
      g_mutex_unlock (&scroll.lock);
      result->texture = decode ();
      g_idle_add_full (G_PRIORITY_DEFAULT, show_result, result, NULL);
    }
  return NULL;
}

static void
want (gint64 begin, gint64 end)
{
  for (gint64 i = MAX (begin, 0); i < MIN (end, scroll.n_rows); i++)
    {
      Picture *picture = g_list_model_get_item (G_LIST_MODEL (scroll.rows), (guint) i);

      if (picture->texture == NULL)
        g_queue_push_tail (&scroll.wanted, picture);
      else
        g_object_unref (picture);
    }
}

static void
dragged (GtkAdjustment *bar, gpointer data)
{
  double height = gtk_adjustment_get_upper (bar) / scroll.n_rows;
  gint64 first = (gint64) (gtk_adjustment_get_value (bar) / height), n = (gint64) (gtk_adjustment_get_page_size (bar) / height) + 2;

  g_mutex_lock (&scroll.lock);
  g_queue_clear_full (&scroll.wanted, g_object_unref);
  want (first, first + n);
  want (first + n, first + 2 * n);
  want (first - n, first);
  g_cond_broadcast (&scroll.changed);
  g_mutex_unlock (&scroll.lock);
}

/* task */

static void
decode_for_task (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  if (!g_task_return_error_if_cancelled (task))
    g_task_return_pointer (task, decode (), g_object_unref);
}

static void
decoded (GObject *picture, GAsyncResult *result, gpointer data)
{
  g_autoptr (GdkTexture) texture = g_task_propagate_pointer (G_TASK (result), NULL);

  if (texture != NULL)
    set_texture (SCROLL_PICTURE (picture), texture);
}

static void
begin_task (GtkListItem *item, Picture *picture)
{
  GCancellable *cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (picture, cancellable, decoded, NULL);

  g_object_set_data_full (G_OBJECT (item), "cancellable", cancellable, g_object_unref);
  g_task_run_in_thread (task, decode_for_task);
}

/* idle */

static gboolean
decode_when_idle (gpointer data)
{
  g_autoptr (GdkTexture) texture = decode ();

  SCROLL_PICTURE (data)->pending = 0;
  set_texture (data, texture);
  return G_SOURCE_REMOVE;
}

/* The window */

static void
set_up_row (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *picture = gtk_picture_new ();

  gtk_widget_set_size_request (picture, SHOWN, SHOWN);
  gtk_list_item_set_child (item, picture);
}

static void
bind_row (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  Picture *picture = gtk_list_item_get_item (item);

  g_object_set_data (G_OBJECT (item), "binding", g_object_bind_property (picture, "texture", gtk_list_item_get_child (item), "paintable", G_BINDING_SYNC_CREATE));
  g_hash_table_add (scroll.bound, item);
  if (picture->texture != NULL)
    return;
  if (g_str_equal (scroll.way, "task"))
    begin_task (item, picture);
  else if (g_str_equal (scroll.way, "idle") && picture->pending == 0)
    picture->pending = g_idle_add (decode_when_idle, picture);
}

static void
unbind_row (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  Picture *picture = gtk_list_item_get_item (item);
  GCancellable *cancellable = g_object_get_data (G_OBJECT (item), "cancellable");

  g_binding_unbind (g_object_steal_data (G_OBJECT (item), "binding"));
  g_hash_table_remove (scroll.bound, item);
  g_cancellable_cancel (cancellable);
  g_object_set_data (G_OBJECT (item), "cancellable", NULL);
  if (picture->pending != 0)
    g_source_remove (picture->pending);
  picture->pending = 0;
}

static void
fill (void)
{
  scroll.rows = g_list_store_new (PICTURE_TYPE);
  for (int i = 0; i < scroll.n_rows; i++)
    {
      g_autoptr (Picture) picture = g_object_new (PICTURE_TYPE, NULL);

      g_list_store_append (scroll.rows, picture);
    }
}

/* Returns whether all rows in view have pictures. */
static gboolean
is_complete (void)
{
  GHashTableIter iter;
  gpointer item;
  guint n = 0;

  g_hash_table_iter_init (&iter, scroll.bound);
  while (g_hash_table_iter_next (&iter, &item, NULL))
    {
      if (!gtk_widget_get_mapped (gtk_list_item_get_child (item)))
        continue;
      n++;
      if (SCROLL_PICTURE (gtk_list_item_get_item (item))->texture == NULL)
        return FALSE;
    }
  return n > 0;
}

static gboolean
tick (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  gint64 now = g_get_monotonic_time ();
  double part = MIN ((now - scroll.begun) / (scroll.seconds * G_USEC_PER_SEC), 1);

  scroll.n_frames++;
  if (!scroll.is_dragged)
    return G_SOURCE_CONTINUE;

  if (scroll.last_frame > 0)
    scroll.longest = MAX (scroll.longest, (now - scroll.last_frame) / 1000.0);
  scroll.last_frame = now;
  gtk_adjustment_set_value (scroll.bar, part * (gtk_adjustment_get_upper (scroll.bar) - gtk_adjustment_get_page_size (scroll.bar)));
  scroll.is_dragged = part < 1;
  return G_SOURCE_CONTINUE;
}

static void
open_window (PrioTaskGroup *group)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (set_up_row), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_row), NULL);
  g_signal_connect (factory, "unbind", G_CALLBACK (unbind_row), NULL);
  scroll.view = gtk_list_view_new (GTK_SELECTION_MODEL (gtk_no_selection_new (g_object_ref (G_LIST_MODEL (scroll.rows)))), factory);
  scroll.window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (scroll.window), 300, 560);
  gtk_window_set_child (GTK_WINDOW (scroll.window), scrolled);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), scroll.view);
  gtk_widget_add_tick_callback (scroll.window, tick, NULL, NULL);
  scroll.bar = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));

  if (g_str_equal (scroll.way, "feed"))
    prio_gtk_feed_view (group, scroll.view, load_row, NULL, NULL);
  if (g_str_equal (scroll.way, "expert"))
    {
      g_signal_connect (scroll.bar, "value-changed", G_CALLBACK (dragged), NULL);
      g_signal_connect (scroll.bar, "changed", G_CALLBACK (dragged), NULL);
      for (guint i = 0; i < N_THREADS; i++)
        g_thread_unref (g_thread_new ("load", work, NULL));
    }
  gtk_window_present (GTK_WINDOW (scroll.window));
}

static long
read_memory (void)
{
  long size = 0, resident = 0;
  FILE *file = fopen ("/proc/self/statm", "r");

  if (file == NULL || fscanf (file, "%ld %ld", &size, &resident) != 2)
    resident = 0;
  if (file != NULL)
    fclose (file);
  return resident * 4;
}

/* Runs the main loop until there have been @n frames. */
static void
wait_frames (guint n)
{
  guint before = scroll.n_frames;

  while (scroll.n_frames < before + n)
    g_main_context_iteration (NULL, TRUE);
}

static void
run_way (const char *way)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (prio_scheduler_get_default (), N_THREADS, PRIO_TASK_PRIORITY_USER_VISIBLE);
  guint frames = 0, after = 0, n_loaded;
  long memory = 0;

  scroll.way = way;
  scroll.file = file_new ();
  scroll.bound = g_hash_table_new (NULL, NULL);
  fill ();
  open_window (group);
  wait_frames (20);
  n_loaded = scroll.n_loaded;

  for (int i = 0; i < scroll.n_rounds; i++)
    {
      guint before = scroll.n_frames, end;

      scroll.last_frame = 0;
      scroll.is_dragged = TRUE;
      scroll.begun = g_get_monotonic_time ();
      while (scroll.is_dragged)
        g_main_context_iteration (NULL, TRUE);
      frames += scroll.n_frames - before;
      wait_frames (1);
      end = scroll.n_frames;
      while (!g_str_equal (way, "none") && !is_complete ())
        g_main_context_iteration (NULL, TRUE);
      after = MAX (after, scroll.n_frames - end);
      wait_frames (20);
      if (i == 1)
        memory = read_memory ();
    }
  g_print ("%-8s %6.0f  %10.1f ms  %8u frames  %8u  %+7.1f MB\n", way, (double) frames / scroll.n_rounds, scroll.longest, after,
           (scroll.n_loaded - n_loaded) / (guint) scroll.n_rounds, scroll.n_rounds > 2 ? (read_memory () - memory) / 1024.0 : 0);
}

static gboolean
run_process (const char *program, const char *way)
{
  g_autofree char *rows = g_strdup_printf ("%d", scroll.n_rows), *seconds = g_strdup_printf ("%g", scroll.seconds),
                  *rounds = g_strdup_printf ("%d", scroll.n_rounds), *printed = NULL;
  const char *arguments[] = { program, "--rows", rows, "--seconds", seconds, "--rounds", rounds, way, NULL };
  int status;

  if (!g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_DEFAULT, NULL, NULL, &printed, NULL, &status, NULL) || status != 0)
    return FALSE;
  g_print ("%s", printed);
  return TRUE;
}

int
main (int argc, char **argv)
{
  static const char *const ways[] = { "none", "feed", "expert", "task", "idle" };
  const GOptionEntry entries[] = {
    { "rows", 0, 0, G_OPTION_ARG_INT, &scroll.n_rows, "How many rows there are", "N" },
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &scroll.seconds, "How long the bar is dragged", "S" },
    { "rounds", 0, 0, G_OPTION_ARG_INT, &scroll.n_rounds, "How often", "N" },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("[WAY]");

  scroll.n_rows = 100000;
  scroll.n_rounds = 3;
  scroll.seconds = 3;
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, NULL))
    return 2;

  if (argc == 2)
    {
      if (!gtk_init_check ())
        return 1;
      run_way (argv[1]);
      return 0;
    }
  g_print ("%-8s %6s  %13s  %15s  %8s  %10s\n", "way", "frames", "longest gap", "complete after", "loaded", "memory");
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      if (!run_process (argv[0], ways[i]))
        return 1;
    }
  return 0;
}
