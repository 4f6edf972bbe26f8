/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-glib-private.h: the two places where the library relies on GLib's internals
 *
 * Promises: no other file of the engine reads private state of GLib.  Correctness depends on both answers, and GLib has
 * no public function for either. tests/library/test-contexts.c and test-deferred.c fail if an answer is wrong.
 */

#pragma once

#include <glib-object.h>

/* Returns whether the context of @source, which has been destroyed, is being freed.  GLib clears the context of all
 * its sources before it destroys the first one. g_source_get_context () must not be called then. */
gboolean prio_source_context_ends (GSource *source);

/* Returns whether @disposer, another thread, is still inside the g_object_unref () whose dispose () resurrected
 * @object.  Until that call has returned, no other thread may notify or drop the object:
 *
 * - before GLib 2.80, g_object_unref () drops its reference and then thaws the notifications: if another thread frees the
 *   object in between, it touches freed memory;
 * - since GLib 2.80, it finalizes an object that has lost its new reference before g_object_unref () looks, and
 *   notifications made meanwhile are lost.
 *
 * While the notifications of an object are frozen, as they are in dispose (), it has qdata with the name of GLib's
 * queue for them. */
gboolean prio_is_within_unref (GObject *object, GThread *disposer);

/* Waits until prio_is_within_unref () is FALSE.  That takes a few instructions only; the wait is bounded, because
 * user code may have frozen the notifications for good. */
void prio_wait_for_unref (GObject *object, GThread *disposer);

/* Waits for a millisecond at most.  Returns FALSE if prio_is_within_unref () is still TRUE. */
gboolean prio_wait_briefly_for_unref (GObject *object, GThread *disposer);
