/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rows.c: shows 200,000 rows that load a file each, rows in view first
 *
 *   rows [--rows N] [--limit N] [--jumps N] [--headless] [FOLDER]
 *
 * The rows repeat the files of FOLDER.  Eight files are read at a time; the library chooses the next file
 * (row-loader.c).  The window shows how long the rows in view have taken.  With --jumps, it jumps N times by itself,
 * prints the times, and closes.  With --headless, there is no window.
 */

#include "config.h"

#include "rows.h"

#include <locale.h>

#define N_ROWS 200000
#define LIMIT 8
#define MAX_TEXT 100 /* bytes of a file that are shown */
#define SCREEN 50    /* rows in view without a window */

static GFile *
file_of_row (guint row, gpointer user_data)
{
  Rows *rows = user_data;

  return g_object_ref (rows->files->pdata[row % rows->files->len]);
}

/* Returns the beginning of the first line. */
static char *
text_of (GBytes *contents)
{
  gsize size;
  const char *data = g_bytes_get_data (contents, &size);
  gsize length = 0;

  while (length < MIN (size, MAX_TEXT) && data[length] != '\n')
    length++;
  return g_utf8_make_valid (data != NULL ? data : "", (gssize) length);
}

static void
row_loaded (guint row, GBytes *contents, const GError *error, gpointer user_data)
{
  Rows *rows = user_data;
  double took = (g_get_monotonic_time () - rows->jumped) / 1000.0;

  rows->texts[row] = contents != NULL ? text_of (contents) : g_strdup (error->message);
  if (row - rows->first < rows->n_view)
    {
      rows->total += took;
      rows->worst = MAX (rows->worst, took);
      rows->n_shown++;
      rows->n_left--;
    }
  if (rows->loaded != NULL)
    rows->loaded (row, rows->user_data);
}

void
rows_begin (Rows *rows)
{
  rows->texts = g_new0 (char *, rows->n_rows);
  rows->loader = row_loader_new (prio_scheduler_get_default (), rows->n_rows, rows->limit, file_of_row, row_loaded, rows);
}

void
rows_end (Rows *rows)
{
  row_loader_free (rows->loader);
  for (guint i = 0; i < rows->n_rows; i++)
    g_free (rows->texts[i]);
  g_free (rows->texts);
}

/* Called when @n_view rows, starting with @first, are in view. */
void
rows_show (Rows *rows, guint first, guint n_view)
{
  rows->jumped = g_get_monotonic_time ();
  rows->first = MIN (first, rows->n_rows);
  rows->n_view = MIN (n_view, rows->n_rows - rows->first);
  rows->n_left = 0;
  for (guint i = 0; i < rows->n_view; i++)
    rows->n_left += rows->texts[rows->first + i] == NULL;
  row_loader_set_view (rows->loader, rows->first, rows->n_view);
}

void
rows_print (Rows *rows)
{
  g_print ("%u rows came into view, each after %.1f ms on average, %.1f ms at worst; %u of %u are left\n", rows->n_shown,
           rows->total / MAX (rows->n_shown, 1), rows->worst,
           (guint) ((1 - row_loader_get_progress (rows->loader)) * rows->n_rows + 0.5), rows->n_rows);
}

static int
run_headless (Rows *rows, guint n_jumps)
{
  rows_begin (rows);
  for (guint i = 0; i < n_jumps; i++)
    {
      rows_show (rows, (guint) g_random_int_range (0, (gint) rows->n_rows), SCREEN);
      while (rows->n_left > 0)
        g_main_context_iteration (NULL, TRUE);
    }
  rows_print (rows);
  rows_end (rows);
  return 0;
}

/* Lists the files in @path, without its subfolders. */
static GPtrArray *
list_files (const char *path, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GFile) folder = g_file_new_for_commandline_arg (path);
  g_autoptr (GFileEnumerator) all = g_file_enumerate_children (
      folder, G_FILE_ATTRIBUTE_STANDARD_NAME "," G_FILE_ATTRIBUTE_STANDARD_TYPE, G_FILE_QUERY_INFO_NONE, NULL, error);
  GFileInfo *info;
  GFile *file;

  if (all == NULL)
    return NULL;

  while (g_file_enumerator_iterate (all, &info, &file, NULL, error))
    {
      if (info == NULL && files->len > 0)
        return g_steal_pointer (&files);
      if (info == NULL)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: there is no file in this folder", path);
          return NULL;
        }
      if (g_file_info_get_file_type (info) == G_FILE_TYPE_REGULAR)
        g_ptr_array_add (files, g_object_ref (file));
    }
  return NULL;
}

typedef struct
{
  gint n_rows, limit, n_jumps;
  gboolean headless;
} Options;

static gboolean
parse (Options *options, int *argc, char ***argv, GError **error)
{
  GOptionEntry entries[] = {
    { "rows", 0, 0, G_OPTION_ARG_INT, &options->n_rows, "How many rows there are", "N" },
    { "limit", 0, 0, G_OPTION_ARG_INT, &options->limit, "How many files are read at a time", "N" },
    { "jumps", 0, 0, G_OPTION_ARG_INT, &options->n_jumps, "Jump so often, print the times, and end", "N" },
    { "headless", 0, 0, G_OPTION_ARG_NONE, &options->headless, "No window", NULL },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("[FOLDER]");

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, error))
    return FALSE;

  if (options->n_rows >= 1 && options->limit >= 1 && options->n_jumps >= 0 && *argc <= 2)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "There has to be one row at least, one file at a time, no negative number of jumps, and one folder "
               "at most: these are %d, %d, %d, and %d",
               options->n_rows, options->limit, options->n_jumps, *argc - 1);
  return FALSE;
}

int
main (int argc, char **argv)
{
  Options options = { .n_rows = N_ROWS, .limit = LIMIT };
  g_autoptr (GPtrArray) files = NULL;
  g_autoptr (GError) error = NULL;
  Rows rows = { 0 };

  setlocale (LC_ALL, "");
  if (!parse (&options, &argc, &argv, &error) || (files = list_files (argc > 1 ? argv[1] : ".", &error)) == NULL)
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }

  rows = (Rows) { .files = files, .n_rows = (guint) options.n_rows, .limit = (guint) options.limit };
#ifdef HAVE_GTK
  if (!options.headless)
    return rows_run_window (&rows, (guint) options.n_jumps);
#endif
  return run_headless (&rows, (guint) MAX (options.n_jumps, 1));
}
