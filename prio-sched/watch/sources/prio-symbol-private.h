/* prio-symbol-private.h: the names of functions
 *
 * A function is named by its symbol if the linker knows it, or if its file has a table of all symbols; otherwise by that file and
 * the address in it, FILE+0xADDRESS, as addr2line takes it.  What is in no file, as what an interpreter makes, has no name.
 *
 * Promises: each function is looked up once, as long as the process lives.  What a file says is checked: it may be another one by now.
 *
 * Threads: any.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

const char *prio_symbol_get_name (gconstpointer function);
char *prio_symbol_find (const char *file, gsize length, guintptr address);
