/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-environment-private.h: reads environment variables, and finds the program's name
 *
 * Promises: prio_environment_get () returns NULL in a setuid or setgid program. */

#pragma once

#include <glib.h>

const char *prio_environment_get (const char *name);
const char *prio_environment_get_program (void);
