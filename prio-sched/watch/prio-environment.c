/* prio-environment.c: variables of the environment that have files written, and the program's name in them
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* secure_getenv (), program_invocation_short_name */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "config.h"

#include "watch/prio-environment-private.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The value of the variable @name, or NULL. */
const char *
prio_environment_get (const char *name)
{
#ifdef __linux__
  return secure_getenv (name);
#else
  return getuid () == geteuid () && getgid () == getegid () ? getenv (name) : NULL;
#endif
}

/* What the program is called: by itself or, where it has told GLib nothing, by the program that has started it.  NULL if that is not known. */
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
