/* test-symbol-stripped.c: a function of a library without a table of symbols, for test-symbol.c
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <glib.h>

extern gpointer stripped_get_function (void);

static void
function (void)
{
}

gpointer
stripped_get_function (void)
{
  return (gpointer) function;
}
