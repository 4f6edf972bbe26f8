/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crossings-watching.c: the trace and an observer come and go, and report the runs that were counted */

#include "crossings.h"

#include "loop/prio-observer-private.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

/* The states of a task that an observer reports. */
typedef enum
{
  UNKNOWN,
  WAITS_LATER,
  WAITS,
  RUNS,
  YIELDED,
  N_STATES
} State;

static GHashTable *states; /* id → State */
static World *observed_world;

/* Moves the task to the state @to from one of the states in @from, or from unreported. */
static void
move (const PrioObserved *task, guint from, State to)
{
  gpointer id = GSIZE_TO_POINTER (task->id);
  State state = GPOINTER_TO_UINT (g_hash_table_lookup (states, id));

  g_assert_cmpuint ((from | 1 << UNKNOWN) >> state & 1, ==, 1);
  /* The thread that has created the context counts as the owner until another thread runs the context. */
  g_assert_true (is_owner (observed_world) || (observed_world->is_made_elsewhere && observed_world->n_iterations == 1));
  if (to == UNKNOWN)
    g_hash_table_remove (states, id);
  else
    g_hash_table_insert (states, id, GUINT_TO_POINTER (to));
}

static void
delayed (PrioObserver *observer G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now G_GNUC_UNUSED)
{
  move (task, 0, WAITS_LATER);
}

static void
queued (PrioObserver *observer G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now G_GNUC_UNUSED)
{
  move (task, 1 << WAITS_LATER | 1 << YIELDED, WAITS);
}

static void
begins (PrioObserver *observer G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now G_GNUC_UNUSED)
{
  move (task, 1 << WAITS, RUNS);
}

static void
yielded (PrioObserver *observer G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now G_GNUC_UNUSED)
{
  move (task, 1 << RUNS, YIELDED);
  observed_world->n_observed++;
}

static void
ended (PrioObserver *observer G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now G_GNUC_UNUSED)
{
  move (task, 1 << RUNS, UNKNOWN);
  observed_world->n_observed++;
}

static void
aborted (PrioObserver *observer G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gboolean runs,
         gint64 now G_GNUC_UNUSED)
{
  move (task, runs ? 1 << RUNS : 1 << WAITS_LATER | 1 << WAITS, runs ? RUNS : UNKNOWN);
}

static PrioObserver observer = {
  .delayed = delayed,
  .queued = queued,
  .begins = begins,
  .yielded = yielded,
  .ended = ended,
  .aborted = aborted,
};

/* Adds or removes the observer, on the owner's thread. */
void
set_observer (World *world, gboolean on)
{
  Tally tally = world->observed;
  guint n_places = world->n_places, n = n_running (world, &world->observed);

  tally_set (world, &world->observed, on);
  if (on)
    {
      observed_world = world;
      states = g_hash_table_new (NULL, NULL);
      world->n_observed = 0;
      prio_observer_add (&observer);
    }
  else
    {
      prio_observer_remove (&observer);
      if (n_places == world->n_places)
        check_tally (&tally, n, world->n_observed);
      g_clear_pointer (&states, g_hash_table_unref);
    }
  world->observed.loose |= n_places != world->n_places;
}

/* Returns the path of the file that all threads use. */
static const char *
trace_path (void)
{
  static char *path;

  if (path == NULL)
    path = g_strdup_printf ("%s/crossings-%d.json", g_get_tmp_dir (), (int) getpid ());
  return path;
}

static gint64
number_after (const char *line, const char *name)
{
  const char *found = strstr (line, name);

  g_assert_nonnull (found);
  return g_ascii_strtoll (found + strlen (name), NULL, 10);
}

/* Returns the value of the member "id". */
static char *
id_in (const char *line)
{
  const char *found = strstr (line, "\"id\":\"");

  g_assert_nonnull (found);
  found += strlen ("\"id\":\"");
  return g_strndup (found, strcspn (found, "\""));
}

