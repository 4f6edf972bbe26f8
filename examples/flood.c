/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flood.c: shows whether a window stays responsive while many tasks run
 *
 *   flood [--flood none|background|user-visible|user-blocking|glib-idle] [--log]
 *
 * The window has an animation, a text field, and a meter of the time that each frame took.  Meanwhile 2,000 tasks of a
 * millisecond each run again and again, at the chosen priority or as idle sources of GLib.  With --log it prints when
 * the flood began, and when each frame was drawn.
 */

#include "config.h"

#include "frame-meter.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <locale.h>
#include <math.h>
#include <prio-sched.h>

#define N_TASKS 2000
#define BEGIN_AFTER 1000 /* ms, after which the window is visible */

typedef enum
{
  FLOOD_BACKGROUND,
  FLOOD_USER_VISIBLE,
  FLOOD_USER_BLOCKING,
  FLOOD_GLIB_IDLE,
  FLOOD_NONE
} FloodKind;

static const char *const flood_names[] = {
  N_("background tasks"), N_("user-visible tasks"), N_("user-blocking tasks"), N_("GLib's idle sources"),
  N_("no flood"), NULL
};

static const char *const flood_nicks[] = { "background", "user-visible", "user-blocking", "glib-idle", "none", NULL };

typedef struct
{
  PrioScheduler *scheduler;
  FloodKind kind;
  guint n_running; /* tasks, of this flood and earlier ones, that have not been freed */
  guint n_done;
  gboolean closing, logs;
  gint64 opened;                 /* µs */
  GtkWidget *animation, *choice; /* valid until the window closes */
} App;

/* A task of the flood.  It ends once another flood has been chosen. */
typedef struct
{
  App *app;
  FloodKind kind;
} Task;

static gboolean
work (gpointer data)
{
  Task *task = data;
  App *app = task->app;
  gint64 end = g_get_monotonic_time () + 1000;

  if (app->closing || app->kind != task->kind)
    return G_SOURCE_REMOVE;

  while (g_get_monotonic_time () < end)
    ;
  app->n_done++;
  return G_SOURCE_CONTINUE;
}

static void
task_free (gpointer data)
{
  ((Task *) data)->app->n_running--;
  g_free (data);
}

static void
start_flood (App *app)
{
  /* The name appears in GTK's inspector: GTK_DEBUG=interactive flood. */
  PrioTaskOptions options = PRIO_TASK_OPTIONS (.name = "flood", .takes_turns = TRUE,
                                               .priority = (PrioTaskPriority) (PRIO_TASK_PRIORITY_BACKGROUND + app->kind));

  for (guint i = 0; i < N_TASKS && app->kind != FLOOD_NONE; i++)
    {
      Task *task = g_new (Task, 1);

      *task = (Task) { app, app->kind };
      app->n_running++;
      if (app->kind == FLOOD_GLIB_IDLE)
        g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, work, task, task_free);
      else
        prio_scheduler_post_full (app->scheduler, &options, work, task, task_free);
    }
}

static void
print_time (App *app, const char *what)
{
  if (app->logs)
    g_print ("%s %" G_GINT64_FORMAT " ms, %u tasks\n", what, (g_get_monotonic_time () - app->opened) / 1000, app->n_done);
}

static void
flood_chosen (AdwComboRow *choice, GParamSpec *pspec, gpointer data)
{
  App *app = data;

  app->kind = adw_combo_row_get_selected (choice);
  print_time (app, "flood");
  start_flood (app);
}

static void
draw_animation (GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
  double angle = g_get_monotonic_time () / 400000.0;
  double radius = MIN (width, height) * 0.4;

  cairo_translate (cr, width / 2.0, height / 2.0);
  for (guint i = 0; i < 12; i++)
    {
      double a = angle + i * G_PI / 6;

      cairo_set_source_rgba (cr, 0.11, 0.44, 0.85, (i + 1) / 12.0);
      cairo_arc (cr, radius * cos (a), radius * sin (a), radius / 8, 0, 2 * G_PI);
      cairo_fill (cr);
    }
}

static gboolean
tick (GtkWidget *animation, GdkFrameClock *clock, gpointer data)
{
  App *app = data;
  g_autofree char *text = g_strdup_printf (_("%'u tasks of 1 ms done"), app->n_done);

  adw_action_row_set_subtitle (ADW_ACTION_ROW (app->choice), text);
  gtk_widget_queue_draw (animation);
  return G_SOURCE_CONTINUE;
}

static void
drawn (GdkFrameClock *clock, gpointer data)
{
  print_time (data, "frame");
}

