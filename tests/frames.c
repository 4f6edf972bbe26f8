/* frames.c: a GTK 4 window during floods of tasks, and of GLib's idle sources
 *
 *   frames [--tasks N]
 *
 * A window is animated while N tasks of 1 ms are run at each priority, and the same
 * number of idle sources; keys are pressed with xdotool meanwhile, where there is
 * one.  Prints how many frames were drawn and missed, the longest gap, and how long
 * keys took.  Fails if a flood of tasks lets fewer than five times as many frames be
 * drawn as the idle sources do, or loses a key.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gtk/gtk.h>
#include <locale.h>
#include <prio-sched.h>

#define N_FLOODS 5
#define N_KEYS 5

/* The first three are priorities. */
enum { FLOOD_IDLES = 3, FLOOD_NONE };

static const char *const flood_names[N_FLOODS] = {
  "background", "user-visible", "user-blocking", "GLib's idle sources", "nothing"
};

typedef struct
{
  GtkWidget *window, *area;
  PrioScheduler *scheduler;
  gint n_tasks;
  guint n_left; /* of the flood */

  GArray *frames;  /* when each began, µs */
  GArray *keys;    /* when each came, µs */
  GArray *pressed; /* when each was sent, µs; under the lock */
  GMutex lock;
} Frames;

static gboolean
tick (GtkWidget *area, GdkFrameClock *clock, gpointer data)
{
  Frames *frames = data;
  gint64 now = g_get_monotonic_time ();

  g_array_append_val (frames->frames, now);
  gtk_widget_queue_draw (area);
  return G_SOURCE_CONTINUE;
}

static void
draw (GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
  double x = (g_get_monotonic_time () / 5000) % MAX (width, 1);

  cairo_rectangle (cr, x, 0, 20, height);
  cairo_fill (cr);
}

static gboolean
key_pressed (GtkEventControllerKey *controller, guint keyval, guint keycode, GdkModifierType state, gpointer data)
{
  Frames *frames = data;
  gint64 now = g_get_monotonic_time ();

  g_array_append_val (frames->keys, now);
  return TRUE;
}

/* A millisecond of work. */
static gboolean
work (gpointer data)
{
  Frames *frames = data;
  gint64 end = g_get_monotonic_time () + 1000;

  while (g_get_monotonic_time () < end)
    ;
  frames->n_left--;
  return G_SOURCE_REMOVE;
}

static void
iterate_for (gint64 duration)
{
  gint64 end = g_get_monotonic_time () + duration;

  while (g_get_monotonic_time () < end)
    {
      if (!g_main_context_iteration (NULL, FALSE))
        g_usleep (200);
    }
}

/* On a thread of its own, as a person would. */
static gpointer
press_keys (gpointer data)
{
  Frames *frames = data;
  g_autofree char *xdotool = g_find_program_in_path ("xdotool");

  for (guint i = 0; i < N_KEYS && xdotool != NULL; i++)
    {
      const char *argv[] = { xdotool, "key", "a", NULL };
      gint64 now;

      g_usleep (150000);
      now = g_get_monotonic_time ();
      g_mutex_lock (&frames->lock);
      g_array_append_val (frames->pressed, now);
      g_mutex_unlock (&frames->lock);
      g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, NULL, NULL);
    }
  return NULL;
}

static void
start_flood (Frames *frames, guint flood)
{
  if (flood == FLOOD_NONE)
    return;

  frames->n_left = frames->n_tasks;
  for (gint i = 0; i < frames->n_tasks; i++)
    {
      if (flood < FLOOD_IDLES)
        prio_scheduler_post (frames->scheduler, (PrioTaskPriority) flood, work, frames, NULL);
      else
        g_idle_add (work, frames);
    }
}

static double
longest_key_delay (Frames *frames)
{
  gint64 longest = 0;

  for (guint i = 0; i < MIN (frames->keys->len, frames->pressed->len); i++)
    longest = MAX (longest, g_array_index (frames->keys, gint64, i) - g_array_index (frames->pressed, gint64, i));
  return longest / 1000.0;
}

