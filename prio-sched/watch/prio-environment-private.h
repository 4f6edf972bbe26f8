/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-environment-private.h: environment variables that name files to write, and the program's name in those files
 *
 * Promises: the variables are ignored in a setuid or setgid program. */

#pragma once

#include <glib.h>

const char *prio_environment_get (const char *name);
const char *prio_environment_get_program (void);
