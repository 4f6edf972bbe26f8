/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-pin-private.h: pins signals that can still emit, and decides which thread emits `cancelled`
 *
 * A dependent or a timeout that has handlers lives as long as it can still emit a signal (§3.3.1 of the draft), and a
 * timeout as long as it can still abort a signal that depends on it.  One thread may drop the last reference while
 * another thread aborts the signal, or finalizes its source.  Two fields of the node, under prio_signal_lock, decide:
 *
 * - `pinned`: the graph owns one reference to the signal.  The code that sets it has taken that
 *   reference before.  The code that clears it owns the reference, and drops it outside the lock.
 * - `pending_cancelled`: an abort first marks the signal, and makes it emit `cancelled` later.
 *   In between the emission is pending, which is a reason to pin the signal.
 *
 * dispose () decides whether to pin the signal, while its handlers are still connected:
 * prio_signal_node_pin ().  By then GLib has cleared the weak references, and one reference is
 * left.  Both sides take the lock, so an abort on another thread meets one of three cases:
 *
 * - It marks the signal before the decision, and fetches the signal after it.  The emission is
 *   pending, so the signal is pinned.
 * - It marks the signal after the decision.  Either the signal is pinned because of its source, or it has no handlers.
 *   If it is pinned, its weak reference is set again before `pinned` is.
 * - It marks and fetches the signal before the decision.  It finds the weak reference cleared,
 *   and the signal not pinned.  It leaves the emission to dispose (): PRIO_CANCELLED_IN_DISPOSE.
 *
 * A change of priority in the third case sets `missed_change`, and is repeated if the signal is pinned.
 */

#pragma once

#include "signal/prio-signal-node-private.h"

/* Why a signal is fetched by its handle.  If it is being disposed, and may still be pinned, then dispose () does the
 * work of the visit. */
typedef enum
{
  PRIO_VISIT_LOOK,  /* to look at it: dispose () has nothing to do */
  PRIO_VISIT_EMIT,  /* to make it emit `cancelled` */
  PRIO_VISIT_CHANGE /* to change its priority */
} PrioVisit;

gboolean prio_signal_node_pin (PrioSignalNode *node);
void prio_signal_node_reevaluate (PrioSignalNode *node);
void prio_signal_node_reevaluate_some (void);
void prio_signal_node_wait_for_unref (PrioSignalNode *node);
GCancellable *prio_handle_get (PrioHandle *handle, PrioVisit visit);
void prio_handle_reevaluate (PrioHandle *handle);
void prio_call_from_context (GMainContext *context, GSourceFunc func, gpointer data);
void prio_call_later (PrioLoop *loop, GSourceFunc func, gpointer data);
