/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* indexer.c: indexes the words of a folder's files, and answers questions meanwhile
 *
 *   indexer [--plain] [--query WORD]… [--interval MS] [FOLDER]
 *
 * A group reads files in threads.  Background tasks index them in steps, user-visible tasks show progress, and
 * user-blocking tasks answer questions.  A question is a word, or a folder's name with a slash at its end, to index
 * that folder first; "quit" ends the program.  Afterwards, for comparison, GLib's idle sources do the same work in the
 * main loop; with --plain, only they do it.  A separate thread posts progress and questions at intervals, like a user
 * who types: it does not depend on the main loop's timers.
 */

#include <prio-sched-watch.h>
#include "config.h"

#include "print-statistics.h"
#include "waits.h"
#include "word-index.h"

#include <gio/gunixinputstream.h>
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

typedef struct
{
  GMainLoop *loop;
  PrioScheduler *scheduler;
  PrioTaskGroup *disk; /* reads files and folders */
  PrioTaskController *everything; /* aborted by Ctrl-C */
  GHashTable *folders;            /* name → Folder, for each folder directly below the root */
  char *root;
  WordIndex *index;
  Waits waits;
  guint n_pending, n_done, n_binary, n_failed, n_aborted;
  gboolean stopped;

  gboolean statistics;
  gboolean plain, quiet;
  char **queries;
  gint interval; /* ms */

  GThread *metronome;
  GMutex lock;
  GCond ended_changed;
  gboolean ended; /* protected by @lock */
} App;

/* The app that gets the commands. */
static App *running;

/* A folder directly below the root, with everything in it. */
typedef struct
{
  PrioTaskController *controller;
  PrioTaskSignal *signal; /* aborted with @everything of the App; follows the priority of @controller */
} Folder;

/* A file or a folder to index. */
typedef struct
{
  App *app;
  Folder *folder;
  char *path;
  gboolean is_folder;
  PrioTask *task;    /* reads the item, and keeps a place in the group until the item has been indexed */
  gint64 posted;     /* when the item was posted; 0 once the wait has been counted */
  gint64 begun;      /* when reading began; 0 before */
  GPtrArray *inside; /* paths of the files in a folder and, with a slash at the end, of its subfolders */
  GInputStream *stream;
  WordReader *reader;
  GError *error;
  gboolean finished;
} Item;

/* A question. */
typedef struct
{
  App *app;
  char *text;
  gint64 posted;
} Query;

/* Posts @func as a task, or as an idle source of GLib with --plain. */
static void
app_post (App *app, PrioTaskPriority priority, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  static const gint plain_priorities[] = {
    [PRIO_TASK_PRIORITY_BACKGROUND] = G_PRIORITY_LOW,
    [PRIO_TASK_PRIORITY_USER_VISIBLE] = G_PRIORITY_DEFAULT,
    [PRIO_TASK_PRIORITY_USER_BLOCKING] = G_PRIORITY_HIGH,
  };

  if (app->plain)
    g_idle_add_full (plain_priorities[priority], func, data, notify);
  else
    prio_scheduler_post (app->scheduler, priority, func, data, notify);
}

static void
folder_free (gpointer data)
{
  Folder *folder = data;

  g_object_unref (folder->controller);
  g_object_unref (folder->signal);
  g_free (folder);
}

/* Returns the folder directly below the root that contains @path. */
static Folder *
app_get_folder (App *app, const char *path)
{
  const char *below = path + strlen (app->root) + 1;
  g_autofree char *name = g_strndup (below, strcspn (below, "/"));
  Folder *folder = g_hash_table_lookup (app->folders, name);

  if (folder == NULL)
    {
      GCancellable *sources[2];

      folder = g_new0 (Folder, 1);
      folder->controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
      sources[0] = G_CANCELLABLE (prio_task_controller_get_signal (app->everything));
      sources[1] = G_CANCELLABLE (prio_task_controller_get_signal (folder->controller));
      folder->signal = prio_task_signal_new_any_following (sources, 2, PRIO_TASK_SIGNAL (sources[1]));
      g_hash_table_insert (app->folders, g_steal_pointer (&name), folder);
    }
  return folder;
}

