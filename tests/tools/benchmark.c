/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* benchmark.c: compares the cost of operations with GLib's equivalents
 *
 *   benchmark [--json] [--rounds N] [NAME…]
 *
 * The library and its peer run alternately in the same process; the medians of the rounds count.  The ratio is how many
 * times cheaper the library is.
 */

#include "benchmark.h"

#include <locale.h>
#include <malloc.h>
#include <stdlib.h>

/* Returns the time in ns: g_get_monotonic_time () counts microseconds only. */
double
bench_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median (double *values, guint n)
{
  qsort (values, n, sizeof *values, compare_doubles);
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static gboolean
is_wanted (const char *name, char **wanted)
{
  if (wanted == NULL)
    return TRUE;

  for (; *wanted != NULL; wanted++)
    {
      if (strstr (name, *wanted) != NULL)
        return TRUE;
    }
  return FALSE;
}

static void
run_row (const BenchRow *row, guint rounds, gboolean json, gboolean *first)
{
  g_autofree double *ours = g_new (double, rounds);
  g_autofree double *peer = g_new (double, rounds);
  double our_median, peer_median, ratio;

  /* Once to warm up. */
  row->ours ();
  row->peer ();

  for (guint i = 0; i < rounds; i++)
    {
      ours[i] = row->ours ();
      peer[i] = row->peer ();
    }

  our_median = median (ours, rounds);
  peer_median = median (peer, rounds);
  ratio = peer_median / MAX (our_median, 0.01);

  if (json)
    g_print ("%s\n  {\"name\": \"%s\", \"ours\": %.2f, \"peer\": %.2f, \"unit\": \"%s\", \"ratio\": %.2f}",
             *first ? "[" : ",", row->name, our_median, peer_median, row->unit, ratio);
  else
    g_print ("%-58s %12.1f %14.1f  %-5s %9.2f ×   %s\n", row->name, our_median, peer_median, row->unit,
             ratio, row->goal);
  *first = FALSE;
}

int
main (int argc, char **argv)
{
  gboolean json = FALSE, first = TRUE;
  int rounds = 7;
  g_auto (GStrv) wanted = NULL;
  g_autoptr (GError) error = NULL;
  GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print an array of {name, ours, peer, unit, ratio}", NULL },
    { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "How often to run each", "N" },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &wanted, NULL, "[NAME…]" },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);

  setlocale (LC_ALL, "");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || rounds < 1)
    {
      g_printerr ("%s\n", error != NULL ? error->message : "--rounds takes a number above 0");
      return 2;
    }

  /* Freed memory stays in the process, so that no row pays for the kernel's pages: the peers gain most. */
  mallopt (M_TRIM_THRESHOLD, G_MAXINT);
  mallopt (M_MMAP_THRESHOLD, 1 << 30);

  if (!json)
    g_print ("%-58s %12s %14s\n", "", "ours", "peer");

  for (guint i = 0; i < bench_n_rows; i++)
    {
      if (is_wanted (bench_rows[i].name, wanted))
        run_row (&bench_rows[i], (guint) rounds, json, &first);
    }

  if (json)
    g_print ("%s\n]\n", first ? "[" : "");
  return 0;
}
