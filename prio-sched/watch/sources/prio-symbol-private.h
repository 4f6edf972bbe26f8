/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-symbol-private.h: the names of functions
 *
 * A function's name is its symbol, if the linker knows it or its file has a table of all symbols; otherwise the file
 * and the address in it, FILE+0xADDRESS, for addr2line.  A function that is in no file, such as an interpreter's, has
 * no name.
 *
 * Promises: each function is looked up once in the life of the process.  The file's contents are checked, because
 * another file may have replaced it.
 *
 * Threads: any.
 */

#pragma once

#include <glib.h>

const char *prio_symbol_get_name (gconstpointer function);
gpointer prio_symbol_find_beside (gconstpointer function, const char *name);
char *prio_symbol_find (const char *file, gsize length, guintptr address);
