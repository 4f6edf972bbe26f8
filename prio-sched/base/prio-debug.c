/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-debug.c: messages for G_MESSAGES_DEBUG=PrioSched */

#include "config.h"

#include "base/prio-debug-private.h"

#include "base/prio-check-private.h"

gboolean prio_debugs;

void
prio_debug_look_up (void)
{
  __atomic_store_n (&prio_debugs, !g_log_writer_default_would_drop (G_LOG_LEVEL_DEBUG, G_LOG_DOMAIN), __ATOMIC_RELAXED);
}

const char *
prio_priority_name (gint priority)
{
  static const char *const names[] = {
    [PRIO_TASK_PRIORITY_BACKGROUND] = "background",
    [PRIO_TASK_PRIORITY_USER_VISIBLE] = "user-visible",
    [PRIO_TASK_PRIORITY_USER_BLOCKING] = "user-blocking",
  };

  return PRIO_IS_PRIORITY (priority) ? names[priority] : "none";
}

/* Returns a copy of @text whose control characters are escaped, so that a name can neither begin a line nor control a
 * terminal.  Returns NULL if @text is NULL.  The caller frees the copy. */
char *
prio_debug_escape (const char *text)
{
  GString *escaped;

  if (text == NULL)
    return NULL;

  escaped = g_string_new (NULL);
  while (*text != '\0')
    {
      gunichar c = g_utf8_get_char_validated (text, -1);

      if (c >= 0x110000)
        {
          g_string_append_printf (escaped, "\\x%02x", (guchar) *text++);
          continue;
        }
      switch (g_unichar_type (c))
        {
        case G_UNICODE_CONTROL:
        case G_UNICODE_FORMAT:
        case G_UNICODE_LINE_SEPARATOR:
        case G_UNICODE_PARAGRAPH_SEPARATOR:
          g_string_append_printf (escaped, "\\u%04x", c);
          break;
        default:
          g_string_append_unichar (escaped, c);
        }
      text = g_utf8_next_char (text);
    }
  return g_string_free (escaped, FALSE);
}
