/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* monitor-program.c: starts the program */

/* For pipe2 (). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "config.h"

#include "monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "libprio-sched-preload.so"
#define THRESHOLD "PRIO_SCHED_LONG_TASKS"
/* The web's threshold for long tasks, ms. */
#define DEFAULT_THRESHOLD 50

/* Executes the program in the child.  On failure, sends errno to the parent through @failure. */
static G_NORETURN void
run (char **argv, char **environment, int output, int failure)
{
  sigset_t none;
  int error;

  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  if (output >= 0)
    {
      dup2 (output, STDOUT_FILENO);
      dup2 (output, STDERR_FILENO);
    }
  execvpe (argv[0], argv, environment);
  error = errno;
  while (write (failure, &error, sizeof error) < 0 && errno == EINTR)
    ;
  _exit (error == ENOENT ? 127 : 126);
}

/* Puts @value at the front of the list in @variable, whose items are separated by colons. */
static char **
prepend (char **environment, const char *variable, const char *value)
{
  const char *others = g_environ_getenv (environment, variable);
  g_autofree char *list = others != NULL && *others != '\0' ? g_strconcat (value, ":", others, NULL) : g_strdup (value);

  return g_environ_setenv (environment, variable, list, TRUE);
}

/* Returns the folder of the module to preload: in a build the monitor's own folder, otherwise the installed folder. */
static char *
find_preload (void)
{
  g_autofree char *monitor = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = monitor != NULL ? g_path_get_dirname (monitor) : NULL;
  g_autofree char *library = folder != NULL ? g_build_filename (folder, PRELOAD, NULL) : NULL;

  return library != NULL && g_file_test (library, G_FILE_TEST_EXISTS) ? g_steal_pointer (&folder) : g_strdup (PRIO_PRELOAD_DIR);
}

static char **
make_environment (const Watch *watch)
{
  char **environment = g_environ_setenv (g_get_environ (), "PRIO_SCHED_TRACE", watch->trace, TRUE);
  g_autofree char *folder = find_preload ();
  g_autofree char *library = g_build_filename (folder, PRELOAD, NULL);
  g_autofree char *python = g_build_filename (folder, "python", NULL);
  g_autofree char *threshold = g_strdup_printf ("%d", watch->threshold >= 0 ? watch->threshold : DEFAULT_THRESHOLD);

  environment = g_environ_setenv (environment, THRESHOLD, threshold, watch->threshold >= 0);
  if (!watch->preloads || g_str_equal (g_environ_getenv (environment, THRESHOLD), "0"))
    return environment;
  /* The dynamic linker cannot preload a file whose name contains a space or a colon. */
  if (strpbrk (library, " :") != NULL || !g_file_test (library, G_FILE_TEST_EXISTS))
    return environment;
  return prepend (prepend (environment, "LD_PRELOAD", library), "PYTHONPATH", python);
}

/* Starts @argv.  On failure, sets @status to the exit status that a shell would return. */
gboolean
program_start (Program *program, char **argv, const Watch *watch, gboolean with_output, int *status, GError **error)
{
  g_auto (GStrv) environment = make_environment (watch);
  int failure[2] = { -1, -1 }, output[2] = { -1, -1 }, saved = 0;

  *status = 126;
  if (pipe2 (failure, O_CLOEXEC) != 0 || (with_output && pipe2 (output, O_CLOEXEC) != 0) || (program->pid = fork ()) < 0)
    {
      saved = errno;
    }
  else if (program->pid == 0)
    {
      run (argv, environment, output[1], failure[1]);
    }
  else
    {
      close (failure[1]);
      failure[1] = -1;
      /* This reads nothing if the program is executed, which closes the pipe. */
      while (read (failure[0], &saved, sizeof saved) < 0 && errno == EINTR)
        ;
      if (saved == ENOENT)
        *status = 127;
    }

  for (guint i = 0; i < 2; i++)
    {
      if (failure[i] >= 0)
        close (failure[i]);
    }
  if (output[1] >= 0)
    close (output[1]);
  program->output = output[0];
  if (saved == 0)
    return TRUE;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved), _("%s: cannot be started: %s"), argv[0], g_strerror (saved));
  return FALSE;
}
