/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-debug-private.h: messages for G_MESSAGES_DEBUG=PrioSched
 *
 * Promises: while debug messages are off, a message costs one comparison.  No lock is held while a message is logged,
 * because a program's log handler may call the library.  Creating a scheduler looks up whether messages are on. */

#pragma once

#include <glib.h>

extern gboolean prio_debugs G_GNUC_INTERNAL; /* atomic */

void prio_debug_look_up (void);
const char *prio_priority_name (gint priority);
char *prio_debug_escape (const char *text);

static inline gboolean
prio_is_debugging (void)
{
  return G_UNLIKELY (__atomic_load_n (&prio_debugs, __ATOMIC_RELAXED));
}

#define prio_debug(...)                                                                                               \
  G_STMT_START                                                                                                        \
    {                                                                                                                 \
      if (prio_is_debugging ())                                                                                       \
        g_debug (__VA_ARGS__);                                                                                        \
    }                                                                                                                 \
  G_STMT_END