static gboolean index_item (gpointer data);

/* Clears the progress line. */
static void
clear_line (void)
{
  if (isatty (STDERR_FILENO))
    g_printerr ("\r\033[K");
}

static void
app_report (App *app, const char *path, const GError *error)
{
  if (g_error_matches (error, G_CONVERT_ERROR, G_CONVERT_ERROR_ILLEGAL_SEQUENCE))
    {
      app->n_binary++;
      return;
    }

  app->n_failed++;
  if (app->quiet)
    return;
  clear_line ();
  g_printerr ("%s: %s\n", path, error->message);
}

/* Frees an item that has been indexed or aborted.  The last item ends the main loop. */
static void
item_clear (gpointer data)
{
  Item *item = data;
  App *app = item->app;

  if (!item->finished)
    app->n_aborted++;
  g_clear_pointer (&item->inside, g_ptr_array_unref);
  g_clear_pointer (&item->reader, word_reader_free);
  g_clear_object (&item->stream);
  g_clear_error (&item->error);
  g_free (item->path);

  if (--app->n_pending == 0)
    g_main_loop_quit (app->loop);
}

static void
item_release (gpointer item)
{
  g_atomic_rc_box_release_full (item, item_clear);
}

/* Frees the place of an item in the group for the next item.  Called when it has been indexed or aborted. */
static void
item_leave (gpointer data)
{
  Item *item = data;
  g_autoptr (PrioTask) task = g_steal_pointer (&item->task);

  prio_task_return_boolean (task, TRUE);
  item_release (item);
}

/* Returns the signal that aborts @item, and has its priority. */
static PrioTaskSignal *
item_get_signal (Item *item)
{
  return item->folder != NULL ? item->folder->signal : prio_task_controller_get_signal (item->app->everything);
}

/* Lists a folder.  Links are not followed: they may lead out of the root, or in a circle. */
static void
load_folder (Item *item)
{
  g_autoptr (GDir) dir = g_dir_open (item->path, 0, &item->error);
  const char *name;

  item->inside = g_ptr_array_new_with_free_func (g_free);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (item->path, name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_SYMLINK))
        continue;
      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        g_ptr_array_add (item->inside, g_strconcat (path, "/", NULL));
      else if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        g_ptr_array_add (item->inside, g_steal_pointer (&path));
    }
}

/* Reads a file or lists a folder, in a thread of the group, because the disk may be slow. */
static void
load (PrioTask *task, gpointer data)
{
  Item *item = data;

  item->begun = g_get_monotonic_time ();
  if (item->is_folder)
    load_folder (item);
  else
    item->stream = word_stream_load (item->path, &item->error);

  prio_task_defer (task);
  item->task = g_object_ref (task);
  prio_scheduler_post_full (item->app->scheduler, &PRIO_TASK_OPTIONS (.signal = item_get_signal (item)), index_item,
                            g_atomic_rc_box_acquire (item), item_leave);
}

/* Lists a folder or opens a file, in the main loop, and indexes it. */
static gboolean
load_plain (gpointer data)
{
  Item *item = data;

  if (item->app->stopped)
    return G_SOURCE_REMOVE;
  if (item->begun != 0)
    return index_item (item);

  item->begun = g_get_monotonic_time ();
  if (item->is_folder)
    load_folder (item);
  else
    item->stream = word_stream_open (item->path, &item->error);
  return index_item (item);
}

