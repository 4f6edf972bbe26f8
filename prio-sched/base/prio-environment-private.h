/* prio-environment-private.h: variables of the environment that have files written
 *
 * Promises: a program that runs with more rights than whoever has started it finds none.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

const char *prio_environment_get (const char *name);
