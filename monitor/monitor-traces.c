/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* monitor-traces.c: reads the traces of the processes
 *
 * All processes write their traces (prio_trace_start ()) into one pipe, line by line.  Other programs may write to it,
 * too, so a line in another format is skipped, and no number is trusted.
 */

/* For pipe2 () and F_SETPIPE_SZ. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "config.h"

#include "monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

/* The number of bytes that processes may write while the monitor is busy. */
#define PIPE_SIZE (1 << 20)
/* The library writes no lines longer than this. */
#define MAX_LINE 8192
/* No more processes and tasks than this are followed. */
#define MAX_PROCESSES 1000
#define MAX_TASKS 10000000

static void
task_free (gpointer data)
{
  g_free (((Task *) data)->name);
  g_free (data);
}

static void
process_free (gpointer data)
{
  Process *process = data;

  g_hash_table_unref (process->running);
  g_hash_table_unref (process->tasks);
  g_free (process->program);
  g_free (process);
}

gboolean
traces_init (Traces *traces, GError **error)
{
  int ends[2];

  if (pipe2 (ends, O_CLOEXEC) != 0)
    {
      int saved = errno;

      g_set_error_literal (error, G_IO_ERROR, g_io_error_from_errno (saved), g_strerror (saved));
      return FALSE;
    }
  fcntl (ends[0], F_SETFL, O_NONBLOCK);
  fcntl (ends[0], F_SETPIPE_SZ, PIPE_SIZE);
  *traces = (Traces) {
    .fd = ends[0],
    .writes = ends[1],
    /* A program that closes inherited descriptors can still open this path, and so can its children. */
    .path = g_strdup_printf ("/proc/%d/fd/%d", (int) getpid (), ends[1]),
    .line = g_string_new (NULL),
    .processes = g_ptr_array_new_with_free_func (process_free),
  };
  return TRUE;
}

void
traces_clear (Traces *traces)
{
  close (traces->fd);
  close (traces->writes);
  g_free (traces->path);
  g_string_free (traces->line, TRUE);
  g_ptr_array_unref (traces->processes);
}

/* Returns the start of the value of @key in @line, or NULL.  A key has quotation marks, which strings escape. */
static const char *
find (const char *line, const char *key)
{
  const char *found = strstr (line, key);

  return found != NULL ? found + strlen (key) : NULL;
}

static gboolean
get_number (const char *line, const char *key, gint64 *number)
{
  const char *text = find (line, key);

  if (text == NULL || !(g_ascii_isdigit (*text) || *text == '-'))
    return FALSE;
  *number = g_ascii_strtoll (text, NULL, 10);
  return TRUE;
}

/* Returns whether the value of @key is the string @value. */
static gboolean
has (const char *line, const char *key, const char *value)
{
  const char *text = find (line, key);
  gsize length = strlen (value);

  return text != NULL && *text == '"' && strncmp (text + 1, value, length) == 0 && text[length + 1] == '"';
}

/* Appends the character of the escape \uXXXX at @text, after the backslash; skips others.  Returns the length. */
static gsize
unescape (GString *string, const char *text)
{
  gunichar c = 0;

  if (*text != 'u')
    return *text != '\0';
  for (gsize i = 1; i <= 4; i++)
    {
      if (!g_ascii_isxdigit (text[i]))
        return 1;
      c = c * 16 + (gunichar) g_ascii_xdigit_value (text[i]);
    }
  g_string_append_unichar (string, c != 0 && g_unichar_validate (c) ? c : 0xfffd);
  return 5;
}

/* Returns: (nullable): the string value of @key */
static char *
get_string (const char *line, const char *key)
{
  const char *text = find (line, key);
  GString *string;

  if (text == NULL || *text++ != '"')
    return NULL;

  string = g_string_new (NULL);
  while (*text != '"' && *text != '\0')
    {
      if (*text++ == '\\')
        text += unescape (string, text);
      else
        g_string_append_c (string, text[-1]);
    }
  return g_string_free (string, FALSE);
}

/* Returns: (nullable): the name of a task, or NULL if the trace has the task's kind in its place */
static char *
get_name (const char *line)
{
  g_autofree char *name = get_string (line, "\"name\":");

  return name != NULL && !has (line, "\"kind\":", name) ? g_steal_pointer (&name) : NULL;
}

/* Returns the priority, or 0 if there is none. */
static gint
get_priority (const char *line)
{
  static const char *const names[N_PRIORITIES] = { "background", "user-visible", "user-blocking" };

  for (gint i = 0; i < N_PRIORITIES; i++)
    {
      if (has (line, "\"priority\":", names[i]))
        return i + 1;
    }
  return 0;
}

static Process *
find_process (Traces *traces, gint64 pid)
{
  Process *process;

  /* Most lines are from the process that was added last. */
  for (guint i = traces->processes->len; i > 0; i--)
    {
      process = traces->processes->pdata[i - 1];
      if (process->pid == pid)
        return process;
    }
  if (traces->processes->len >= MAX_PROCESSES)
    return NULL;

  process = g_new0 (Process, 1);
  process->pid = pid;
  process->started = g_get_monotonic_time ();
  process->tasks = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, task_free);
  process->running = g_hash_table_new (NULL, NULL);
  g_ptr_array_add (traces->processes, process);
  return process;
}