/* Adds a file, or a folder if @path ends with a slash. */
static void
app_add_item (App *app, const char *path)
{
  Item *item = g_atomic_rc_box_new0 (Item);

  item->app = app;
  item->is_folder = g_str_has_suffix (path, "/");
  item->path = g_strndup (path, strlen (path) - item->is_folder);
  if (!g_str_equal (item->path, app->root))
    item->folder = app_get_folder (app, item->path);
  item->posted = g_get_monotonic_time ();
  app->n_pending++;

  if (app->plain)
    g_idle_add_full (G_PRIORITY_LOW, load_plain, item, item_release);
  else
    g_object_unref (prio_task_group_run_in_thread (app->disk, &PRIO_TASK_OPTIONS (.signal = item_get_signal (item)), load,
                                                   item, item_release));
}

/* Indexes the next piece of a file, or adds the next file of a folder.  Returns whether there is more. */
static gboolean
index_piece (Item *item)
{
  gboolean done = FALSE;

  if (item->error != NULL)
    return FALSE;
  if (item->is_folder)
    {
      g_autofree char *path = item->inside->len > 0 ? g_ptr_array_steal_index_fast (item->inside, 0) : NULL;

      if (path != NULL)
        app_add_item (item->app, path);
      return path != NULL;
    }
  if (item->reader == NULL)
    item->reader = word_reader_new (item->app->index, item->path, item->stream);
  return word_reader_read_piece (item->reader, &done, &item->error) && !done;
}

/* Indexes until more urgent work waits.  An idle source cannot know that, so it indexes one piece at a time. */
static gboolean
index_item (gpointer data)
{
  Item *item = data;
  App *app = item->app;

  if (item->posted != 0)
    {
      waits_add (&app->waits, prio_task_signal_get_priority (item_get_signal (item)),
                 item->posted + g_get_monotonic_time () - item->begun);
      item->posted = 0;
    }
  while (index_piece (item))
    {
      if (app->plain ? !item->is_folder : prio_scheduler_should_yield (app->scheduler))
        return G_SOURCE_CONTINUE;
    }

  item->finished = TRUE;
  if (item->error != NULL)
    app_report (app, item->path, item->error);
  else if (!item->is_folder)
    app->n_done++;
  return G_SOURCE_REMOVE;
}

static gboolean
show_progress (gpointer data)
{
  Query *tick = data;
  App *app = tick->app;

  waits_add (&app->waits, PRIO_TASK_PRIORITY_USER_VISIBLE, tick->posted);
  if (isatty (STDERR_FILENO))
    {
      clear_line ();
      g_printerr (_("%u files, %u words, %u to go"), app->n_done, g_hash_table_size (app->index->words),
                  app->n_pending);
    }
  return G_SOURCE_REMOVE;
}

static void
query_free (gpointer data)
{
  Query *query = data;

  g_free (query->text);
  g_free (query);
}

static Query *
query_new (App *app, const char *text)
{
  Query *query = g_new0 (Query, 1);

  query->app = app;
  query->text = g_strdup (text);
  query->posted = g_get_monotonic_time ();
  return query;
}

/* Indexes the files of a folder before the other folders. */
static void
raise_folder (App *app, const char *text)
{
  g_autofree char *name = g_strndup (text, strlen (text) - 1);
  Folder *folder = g_hash_table_lookup (app->folders, name);

  if (folder == NULL)
    g_print (_("%s: no such folder, or not found yet\n"), text);
  else if (app->plain)
    g_print (_("%s: idle sources cannot be raised together\n"), text);
  else if (prio_task_controller_set_priority (folder->controller, PRIO_TASK_PRIORITY_USER_VISIBLE, NULL))
    g_print (_("%s: comes first now\n"), text);
}

static gboolean
answer (gpointer data)
{
  Query *query = data;
  App *app = query->app;
  gint64 wait = g_get_monotonic_time () - query->posted;
  const GArray *files;

  waits_add (&app->waits, PRIO_TASK_PRIORITY_USER_BLOCKING, query->posted);
  if (app->quiet)
    return G_SOURCE_REMOVE;
  clear_line ();

  if (g_str_has_suffix (query->text, "/"))
    {
      raise_folder (app, query->text);
      return G_SOURCE_REMOVE;
    }

  files = word_index_find (app->index, query->text);
  g_print (ngettext ("%s: %u file so far", "%s: %u files so far", files != NULL ? files->len : 0), query->text,
           files != NULL ? files->len : 0);
  if (files != NULL)
    g_print (", %s", (char *) app->index->files->pdata[g_array_index (files, guint, 0)]);
  g_print (_(" (waited %.2f ms)\n"), wait / 1000.0);
  return G_SOURCE_REMOVE;
}

