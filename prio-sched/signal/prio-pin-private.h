/* prio-pin-private.h: who keeps a signal that nobody else holds, and who says that it is cancelled
 *
 * A dependent or a timeout that has handlers lives as long as it can be made to say
 * something (§3.3.1 of the draft).  Its last holder may drop it on one thread while another
 * aborts it, or finalizes its source.  All is decided under the lock:
 *
 * - `kept`: one reference of the signal belongs to the graph.  Who sets it has taken that
 *   reference before.  Who clears it owns the reference, and drops it outside the lock.
 * - `owes`: who aborts the signal marks it first, and comes later to have it say
 *   `cancelled`.  Until then it owes that, and this is a reason to keep it.
 *
 * The question is asked in dispose (), when the handlers are still there: prio_signal_node_pin ().
 * By then GLib has cleared the weak references, and one reference is left.  For an abort on
 * another thread this leaves three moments, since both sides take the lock:
 *
 * - It marks the signal before the question.  The signal owes, and is kept.
 * - It marks the signal after the question.  The signal has been kept for its source, or
 *   nobody listens.  If it is kept, its weak reference is back before `kept` is set.
 * - It comes before the question, finds the weak reference cleared, and nothing kept.  It
 *   leaves the matter to dispose (): the signal owes *now*, and says it there.
 *
 * A change of priority that comes in the third moment is made up for, if it is kept.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "signal/prio-signal-node-private.h"

/* What somebody comes for.  If the signal is just being disposed, and may be kept yet, it is
 * left to that. */
typedef enum
{
  PRIO_VISIT_LOOK,  /* nothing that cannot be left out */
  PRIO_VISIT_EMIT,   /* to have it say `cancelled` */
  PRIO_VISIT_CHANGE /* to change its priority */
} PrioVisit;

gboolean prio_signal_node_pin (PrioSignalNode *node);
void prio_signal_node_reevaluate (PrioSignalNode *node);
void prio_signal_node_reevaluate_some (void);
GCancellable *prio_handle_get (PrioHandle *handle, PrioVisit visit);
void prio_handle_reevaluate (PrioHandle *handle);
void prio_call_from_default_context (GSourceFunc func, gpointer data, GDestroyNotify notify);
