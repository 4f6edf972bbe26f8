/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-monitor.c: shows the tasks of a program's schedulers
 *
 *   prio-sched-monitor [--plain] [--threshold MILLISECONDS] [--no-preload] PROGRAM [ARGUMENT…]
 *
 * In a terminal, the monitor shows its view below the program's output, which comes through a pipe.  Otherwise the
 * program prints its output itself.  When the program has ended, the monitor prints a summary.
 */

/* For memrchr (). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "config.h"

#include "monitor.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define INTERVAL 250 /* ms */
/* Longer lines are printed in parts. */
#define MAX_LINE 4096

typedef struct
{
  GMainLoop *loop;
  Traces traces;
  Program program;
  char **argv;
  char *name; /* the program's name, without harmful characters */
  gboolean is_live;
  GString *line;  /* the beginning of the next line of the program's output */
  guint n_drawn;  /* how many lines of the terminal the view takes up */
  guint n_interrupts;
  int status;     /* the status from waitpid () */
  Watch watch;
} Monitor;

static void
erase (Monitor *monitor)
{
  if (monitor->n_drawn > 1)
    printf ("\033[%uA", monitor->n_drawn - 1);
  if (monitor->n_drawn > 0)
    printf ("\r\033[J");
  monitor->n_drawn = 0;
}

static void
draw (Monitor *monitor)
{
  struct winsize size = { 0 };
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *fit = NULL, *partial = NULL;

  if (!monitor->is_live)
    return;
  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2 || size.ws_col < 2)
    size = (struct winsize) { .ws_row = 24, .ws_col = 80 };

  view_add_processes (text, &monitor->traces, g_get_monotonic_time (), TRUE);
  if (text->len == 0)
    g_string_printf (text, _("%s has sent no trace yet."), monitor->name);
  /* A partial line may be a question, so it is shown too. */
  if (monitor->line->len > 0)
    {
      partial = view_clean_line (monitor->line->str);
      g_string_prepend_c (text, '\n');
      g_string_prepend (text, partial);
    }
  g_string_truncate (text, text->len - (g_str_has_suffix (text->str, "\n") ? 1 : 0));
  fit = view_fit (text->str, size.ws_row - 1u, size.ws_col);

  erase (monitor);
  fputs (fit, stdout);
  monitor->n_drawn = 1;
  for (const char *c = fit; *c != '\0'; c++)
    monitor->n_drawn += *c == '\n';
  fflush (stdout);
}

/* Prints the complete lines of the program's output or, with @all, all of it. */
static void
print_output (Monitor *monitor, gboolean all)
{
  const char *end = memrchr (monitor->line->str, '\n', monitor->line->len);
  gsize length = end != NULL ? (gsize) (end - monitor->line->str) + 1 : 0;
  g_autofree char *clean = NULL;

  if (all || monitor->line->len - length > MAX_LINE)
    length = monitor->line->len;
  if (length == 0)
    return;

  clean = view_clean (monitor->line->str, (gssize) length);
  g_string_erase (monitor->line, 0, (gssize) length);
  erase (monitor);
  fputs (clean, stdout);
  if (!g_str_has_suffix (clean, "\n"))
    putchar ('\n');
  fflush (stdout);
}

static gboolean
read_output (gint fd, GIOCondition condition G_GNUC_UNUSED, gpointer data)
{
  Monitor *monitor = data;
  char buffer[4096];
  gssize n = read (fd, buffer, sizeof buffer);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return G_SOURCE_CONTINUE;
  if (n <= 0)
    return G_SOURCE_REMOVE;
  g_string_append_len (monitor->line, buffer, n);
  print_output (monitor, FALSE);
  return G_SOURCE_CONTINUE;
}

static gboolean
read_traces (gint fd G_GNUC_UNUSED, GIOCondition condition G_GNUC_UNUSED, gpointer data)
{
  traces_read (&((Monitor *) data)->traces);
  return G_SOURCE_CONTINUE;
}

/* Reads the rest of the traces when the program has ended, for a second at most: its children may still write. */
static void
read_all_traces (Monitor *monitor)
{
  gint64 end = g_get_monotonic_time () + G_TIME_SPAN_SECOND;

  while (traces_read (&monitor->traces) && g_get_monotonic_time () < end)
    ;
}

static gboolean
draw_again (gpointer data)
{
  draw (data);
  return G_SOURCE_CONTINUE;
}

/* Handles signals.  The terminal also sends its signals to the program, so only a signal to the monitor alone is passed
 * on.  The third signal kills the program. */
static gboolean
interrupted (gint fd, GIOCondition condition G_GNUC_UNUSED, gpointer data)
{
  Monitor *monitor = data;
  struct signalfd_siginfo info;

  if (read (fd, &info, sizeof info) != sizeof info)
    return G_SOURCE_CONTINUE;
  if (++monitor->n_interrupts > 2)
    kill (monitor->program.pid, SIGKILL);
  else if (info.ssi_code != SI_KERNEL)
    kill (monitor->program.pid, (int) info.ssi_signo);
  return G_SOURCE_CONTINUE;
}

static void
ended (GPid pid G_GNUC_UNUSED, gint status, gpointer data)
{
  Monitor *monitor = data;

  monitor->status = status;
  g_main_loop_quit (monitor->loop);
}

/* Reads the rest of the program's output, up to now: the pipe may not end, because children may still hold it. */
static void
read_rest (Monitor *monitor)
{
  char buffer[4096];
  gssize n;

  if (monitor->program.output < 0)
    return;
  while ((n = read (monitor->program.output, buffer, sizeof buffer)) > 0)
    g_string_append_len (monitor->line, buffer, n);
  print_output (monitor, TRUE);
}

