/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* responsiveness.c: measures how long work waits for other work, compared with GLib's idle sources
 *
 *   responsiveness
 */

#include <locale.h>
#include <prio-sched.h>
#include <stdlib.h>

#define US G_GINT64_FORMAT

static PrioScheduler *scheduler;

/* The ways to make a flood. */
typedef enum
{
  BACKGROUND,
  USER_VISIBLE,
  USER_BLOCKING,
  IDLES, /* g_idle_add_full (G_PRIORITY_DEFAULT_IDLE) */
  N_FLOODS
} FloodKind;

static const char *const flood_names[N_FLOODS] = { "background", "user-visible", "user-blocking", "g_idle_add_full" };

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

static void
print_times (const char *what, const char *during, GArray *times)
{
  g_array_sort (times, compare_times);
  g_print ("%-32s%-18s%8u%12" US "%12" US "%12" US " µs\n", what, during, times->len,
           g_array_index (times, gint64, times->len / 2), g_array_index (times, gint64, (times->len - 1) * 99 / 100),
           g_array_index (times, gint64, times->len - 1));
}

static void
spin_for (gint64 duration)
{
  gint64 end = g_get_monotonic_time () + duration;

  while (g_get_monotonic_time () < end)
    ;
}

/* A flood of tasks, each of which takes @each. */
typedef struct
{
  FloodKind kind;
  gint64 each; /* µs */
  guint n_left;
  GArray *waits;  /* waits of the urgent tasks posted meanwhile */
  guint every;    /* after how many tasks one is posted; 0 for never */
  guint n_urgent; /* not begun yet */
} Flood;

typedef struct
{
  Flood *flood;
  gint64 posted;
} Urgent;

static gboolean
run_urgent (gpointer data)
{
  Urgent *urgent = data;
  gint64 wait = g_get_monotonic_time () - urgent->posted;

  g_array_append_val (urgent->flood->waits, wait);
  urgent->flood->n_urgent--;
  return G_SOURCE_REMOVE;
}

static void
post_urgent (Flood *flood)
{
  Urgent *urgent = g_new (Urgent, 1);

  urgent->flood = flood;
  urgent->posted = g_get_monotonic_time ();
  flood->n_urgent++;
  if (flood->kind == IDLES)
    g_idle_add_full (G_PRIORITY_HIGH, run_urgent, urgent, g_free);
  else
    prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_BLOCKING, run_urgent, urgent, g_free);
}

static gboolean
run_flood (gpointer data)
{
  Flood *flood = data;

  if (flood->each > 0)
    spin_for (flood->each);
  flood->n_left--;
  if (flood->every > 0 && flood->n_left % flood->every == 0)
    post_urgent (flood);
  return G_SOURCE_REMOVE;
}

static PrioTaskPriority
priority_of (FloodKind kind)
{
  return (PrioTaskPriority) (PRIO_TASK_PRIORITY_BACKGROUND + kind);
}

static void
start_flood (Flood *flood)
{
  for (guint i = 0, n = flood->n_left; i < n; i++)
    {
      if (flood->kind == IDLES)
        g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, run_flood, flood, NULL);
      else
        prio_scheduler_post (scheduler, priority_of (flood->kind), run_flood, flood, NULL);
    }
}

/* Returns how long the flood took, µs. */
static gint64
finish_flood (Flood *flood)
{
  gint64 start = g_get_monotonic_time ();

  while (flood->n_left > 0 || flood->n_urgent > 0)
    g_main_context_iteration (NULL, TRUE);
  return g_get_monotonic_time () - start;
}

static void
measure_start_latency (FloodKind kind)
{
  Flood flood = { .kind = kind, .each = 50, .n_left = 10000, .every = 50 };

  flood.waits = g_array_new (FALSE, FALSE, sizeof (gint64));
  start_flood (&flood);
  finish_flood (&flood);
  print_times ("start of an urgent task", flood_names[kind], flood.waits);
  g_array_unref (flood.waits);
}

/* A timer of 60 Hz, and its lateness. */
typedef struct
{
  GArray *delays;
  gint64 due;
} Timer;

static gboolean
timer_fired (gpointer data)
{
  Timer *timer = data;
  gint64 now = g_get_monotonic_time ();
  gint64 delay = MAX (now - timer->due, 0);

  g_array_append_val (timer->delays, delay);
  timer->due = now + 16000;
  return G_SOURCE_CONTINUE;
}

