/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* monitor-view.c: the monitor's output */

#include "config.h"

#include "monitor.h"

#include <glib/gi18n.h>
#include <string.h>

/* The live view shows only this many of the longest tasks. */
#define MAX_LIVE_LONGEST 5
/* Only tasks that have run for longer than this, in µs, are shown as running: others may have ended, because a trace
 * arrives up to a tenth of a second late. */
#define MIN_RUNNING (200 * G_TIME_SPAN_MILLISECOND)

/* Returns whether @character could control a terminal, or start a line. */
static gboolean
is_harmful (gunichar character)
{
  switch (g_unichar_type (character))
    {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return TRUE;
    default:
      return FALSE;
    }
}

/* Returns @text, with U+FFFD for each character that could control a terminal, except newlines and tabs, and for bytes
 * that are not UTF-8. */
char *
view_clean (const char *text, gssize length)
{
  g_autofree char *valid = g_utf8_make_valid (text, length);
  GString *clean = g_string_new (NULL);

  for (const char *c = valid; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar character = g_utf8_get_char (c);

      if (character == '\n' || character == '\t')
        g_string_append_unichar (clean, character);
      else if (is_harmful (character))
        g_string_append (clean, "\xef\xbf\xbd");
      else
        g_string_append_unichar (clean, character);
    }
  return g_string_free (clean, FALSE);
}

/* Returns @text on one line, cleaned as by view_clean (). */
char *
view_clean_line (const char *text)
{
  return g_strdelimit (view_clean (text, -1), "\n\t", ' ');
}

/* Returns how many columns @text takes in a terminal. */
static guint
width_of (const char *text)
{
  guint width = 0;

  for (const char *c = text; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar character = g_utf8_get_char (c);

      width += g_unichar_iszerowidth (character) ? 0 : g_unichar_iswide (character) ? 2 : 1;
    }
  return width;
}

/* Appends @text in @width columns, right-aligned unless @width is negative. */
static void
add_cell (GString *line, const char *text, gint width)
{
  guint wanted = (guint) ABS (width), has = width_of (text);

  if (width < 0)
    g_string_append (line, text);
  for (guint i = has; i < wanted; i++)
    g_string_append_c (line, ' ');
  if (width >= 0)
    g_string_append (line, text);
}

static void
add_count (GString *line, guint64 count)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, count);

  add_cell (line, text, 11);
}

/* Limits a time from a trace, which may be too large. */
static gint64
to_time (guint64 time)
{
  return (gint64) MIN (time, (guint64) G_MAXINT64);
}

/* Returns the time since @then, or 0 if @then is negative or later than @now. */
static gint64
time_since (gint64 then, gint64 now)
{
  return then >= 0 && then < now ? now - then : 0;
}

static char *
format_time (gint64 time)
{
  if (time < 1000)
    return g_strdup_printf (_("%d µs"), (gint) MAX (time, 0));
  if (time < 10 * G_TIME_SPAN_SECOND)
    return g_strdup_printf (_("%.2f ms"), (double) time / G_TIME_SPAN_MILLISECOND);
  return g_strdup_printf (_("%.1f s"), (double) time / G_TIME_SPAN_SECOND);
}

static void
add_time (GString *line, gint64 time)
{
  g_autofree char *text = format_time (time);

  add_cell (line, text, 13);
}

/* Returns the name that a priority has on the web. */
static const char *
priority_name (gint priority)
{
  static const char *const names[N_PRIORITIES] = { "background", "user-visible", "user-blocking" };

  return priority >= 1 && priority <= N_PRIORITIES ? names[priority - 1] : "?";
}

static char *
task_name (const char *name)
{
  return name != NULL && *name != '\0' ? view_clean_line (name) : g_strdup (_("(a task without name)"));
}

static void
add_times (GString *text, const char *title, const Process *process, gboolean of_runs)
{
  add_cell (text, title, -16);
  add_cell (text, _("tasks"), 11);
  add_cell (text, _("median"), 13);
  add_cell (text, _("p99"), 13);
  add_cell (text, _("longest"), 13);
  g_string_append_c (text, '\n');

  for (gint i = N_PRIORITIES; i > 0; i--)
    {
      const Priority *priority = &process->priorities[i - 1];
      const PrioHistogram *times = of_runs ? &priority->runs : &priority->waits;

      add_cell (text, priority_name (i), -16);
      add_count (text, times->count);
      if (times->count > 0)
        {
          add_time (text, prio_histogram_time_at (times, 0.5));
          add_time (text, prio_histogram_time_at (times, 0.99));
          add_time (text, to_time (times->longest));
        }
      g_string_append_c (text, '\n');
    }
}

