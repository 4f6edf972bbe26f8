/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* files.c: measures how soon rows in view have their files after a jump, with the library alone and by hand
 *
 *   files [--rows N] [--jumps N] [--view N] [--limit N] [--size BYTES] [--only library|hand]
 *
 * A list of 200,000 rows loads a file for each, eight at a time.  Every now and then the view jumps to rows that have not
 * been loaded: how long after that each row in view is there, and the longest time between two frames.  It compares the
 * library alone (../examples/row-loader.c) with a pump written by hand: whenever a file has been read, it looks for the
 * next row in view, then on the next screens, then anywhere.  They take turns, jump by jump, so that the machine is the
 * same for both.
 */

#include "../examples/row-loader.h"

#include <glib/gstdio.h>
#include <locale.h>
#include <malloc.h>
#include <time.h>

#define N_FILES 1000
#define FRAME_PRIORITY (G_PRIORITY_HIGH_IDLE + 20) /* GTK draws there */
#define FRAME 16667                                /* µs */
#define DRAWING 3000                               /* µs of each frame */
#define BETWEEN 100                                /* ms from the last row in view to the next jump */

static gint n_rows = 200000, n_jumps = 40, n_view = 200, limit = 8, size = 4096;
static char *only; /* the kind to measure, or NULL for both */
static GMainLoop *loop;
static char *folder;
static guint n_iterations;
static guint8 *shown; /* for each row, whether it has been in view: both kinds have the same jumps */

typedef enum { LIBRARY, BY_HAND, N_KINDS } Kind;
static const char *const kind_names[N_KINDS] = { "library", "hand" };

typedef struct
{
  double total, worst; /* from the jump until a row in view is loaded, µs */
  double frame;        /* the longest time between two frames, µs */
  double jump;         /* the longest time of a jump itself, µs */
  double posting;      /* time of the start, µs */
  double time;         /* time of all turns, µs */
  double used;         /* this thread's time in them, without drawing, µs */
  guint n_shown, n_loaded;
  guint n_iterations; /* iterations of the main loop */
  double places;      /* busy places, times µs */
} Outcome;

/* One of the two ways: how it starts, loads and ends. */
typedef struct
{
  Kind kind;
  Outcome outcome;
  gboolean has_turn;
  guint first;   /* row in view */
  guint n_left;  /* rows in view that are not loaded */
  guint8 *there; /* for each row, whether it is loaded */
  guint n_begun; /* rows that are being loaded */
  gint64 since;  /* when n_begun changed last */
  gint64 jumped, last_frame;

  PrioScheduler *scheduler;
  RowLoader *loader;

  /* for the way by hand */
  guint8 *begun;                    /* for each row, whether its load has started */
  guint next_view, next_near, next; /* all rows before these have started */
  GCancellable *cancellable;
} Files;

static void
change_begun (Files *files, gint change)
{
  gint64 now = g_get_monotonic_time ();

  if (files->has_turn)
    files->outcome.places += files->n_begun * (double) (now - files->since);
  files->since = now;
  files->n_begun += (guint) change;
}

static GFile *
file_of_row (guint row, gpointer user_data)
{
  Files *files = user_data;
  g_autofree char *path = g_strdup_printf ("%s/%u", folder, row % N_FILES);

  change_begun (files, 1);
  return g_file_new_for_path (path);
}

static void
row_loaded (guint row, GBytes *contents, const GError *error, gpointer user_data)
{
  Files *files = user_data;
  double took = g_get_monotonic_time () - files->jumped;

  if (contents == NULL)
    g_error ("%s", error->message);

  change_begun (files, -1);
  files->there[row] = TRUE;
  files->outcome.n_loaded++;
  if (files->n_left > 0 && row - files->first < (guint) n_view)
    {
      files->outcome.total += took;
      files->outcome.worst = MAX (files->outcome.worst, took);
      files->outcome.n_shown++;
      files->n_left--;
    }
  if ((files->jumped != 0 && files->n_left == 0) || (!files->has_turn && files->n_begun == 0))
    g_main_loop_quit (loop);
}

/* By hand */

typedef struct
{
  Files *files;
  guint row;
} Read;

/* Finds the first row from *@next to @end that has not started. */
static gboolean
find_row (Files *files, guint *next, guint end)
{
  while (*next < end && files->begun[*next])
    ++*next;
  return *next < end;
}

static guint *
find_next (Files *files)
{
  guint all = (guint) n_rows;

  if (find_row (files, &files->next_view, MIN (files->first + n_view, all)))
    return &files->next_view;
  if (find_row (files, &files->next_near, MIN (files->first + 2 * n_view, all)))
    return &files->next_near;
  return find_row (files, &files->next, all) ? &files->next : NULL;
}

static void read_by_hand (GObject *file, GAsyncResult *result, gpointer user_data);

static void
pump (Files *files)
{
  guint *next;

  while (files->has_turn && files->n_begun < (guint) limit && (next = find_next (files)) != NULL)
    {
      Read *read = g_new (Read, 1);
      g_autoptr (GFile) file = file_of_row (*next, files);

      *read = (Read) { files, *next };
      files->begun[*next] = TRUE;
      g_file_load_bytes_async (file, files->cancellable, read_by_hand, read);
    }
}

