/* monitor-program.c: starts the program
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* pipe2 () */
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
#include <unistd.h>

/* In the child.  Tells the parent through @failure why it could not. */
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

/* Starts @argv, which writes its trace to @trace.  If that fails, @status is what a shell would end with. */
gboolean
program_start (Program *program, char **argv, const char *trace, gboolean with_output, int *status, GError **error)
{
  g_auto (GStrv) environment = g_environ_setenv (g_get_environ (), "PRIO_SCHED_TRACE", trace, TRUE);
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
      /* It closes with the program's execution. */
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