static void
app_stop (App *app)
{
  app->stopped = TRUE;
  prio_task_controller_abort (app->everything, NULL);
}

static void
app_ask (App *app, const char *text)
{
  if (g_str_equal (text, "quit"))
    app_stop (app);
  else if (*text != '\0')
    app_post (app, PRIO_TASK_PRIORITY_USER_BLOCKING, answer, query_new (app, text), query_free);
}

/* Posts progress every 100 ms, and questions at intervals.  Runs in a separate thread. */
static gpointer
keep_time (gpointer data)
{
  App *app = data;
  gint64 now = g_get_monotonic_time ();
  gint64 next_query = now, next_progress = now;
  guint n_queries = 0;

  g_mutex_lock (&app->lock);
  do
    {
      now = g_get_monotonic_time ();
      if (now >= next_progress)
        {
          app_post (app, PRIO_TASK_PRIORITY_USER_VISIBLE, show_progress, query_new (app, NULL), query_free);
          next_progress += 100 * G_TIME_SPAN_MILLISECOND;
        }
      if (app->queries != NULL && now >= next_query)
        {
          const char *text = app->queries[n_queries++ % g_strv_length (app->queries)];

          app_post (app, PRIO_TASK_PRIORITY_USER_BLOCKING, answer, query_new (app, text), query_free);
          next_query += app->interval * G_TIME_SPAN_MILLISECOND;
        }
      if (!app->ended)
        g_cond_wait_until (&app->ended_changed, &app->lock,
                           app->queries != NULL ? MIN (next_progress, next_query) : next_progress);
    }
  while (!app->ended);
  g_mutex_unlock (&app->lock);

  return NULL;
}

static void
app_end_time (App *app)
{
  g_mutex_lock (&app->lock);
  app->ended = TRUE;
  g_cond_signal (&app->ended_changed);
  g_mutex_unlock (&app->lock);
  g_thread_join (app->metronome);

  /* Answers the last questions. */
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
line_read (GObject *source, GAsyncResult *result, gpointer data G_GNUC_UNUSED)
{
  g_autofree char *line =
      g_data_input_stream_read_line_finish_utf8 (G_DATA_INPUT_STREAM (source), result, NULL, NULL);

  /* Stops at the end of the input, or if it is not text. */
  if (line == NULL)
    return;

  app_ask (running, g_strstrip (line));
  g_data_input_stream_read_line_async (G_DATA_INPUT_STREAM (source), G_PRIORITY_DEFAULT, NULL, line_read, NULL);
}

static gboolean
interrupted (gpointer data G_GNUC_UNUSED)
{
  app_stop (running);
  return G_SOURCE_CONTINUE;
}

/* Indexes app->root. */
static void
app_index (App *app)
{
  g_autofree char *root = g_strconcat (app->root, "/", NULL);

  app->loop = g_main_loop_new (NULL, FALSE);
  app->scheduler = prio_scheduler_get_default ();
  /* Leaves one processor to the main loop. */
  app->disk = prio_task_group_new (app->scheduler, MAX (g_get_num_processors () - 1, 1), PRIO_TASK_PRIORITY_BACKGROUND);
  app->everything = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  app->folders = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, folder_free);
  app->index = word_index_new ();
  waits_init (&app->waits);

  running = app;
  app_add_item (app, root);
  app->metronome = g_thread_new ("metronome", keep_time, app);
  g_main_loop_run (app->loop);
  app_end_time (app);
}