static void
set_queued (Process *process, Task *task, gboolean is_queued)
{
  if (task->is_queued == is_queued)
    return;
  task->is_queued = is_queued;
  process->n_queued += is_queued ? 1 : (guint64) -1;
}

static void
set_begun (Process *process, Task *task, gint64 begun)
{
  task->begun = begun;
  if (begun != 0)
    g_hash_table_add (process->running, task);
  else
    g_hash_table_remove (process->running, task);
}

static void
drop_task (Process *process, gint64 id)
{
  Task *task = g_hash_table_lookup (process->tasks, &id);

  if (task == NULL)
    return;
  set_queued (process, task, FALSE);
  set_begun (process, task, 0);
  g_hash_table_remove (process->tasks, &id);
}

/* Notes that a source, or other code outside of tasks, has held the main loop. */
static void
read_held (Process *process, const char *line)
{
  g_autofree char *name = get_string (line, "\"name\":");
  gint64 time;

  if (get_number (line, "\"dur\":", &time))
    prio_longest_note (process->held, N_LONGEST, name, 0, time, 0, FALSE);
}

/* Notes that a task is posted, due, or queued again. */
static void
read_moment (Process *process, const char *line, gint64 id)
{
  Task *task = g_hash_table_lookup (process->tasks, &id);
  gint64 due;

  if (task == NULL)
    {
      if (g_hash_table_size (process->tasks) >= MAX_TASKS)
        return;
      task = g_new0 (Task, 1);
      g_hash_table_insert (process->tasks, g_memdup2 (&id, sizeof id), task);
    }
  task->priority = get_priority (line);
  g_free (task->name);
  task->name = get_name (line);
  set_queued (process, task, !has (line, "\"cat\":", "post") || !get_number (line, "\"due\":", &due));
}

/* Notes the end of a run. */
static void
read_run (Process *process, const char *line, gint64 id)
{
  gint64 time = 0, begun = 0, waited;
  gint number = get_priority (line);
  gboolean yields = has (line, "\"end\":", "yielded");
  Task *task = g_hash_table_lookup (process->tasks, &id);
  g_autofree char *name = get_name (line);
  Priority *priority;

  if (number == 0 || !get_number (line, "\"dur\":", &time) || !get_number (line, "\"ts\":", &begun))
    return;

  priority = &process->priorities[number - 1];
  prio_histogram_add (&priority->runs, time);
  if (get_number (line, "\"waited\":", &waited))
    prio_histogram_add (&priority->waits, waited);
  if (yields)
    priority->n_yielded++;
  else
    priority->n_ended++;
  prio_longest_note (process->longest, N_LONGEST, name, number, time, 0, FALSE);
  if (!yields)
    drop_task (process, id);
  else if (task != NULL)
    set_begun (process, task, 0);
}

static void
read_abort (Process *process, const char *line, gint64 id)
{
  gint number = get_priority (line);

  if (number == 0)
    return;
  process->priorities[number - 1].n_aborted++;
  if (strstr (line, "\"running\":false") != NULL)
    drop_task (process, id);
}

/* Reads the end of an arrow, which the trace draws when a task starts to run.  The arrow's id is TASK.TIME. */
static void
read_begin (Process *process, const char *line)
{
  const char *text = find (line, "\"id\":\"");
  gint64 id = text != NULL ? g_ascii_strtoll (text, NULL, 10) : 0;
  Task *task = g_hash_table_lookup (process->tasks, &id);
  gint64 now;

  if (task == NULL || !get_number (line, "\"ts\":", &now))
    return;
  set_queued (process, task, FALSE);
  set_begun (process, task, now);
}

static void
read_line (Traces *traces, const char *line)
{
  gint64 pid, id;
  Process *process;

  if (*line == '[')
    traces->is_used = TRUE;
  if (!g_str_has_prefix (line, "{\"ph\":\"") || !get_number (line, "\"pid\":", &pid))
    return;
  process = find_process (traces, pid);
  if (process == NULL)
    return;

  switch (line[strlen ("{\"ph\":\"")])
    {
    case 'M':
      if (has (line, "\"name\":", "process_name"))
        {
          g_free (process->program);
          process->program = get_string (line, "\"args\":{\"name\":");
        }
      break;
    case 'X':
      if (has (line, "\"cat\":", "held"))
        read_held (process, line);
      else if (!get_number (line, "\"task\":", &id))
        break;
      else if (has (line, "\"cat\":", "run"))
        read_run (process, line, id);
      else
        read_moment (process, line, id);
      break;
    case 'f':
      read_begin (process, line);
      break;
    case 'i':
      if (has (line, "\"cat\":", "abort") && get_number (line, "\"task\":", &id))
        read_abort (process, line, id);
      break;
    default:
      break;
    }
}

/* Reads a part of the available data.  Returns whether there may be more. */
gboolean
traces_read (Traces *traces)
{
  char buffer[65536];
  gssize n = read (traces->fd, buffer, sizeof buffer);
  char *start, *end;

  if (n <= 0)
    return n < 0 && errno == EINTR;

  g_string_append_len (traces->line, buffer, n);
  for (start = traces->line->str; (end = memchr (start, '\n', (gsize) (traces->line->str + traces->line->len - start))) != NULL;
       start = end + 1)
    {
      *end = '\0';
      read_line (traces, start);
    }
  g_string_erase (traces->line, 0, start - traces->line->str);
  if (traces->line->len > MAX_LINE)
    g_string_truncate (traces->line, 0);
  return TRUE;
}
