/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-environment.c: reads environment variables, and finds the program's name */

/* For secure_getenv () and program_invocation_short_name. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "config.h"

#include "watch/prio-environment-private.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

const char *
prio_environment_get (const char *name)
{
#ifdef __linux__
  return secure_getenv (name);
#else
  return getuid () == geteuid () && getgid () == getegid () ? getenv (name) : NULL;
#endif
}

/* Returns the program's name, as GLib knows it, or the name of its executable; NULL if neither is known. */
const char *
prio_environment_get_program (void)
{
  const char *name = g_get_prgname ();

#ifdef __GLIBC__
  return name != NULL ? name : program_invocation_short_name;
#else
  return name;
#endif
}
