/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames.c: checks that a GTK 4 window draws no fewer frames if a program uses the library
 *
 *   frames [--seconds S] [--rate HZ] [--beside alone|handler|redraw]… [--step MS]… [--priority NAME]…
 *          [--no-follow] [--tries N] [--keys]
 *
 * A window is animated while a flood of tasks of each priority runs, and, in the same run, while the peer runs: one
 * g_idle_add() source that never ends.  Both do steps of the same length, alone, beside a handler of 6 ms every 8 ms,
 * and beside a text and a list that change all the time.  Prints how many frames were drawn, missed and possible, and
 * how much work was done.
 *
 * A row fails if fewer than nine tenths of the peer's frames were drawn, or if as many were drawn but less than nine
 * tenths of its work was done.  As the machine may be at fault, such a row is printed, and measured again, in turn with
 * its peer, before it counts.
 *
 * check-frames.py runs this at several rates.
 */

#include <gtk/gtk.h>
#include <locale.h>
#include <prio-sched.h>

#define N_TASKS 10 /* in a flood */
#define N_KEYS 5

#define LEAST 0.9  /* share of the peer's frames and work */
#define EQUAL 0.03 /* difference between numbers of frames that count as equal */

#define SETTLING (100 * G_TIME_SPAN_MILLISECOND)

/* The first three floods are named by their priorities. */
typedef enum { FLOOD_IDLE = 3, FLOOD_NOTHING, N_FLOODS } Flood;
static const char *const flood_names[N_FLOODS] = {
  "background", "user-visible", "user-blocking", "g_idle_add", "nothing"
};

typedef enum { BESIDE_NOTHING, BESIDE_HANDLER, BESIDE_REDRAW, N_BESIDES } Beside;
static const char *const beside_names[N_BESIDES] = { "alone", "handler", "redraw" };

/* The load beside the flood. */
#define HANDLER_PERIOD 8 /* ms */
#define HANDLER_LENGTH 6000
#define CHANGE_PERIOD 4 /* ms */
#define MAX_LINES 300
#define N_ROWS 200
#define N_CHANGES 3 /* rows at once */

typedef struct
{
  guint n_frames, n_steps;
  gint64 longest; /* gap between two frames, µs */
  double possible, seconds;
} Outcome;

typedef struct
{
  GtkWidget *window, *area, *contents;
  GtkTextBuffer *text;
  GtkStringList *rows;
  guint n_changes; /* changes of the text and the list */

  PrioScheduler *scheduler;
  double rate; /* rate of the display, Hz */
  double seconds;
  gint n_tries;

  gint64 step; /* µs */
  gboolean flooding;
  guint n_running; /* tasks */
  Outcome now;
  gint64 last; /* frame, µs */

  guint n_keys;
} Frames;

static void
work_for (gint64 duration)
{
  gint64 end = g_get_monotonic_time () + duration;

  while (g_get_monotonic_time () < end)
    ;
}

/* The window */

static void
drawn (GdkFrameClock *clock, gpointer data)
{
  Frames *frames = data;
  gint64 now = g_get_monotonic_time ();

  frames->now.n_frames++;
  frames->now.longest = MAX (frames->now.longest, now - frames->last);
  frames->last = now;
}

static gboolean
tick (GtkWidget *area, GdkFrameClock *clock, gpointer data)
{
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
  ((Frames *) data)->n_keys++;
  return TRUE;
}

static void
set_up_row (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  gtk_list_item_set_child (item, gtk_label_new (NULL));
}

static void
bind_row (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  gtk_label_set_text (GTK_LABEL (gtk_list_item_get_child (item)),
                      gtk_string_object_get_string (gtk_list_item_get_item (item)));
}

static GtkWidget *
scrolled (GtkWidget *child)
{
  GtkWidget *window = gtk_scrolled_window_new ();

  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (window), child);
  gtk_widget_set_hexpand (window, TRUE);
  return window;
}

/* Makes a text and a list. */
static GtkWidget *
contents_new (Frames *frames)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *text = gtk_text_view_new ();
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  frames->text = gtk_text_view_get_buffer (GTK_TEXT_VIEW (text));
  gtk_text_view_set_wrap_mode (GTK_TEXT_VIEW (text), GTK_WRAP_WORD);
  gtk_box_append (GTK_BOX (box), scrolled (text));

  frames->rows = gtk_string_list_new (NULL);
  for (guint i = 0; i < N_ROWS; i++)
    gtk_string_list_append (frames->rows, "row");
  g_signal_connect (factory, "setup", G_CALLBACK (set_up_row), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_row), NULL);
  gtk_box_append (GTK_BOX (box), scrolled (gtk_list_view_new (
                    GTK_SELECTION_MODEL (gtk_no_selection_new (G_LIST_MODEL (frames->rows))), factory)));
  return box;
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

