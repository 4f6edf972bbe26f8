/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conformance.c: runs conformance vectors through the C API
 *
 *   conformance FILE…
 *   conformance --log FILE
 *
 * Runs the programs of the files.  Prints every difference from the expected log; ends with "N agree, M differ", and
 * status 1 if any differ.  With --log, prints the log of each program, one per line.  conformance-vectors.md describes
 * the form of the files.
 *
 * The clock stands still while there is work, and advances by TICK when there is none, so that a slow machine misses no
 * delay.  A second context has a separate thread.  The two threads alternate after every task: one waits while the
 * other runs.
 */

#include <prio-sched.h>
#include "conformance.h"

#include <locale.h>
#include <semaphore.h>
#include <stdlib.h>

/* The next two functions replace GLib's, for the library as well.  The thread that writes a trace reads the time,
 * too. */
static gint64 clock_now = G_USEC_PER_SEC; /* atomic */

gint64
g_get_monotonic_time (void)
{
  return __atomic_load_n (&clock_now, __ATOMIC_RELAXED);
}

gint64
g_source_get_time (GSource *source)
{
  return __atomic_load_n (&clock_now, __ATOMIC_RELAXED);
}

/* All delays are multiples of this time. */
#define TICK (10 * G_TIME_SPAN_MILLISECOND)

/* The longest wait, in ticks. */
#define MAX_TICKS 1000

gboolean without_limit;

/* Advances the time in a slow operation. */
void
pass_time (gint64 ms)
{
  __atomic_fetch_add (&clock_now, ms * G_TIME_SPAN_MILLISECOND, __ATOMIC_RELAXED);
}

static gint
compare_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static gboolean
check_list (const char *name, const char *what, GPtrArray *got, JsonArray *expected)
{
  guint n_expected = json_array_get_length (expected);
  gboolean same = got->len == n_expected;

  for (guint i = 0; i < MIN (got->len, n_expected); i++)
    {
      const char *wanted = json_array_get_string_element (expected, i);

      if (!g_str_equal (got->pdata[i], wanted))
        {
          g_print ("%s: %s[%u]: expected “%s”, got “%s”\n", name, what, i, wanted, (char *) got->pdata[i]);
          return FALSE;
        }
    }

  if (!same)
    g_print ("%s: %s: expected %u entries, got %u\n", name, what, n_expected, got->len);
  return same;
}

static gboolean
check_outcomes (const char *name, GHashTable *got, JsonObject *expected)
{
  g_autoptr (GList) ids = json_object_get_members (expected);
  gboolean same = TRUE;

  for (GList *l = ids; l != NULL; l = l->next)
    {
      const char *wanted = json_object_get_string_member (expected, l->data);
      const char *outcome = g_hash_table_lookup (got, l->data);

      if (g_strcmp0 (wanted, outcome) != 0)
        {
          g_print ("%s: outcome of %s: expected %s, got %s\n", name, (char *) l->data, wanted,
                   outcome != NULL ? outcome : "none");
          same = FALSE;
        }
    }

  if (g_hash_table_size (got) != g_list_length (ids))
    {
      g_print ("%s: expected %u outcomes, got %u\n", name, g_list_length (ids), g_hash_table_size (got));
      same = FALSE;
    }
  return same;
}

static gboolean
program_check (Program *program, const char *name, JsonObject *expected)
{
  gboolean same = check_list (name, "log", program->log, json_object_get_array_member (expected, "log"));

  g_ptr_array_sort (program->rejected, compare_strings);
  same &= check_list (name, "rejected", program->rejected, json_object_get_array_member (expected, "rejected"));
  same &= check_outcomes (name, program->outcomes, json_object_get_object_member (expected, "outcomes"));
  return same;
}

static void
print_list (const char *what, GPtrArray *items)
{
  g_print ("\"%s\": [", what);
  for (guint i = 0; i < items->len; i++)
    g_print ("%s\"%s\"", i > 0 ? ", " : "", (char *) items->pdata[i]);
  g_print ("], ");
}

