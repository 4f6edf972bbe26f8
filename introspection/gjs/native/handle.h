/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* handle.h: signals of tasks, as the tables know them
 *
 * The overrides make a handle for a signal, once for all tasks that have that signal and nothing else.  It has the state of those
 * tasks, and the owner, or null: what has the reason of an abort, and has to live as long as one of the tasks.  State or owner hold the
 * signal of the library's; or the handle has a controller of its own, of which the overrides make an object only if somebody asks.
 */

#pragma once

#include <prio-sched.h>
#include <js/TypeDecls.h>

namespace PrioGjs {

/* For the signal that the overrides have offered; or, if there is none, for a new controller's signal with the priority @current. */
JSObject           *handle_new (JSContext *cx, JS::HandleObject state, gint priority, JS::HandleValue owner, guint current,
                                JS::HandleValue record);
bool                is_handle (const JS::Value &value);

/* Tasks with it have this priority, or PRIO_TASK_PRIORITY_UNSET for the signal's. */
GCancellable       *handle_signal (JSObject *handle);
gint                handle_priority (JSObject *handle);
JS::Value           handle_state (JSObject *handle);
JS::Value           handle_owner (JSObject *handle);

/* Whether the overrides keep no task of the signal that an abort would have to reject before later ones. */
bool                handle_is_alone (JSContext *cx, JSObject *handle, JS::HandleId n_pending);
/* The overrides' counter for them, nPending, once they have an object for the signal. */
void                handle_set_record (JSObject *handle, const JS::Value &record);

/* Its own controller, or NULL. */
PrioTaskController *handle_controller (JSObject *handle);

/* Gives the signal of the next handle, and takes the controller that the last call of `offerController' has given. */
void                handle_offer_signal (GCancellable *signal);
void                handle_offer_controller (PrioTaskController *controller);
PrioTaskController *handle_take_controller (void);

} // namespace PrioGjs
