/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-input-private.h: checks in a dispatch whether another source has input */

#pragma once

#include <glib.h>

/* Returns whether a source of @priority or above has input.  @wakeup_fd is the file descriptor that wakes GLib out
 * of poll (), or -1 while it is unknown; then the function may find it. */
gboolean prio_input_waits (GMainContext *context, gint64 *wakeup_fd, gint priority);

/* Returns the id of the next source that is attached to @context.  The calling thread owns the context. */
guint prio_input_next_source (GMainContext *context);
