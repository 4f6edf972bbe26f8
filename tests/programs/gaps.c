/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gaps.c: the gaps between the frames of a GTK 4 window beside one job, which is posted, taken in steps, or a loop
 *
 *   gaps [--seconds S] [--rounds N] [--rate HZ]
 *
 * The items of the job are a microsecond long.  Each of the three ways has its turn in each round, so that other load of the machine
 * affects all of them.  Prints the 90th percentile of the gaps, and how many items were done.  Steps, and a loop over
 * prio_scheduler_should_yield (), are to be within 1.5 ms of posts.
 *
 * Fails if one of them draws no frame, or does no item: people judge the lengths of the gaps, on an idle machine.
 *
 * check-frames.py runs this at several rates.
 */

#include <gtk/gtk.h>
#include <prio-sched.h>

#define ITEM 1         /* µs */
#define N_POSTED 100   /* at a time */
#define SETTLING 100   /* ms */

typedef enum { POSTS, STEPS, LOOP, N_WAYS } Way;
static const char *const names[N_WAYS] = { "posts", "steps", "loop" };

static PrioScheduler *scheduler;
static gboolean is_working;
static guint n_running; /* tasks */
static guint64 n_items[N_WAYS];
static GArray *gaps[N_WAYS]; /* µs */
static Way way;
static gint64 last; /* last frame, µs; 0 if there was none */

static void
drawn (GdkFrameClock *clock G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  gint64 now = g_get_monotonic_time (), gap = now - last;

  if (last != 0)
    g_array_append_val (gaps[way], gap);
  last = now;
}

static gboolean
tick (GtkWidget *area, GdkFrameClock *clock G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  gtk_widget_queue_draw (area);
  return G_SOURCE_CONTINUE;
}

/* A frame without changes would not be shown, and not be waited for. */
static void
draw (GtkDrawingArea *area G_GNUC_UNUSED, cairo_t *cr, int width, int height, gpointer data G_GNUC_UNUSED)
{
  double x = (g_get_monotonic_time () / 5000) % MAX (width, 1);

  cairo_rectangle (cr, x, 0, 20, height);
  cairo_fill (cr);
}

static void
do_item (void)
{
  gint64 end = g_get_monotonic_time () + ITEM;

  while (g_get_monotonic_time () < end)
    ;
  n_items[way]++;
}

static gboolean
post (gpointer data G_GNUC_UNUSED)
{
  do_item ();
  if (is_working)
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, post, NULL, NULL);
  else
    n_running--;
  return G_SOURCE_REMOVE;
}

static gboolean
step (PrioTask *task G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  do_item ();
  n_running -= !is_working;
  return is_working;
}

static gboolean
loop (gpointer data G_GNUC_UNUSED)
{
  do
    do_item ();
  while (!prio_scheduler_should_yield (scheduler));
  n_running -= !is_working;
  return is_working;
}

static void
start (void)
{
  is_working = TRUE;
  n_running = way == POSTS ? N_POSTED : 1;
  for (guint i = 0; way == POSTS && i < N_POSTED; i++)
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, post, NULL, NULL);
  if (way == STEPS)
    g_object_unref (prio_scheduler_post_steps (scheduler, NULL, step, NULL, NULL));
  if (way == LOOP)
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, loop, NULL, NULL);
}

static gboolean
end (gpointer data)
{
  *(gboolean *) data = TRUE;
  return G_SOURCE_REMOVE;
}

static void
iterate_for (guint ms)
{
  gboolean is_over = FALSE;

  g_timeout_add_full (G_PRIORITY_HIGH * 2, ms, end, &is_over, NULL);
  while (!is_over)
    g_main_context_iteration (NULL, TRUE);
}

static void
measure (double seconds)
{
  last = 0;
  start ();
  iterate_for ((guint) (seconds * 1000));
  is_working = FALSE;
  while (n_running > 0)
    g_main_context_iteration (NULL, TRUE);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  gint64 one = *(const gint64 *) a, other = *(const gint64 *) b;

  return (one > other) - (one < other);
}

/* Returns a gap in ms.  A @share of all gaps is shorter. */
static double
gap_at (GArray *all, double share)
{
  return (double) g_array_index (all, gint64, (guint) ((all->len - 1) * share)) / 1000;
}

/* Prints a row.  Returns whether there is anything to print. */
static gboolean
print_row (double rate, double seconds)
{
  GArray *all = gaps[way];

  if (all->len == 0 || n_items[way] == 0)
    {
      g_print ("%4.0f Hz  %-8s nothing\n", rate, names[way]);
      return FALSE;
    }
  g_array_sort (all, compare);
  g_print ("%4.0f Hz  %-8s%8u%10.1f%10.1f%10.1f%12.0f\n", rate, names[way], all->len, gap_at (all, 0.5), gap_at (all, 0.9),
           gap_at (all, 1), (double) n_items[way] / seconds / 1000);
  return TRUE;
}

static void
open_window (void)
{
  GtkWidget *window = gtk_window_new (), *area = gtk_drawing_area_new ();

  gtk_window_set_default_size (GTK_WINDOW (window), 400, 200);
  gtk_window_set_child (GTK_WINDOW (window), area);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), draw, NULL, NULL);
  gtk_widget_add_tick_callback (area, tick, NULL, NULL);
  gtk_window_present (GTK_WINDOW (window));
  g_signal_connect (gtk_widget_get_frame_clock (area), "before-paint", G_CALLBACK (drawn), NULL);
  iterate_for (5 * SETTLING);
}

int
main (int argc, char **argv)
{
  double rate = 60, seconds = 1;
  gint n_rounds = 3;
  gboolean passed = TRUE;
  GOptionEntry entries[] = {
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds, "How long each way is measured in a round (1)", "S" },
    { "rounds", 0, 0, G_OPTION_ARG_INT, &n_rounds, "How often (3)", "N" },
    { "rate", 0, 0, G_OPTION_ARG_DOUBLE, &rate, "The display's (60)", "HZ" },
    { NULL }
  };
  g_autoptr (GOptionContext) options = g_option_context_new (NULL);

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, NULL) || !gtk_init_check ())
    return 2;
  scheduler = prio_scheduler_get_default ();
  for (guint i = 0; i < N_WAYS; i++)
    gaps[i] = g_array_new (FALSE, FALSE, sizeof (gint64));
  open_window ();
  for (gint round = 0; round < n_rounds; round++)
    {
      for (way = POSTS; way < N_WAYS; way++)
        measure (seconds);
    }

  g_print ("display  way         gaps    median      90 %%       max    items/ms\n");
  for (way = POSTS; way < N_WAYS; way++)
    passed = print_row (rate, seconds * n_rounds) && passed;
  return passed ? 0 : 1;
}