static void
read_by_hand (GObject *file, GAsyncResult *result, gpointer user_data)
{
  g_autofree Read *read = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) contents = g_file_load_bytes_finish (G_FILE (file), result, NULL, &error);

  row_loaded (read->row, contents, error, read->files);
  pump (read->files);
}

/* Both */

static gint
poll_and_count (GPollFD *fds, guint n_fds, gint timeout)
{
  n_iterations++;
  return g_poll (fds, n_fds, timeout);
}

static double
used_time (void)
{
  struct timespec used;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * 1e6 + used.tv_nsec / 1e3;
}

static gboolean
draw (gpointer user_data)
{
  Files *files = *(Files **) user_data;
  gint64 now = g_get_monotonic_time ();
  double end = used_time () + DRAWING;

  if (files->last_frame != 0)
    files->outcome.frame = MAX (files->outcome.frame, now - files->last_frame);
  files->last_frame = now;
  while (used_time () < end)
    ;
  files->outcome.used -= DRAWING;
  g_source_set_ready_time (g_main_current_source (), now + FRAME);
  return G_SOURCE_CONTINUE;
}

static gboolean
dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return callback (user_data);
}

static GSource *
begin_frames (Files **current)
{
  static GSourceFuncs funcs = { .dispatch = dispatch };
  GSource *source = g_source_new (&funcs, sizeof (GSource));

  g_source_set_priority (source, FRAME_PRIORITY);
  g_source_set_callback (source, draw, current, NULL);
  g_source_set_ready_time (source, 0);
  g_source_attach (source, NULL);
  return source;
}

static void
begin (Files *files, Kind kind)
{
  gint64 start = g_get_monotonic_time ();

  *files = (Files) { .kind = kind };
  files->scheduler = prio_scheduler_new (NULL);
  prio_scheduler_pause (files->scheduler);
  files->there = g_new0 (guint8, n_rows);
  if (kind == LIBRARY)
    {
      files->loader = row_loader_new (files->scheduler, n_rows, limit, file_of_row, row_loaded, files);
    }
  else
    {
      files->begun = g_new0 (guint8, n_rows);
      files->cancellable = g_cancellable_new ();
    }
  files->outcome.posting = g_get_monotonic_time () - start;
}

static void
end (Files *files)
{
  if (files->kind == LIBRARY)
    row_loader_free (files->loader);
  g_object_unref (files->scheduler);
  g_clear_object (&files->cancellable);
  g_free (files->begun);
  g_free (files->there);
}

static void
set_turn (Files *files, gboolean has_turn)
{
  files->has_turn = has_turn;
  files->last_frame = 0;
  if (files->kind == BY_HAND)
    pump (files);
  else if (has_turn)
    prio_scheduler_resume (files->scheduler);
  else
    prio_scheduler_pause (files->scheduler);
}

static void
jump (Files *files, guint first)
{
  files->jumped = g_get_monotonic_time ();
  files->first = first;
  /* On a fast machine the background may have loaded some of these rows already. */
  files->n_left = 0;
  for (guint row = first; row < first + n_view; row++)
    files->n_left += !files->there[row];
  if (files->kind == LIBRARY)
    {
      row_loader_set_view (files->loader, first, n_view);
    }
  else
    {
      files->next_view = first;
      files->next_near = first - n_view;
      pump (files);
    }
  files->outcome.jump = MAX (files->outcome.jump, g_get_monotonic_time () - files->jumped);
}

static gboolean
quit (gpointer user_data G_GNUC_UNUSED)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

/* Lets the background run for a while, jumps, and waits until all rows in view are loaded. */
static void
take_turn (Files *files, guint first)
{
  gint64 start = g_get_monotonic_time ();
  double used = used_time ();

  n_iterations = 0;
  set_turn (files, TRUE);
  g_timeout_add (BETWEEN, quit, NULL);
  g_main_loop_run (loop);
  jump (files, first);
  if (files->n_left > 0)
    g_main_loop_run (loop);
  files->jumped = 0;
  files->outcome.time += g_get_monotonic_time () - start;
  files->outcome.used += used_time () - used;
  files->outcome.n_iterations += n_iterations;

  set_turn (files, FALSE);
  if (files->n_begun > 0)
    g_main_loop_run (loop);
}

/* Chooses a view whose rows, and whose next screens, have not been in view; the lower half is left to the
 * background. */
static guint
choose_view (GRand *random)
{
  guint first;

  do
    first = (guint) g_rand_int_range (random, n_rows / 2 + n_view, n_rows - 2 * n_view);
  while (memchr (shown + first - n_view, TRUE, 3 * n_view) != NULL);
  memset (shown + first - n_view, TRUE, 3 * n_view);
  return first;
}

static void
make_files (void)
{
  g_autofree char *text = g_strnfill (size, 'x');

  folder = g_dir_make_tmp ("prio-sched-files-XXXXXX", NULL);
  g_assert_nonnull (folder);
  for (guint i = 0; i < N_FILES; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u", folder, i);

      g_assert_true (g_file_set_contents (path, text, size, NULL));
    }
}

