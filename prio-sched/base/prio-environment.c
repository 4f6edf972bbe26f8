/* prio-environment.c: variables of the environment that have files written
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* secure_getenv () */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "config.h"

#include "base/prio-environment-private.h"

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