/* Returns how many frames were drawn during the flood. */
static guint
measure (Frames *frames, guint flood, gboolean *lost_keys)
{
  GThread *keys;
  gint64 start, took, longest = 0, missed = 0;
  guint n_frames = 0;

  iterate_for (300000);
  g_array_set_size (frames->frames, 0);
  g_array_set_size (frames->keys, 0);
  g_array_set_size (frames->pressed, 0);

  keys = g_thread_new ("keys", press_keys, frames);
  start = g_get_monotonic_time ();
  g_array_append_val (frames->frames, start); /* as if one had just been drawn */
  start_flood (frames, flood);
  while (frames->n_left > 0)
    g_main_context_iteration (NULL, TRUE);
  if (flood == FLOOD_NONE)
    iterate_for (frames->n_tasks * G_TIME_SPAN_MILLISECOND);
  took = g_get_monotonic_time () - start;
  n_frames = frames->frames->len - 1;
  g_thread_join (keys);
  iterate_for (300000);

  for (guint i = 1; i < frames->frames->len; i++)
    {
      gint64 gap = g_array_index (frames->frames, gint64, i) - g_array_index (frames->frames, gint64, i - 1);

      longest = MAX (longest, gap);
      missed += MAX ((gap + 8333) / 16667 - 1, 0);
    }
  *lost_keys = *lost_keys || frames->keys->len != frames->pressed->len;

  g_print ("%-22s%9.0f ms%8u%8" G_GINT64_FORMAT "%11.1f ms%7u/%u%11.1f ms\n", flood_names[flood], took / 1000.0,
           n_frames, missed, longest / 1000.0, frames->keys->len, frames->pressed->len, longest_key_delay (frames));
  return n_frames;
}

static void
open_window (Frames *frames)
{
  GtkEventController *controller = gtk_event_controller_key_new ();

  frames->window = gtk_window_new ();
  frames->area = gtk_drawing_area_new ();
  gtk_window_set_default_size (GTK_WINDOW (frames->window), 600, 400);
  gtk_window_set_child (GTK_WINDOW (frames->window), frames->area);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (frames->area), draw, NULL, NULL);
  gtk_widget_add_tick_callback (frames->area, tick, frames, NULL);
  g_signal_connect (controller, "key-pressed", G_CALLBACK (key_pressed), frames);
  gtk_widget_add_controller (frames->window, controller);
  gtk_window_present (GTK_WINDOW (frames->window));
  iterate_for (500000);
  prio_scheduler_follow_frame_clock (frames->scheduler, G_OBJECT (gtk_widget_get_frame_clock (frames->area)));
}

int
main (int argc, char **argv)
{
  Frames frames = { .n_tasks = 1500 };
  guint drawn[N_FLOODS];
  gboolean failed = FALSE;
  GOptionEntry entries[] = {
    { "tasks", 0, 0, G_OPTION_ARG_INT, &frames.n_tasks, "How many tasks of 1 ms each flood has", "N" },
    { NULL }
  };
  g_autoptr (GOptionContext) options = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;

  setlocale (LC_ALL, "");
  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error) || !gtk_init_check ())
    {
      g_printerr ("%s\n", error != NULL ? error->message : "No display");
      return 2;
    }

  frames.scheduler = prio_scheduler_get_default ();
  frames.frames = g_array_new (FALSE, FALSE, sizeof (gint64));
  frames.keys = g_array_new (FALSE, FALSE, sizeof (gint64));
  frames.pressed = g_array_new (FALSE, FALSE, sizeof (gint64));
  open_window (&frames);

  g_print ("%-22s%12s%8s%8s%14s%9s%14s\n", "flood", "took", "frames", "missed", "longest gap", "keys", "slowest key");
  for (guint flood = 0; flood < N_FLOODS; flood++)
    drawn[flood] = measure (&frames, flood, &failed);
  if (failed)
    g_print ("keys were lost\n");

  for (guint flood = 0; flood < FLOOD_IDLES; flood++)
    {
      if (drawn[flood] < 5 * MAX (drawn[FLOOD_IDLES], 1))
        {
          g_print ("%s: too few frames\n", flood_names[flood]);
          failed = TRUE;
        }
    }

  gtk_window_destroy (GTK_WINDOW (frames.window));
  g_array_unref (frames.frames);
  g_array_unref (frames.keys);
  g_array_unref (frames.pressed);
  return failed ? 1 : 0;
}
