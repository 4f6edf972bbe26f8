/* prio-input-private.h: whether a source that has a descriptor is ready, asked in a dispatch
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

/* @wakeup_fd is by which GLib is woken out of poll (), or -1 if that is not known yet. */
gboolean prio_input_waits (GMainContext *context, gint64 *wakeup_fd, gint priority);
