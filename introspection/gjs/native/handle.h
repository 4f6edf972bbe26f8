/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* handle.h: handles of task signals, for the tables
 *
 * All tasks with the same signal, and no other option, share one handle, which the overrides make.  The handle has the state of
 * these tasks, and their owner or null: the owner is a record of the web's part for the signal.  The owner has the reason of an
 * abort, and has to live as long as one of the tasks.  The state or the owner holds the library's signal; or else the handle has
 * its own controller, for which the overrides make an object only on request.
 */

#pragma once

#include <prio-sched.h>
#include <js/TypeDecls.h>

namespace PrioGjs {

/* Makes a handle for the signal that the overrides have offered or, without one, for a new controller's signal with the priority
 * @current. */
JSObject           *handle_new (JSContext *cx, JS::HandleObject state, gint priority, JS::HandleValue owner, guint current,
                                JS::HandleValue record);
bool                is_handle (const JS::Value &value);

/* Returns the signal of the handle. */
GCancellable       *handle_signal (JSObject *handle);
/* Returns the priority of tasks with the handle, or PRIO_TASK_PRIORITY_UNSET for the signal's priority. */
gint                handle_priority (JSObject *handle);
JS::Value           handle_state (JSObject *handle);
JS::Value           handle_owner (JSObject *handle);

/* Returns whether the overrides keep no task of the signal.  If they keep one, they have to keep later tasks, too, because an
 * abort rejects the native part's tasks first, and has to reject all in the order of their posts. */
bool                handle_is_alone (JSContext *cx, JSObject *handle, JS::HandleId n_pending);
/* Sets the record of the overrides in which nPending counts the tasks, once they have an object for the signal. */
void                handle_set_record (JSObject *handle, const JS::Value &record);

/* Returns the handle's own controller, or NULL. */
PrioTaskController *handle_controller (JSObject *handle);

/* Keeps the signal for the next handle. */
void                handle_offer_signal (GCancellable *signal);
/* Keeps a controller until handle_take_controller () returns it. */
void                handle_offer_controller (PrioTaskController *controller);
PrioTaskController *handle_take_controller (void);

} // namespace PrioGjs