typedef struct
{
  gint64 begins, ends;
} Slice;

/* Compares slices by their start; of two with one start, the longer is first. */
static gint
compare_slices (gconstpointer a, gconstpointer b)
{
  const Slice *one = a, *other = b;

  if (one->begins != other->begins)
    return one->begins < other->begins ? -1 : 1;
  return one->ends == other->ends ? 0 : one->ends > other->ends ? -1 : 1;
}

/* Checks that slices are nested or disjoint. */
static void
check_slices (GArray *slices)
{
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (gint64));

  g_array_sort (slices, compare_slices);
  for (guint i = 0; i < slices->len; i++)
    {
      Slice *slice = &g_array_index (slices, Slice, i);

      while (ends->len > 0 && g_array_index (ends, gint64, ends->len - 1) <= slice->begins)
        g_array_set_size (ends, ends->len - 1);
      if (ends->len > 0)
        g_assert_cmpint (slice->ends, <=, g_array_index (ends, gint64, ends->len - 1));
      g_array_append_val (ends, slice->ends);
    }
}

/* Checks the lines of a trace.  Each arrow starts once, and ends at most once. */
static guint
check_lines (char **lines)
{
  g_autoptr (GHashTable) arrows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (Slice));
  guint n_runs = 0;
  gint n_turns = 0, n_open = 0;

  for (char **line = lines; *line != NULL; line++)
    {
      Slice slice;

      if (g_str_has_prefix (*line, "{\"ph\":\"X\""))
        {
          slice.begins = number_after (*line, "\"ts\":");
          slice.ends = slice.begins + number_after (*line, "\"dur\":");
          g_array_append_val (slices, slice);
          n_runs += strstr (*line, "\"cat\":\"run\"") != NULL;
        }
      else if (g_str_has_prefix (*line, "{\"ph\":\"s\""))
        g_assert_true (g_hash_table_add (arrows, id_in (*line)));
      else if (g_str_has_prefix (*line, "{\"ph\":\"f\""))
        {
          g_autofree char *id = id_in (*line);

          g_assert_true (g_hash_table_remove (arrows, id));
        }
      else if (g_str_has_prefix (*line, "{\"ph\":\"b\"") || g_str_has_prefix (*line, "{\"ph\":\"e\""))
        n_turns += (*line)[7] == 'b' ? 1 : -1;
      else if (g_str_has_prefix (*line, "{\"ph\":\"B\"") || g_str_has_prefix (*line, "{\"ph\":\"E\""))
        g_assert_cmpint (n_open += (*line)[7] == 'B' ? 1 : -1, >=, 0);
    }
  g_assert_cmpint (n_turns, ==, 0);
  g_assert_cmpint (n_open, ==, 0);
  check_slices (slices);
  return n_runs;
}

static guint
read_trace (void)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;
  guint n_runs;

  g_file_get_contents (trace_path (), &text, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (text, "[\n") && g_str_has_suffix (text, "}\n]\n"));
  lines = g_strsplit (text, "\n", -1);
  n_runs = check_lines (lines);
  g_unlink (trace_path ());
  return n_runs;
}

/* Starts or stops the trace.  One thread at a time may call it. */
void
set_trace (World *world, gboolean on)
{
  Tally tally = world->trace;
  guint n_places = world->n_places, n = n_running (world, &world->trace);
  g_autoptr (GError) error = NULL;

  tally.loose |= !is_owner (world);
  tally_set (world, &world->trace, on);
  if (on)
    {
      int fd = g_open (trace_path (), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

      prio_trace_start (fd, &error);
      g_assert_no_error (error);
      close (fd);
    }
  else
    {
      guint n_told;

      prio_trace_stop ();
      n_told = read_trace ();
      if (n_places == world->n_places)
        check_tally (&tally, n, n_told);
    }
  world->trace.loose |= n_places != world->n_places;
}