/* Opens a window.  Returns FALSE if it was not shown. */
static gboolean
open_window (Frames *frames, gboolean follow)
{
  GtkEventController *controller = gtk_event_controller_key_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GdkFrameClock *clock;

  frames->window = gtk_window_new ();
  frames->area = gtk_drawing_area_new ();
  frames->contents = contents_new (frames);
  gtk_widget_set_visible (frames->contents, FALSE);
  gtk_widget_set_vexpand (frames->contents, TRUE);
  gtk_widget_set_size_request (frames->area, 400, 40);
  gtk_box_append (GTK_BOX (box), frames->area);
  gtk_box_append (GTK_BOX (box), frames->contents);
  gtk_window_set_default_size (GTK_WINDOW (frames->window), 600, 400);
  gtk_window_set_child (GTK_WINDOW (frames->window), box);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (frames->area), draw, NULL, NULL);
  gtk_widget_add_tick_callback (frames->area, tick, frames, NULL);
  g_signal_connect (controller, "key-pressed", G_CALLBACK (key_pressed), frames);
  gtk_widget_add_controller (frames->window, controller);
  gtk_window_present (GTK_WINDOW (frames->window));

  clock = gtk_widget_get_frame_clock (frames->area);
  g_signal_connect (clock, "after-paint", G_CALLBACK (drawn), frames);
  if (!follow)
    prio_scheduler_unfollow_frame_clock (frames->scheduler, G_OBJECT (clock));
  for (guint i = 0; i < 50 && frames->now.n_frames < 10; i++)
    iterate_for (SETTLING);
  return frames->now.n_frames >= 10;
}

/* The load beside the flood */

static gboolean
handle (gpointer data)
{
  work_for (HANDLER_LENGTH);
  return G_SOURCE_CONTINUE;
}

static gboolean
change (gpointer data)
{
  Frames *frames = data;
  GtkTextIter start, end;
  gint n_lines = gtk_text_buffer_get_line_count (frames->text);

  gtk_text_buffer_get_end_iter (frames->text, &end);
  gtk_text_buffer_insert (frames->text, &end, "A line at the end of a text is wrapped, measured and drawn, "
                                              "in a frame or before it.\n", -1);
  if (n_lines > MAX_LINES)
    {
      gtk_text_buffer_get_start_iter (frames->text, &start);
      gtk_text_buffer_get_iter_at_line (frames->text, &end, n_lines - MAX_LINES);
      gtk_text_buffer_delete (frames->text, &start, &end);
    }

  for (guint i = 0; i < N_CHANGES; i++)
    {
      g_autofree char *name = g_strdup_printf ("row %u", ++frames->n_changes);
      const char *names[] = { name, NULL };

      gtk_string_list_splice (frames->rows, frames->n_changes % (N_ROWS / 10), 1, names);
    }
  return G_SOURCE_CONTINUE;
}

static guint
start_beside (Frames *frames, Beside beside)
{
  switch (beside)
    {
    case BESIDE_HANDLER:
      return g_timeout_add (HANDLER_PERIOD, handle, NULL);
    case BESIDE_REDRAW:
      return g_timeout_add (CHANGE_PERIOD, change, frames);
    default:
      return 0;
    }
}

/* The flood */

static gboolean
step (gpointer data)
{
  Frames *frames = data;

  if (frames->flooding)
    {
      work_for (frames->step);
      frames->now.n_steps++;
      return G_SOURCE_CONTINUE;
    }
  frames->n_running--;
  return G_SOURCE_REMOVE;
}

/* A task of a flood.  Half of the tasks continue themselves, and the others are posted anew. */
typedef struct
{
  Frames *frames;
  PrioTaskPriority priority;
} Reposted;

static gboolean
step_anew (gpointer data)
{
  Reposted *reposted = data;

  if (step (reposted->frames) == G_SOURCE_CONTINUE)
    prio_scheduler_post (reposted->frames->scheduler, reposted->priority, step_anew, reposted, NULL);
  else
    g_free (reposted);
  return G_SOURCE_REMOVE;
}

/* Returns the priority of the tasks of @flood, which are named in the order of their priorities. */
static PrioTaskPriority
priority_of (Flood flood)
{
  return (PrioTaskPriority) (PRIO_TASK_PRIORITY_BACKGROUND + flood);
}

static void
start_flood (Frames *frames, Flood flood)
{
  frames->flooding = TRUE;
  frames->n_running = flood == FLOOD_NOTHING ? 0 : flood == FLOOD_IDLE ? 1 : N_TASKS;
  if (flood == FLOOD_IDLE)
    g_idle_add (step, frames);
  for (guint i = 0; flood < FLOOD_IDLE && i < N_TASKS; i++)
    {
      Reposted *reposted;

      if (i % 2 == 0)
        {
          prio_scheduler_post (frames->scheduler, priority_of (flood), step, frames, NULL);
          continue;
        }
      reposted = g_new (Reposted, 1);
      *reposted = (Reposted) { frames, priority_of (flood) };
      prio_scheduler_post (frames->scheduler, priority_of (flood), step_anew, reposted, NULL);
    }
}