static void
app_clear (App *app)
{
  waits_clear (&app->waits);
  word_index_free (app->index);
  g_hash_table_unref (app->folders);
  g_object_unref (app->everything);
  g_object_unref (app->disk);
  g_main_loop_unref (app->loop);
}

static void
app_run (App *app)
{
  g_autoptr (GInputStream) input = g_unix_input_stream_new (STDIN_FILENO, FALSE);
  g_autoptr (GDataInputStream) lines = g_data_input_stream_new (input);
  gint64 start = g_get_monotonic_time ();
  App plain = { .interval = app->interval, .queries = app->queries, .root = app->root, .plain = TRUE, .quiet = TRUE };
  gboolean is_compared;

  g_unix_signal_add (SIGINT, interrupted, NULL);
  g_data_input_stream_read_line_async (lines, G_PRIORITY_DEFAULT, NULL, line_read, NULL);

  app_index (app);
  clear_line ();
  g_print (_("%u files, %.1f MB, %u words in %.2f s; %u not text, %u unreadable, %u aborted\n"), app->n_done,
           app->index->n_bytes / 1e6, g_hash_table_size (app->index->words),
           (g_get_monotonic_time () - start) / 1e6, app->n_binary, app->n_failed, app->n_aborted);

  /* Compares with GLib's idle sources.  By then the files are in the page cache, which favours the idle sources. */
  is_compared = !app->plain && !app->stopped;
  if (is_compared)
    {
      app_index (&plain);
      clear_line ();
    }
  waits_print (&app->waits, is_compared ? &plain.waits : NULL);
  if (app->statistics)
    print_statistics (app->scheduler);
  if (is_compared)
    app_clear (&plain);
  app_clear (app);
}

static gboolean
app_parse (App *app, int *argc, char ***argv, GError **error)
{
  g_auto (GStrv) folders = NULL;
  GOptionEntry entries[] = {
    { "plain", 0, 0, G_OPTION_ARG_NONE, &app->plain, N_("Use GLib's idle sources, for comparison"), NULL },
    { "query", 0, 0, G_OPTION_ARG_STRING_ARRAY, &app->queries, N_("Ask for a word at intervals"), N_("WORD") },
    { "interval", 0, 0, G_OPTION_ARG_INT, &app->interval, N_("How long the intervals are"), N_("MS") },
    { "statistics", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &app->statistics, NULL, NULL }, /* for the tests */
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &folders, NULL, N_("[FOLDER]") },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);

  g_option_context_set_summary (context, _("Indexes the words of a folder's files, and answers meanwhile.\n"
                                           "Type a word, a folder's name with a slash to have it come first, or “quit”."));
  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, argc, argv, error))
    return FALSE;

  if (folders != NULL && folders[1] != NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s: one folder is enough"), folders[1]);
      return FALSE;
    }
  app->root = g_canonicalize_filename (folders != NULL ? folders[0] : "/usr/share/doc", NULL);
  if (!g_file_test (app->root, G_FILE_TEST_IS_DIR))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY, _("%s: no such folder"), app->root);
      return FALSE;
    }
  if (app->interval < 1)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%d: no interval"), app->interval);
      return FALSE;
    }

  /* Without a terminal, asks some questions by default. */
  if (app->queries == NULL && !isatty (STDIN_FILENO))
    app->queries = g_strsplit ("license copyright", " ", -1);
  return TRUE;
}

int
main (int argc, char **argv)
{
  App app = { .interval = 100 };
  g_autoptr (GError) error = NULL;
  int status = 0;

  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, PRIO_LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);

  if (!app_parse (&app, &argc, &argv, &error))
    {
      g_printerr ("%s\n", error->message);
      status = 1;
    }
  else
    {
      if (app.statistics)
        prio_scheduler_start_statistics (prio_scheduler_get_default ());
      app_run (&app);
    }

  g_strfreev (app.queries);
  g_free (app.root);
  return status;
}