/* Prints the log.  No string in it needs quoting. */
static void
program_print (Program *program)
{
  GHashTableIter iter;
  gpointer id, outcome;
  gboolean first = TRUE;

  g_ptr_array_sort (program->rejected, compare_strings);
  g_print ("{");
  print_list ("log", program->log);
  print_list ("rejected", program->rejected);
  g_print ("\"outcomes\": {");
  g_hash_table_iter_init (&iter, program->outcomes);
  for (; g_hash_table_iter_next (&iter, &id, &outcome); first = FALSE)
    g_print ("%s\"%s\": \"%s\"", first ? "" : ", ", (char *) id, (char *) outcome);
  g_print ("}}\n");
}

static JsonObject *
get_object (JsonObject *description, const char *name)
{
  return json_object_has_member (description, name) ? json_object_get_object_member (description, name) : NULL;
}

static Program *
program_new (JsonObject *description)
{
  Program *program = g_new0 (Program, 1);

  program->n_places = (guint) json_object_get_int_member_with_default (description, "contexts", 1);
  program->n_schedulers = (guint) json_object_get_int_member_with_default (description, "schedulers", 1);
  if (program->n_places > MAX_PLACES || program->n_schedulers > MAX_SCHEDULERS)
    g_error ("At most %u contexts of %u schedulers", MAX_PLACES, MAX_SCHEDULERS);
  program->slice = json_object_get_int_member_with_default (description, "slice", -1);
  if (json_object_has_member (description, "lends"))
    program->lends = json_object_get_array_member (description, "lends");
  for (guint i = 0; i < program->n_places; i++)
    {
      Place *place = &program->places[i];

      place->context = g_main_context_new ();
      for (guint j = 0; j < program->n_schedulers; j++)
        place->schedulers[j] = make_scheduler (program, place->context, j);
    }

  program->traced = json_object_get_boolean_member_with_default (description, "traced", FALSE);
  program->handlers = get_object (description, "handlers");
  program->notify_handlers = get_object (description, "notify");
  program->cancelled_handlers = get_object (description, "cancelled");
  program->signals = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
  program->controllers = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
  program->announced = g_hash_table_new (g_str_hash, g_str_equal);
  program->notified = g_hash_table_new (g_str_hash, g_str_equal);
  program->said = g_hash_table_new (g_str_hash, g_str_equal);
  program->log = g_ptr_array_new_with_free_func (g_free);
  program->rejected = g_ptr_array_new_with_free_func (g_free);
  program->outcomes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  program->tasks = g_hash_table_new_full (NULL, NULL, NULL, g_object_unref);
  program->groups = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
  return program;
}

/* Frees the program.  If the program did not end, its tasks would call their notifies, so it is leaked. */
static void
program_free (Program *program)
{
  static GPtrArray *stuck;

  if (program->n_open > 0)
    {
      if (stuck == NULL)
        stuck = g_ptr_array_new ();
      g_ptr_array_add (stuck, program);
      return;
    }

  g_hash_table_unref (program->controllers);
  g_hash_table_unref (program->signals);
  g_hash_table_unref (program->announced);
  g_hash_table_unref (program->notified);
  g_hash_table_unref (program->said);
  g_ptr_array_unref (program->log);
  g_ptr_array_unref (program->rejected);
  g_hash_table_unref (program->outcomes);
  g_hash_table_unref (program->tasks);
  g_hash_table_unref (program->groups);
  for (guint i = 0; i < program->n_places; i++)
    {
      for (guint j = 0; j < program->n_schedulers; j++)
        g_object_unref (program->places[i].schedulers[j]);
      g_main_context_unref (program->places[i].context);
    }
  g_free (program);
}

/* The thread of the second context, which runs on request. */
static struct
{
  sem_t begin, ended;
  Place *place;
  gboolean ran;
} other_thread;

static gpointer
run_other_thread (gpointer data G_GNUC_UNUSED)
{
  while (TRUE)
    {
      sem_wait (&other_thread.begin);
      here = other_thread.place;
      g_main_context_push_thread_default (here->context);
      other_thread.ran = place_run (here);
      g_main_context_pop_thread_default (here->context);
      sem_post (&other_thread.ended);
    }
  return NULL;
}