static gboolean
end (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

static Outcome
measure (Frames *frames, Beside beside, gint64 length, Flood flood)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  guint source;
  gint64 start;
  Outcome outcome;

  gtk_widget_set_visible (frames->contents, beside == BESIDE_REDRAW);
  source = start_beside (frames, beside);
  iterate_for (SETTLING);

  frames->step = length;
  frames->now = (Outcome) { 0 };
  frames->last = start = g_get_monotonic_time ();
  g_timeout_add_full (G_PRIORITY_HIGH * 2, (guint) (frames->seconds * 1000), end, loop, NULL);
  start_flood (frames, flood);
  g_main_loop_run (loop);
  outcome = frames->now;
  outcome.longest = MAX (outcome.longest, g_get_monotonic_time () - frames->last);
  outcome.seconds = (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  outcome.possible = outcome.seconds * frames->rate;

  frames->flooding = FALSE;
  if (source != 0)
    g_source_remove (source);
  while (frames->n_running > 0)
    g_main_context_iteration (NULL, TRUE);
  return outcome;
}

/* The table */

static void
print_header (void)
{
  g_print ("%7s  %-8s%8s  %-14s%8s%8s%10s%9s%13s%10s%8s\n", "display", "beside", "step", "flood", "frames", "missed",
           "possible", "of peer", "longest gap", "work", "of peer");
}

static double
share (double part, double whole)
{
  return whole > 0 ? part / whole : 1;
}

static void
print_row (Frames *frames, Beside beside, gint64 length, Flood flood, const Outcome *outcome, const Outcome *peer,
           const char *verdict)
{
  double work = (double) outcome->n_steps * (double) length / G_USEC_PER_SEC / outcome->seconds;
  g_autofree char *step_text = length > 0 ? g_strdup_printf ("%.1f ms", (double) length / 1000) : g_strdup ("");
  double longest = (double) outcome->longest / 1000;

  g_print ("%4.0f Hz  %-8s%8s  %-14s%8u%8.0f%10.0f", frames->rate, beside_names[beside], step_text, flood_names[flood],
           outcome->n_frames, MAX (outcome->possible - outcome->n_frames, 0), outcome->possible);
  if (peer == NULL)
    g_print ("%9s%10.1f ms%8.1f %%%8s", "", longest, 100 * work, "");
  else
    g_print ("%7.0f %%%10.1f ms%8.1f %%%6.0f %%", 100 * share (outcome->n_frames, peer->n_frames), longest, 100 * work,
             100 * share (outcome->n_steps, peer->n_steps));
  g_print ("%s\n", verdict);
}

/* Returns the fault of @outcome, or NULL. */
static const char *
find_fault (const Outcome *outcome, const Outcome *peer)
{
  double of_frames = share (outcome->n_frames / outcome->seconds, peer->n_frames / peer->seconds);

  if (of_frames < LEAST && peer->n_frames > outcome->n_frames + 2)
    return "  FEWER FRAMES";
  if (ABS (of_frames - 1) <= EQUAL &&
      share (outcome->n_steps / outcome->seconds, peer->n_steps / peer->seconds) < LEAST &&
      peer->n_steps > outcome->n_steps + 2)
    return "  LESS WORK";
  return NULL;
}

static void
add_outcome (Outcome *sum, const Outcome *outcome)
{
  sum->n_frames += outcome->n_frames;
  sum->n_steps += outcome->n_steps;
  sum->longest = MAX (sum->longest, outcome->longest);
  sum->possible += outcome->possible;
  sum->seconds += outcome->seconds;
}

/* Prints a row that fails, and measures it and its peer again, twice as often, as long as it fails and tries are left.
 * The row and its peer take turns, so that other load of the machine affects both, and their sums are compared.
 * Returns whether the row passes. */
static gboolean
check_row (Frames *frames, Beside beside, gint64 length, Flood flood, Outcome peer)
{
  Outcome outcome = measure (frames, beside, length, flood);
  const char *fault = find_fault (&outcome, &peer);

  for (gint i = 1; i < frames->n_tries && fault != NULL; i++)
    {
      print_row (frames, beside, length, flood, &outcome, &peer, fault);
      peer = outcome = (Outcome) { 0 };
      for (gint round = 0; round < 1 << i; round++)
        {
          Outcome once = measure (frames, beside, length, FLOOD_IDLE);

          add_outcome (&peer, &once);
          once = measure (frames, beside, length, flood);
          add_outcome (&outcome, &once);
        }
      fault = find_fault (&outcome, &peer);
    }
  print_row (frames, beside, length, flood, &outcome, &peer, fault != NULL ? fault : "");
  return fault == NULL;
}

/* Keys */

/* Presses keys from a separate thread, as a person would. */
static gpointer
press_keys (gpointer xdotool)
{
  const char *argv[] = { xdotool, "key", "a", NULL };

  for (guint i = 0; i < N_KEYS; i++)
    {
      g_usleep (50000);
      g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, NULL, NULL);
    }
  return NULL;
}

