/* flood.c: shows whether a GTK 4 window stays responsive while many tasks run
 *
 *   flood [--flood none|background|user-visible|user-blocking|glib-idle]
 *
 * The window has an animation, a text field, and a chart of the time that each frame took.
 * Meanwhile 2,000 tasks of a millisecond each run again and again, at the chosen priority, or as
 * idle sources of GLib.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <glib/gi18n.h>
#include <gtk/gtk.h>
#include <locale.h>
#include <math.h>
#include <prio-sched.h>

#define N_TASKS 2000
#define N_GAPS 240

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
  guint n_running; /* tasks that have not been freed, of this flood and of former ones */
  guint n_done;
  gboolean closing;

  GtkWidget *window, *animation, *chart, *status;
  gint64 last_frame;
  double gaps[N_GAPS]; /* times between frames, ms; a ring buffer */
  guint next_gap;
} App;

/* A task, which ends once another flood has been chosen. */
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
  /* The name is that in GTK's inspector: GTK_DEBUG=interactive flood. */
  PrioTaskOptions options = { .name = "flood", .priority = (PrioTaskPriority) (PRIO_TASK_PRIORITY_BACKGROUND + app->kind) };

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
flood_chosen (GtkDropDown *choice, GParamSpec *pspec, gpointer data)
{
  App *app = data;

  app->kind = gtk_drop_down_get_selected (choice);
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

/* Draws a bar for each frame, in red if a frame was missed before it, and lines at 16.7 and 33.3 ms. */
static void
draw_chart (GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
  App *app = data;
  double bar = (double) width / N_GAPS, scale = height / 60.0;

  for (guint i = 0; i < N_GAPS; i++)
    {
      double gap = app->gaps[(app->next_gap + i) % N_GAPS];

      if (gap > 25)
        cairo_set_source_rgb (cr, 0.75, 0.11, 0.16);
      else
        cairo_set_source_rgb (cr, 0.15, 0.64, 0.41);
      cairo_rectangle (cr, i * bar, height - MIN (gap, 60) * scale, bar, MIN (gap, 60) * scale);
      cairo_fill (cr);
    }

  cairo_set_source_rgba (cr, 0.4, 0.4, 0.4, 0.8);
  for (guint i = 1; i <= 2; i++)
    {
      cairo_rectangle (cr, 0, height - i * 16.667 * scale, width, 1);
      cairo_fill (cr);
    }
}

static gboolean
tick (GtkWidget *animation, GdkFrameClock *clock, gpointer data)
{
  App *app = data;
  gint64 now = g_get_monotonic_time ();
  g_autofree char *text = NULL;

  if (app->last_frame != 0)
    {
      app->gaps[app->next_gap] = (now - app->last_frame) / 1000.0;
      app->next_gap = (app->next_gap + 1) % N_GAPS;
    }
  app->last_frame = now;

  text = g_strdup_printf (_("%u tasks of 1 ms done"), app->n_done);
  gtk_label_set_text (GTK_LABEL (app->status), text);
  gtk_widget_queue_draw (app->animation);
  gtk_widget_queue_draw (app->chart);
  return G_SOURCE_CONTINUE;
}

static GtkWidget *
make_area (GtkDrawingAreaDrawFunc draw, int height, gpointer data)
{
  GtkWidget *area = gtk_drawing_area_new ();

  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (area), height);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), draw, data, NULL);
  gtk_widget_set_hexpand (area, TRUE);
  return area;
}

static GtkWidget *
make_choice (App *app)
{
  const char *names[G_N_ELEMENTS (flood_names)] = { NULL };
  GtkWidget *choice;

  for (guint i = 0; flood_names[i] != NULL; i++)
    names[i] = _(flood_names[i]);
  choice = gtk_drop_down_new_from_strings (names);
  gtk_drop_down_set_selected (GTK_DROP_DOWN (choice), app->kind);
  g_signal_connect (choice, "notify::selected", G_CALLBACK (flood_chosen), app);
  return choice;
}

static gboolean
close_requested (GtkWindow *window, gpointer data)
{
  ((App *) data)->closing = TRUE;
  return FALSE;
}

static void
app_open (App *app)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *entry = gtk_entry_new ();

  app->window = gtk_window_new ();
  app->animation = make_area (draw_animation, 160, app);
  app->chart = make_area (draw_chart, 140, app);
  app->status = gtk_label_new (NULL);
  gtk_entry_set_placeholder_text (GTK_ENTRY (entry), _("Type here"));

  gtk_window_set_title (GTK_WINDOW (app->window), _("Flood"));
  gtk_window_set_default_size (GTK_WINDOW (app->window), 560, 480);
  gtk_window_set_child (GTK_WINDOW (app->window), box);
  gtk_box_append (GTK_BOX (box), make_choice (app));
  gtk_box_append (GTK_BOX (box), app->animation);
  gtk_box_append (GTK_BOX (box), entry);
  gtk_box_append (GTK_BOX (box), app->chart);
  gtk_box_append (GTK_BOX (box), app->status);
  g_signal_connect (app->window, "close-request", G_CALLBACK (close_requested), app);
  gtk_widget_add_tick_callback (app->animation, tick, app, NULL);
  gtk_window_present (GTK_WINDOW (app->window));
  gtk_widget_grab_focus (entry);

  prio_scheduler_follow_frame_clock (app->scheduler, G_OBJECT (gtk_widget_get_frame_clock (app->window)));
  start_flood (app);
}

static gboolean
app_parse (App *app, int *argc, char ***argv, GError **error)
{
  g_autofree char *nick = NULL;
  GOptionEntry entries[] = {
    { "flood", 0, 0, G_OPTION_ARG_STRING, &nick, N_("What to begin with"), N_("NAME") },
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
  g_autoptr (GError) error = NULL;

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
  app_open (&app);
  while (!app.closing || app.n_running > 0)
    g_main_context_iteration (NULL, TRUE);
  return 0;
}
