/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-stopwatch-alone.c: how often the stopwatch reads the clock, and how late it notices long tasks
 *
 * It is built twice: for this machine, and for machines without a cheap coarse clock.
 */

#include "frozen-time.h"

#ifdef WITHOUT_TICKS
#undef CLOCK_MONOTONIC_COARSE
#endif

#include "policy/prio-stopwatch-private.h"

#define TICK 4000 /* resolution of the coarse clock, µs */

/* Without a coarse clock each task is timed. */
#define UNSEEN (PRIO_CLOCK_TICKS ? TICK : 0)

static PrioStopwatch watch;

static void
start (void)
{
  frozen_time = 1000 * G_USEC_PER_SEC + 1;
  frozen_tick = TICK;
  prio_stopwatch_start (&watch, frozen_time);
}

/* Runs @n tasks one after another.  Returns how often the clock was read. */
static guint
run_short (guint n, gint64 length)
{
  guint n_read = 0;

  for (guint i = 0; i < n; i++)
    {
      frozen_time += length;
      n_read += prio_stopwatch_lap (&watch, 1) != 0;
    }
  return n_read;
}

/* Runs tasks of the greatest length, with a lap after each, until the clock is read. */
static void
run_rows (gint64 length)
{
  guint n, max;

  do
    {
      max = prio_stopwatch_allows (&watch);
      n = 0;
      do
        {
          frozen_time += length;
          n++;
        }
      while (n < max && !prio_stopwatch_is_late (&watch));
    }
  while (prio_stopwatch_lap (&watch, n) == 0);
}

static void
run_laps (gint64 length)
{
  do
    frozen_time += length;
  while (prio_stopwatch_lap (&watch, 1) == 0);
}

static void
test_long_after_short (gconstpointer in_rows)
{
  static const gint64 lengths[] = { 100, 700, 1500, 3000, 4000, 10000, 35000, G_USEC_PER_SEC };

  for (guint n = 0; n < 2000; n = n < 130 ? n + 1 : n * 2)
    {
      for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
        {
          gint64 before;

          start ();
          run_short (n, 0);
          before = frozen_time;
          (GPOINTER_TO_UINT (in_rows) ? run_rows : run_laps) (lengths[i]);
          g_assert_cmpint (frozen_time - before, <=, UNSEEN + lengths[i]);
          g_assert_cmpint (watch.read, ==, frozen_time);
        }
    }
}

/* After one long task has been noticed, each long task is noticed. */
static void
test_each_long_one (void)
{
  start ();
  run_short (1000, 1);
  run_laps (1000);
  g_assert_cmpuint (run_short (100, 1000), ==, 100);
}

static void
test_how_often (void)
{
  start ();
  if (!PRIO_CLOCK_TICKS)
    {
      g_assert_cmpuint (run_short (20000, 1), ==, 20000);
      return;
    }
  /* 20 ms: at least one read in 20 µs, and at most two. */
  g_assert_cmpuint (run_short (20000, 1), >=, 1000);
  g_assert_cmpuint (run_short (20000, 1), <=, 2000);
  /* Tasks that take no time at all. */
  g_assert_cmpuint (run_short (64000, 0), <=, 1010);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/stopwatch/alone/laps", GUINT_TO_POINTER (FALSE), test_long_after_short);
  g_test_add_data_func ("/stopwatch/alone/rows", GUINT_TO_POINTER (TRUE), test_long_after_short);
  g_test_add_func ("/stopwatch/alone/each-long-one", test_each_long_one);
  g_test_add_func ("/stopwatch/alone/how-often", test_how_often);

  return g_test_run ();
}
