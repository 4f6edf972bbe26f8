/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-glib-private.h: the two places where the engine relies on GLib's internals
 *
 * Promises: no other file of the engine reads private state of GLib.  The functions below do, because no public
 * function of GLib gives these answers.  If GLib changes that state, test-contexts.c and test-deferred.c fail. */

#pragma once

#include <glib-object.h>

/* Returns whether @source was destroyed because its context is being freed.  GLib then clears the context of all
 * sources before it destroys the first one, and g_source_get_context () must not be called. */
gboolean prio_source_context_ends (GSource *source);

/* Returns whether @disposer, another thread, may still be inside the g_object_unref () whose dispose () added a
 * reference to @object.  Until that call has returned, no other thread may notify or unref it: before GLib 2.80,
 * g_object_unref () would access freed memory, and since GLib 2.80, notifications would be lost.
 *
 * Looks for GLib's notify queue, a qdata that the object has while notifications are frozen, as in dispose (). */
gboolean prio_is_within_unref (GObject *object, GThread *disposer);

/* Waits until prio_is_within_unref () is FALSE, which usually takes a few instructions.  Gives up after sleeping for
 * @longest µs, because user code may have frozen the notifications for good, and then returns FALSE. */
gboolean prio_wait_for_unref (GObject *object, GThread *disposer, gint64 longest);