/* Prints the summary.  Returns whether it could be written. */
static gboolean
summarize (Monitor *monitor)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean written;

  read_all_traces (monitor);
  view_add_processes (text, &monitor->traces, g_get_monotonic_time (), FALSE);
  written = fputs (text->str, stdout) >= 0 && fflush (stdout) == 0;
  if (!written)
    g_printerr (_("prio-sched-monitor: the summary cannot be written: %s\n"), g_strerror (errno));
  if (!monitor->traces.is_used)
    g_printerr (_("prio-sched-monitor: %s has sent no trace\n"), monitor->name);
  else if (text->len == 0)
    g_printerr (_("prio-sched-monitor: %s has run no task\n"), monitor->name);
  if (WIFSIGNALED (monitor->status))
    g_printerr (_("prio-sched-monitor: %s was ended by signal %d (%s)\n"), monitor->name, WTERMSIG (monitor->status),
                strsignal (WTERMSIG (monitor->status)));
  return written;
}

static int
run (Monitor *monitor, int signals)
{
  gboolean written;

  monitor->loop = g_main_loop_new (NULL, FALSE);
  monitor->name = view_clean_line (monitor->argv[0]);
  monitor->line = g_string_new (NULL);
  g_child_watch_add (monitor->program.pid, ended, monitor);
  g_unix_fd_add (signals, G_IO_IN, interrupted, monitor);
  g_unix_fd_add (monitor->traces.fd, G_IO_IN, read_traces, monitor);
  if (monitor->is_live)
    {
      g_unix_set_fd_nonblocking (monitor->program.output, TRUE, NULL);
      g_unix_fd_add (monitor->program.output, G_IO_IN | G_IO_HUP, read_output, monitor);
      g_timeout_add (INTERVAL, draw_again, monitor);
      draw (monitor);
    }
  g_main_loop_run (monitor->loop);

  erase (monitor);
  read_rest (monitor);
  written = summarize (monitor);
  g_string_free (monitor->line, TRUE);
  g_free (monitor->name);
  g_main_loop_unref (monitor->loop);
  if (WIFSIGNALED (monitor->status))
    return 128 + WTERMSIG (monitor->status);
  return WEXITSTATUS (monitor->status) != 0 || written ? WEXITSTATUS (monitor->status) : 1;
}

static gboolean
parse (Monitor *monitor, int argc, char **argv, GError **error)
{
  gboolean plain = FALSE, version = FALSE, no_preload = FALSE;
  g_auto (GStrv) program = NULL;
  GOptionEntry entries[] = {
    { "plain", 0, 0, G_OPTION_ARG_NONE, &plain, N_("Print the summary only, in a terminal too"), NULL },
    { "threshold", 0, 0, G_OPTION_ARG_INT, &monitor->watch.threshold,
      N_("Report tasks and sources that hold the main loop at least this long (default: 50; 0: none)"), N_("MILLISECONDS") },
    { "no-preload", 0, 0, G_OPTION_ARG_NONE, &no_preload, N_("Watch only programs that use prio-sched themselves"), NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, N_("Print the version"), NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &program, NULL, N_("PROGRAM [ARGUMENT…]") },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);

  g_option_context_set_summary (context, _("Runs a program and shows how long its prioritized tasks wait and run."));
  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  /* Arguments after the program's name belong to the program. */
  g_option_context_set_strict_posix (context, TRUE);
  if (!g_option_context_parse (context, &argc, &argv, error))
    return FALSE;

  if (version)
    {
      g_print ("prio-sched-monitor %s\n", PRIO_MONITOR_VERSION);
      return TRUE;
    }
  if (monitor->watch.threshold < 0 && monitor->watch.threshold != THRESHOLD_UNSET)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("the threshold %d is not a number of milliseconds"),
                   monitor->watch.threshold);
      return FALSE;
    }
  if (program == NULL)
    {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("no program is named; see --help"));
      return FALSE;
    }
  monitor->argv = g_steal_pointer (&program);
  if (g_str_equal (monitor->argv[0], "--"))
    {
      g_free (monitor->argv[0]);
      memmove (monitor->argv, monitor->argv + 1, g_strv_length (monitor->argv + 1) * sizeof *argv + sizeof *argv);
    }
  monitor->watch.preloads = !no_preload;
  monitor->is_live = !plain && isatty (STDOUT_FILENO);
  return TRUE;
}

int
main (int argc, char **argv)
{
  Monitor monitor = { .program = { .pid = -1, .output = -1 }, .watch.threshold = THRESHOLD_UNSET };
  g_autoptr (GError) error = NULL;
  sigset_t wishes;
  int status = 2;

  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, PRIO_LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);

  if (parse (&monitor, argc, argv, &error) && monitor.argv == NULL)
    return 0;

  /* Blocks the signals before any thread starts, because threads inherit this. */
  sigemptyset (&wishes);
  sigaddset (&wishes, SIGINT);
  sigaddset (&wishes, SIGTERM);
  sigaddset (&wishes, SIGHUP);
  sigprocmask (SIG_BLOCK, &wishes, NULL);

  if (error == NULL && traces_init (&monitor.traces, &error))
    {
      monitor.watch.trace = monitor.traces.path;
      if (program_start (&monitor.program, monitor.argv, &monitor.watch, monitor.is_live, &status, &error))
        status = run (&monitor, signalfd (-1, &wishes, SFD_CLOEXEC | SFD_NONBLOCK));
      traces_clear (&monitor.traces);
    }
  if (error != NULL)
    {
      g_autofree char *message = view_clean_line (error->message);

      g_printerr ("prio-sched-monitor: %s\n", message);
    }
  g_strfreev (monitor.argv);
  return status;
}
