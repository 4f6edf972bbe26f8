/* prio-unref-private.h: an object that its dispose () has revived on another thread
 *
 * g_object_unref () freezes the notifications of an object while it disposes it.  If dispose () gives a new reference to
 * another thread, g_object_unref () still has to drop its own and to thaw the notifications.  Before GLib 2.80 it does so
 * in this order: whoever frees the object in between has it touch freed memory.  Since GLib 2.80, an object that has lost
 * its new reference before g_object_unref () looks is finalized, and what was notified meanwhile is lost.  So whoever has
 * the new reference may neither notify nor drop it as long as prio_is_within_unref ().
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib-object.h>

gboolean prio_is_within_unref (GObject *object, GThread *disposer);
void prio_wait_for_unref (GObject *object, GThread *disposer);
gboolean prio_wait_briefly_for_unref (GObject *object, GThread *disposer);
