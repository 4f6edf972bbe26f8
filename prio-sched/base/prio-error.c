/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-error.c: the error domain */

#include "config.h"

#include "prio-error.h"

#include <libintl.h>

G_DEFINE_QUARK (prio-error-quark, prio_error)

/* Binds the library's message catalogue, which is separate from the program's. */
static void __attribute__ ((constructor))
bind_messages (void)
{
  bindtextdomain (GETTEXT_PACKAGE, PRIO_LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
}