static void
add_ends (GString *text, const Process *process)
{
  add_cell (text, _("Ends"), -16);
  add_cell (text, _("ended"), 11);
  add_cell (text, _("yielded"), 13);
  add_cell (text, _("aborted"), 13);
  add_cell (text, _("ran for"), 13);
  g_string_append_c (text, '\n');

  for (gint i = N_PRIORITIES; i > 0; i--)
    {
      const Priority *priority = &process->priorities[i - 1];

      add_cell (text, priority_name (i), -16);
      add_count (text, priority->n_ended);
      g_string_append (text, "  ");
      add_count (text, priority->n_yielded);
      g_string_append (text, "  ");
      add_count (text, priority->n_aborted);
      add_time (text, to_time (priority->runs.total));
      g_string_append_c (text, '\n');
    }
}

static void
add_running (GString *text, const Process *process, gint64 now)
{
  GHashTableIter iter;
  const Task *task;

  g_hash_table_iter_init (&iter, process->running);
  while (g_hash_table_iter_next (&iter, (gpointer *) &task, NULL))
    {
      gint64 since = time_since (task->begun, now);
      g_autofree char *name = task_name (task->name);
      g_autofree char *time = format_time (since);

      if (since > MIN_RUNNING)
        g_string_append_printf (text, _("Running: %s, %s, for %s\n"), name, priority_name (task->priority), time);
    }
}

static gint
compare_longest (gconstpointer a, gconstpointer b)
{
  const PrioLongest *x = a, *y = b;

  return (x->longest < y->longest) - (x->longest > y->longest);
}

/* Adds the @max longest records of @table under @title, if there are any. */
static void
add_longest (GString *text, const char *title, const PrioLongest *table, guint max)
{
  PrioLongest longest[N_LONGEST];

  memcpy (longest, table, sizeof longest);
  qsort (longest, N_LONGEST, sizeof *longest, compare_longest);
  if (longest[0].longest <= 0)
    return;

  g_string_append (text, title);
  g_string_append_c (text, '\n');
  for (guint i = 0; i < max && longest[i].longest > 0; i++)
    {
      g_autofree char *name = task_name (longest[i].name);

      add_time (text, longest[i].longest);
      g_string_append (text, "  ");
      if (longest[i].priority != 0)
        add_cell (text, priority_name (longest[i].priority), -16);
      g_string_append_printf (text, "%s\n", name);
    }
}

static gboolean
has_tasks (const Process *process)
{
  for (guint i = 0; i < N_PRIORITIES; i++)
    {
      if (process->priorities[i].runs.count + process->priorities[i].n_aborted > 0)
        return TRUE;
    }
  return g_hash_table_size (process->running) > 0;
}

static void
add_process (GString *text, const Process *process, gint64 now, gboolean is_live)
{
  g_autofree char *program = view_clean_line (process->program != NULL ? process->program : "");

  g_string_append_printf (text, _("Process %d (%s)"), (int) CLAMP (process->pid, 0, G_MAXINT), program);
  if (is_live)
    g_string_append_printf (text, _(", %.1f s; %d tasks wait"), (double) time_since (process->started, now) / G_TIME_SPAN_SECOND,
                            (int) MIN (process->n_queued, G_MAXINT));
  g_string_append_c (text, '\n');
  if (is_live || has_tasks (process))
    {
      add_times (text, _("Waiting times"), process, FALSE);
      add_times (text, _("Running times"), process, TRUE);
      if (is_live)
        add_running (text, process, now);
      else
        add_ends (text, process);
    }
  add_longest (text, _("Longest tasks"), process->longest, is_live ? MAX_LIVE_LONGEST : N_LONGEST);
  add_longest (text, _("Longest of the other sources"), process->held, is_live ? MAX_LIVE_LONGEST : N_LONGEST);
}

/* Appends the data of each process; in the summary, only of processes that have run a task, or whose main loop was
 * held. */
void
view_add_processes (GString *text, const Traces *traces, gint64 now, gboolean is_live)
{
  for (guint i = 0; i < traces->processes->len; i++)
    {
      const Process *process = traces->processes->pdata[i];

      if (is_live || has_tasks (process) || process->held[0].longest > 0)
        {
          if (text->len > 0)
            g_string_append_c (text, '\n');
          add_process (text, process, now, is_live);
        }
    }
}

/* Returns the lines of @text that fit into @rows of a terminal, each cut to @columns. */
char *
view_fit (const char *text, guint rows, guint columns)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GString *fit = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL && i < rows; i++)
    {
      const char *end = lines[i];

      for (guint width = 0; *end != '\0'; end = g_utf8_next_char (end))
        {
          gunichar c = g_utf8_get_char (end);

          width += g_unichar_iszerowidth (c) ? 0 : g_unichar_iswide (c) ? 2 : 1;
          if (width > columns)
            break;
        }
      if (i > 0)
        g_string_append_c (fit, '\n');
      g_string_append_len (fit, lines[i], end - lines[i]);
    }
  return g_string_free (fit, FALSE);
}
