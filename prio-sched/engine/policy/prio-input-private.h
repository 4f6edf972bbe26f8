/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-input-private.h: checks in a dispatch whether another source has input */

#pragma once

#include <glib.h>

/* Returns whether a source of @priority or above has input.  @wakeup_fd is the file descriptor that wakes GLib out of
 * poll (), or -1 while it is unknown; the function sets it as soon as it is known. */
gboolean prio_input_waits (GMainContext *context, gint64 *wakeup_fd, gint priority);

guint prio_input_next_source (GMainContext *context);
