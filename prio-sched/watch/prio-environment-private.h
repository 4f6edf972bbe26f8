/* prio-environment-private.h: variables of the environment that have files written, and the program's name in them
 *
 * Promises: a program that runs with more rights than the user who has started it finds no variable.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

const char *prio_environment_get (const char *name);
const char *prio_environment_get_program (void);
