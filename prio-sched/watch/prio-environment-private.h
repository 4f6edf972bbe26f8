/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-environment-private.h: environment variables that name files to write, and the program's name in those files
 *
 * Promises: a program that runs with more rights than the user who started it does not see these variables.
 */

#pragma once

#include <glib.h>

const char *prio_environment_get (const char *name);
const char *prio_environment_get_program (void);
