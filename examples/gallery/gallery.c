/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery.c: shows the pictures of a folder in 200,000 rows, rows in view first
 *
 *   gallery [--rows N] [--limit N] [--idles] [--log] [FOLDER]
 *
 * Without FOLDER, it shows the user's pictures, and the icons and pictures of the system.  With --idles, it begins with
 * GLib's idle sources.  With --log, it prints events: rows that come into view, rows that are started (with their
 * priority), aborted and done, and frames.
 */

#include "config.h"

#include "gallery-window.h"

#include <glib/gi18n.h>
#include <locale.h>

#define N_ROWS 200000

static gboolean
parse (GalleryOptions *options, int *argc, char ***argv, GError **error)
{
  GOptionEntry entries[] = {
    { "rows", 0, 0, G_OPTION_ARG_INT, &options->n_rows, N_("How many rows there are"), N_("N") },
    { "limit", 0, 0, G_OPTION_ARG_INT, &options->limit, N_("How many rows are decoded at a time"), N_("N") },
    { "idles", 0, 0, G_OPTION_ARG_NONE, &options->idles, N_("Begin with GLib's idle sources"), NULL },
    { "log", 0, 0, G_OPTION_ARG_NONE, &options->logs, N_("Print events"), NULL },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (_("[FOLDER]"));

  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, argc, argv, error))
    return FALSE;

  if (options->n_rows >= 1 && options->limit >= 1 && *argc <= 2)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               _("Rows and limit must be at least 1, and folders at most 1: they are %d, %d, and %d"),
               options->n_rows, options->limit, *argc - 1);
  return FALSE;
}

static void
activate (GApplication *application, gpointer options)
{
  gallery_window_open (ADW_APPLICATION (application), options);
}

int
main (int argc, char **argv)
{
  /* Leaves one processor free for the window. */
  GalleryOptions options = { .n_rows = N_ROWS, .limit = MAX (1, (gint) g_get_num_processors () - 1) };
  g_autoptr (AdwApplication) application = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, PRIO_LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);

  if (!parse (&options, &argc, &argv, &error))
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }
  if (!gtk_init_check ())
    {
      g_printerr ("%s\n", _("There is no display"));
      return 1;
    }

  if (argc > 1)
    options.folder = g_file_new_for_commandline_arg (argv[1]);
  application = adw_application_new ("org.example.PrioSched.Gallery", G_APPLICATION_NON_UNIQUE);
  g_signal_connect (application, "activate", G_CALLBACK (activate), &options);
  status = g_application_run (G_APPLICATION (application), 1, argv);
  gallery_loader_wait_for_all ();
  g_clear_object (&options.folder);
  return status;
}