/* Checks that no key is lost under a flood, if keys can be pressed. */
static gboolean
check_keys (Frames *frames)
{
  g_autofree char *xdotool = g_find_program_in_path ("xdotool");
  gboolean kept = TRUE;

  for (guint flood = 0; flood < FLOOD_IDLE && xdotool != NULL; flood++)
    {
      GThread *thread = g_thread_new ("keys", press_keys, xdotool);

      frames->n_keys = 0;
      measure (frames, BESIDE_NOTHING, G_TIME_SPAN_MILLISECOND, (Flood) flood);
      g_thread_join (thread);
      iterate_for (SETTLING);
      g_print ("%u of %u keys came under a %s flood\n", frames->n_keys, N_KEYS, flood_names[flood]);
      kept = kept && frames->n_keys == N_KEYS;
    }
  return kept;
}

/* Which rows */

static gboolean
is_chosen (char **chosen, const char *name)
{
  return chosen == NULL || g_strv_contains ((const char *const *) chosen, name);
}

static gboolean
check_rows (Frames *frames, char **besides, char **steps, char **floods)
{
  static const char *const all_steps[] = { "0.1", "1", "20", NULL };
  const char *const *lengths = steps != NULL ? (const char *const *) steps : all_steps;
  gboolean passed = TRUE;

  print_header ();
  for (guint beside = 0; beside < N_BESIDES; beside++)
    {
      if (!is_chosen (besides, beside_names[beside]))
        continue;

      if (is_chosen (floods, flood_names[FLOOD_NOTHING]))
        {
          Outcome outcome = measure (frames, (Beside) beside, 0, FLOOD_NOTHING);

          print_row (frames, (Beside) beside, 0, FLOOD_NOTHING, &outcome, NULL, "");
        }
      for (guint i = 0; lengths[i] != NULL; i++)
        {
          gint64 length = (gint64) (g_ascii_strtod (lengths[i], NULL) * 1000);
          Outcome peer = measure (frames, (Beside) beside, length, FLOOD_IDLE);

          print_row (frames, (Beside) beside, length, FLOOD_IDLE, &peer, NULL, "");
          for (guint flood = 0; flood < FLOOD_IDLE; flood++)
            {
              if (is_chosen (floods, flood_names[flood]))
                passed = check_row (frames, (Beside) beside, length, (Flood) flood, peer) && passed;
            }
        }
    }
  return passed;
}

int
main (int argc, char **argv)
{
  Frames frames = { .rate = 60, .seconds = 1, .n_tries = 4 };
  g_auto (GStrv) besides = NULL, steps = NULL, priorities = NULL;
  gboolean follow = TRUE, keys = FALSE, passed;
  GOptionEntry entries[] = {
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &frames.seconds, "How long each row is measured (1)", "S" },
    { "rate", 0, 0, G_OPTION_ARG_DOUBLE, &frames.rate, "The display's (60)", "HZ" },
    { "beside", 0, 0, G_OPTION_ARG_STRING_ARRAY, &besides, "alone, handler or redraw (all)", "NAME" },
    { "step", 0, 0, G_OPTION_ARG_STRING_ARRAY, &steps, "How long a task is (0.1, 1 and 20)", "MS" },
    { "priority", 0, 0, G_OPTION_ARG_STRING_ARRAY, &priorities, "A task's, or nothing (all)", "NAME" },
    { "follow", 0, 0, G_OPTION_ARG_NONE, &follow, "Let the window's frame clock be followed (as it is)", NULL },
    { "no-follow", 0, G_OPTION_FLAG_REVERSE, G_OPTION_ARG_NONE, &follow, "Do not", NULL },
    { "tries", 0, 0, G_OPTION_ARG_INT, &frames.n_tries, "How often a row may fail (4)", "N" },
    { "keys", 0, 0, G_OPTION_ARG_NONE, &keys, "Press keys with xdotool, and measure nothing", NULL },
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
  if (!open_window (&frames, follow))
    {
      g_printerr ("No frames are drawn\n");
      return 2;
    }

  passed = keys ? check_keys (&frames) : check_rows (&frames, besides, steps, priorities);
  gtk_window_destroy (GTK_WINDOW (frames.window));
  return passed ? 0 : 1;
}