static gboolean
place_run_on_other_thread (Place *place)
{
  static GThread *thread;

  if (thread == NULL)
    {
      sem_init (&other_thread.begin, 0, 0);
      sem_init (&other_thread.ended, 0, 0);
      thread = g_thread_new ("other", run_other_thread, NULL);
    }

  other_thread.place = place;
  sem_post (&other_thread.begin);
  sem_wait (&other_thread.ended);
  return other_thread.ran;
}

/* Runs every context once; returns FALSE if none had anything to do.  A context may also log before a dispatch. */
static gboolean
program_run_places (Program *program)
{
  gboolean ran = FALSE;

  for (guint i = 0; i < program->n_places; i++)
    {
      guint n_said;

      if (program->traced && program->n_places > 1)
        program_log (program, "turn %u", i);
      n_said = program->log->len;
      ran |= i == 0 ? place_run (&program->places[i]) : place_run_on_other_thread (&program->places[i]);
      ran |= program->log->len > n_said;
    }
  return ran;
}

/* Resumes paused schedulers; returns FALSE if there was none. */
static gboolean
program_resume (Program *program)
{
  gboolean paused = FALSE;

  for (guint i = 0; i < program->n_places; i++)
    for (guint j = 0; j < program->n_schedulers; j++)
      {
        paused |= prio_scheduler_get_paused (program->places[i].schedulers[j]);
        prio_scheduler_resume (program->places[i].schedulers[j]);
      }
  return paused;
}

static void
program_run (Program *program)
{
  guint quiet = 0; /* rounds without a run: signals may have logged, on alternating threads */

  for (guint ticks = 0; ticks < MAX_TICKS && (program->n_open > 0 || (program->traced && quiet < 4));)
    {
      if (program_run_places (program) || program_resume (program))
        {
          ticks = quiet = 0;
          continue;
        }

      quiet++;
      if (program->n_open > 0)
        {
          ticks++;
          __atomic_fetch_add (&clock_now, TICK, __ATOMIC_RELAXED);
        }
    }
}

static void
make_groups (Program *program, JsonObject *groups)
{
  g_autoptr (GList) names = groups != NULL ? json_object_get_members (groups) : NULL;

  for (GList *l = names; l != NULL; l = l->next)
    make_group (program, l->data, json_object_get_object_member (groups, l->data));
}

static gboolean
run_program (JsonObject *description, gboolean log)
{
  Program *program = program_new (description);
  JsonObject *signals = json_object_get_object_member (description, "signals");
  g_autoptr (GList) names = json_object_get_members (signals);
  gboolean same = TRUE;

  here = &program->places[0];
  g_main_context_push_thread_default (here->context);

  for (GList *l = names; l != NULL; l = l->next)
    make_signal (program, l->data, json_object_get_object_member (signals, l->data));
  make_groups (program, get_object (description, "groups"));

  program_perform (program, json_object_get_array_member (description, "main"));
  program_run (program);
  program_log_counts (program);
  set_traced (FALSE);

  g_main_context_pop_thread_default (here->context);

  if (log)
    program_print (program);
  else
    same = program_check (program, json_object_get_string_member (description, "name"),
                          json_object_get_object_member (description, "expect"));
  program_free (program);
  return same;
}

static void
run_file (const char *path, gboolean log, guint *n_agree, guint *n_differ)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  JsonArray *programs;

  if (!json_parser_load_from_file (parser, path, &error))
    {
      g_printerr ("%s: %s\n", path, error->message);
      exit (2);
    }

  programs = json_node_get_array (json_parser_get_root (parser));
  for (guint i = 0; i < json_array_get_length (programs); i++)
    ++*(run_program (json_array_get_object_element (programs, i), log) ? n_agree : n_differ);
}

int
main (int argc, char **argv)
{
  guint n_agree = 0, n_differ = 0;
  gboolean log;

  setlocale (LC_ALL, "");
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);

  log = argc > 1 && g_str_equal (argv[1], "--log");
  if (argc < 2 + log)
    {
      g_printerr ("Usage: %s [--log] FILE…\n", argv[0]);
      return 2;
    }

  without_limit = log;
  for (int i = 1 + log; i < argc; i++)
    run_file (argv[i], log, &n_agree, &n_differ);

  if (log)
    return 0;
  g_print ("%u agree, %u differ\n", n_agree, n_differ);
  return n_differ > 0;
}
