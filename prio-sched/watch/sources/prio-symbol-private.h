/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-symbol-private.h: the names of functions
 *
 * A function's name is its symbol, if the dynamic linker knows it or the function's file has a symbol table.  Otherwise
 * the name is FILE+0xADDRESS, for addr2line.  A function that is in no file, such as an interpreter's, has no name.
 *
 * Promises: each function that has a name is looked up once per process.  The contents of the file are not trusted,
 * because the file may have been replaced.  Any thread may call these functions. */

#pragma once

#include <glib.h>

const char *prio_symbol_get_name (gconstpointer function);
gpointer prio_symbol_find_beside (gconstpointer function, const char *name);
char *prio_symbol_find (const char *file, gsize length, guintptr address);
