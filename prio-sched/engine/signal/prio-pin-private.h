/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-pin-private.h: pins task signals that can still emit, and determines which thread emits `cancelled`
 *
 * A dependent or a timeout that has handlers lives as long as it can still emit `cancelled` or `priority-change` (§3.3.1
 * of the WICG draft), and a timeout as long as it can still abort a dependent.  One thread may drop the last reference
 * while another thread aborts the task signal, or finalizes its source.  Two fields of the node, which prio_signal_lock
 * protects, determine which thread emits `cancelled`:
 *
 * - `pinned`: the graph of nodes owns a reference to the signal.  The code that sets `pinned` takes the reference first.
 *   The code that clears `pinned` then owns the reference, and drops it after releasing the lock.
 * - `pending_cancelled`: an abort first marks the signal, and later makes the signal emit `cancelled`.  Until then the
 *   emission is pending, which is a reason to pin the signal.
 *
 * dispose () decides whether to pin the signal, while its handlers are still connected (prio_signal_node_pin ()).  By
 * then GLib has cleared the weak references, and one reference is left.  dispose () and an abort both take the lock, so
 * an abort on another thread meets one of three cases:
 *
 * - The abort marks the signal before dispose () decides, and looks the signal up afterwards.  The emission is pending,
 *   so the signal is pinned.
 * - The abort marks the signal after dispose () has decided.  Either the signal has no handlers, or it is pinned
 *   because it could still be aborted.  The weak reference of a pinned signal was restored before `pinned` was set.
 * - The abort marks the signal and looks it up before dispose () decides.  The weak reference is cleared, and the signal
 *   is not pinned.  The abort leaves the emission to dispose (): PRIO_CANCELLED_IN_DISPOSE.
 *
 * A change of priority in the third case sets `missed_change`.  If dispose () pins the signal, dispose () repeats the
 * change. */

#pragma once

#include "signal/prio-signal-node-private.h"

/* Why code gets a signal by its handle.  If the signal is in dispose (), and may still be pinned, dispose () acts
 * instead. */
typedef enum
{
  PRIO_VISIT_LOOK,  /* only to look at the signal: dispose () has nothing to do */
  PRIO_VISIT_EMIT,  /* to make the signal emit `cancelled` */
  PRIO_VISIT_CHANGE /* to change the signal's priority */
} PrioVisit;

gboolean prio_signal_node_pin (PrioSignalNode *node);
void prio_signal_node_reevaluate (PrioSignalNode *node);
void prio_signal_node_reevaluate_some (void);
void prio_signal_node_wait_for_unref (PrioSignalNode *node);
GCancellable *prio_handle_get (PrioHandle *handle, PrioVisit visit);
void prio_handle_reevaluate (PrioHandle *handle);
void prio_call_from_context (GMainContext *context, GSourceFunc func, gpointer data);
void prio_call_later (PrioLoop *loop, GSourceFunc func, gpointer data);