static void
measure_timer (FloodKind kind)
{
  Flood flood = { .kind = kind, .each = 1000, .n_left = 1000 };
  Timer timer = { g_array_new (FALSE, FALSE, sizeof (gint64)), g_get_monotonic_time () + 16000 };
  guint id = g_timeout_add_full (G_PRIORITY_DEFAULT, 16, timer_fired, &timer, NULL);

  start_flood (&flood);
  finish_flood (&flood);
  while (timer.delays->len == 0)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (id);
  print_times ("delay of a 60 Hz timer", flood_names[kind], timer.delays);
  g_array_unref (timer.delays);
}

/* A source that is always ready, and its share of time. */
typedef struct
{
  gint64 time; /* time that it has had, µs */
  gboolean stop;
} Rival;

static gboolean
run_rival (gpointer data)
{
  Rival *rival = data;

  spin_for (100);
  rival->time += 100;
  return rival->stop ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

static void
measure_share (FloodKind kind, gint rival_priority, const char *rival_name)
{
  Flood flood = { .kind = kind, .each = 100, .n_left = 1000000 };
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (priority_of (kind));
  Rival rival = { 0, FALSE };
  gint64 end = g_get_monotonic_time () + 300000;
  guint n_posted = 10000;

  flood.n_left = n_posted;
  for (guint i = 0; i < n_posted; i++)
    prio_scheduler_post_full (scheduler,
                              &(PrioTaskOptions) {
                                .signal = prio_task_controller_get_signal (controller),
                              },
                              run_flood, &flood, NULL);
  g_idle_add_full (rival_priority, run_rival, &rival, NULL);
  while (g_get_monotonic_time () < end)
    g_main_context_iteration (NULL, TRUE);
  rival.stop = TRUE;
  prio_task_controller_abort (controller, NULL);
  while (g_main_context_iteration (NULL, FALSE))
    ;

  g_print ("%-32s%-18s tasks %4.0f %%, the source %4.0f %%\n", rival_name, flood_names[kind],
           (n_posted - flood.n_left) * 100 / 3000.0, rival.time / 3000.0);
}

static void
measure_throughput (FloodKind kind, gint64 each, guint n)
{
  Flood flood = { .kind = kind, .each = each, .n_left = n };
  gint64 took, bare = g_get_monotonic_time ();

  for (guint i = 0; i < n; i++)
    run_flood (&flood);
  bare = MAX (g_get_monotonic_time () - bare, 1);

  flood.n_left = n;
  took = g_get_monotonic_time ();
  start_flood (&flood);
  finish_flood (&flood);
  took = g_get_monotonic_time () - took;
  g_print ("%2" US " µs each %-21s%-18s%8.1f %% of a bare loop's, %6.0f ns each\n", each, "", flood_names[kind],
           bare * 100.0 / took, took * 1000.0 / n);
}

int
main (void)
{
  setlocale (LC_ALL, "");
  scheduler = prio_scheduler_get_default ();

  g_print ("%-32s%-18s%8s%12s%12s%12s\n", "Waits", "during a flood of", "", "median", "p99", "longest");
  measure_start_latency (BACKGROUND);
  measure_start_latency (IDLES);
  for (FloodKind kind = 0; kind < N_FLOODS; kind++)
    measure_timer (kind);

  g_print ("\nShares of the time, beside a source that is always ready\n");
  for (FloodKind kind = 0; kind < IDLES; kind++)
    measure_share (kind, G_PRIORITY_DEFAULT, "at G_PRIORITY_DEFAULT");
  for (FloodKind kind = 0; kind < IDLES; kind++)
    measure_share (kind, G_PRIORITY_DEFAULT_IDLE, "at G_PRIORITY_DEFAULT_IDLE");
  for (FloodKind kind = 0; kind < IDLES; kind++)
    measure_share (kind, G_PRIORITY_LOW + 100, "at G_PRIORITY_LOW + 100");

  g_print ("\nThroughput\n");
  for (FloodKind kind = 0; kind < N_FLOODS; kind++)
    measure_throughput (kind, 50, 20000);
  for (FloodKind kind = 0; kind < N_FLOODS; kind++)
    measure_throughput (kind, 0, 100000);
  return 0;
}