static GtkWidget *
make_choice (App *app)
{
  const char *names[G_N_ELEMENTS (flood_names)] = { NULL };
  g_autoptr (GtkStringList) list = NULL;
  GtkWidget *choice = adw_combo_row_new ();

  for (guint i = 0; flood_names[i] != NULL; i++)
    names[i] = _(flood_names[i]);
  list = gtk_string_list_new (names);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (choice), _("Flood"));
  adw_combo_row_set_model (ADW_COMBO_ROW (choice), G_LIST_MODEL (list));
  adw_combo_row_set_selected (ADW_COMBO_ROW (choice), FLOOD_NONE);
  g_signal_connect (choice, "notify::selected", G_CALLBACK (flood_chosen), app);
  return choice;
}

static GtkWidget *
make_animation (App *app)
{
  GtkWidget *area = g_object_new (GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);

  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (area), 48);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), draw_animation, app, NULL);
  gtk_widget_set_vexpand (area, TRUE);
  gtk_widget_add_tick_callback (area, tick, app, NULL);
  return area;
}

static GtkWidget *
make_content (App *app, GtkWidget *entry)
{
  GtkWidget *content = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 18);
  GtkWidget *rows = adw_preferences_group_new ();

  app->choice = make_choice (app);
  app->animation = make_animation (app);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (entry), _("Type here"));
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (rows), app->choice);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (rows), entry);

  gtk_box_append (GTK_BOX (box), rows);
  gtk_box_append (GTK_BOX (box), app->animation);
  gtk_box_append (GTK_BOX (box), frame_meter_new ());
  gtk_widget_set_margin_top (box, 18);
  gtk_widget_set_margin_bottom (box, 18);
  gtk_widget_set_margin_start (box, 18);
  gtk_widget_set_margin_end (box, 18);

  gtk_box_append (GTK_BOX (content), adw_header_bar_new ());
  gtk_box_append (GTK_BOX (content), box);
  return content;
}

static gboolean
close_requested (GtkWindow *window, gpointer data)
{
  ((App *) data)->closing = TRUE;
  return FALSE;
}

static void
begin (gpointer data)
{
  App *app = data;

  if (!app->closing)
    adw_combo_row_set_selected (ADW_COMBO_ROW (app->choice), app->kind);
}

static void
activate (GtkApplication *application, gpointer data)
{
  App *app = data;
  GtkWidget *window = adw_application_window_new (application), *entry = adw_entry_row_new ();
  GdkFrameClock *clock;

  app->opened = g_get_monotonic_time ();
  gtk_window_set_title (GTK_WINDOW (window), _("Flood"));
  gtk_window_set_default_size (GTK_WINDOW (window), 560, 500);
  adw_application_window_set_content (ADW_APPLICATION_WINDOW (window), make_content (app, entry));
  g_signal_connect (window, "close-request", G_CALLBACK (close_requested), app);
  gtk_window_present (GTK_WINDOW (window));
  gtk_widget_grab_focus (entry);

  clock = gtk_widget_get_frame_clock (window);
  g_signal_connect (clock, "after-paint", G_CALLBACK (drawn), app);
  g_timeout_add_once (BEGIN_AFTER, begin, app);
}

static gboolean
app_parse (App *app, int *argc, char ***argv, GError **error)
{
  g_autofree char *nick = NULL;
  GOptionEntry entries[] = {
    { "flood", 0, 0, G_OPTION_ARG_STRING, &nick, N_("Flood at the start"), N_("NAME") },
    { "log", 0, 0, G_OPTION_ARG_NONE, &app->logs, N_("Print events"), NULL },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);

  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, argc, argv, error))
    return FALSE;

  for (guint i = 0; nick != NULL && flood_nicks[i] != NULL; i++)
    {
      if (g_str_equal (nick, flood_nicks[i]))
        {
          app->kind = i;
          return TRUE;
        }
    }
  if (nick == NULL)
    return TRUE;

  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s: no such flood"), nick);
  return FALSE;
}

int
main (int argc, char **argv)
{
  App app = { .kind = FLOOD_BACKGROUND };
  g_autoptr (AdwApplication) application = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, PRIO_LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);

  if (!app_parse (&app, &argc, &argv, &error))
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }
  if (!gtk_init_check ())
    {
      g_printerr ("%s\n", _("There is no display"));
      return 1;
    }

  app.scheduler = prio_scheduler_get_default ();
  application = adw_application_new ("org.example.PrioSched.Flood", G_APPLICATION_NON_UNIQUE);
  g_signal_connect (application, "activate", G_CALLBACK (activate), &app);
  status = g_application_run (G_APPLICATION (application), 1, argv);

  /* Each task ends when its turn comes. */
  while (app.n_running > 0)
    g_main_context_iteration (NULL, TRUE);
  return status;
}