static void
remove_files (void)
{
  for (guint i = 0; i < N_FILES; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u", folder, i);

      g_unlink (path);
    }
  g_rmdir (folder);
}

static void
print_row (const char *what, double library, double by_hand, const char *unit)
{
  g_print ("%-40s%10.1f%10.1f %-4s", what, library, by_hand, unit);
  if (library != 0 && by_hand >= 0.1)
    g_print ("%7.2f ×", library / by_hand);
  g_print ("\n");
}

static void
print (const Outcome *library, const Outcome *by_hand)
{
  g_print ("%d rows, a file of %d bytes each, %d at a time; %d in view; %d jumps\n", n_rows, size, limit, n_view, n_jumps);
  g_print ("%-40s%10s%10s\n", "", "library", "by hand");
  print_row ("a row in view after a jump, average", library->total / 1e3 / MAX (library->n_shown, 1),
             by_hand->total / 1e3 / MAX (by_hand->n_shown, 1), "ms");
  print_row ("a row in view after a jump, worst", library->worst / 1e3, by_hand->worst / 1e3, "ms");
  print_row ("longest time between two frames", library->frame / 1e3, by_hand->frame / 1e3, "ms");
  print_row ("longest jump", library->jump / 1e3, by_hand->jump / 1e3, "ms");
  print_row ("before the first", library->posting / 1e3, by_hand->posting / 1e3, "ms");
  print_row ("files a second", library->n_loaded * 1e6 / MAX (library->time, 1),
             by_hand->n_loaded * 1e6 / MAX (by_hand->time, 1), "");
  print_row ("places in use, average", library->places / MAX (library->time, 1),
             by_hand->places / MAX (by_hand->time, 1), "");
  print_row ("iterations of the loop for 100 files", library->n_iterations * 100.0 / MAX (library->n_loaded, 1),
             by_hand->n_iterations * 100.0 / MAX (by_hand->n_loaded, 1), "");
  print_row ("the main thread, for each file", library->used / MAX (library->n_loaded, 1),
             by_hand->used / MAX (by_hand->n_loaded, 1), "µs");
}

static gboolean
is_measured (Kind kind)
{
  return only == NULL || g_str_equal (only, kind_names[kind]);
}

static void
measure (Outcome outcomes[N_KINDS])
{
  Files files[N_KINDS] = { 0 }, *current = &files[0];
  GRand *random = g_rand_new_with_seed (1);
  GSource *frames = begin_frames (&current);

  shown = g_new0 (guint8, n_rows);
  for (Kind kind = 0; kind < N_KINDS; kind++)
    if (is_measured (kind))
      begin (&files[kind], kind);
  malloc_trim (0);

  for (gint i = 0; i < n_jumps; i++)
    {
      guint first = choose_view (random);

      /* Alternates which kind is the first. */
      for (Kind kind = 0; kind < N_KINDS; kind++)
        {
          Kind turn = (kind + (guint) i) % N_KINDS;

          if (!is_measured (turn))
            continue;
          current = &files[turn];
          take_turn (current, first);
        }
    }

  for (Kind kind = 0; kind < N_KINDS; kind++)
    {
      if (!is_measured (kind))
        continue;
      outcomes[kind] = files[kind].outcome;
      end (&files[kind]);
    }
  g_source_destroy (frames);
  g_source_unref (frames);
  g_rand_free (random);
  g_free (shown);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  GOptionEntry entries[] = {
    { "rows", 0, 0, G_OPTION_ARG_INT, &n_rows, "How many rows there are", "N" },
    { "jumps", 0, 0, G_OPTION_ARG_INT, &n_jumps, "How often the view jumps", "N" },
    { "view", 0, 0, G_OPTION_ARG_INT, &n_view, "How many rows are in view", "N" },
    { "limit", 0, 0, G_OPTION_ARG_INT, &limit, "How many files are read at a time", "N" },
    { "size", 0, 0, G_OPTION_ARG_INT, &size, "How long a file is", "BYTES" },
    { "only", 0, 0, G_OPTION_ARG_STRING, &only, "Measure only one of the two", "library|hand" },
    { NULL }
  };
  Outcome outcomes[N_KINDS] = { 0 };

  setlocale (LC_ALL, "");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }
  /* Three screens for each jump, wherever the others are. */
  if (n_view < 1 || n_jumps < 1 || limit < 1 || size < 0 || n_rows / 2 < 12 * (gint64) n_view * n_jumps)
    {
      g_printerr ("%s\n", "There has to be one of each, and 24 times as many rows as come into view by all jumps");
      return 1;
    }

  make_files ();
  g_main_context_set_poll_func (NULL, poll_and_count);
  loop = g_main_loop_new (NULL, FALSE);
  measure (outcomes);
  remove_files ();
  print (&outcomes[LIBRARY], &outcomes[BY_HAND]);
  g_main_loop_unref (loop);
  g_free (folder);
  g_free (only);
  return 0;
}
