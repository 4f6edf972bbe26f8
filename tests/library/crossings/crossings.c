/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crossings.c: random programs in which all mechanisms of the library meet
 *
 *   crossings [--programs N] [--seed N] [--free N] [--times N] [--without MECHANISM,…] [--acts N] [--table] [--reduce]
 *
 * Each program turns on some of the mechanisms, or all, switches them on and off meanwhile, and uses them in functions, handlers and
 * destroy notifies, in nested main loops, and on other threads.  A seed makes the same program each time, if its other thread waits for
 * this one; in free programs threads do not wait.
 *
 * It does not check the order of tasks, but rules that hold in any order: a function is called only before its destroy notify,
 * which is called once, and by the right thread; a task has one result, which its operations allow; an aborted task does not run; a
 * deferred task ends at an abort only with return-on-abort; keys that came during a slow callback are dispatched before tasks;
 * statistics, the trace and an observer report each run; slices and arrows of the trace match; all work ends, even if the aborting code
 * holds a lock that handlers and notifies take; the loop asks a feed for rows of its window only, one task each, and for all rows in
 * view in the end; lists that others make of a fed list follow each change; and no object is left.
 *
 * In each run every two mechanisms have to meet: one starts, or is used, while the other is on, waits or runs.  --table prints how often
 * they have met.  If a program fails, its seed is printed; --seed N repeats it, and --reduce removes mechanisms that the failure does
 * not need.
 *
 * By default the first seed is always the same, and only N_FREE of the programs are free: each landing runs the same programs.  With
 * --seed, or PRIO_SCHED_THOROUGH in the environment, the seed differs, and a third of the programs are free.
 */

#include "crossings.h"
#include "tsan-suppressions.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* s; longer than any program takes */
#define PATIENCE 60

/* operations of a program outside of all functions */
#define N_ACTS 40

/* The first program, and the number of free programs, by default. */
#define FIRST_SEED 1
#define N_FREE 100

pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
_Thread_local Self this_thread;
guint64 met[N_MECHANISMS][N_MECHANISMS];

static const char *const names[] = {
  "statistics", "lending", "task-share", "pause", "observer", "trace", "long-tasks",
  "closure", "repeated", "task", "steps", "deferred", "group", "wait", "runner", "thread",
  "microtask", "idle", "yield", "sleep", "delayed", "timeout", "turns",
  "return-on-abort", "notify-state", "slow", "feed", "row",
  "task-signal", "cancellable", "any-signal", "timed-signal",
  "function", "handler", "notify", "nested", "other-thread", "ending-thread",
  "abort", "by-hand", "cancel", "priority", "await", "state", "renew", "drop", "list", "view",
  "lock",
};
G_STATIC_ASSERT (G_N_ELEMENTS (names) == N_MECHANISMS);

static guint64 current_seed; /* of the running program */

/* Returns a random number, by Vigna's xorshift*. */
guint
dice (guint sides)
{
  if (this_thread.random == 0)
    this_thread.random = 88172645463325252u;
  this_thread.random ^= this_thread.random >> 12;
  this_thread.random ^= this_thread.random << 25;
  this_thread.random ^= this_thread.random >> 27;
  return (guint) ((this_thread.random * 2685821657736338717u) >> 33) % sides;
}

static void
tell_seed (void)
{
  char text[64];
  int n = g_snprintf (text, sizeof text, "\nthe program of --seed %" G_GUINT64_FORMAT " failed\n", current_seed);

  if (write (STDERR_FILENO, text, (size_t) n) < 0)
    _exit (3);
}

static void
crashed (int number)
{
  tell_seed ();
  signal (number, SIG_DFL);
  raise (number);
}

#ifdef __SANITIZE_ADDRESS__
void __asan_on_error (void);

void
__asan_on_error (void)
{
  tell_seed ();
}
#endif

static guint64
mechanisms_in (const char *list)
{
  g_auto (GStrv) given = g_strsplit (list != NULL ? list : "", ",", -1);
  guint64 mechanisms = 0;

  for (char **name = given; *name != NULL; name++)
    {
      Mechanism i = 0;

      while (i < N_MECHANISMS && !g_str_equal (names[i], *name))
        i++;
      if (i == N_MECHANISMS)
        g_error ("“%s” is not a mechanism", *name);
      mechanisms |= BIT (i);
    }
  return mechanisms;
}

