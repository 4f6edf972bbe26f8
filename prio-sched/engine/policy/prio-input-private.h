/* prio-input-private.h: whether a source that has a file descriptor is ready, asked in a dispatch
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

/* @wakeup_fd is the file descriptor that wakes GLib out of poll (), or -1 while it is not known;
 * the function may find it. */
gboolean prio_input_waits (GMainContext *context, gint64 *wakeup_fd, gint priority);

/* The number of a source that is attached to @context now: one more than that of the last call, unless others have been attached
 * meanwhile.  The calling thread owns the context. */
guint prio_input_next_source (GMainContext *context);