static char *
names_of (guint64 mechanisms)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (Mechanism i = 0; i < N_MECHANISMS; i++)
    {
      if ((mechanisms & BIT (i)) != 0)
        g_string_append_printf (text, "%s%s", text->len > 0 ? "," : "", names[i]);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
print_table (void)
{
  g_print ("%-12s", "");
  for (Mechanism i = 0; i < N_MECHANISMS; i++)
    g_print (" %6.6s", names[i]);
  for (Mechanism i = 0; i < N_MECHANISMS; i++)
    {
      g_print ("\n%-12s", names[i]);
      for (Mechanism j = 0; j <= i; j++)
        g_print (" %6" G_GUINT64_FORMAT, met[i][j]);
    }
  g_print ("\n");
}

/* Checks which pairs of mechanisms have met.
 *
 * Returns: how many pairs have not */
static guint
check_pairs (guint64 without)
{
  guint64 least = G_MAXUINT64;
  Mechanism a = 0, b = 0;
  guint n_missing = 0;

  for (Mechanism i = 0; i < N_MECHANISMS; i++)
    {
      for (Mechanism j = 0; j < i; j++)
        {
          if (((BIT (i) | BIT (j)) & without) != 0)
            continue;
          if (met[i][j] == 0)
            g_print ("%s and %s have not met\n", names[i], names[j]);
          n_missing += met[i][j] == 0;
          if (met[i][j] < least)
            {
              least = met[i][j];
              a = i;
              b = j;
            }
        }
    }
  g_print ("%u pairs of mechanisms; %s and %s have met least often: %" G_GUINT64_FORMAT " times\n",
           N_MECHANISMS * (N_MECHANISMS - 1) / 2, names[a], names[b], least);
  return n_missing;
}

/* Returns whether the program fails, in a child process. */
static gboolean
fails (guint64 seed, guint64 without, guint n_acts, gboolean quiet)
{
  pid_t child = fork ();
  int status = 0;

  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      if (quiet && freopen ("/dev/null", "w", stderr) == NULL)
        _exit (0);
      alarm (PATIENCE / 6);
      current_seed = seed;
      for (guint n = 0; n < 8; n++)
        run_world (seed, without, n_acts);
      _exit (0);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  return status != 0;
}

/* Removes mechanisms and operations, as long as the program fails. */
static int
reduce (guint64 seed, guint64 without, guint n_acts)
{
  g_autofree char *list = NULL;

  if (!fails (seed, without, n_acts, TRUE))
    {
      g_print ("It does not fail.\n");
      return 0;
    }
  for (Mechanism i = 0; i < N_MECHANISMS; i++)
    {
      if ((without & BIT (i)) == 0 && fails (seed, without | BIT (i), n_acts, TRUE))
        without |= BIT (i);
    }
  while (n_acts > 1 && fails (seed, without, n_acts - 1, TRUE))
    n_acts--;
  list = names_of (without);
  g_print ("--seed %" G_GUINT64_FORMAT " --acts %u --without %s\n", seed, n_acts, list);
  fails (seed, without, n_acts, FALSE);
  return 1;
}

/* Runs @n_programs, of which @n_free, or any number if that is negative, are free. */
static void
run_programs (gint n_programs, gint n_free, gint n_times, guint64 without, guint n_acts)
{
  for (; n_programs > 0; current_seed++)
    {
      gboolean is_free = is_free_program (current_seed, without);

      if (is_free && n_free == 0)
        continue;
      n_free -= is_free && n_free > 0;
      n_programs--;
      alarm (PATIENCE);
      for (gint n = 0; n < n_times; n++)
        run_world (current_seed, without, n_acts);
    }
}

static void
catch_crashes (void)
{
  signal (SIGABRT, crashed);
  signal (SIGTRAP, crashed);
  signal (SIGALRM, crashed);
#ifndef __SANITIZE_ADDRESS__
  signal (SIGSEGV, crashed);
#endif
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
}

int
main (int argc, char **argv)
{
  gint n_programs = 2000, n_acts = N_ACTS, n_times = 1, n_free = -1;
  gint64 seed = -1;
  gboolean table = FALSE, reduces = FALSE;
  g_autofree char *left_out = NULL;
  const GOptionEntry options[] = {
    { "programs", 0, 0, G_OPTION_ARG_INT, &n_programs, "How many programs", "N" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &seed, "Seed of the first", "N" },
    { "free", 0, 0, G_OPTION_ARG_INT, &n_free, "How many of them may have threads that do not wait", "N" },
    { "times", 0, 0, G_OPTION_ARG_INT, &n_times, "How often to run each, which may have threads", "N" },
    { "without", 0, 0, G_OPTION_ARG_STRING, &left_out, "Mechanisms to leave out", "MECHANISM,…" },
    { "acts", 0, 0, G_OPTION_ARG_INT, &n_acts, "Operations of a program", "N" },
    { "table", 0, 0, G_OPTION_ARG_NONE, &table, "Print how often each two have met", NULL },
    { "reduce", 0, 0, G_OPTION_ARG_NONE, &reduces, "Make the program of --seed smaller", NULL },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  guint64 without;

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      g_printerr ("%s\n", error->message);
      return 2;
    }
  without = mechanisms_in (left_out);
  if (reduces)
    return reduce ((guint64) seed, without, (guint) n_acts);
  catch_crashes ();
  if (seed < 0 && n_free < 0 && g_getenv ("PRIO_SCHED_THOROUGH") == NULL)
    n_free = N_FREE;
  if (seed < 0)
    seed = g_getenv ("PRIO_SCHED_THOROUGH") != NULL ? g_random_int () : FIRST_SEED;
  g_print ("seed %" G_GINT64_FORMAT "\n", seed);
  current_seed = (guint64) seed;
  run_programs (n_programs, n_free, n_times, without, (guint) n_acts);
  if (table)
    print_table ();
  g_print ("%d programs\n", n_programs);
  return n_programs >= 1000 && check_pairs (without) > 0;
}
