/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-signal-node.c: the library's record of a cancellable */

#include "config.h"

#include "signal/prio-signal-node-private.h"

#include "loop/prio-loop-private.h"

#include <glib/gi18n-lib.h>

PrioLock prio_signal_lock = PRIO_LOCK_INIT;

G_DEFINE_QUARK (prio-sched-node, prio_signal_node)

/* The functions of PrioTaskSignal; NULL before its class is initialized; atomic. */
const PrioSignalNodeFuncs *prio_signal_node_funcs;

/* Creates a reason that takes over @error; NULL stands for an abort without a reason. */
PrioReason *
prio_reason_new (GError *error)
{
  PrioReason *reason = g_atomic_rc_box_new (PrioReason);

  reason->is_default = error == NULL;
  reason->error = error != NULL ? error : g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, _("Operation was cancelled"));
  return reason;
}

static void
reason_clear (gpointer reason)
{
  g_error_free (((PrioReason *) reason)->error);
}

void
prio_reason_unref (gpointer reason)
{
  g_atomic_rc_box_release_full (reason, reason_clear);
}

__attribute__ ((constructor)) static void
load (void)
{
  prio_loop_add_leaf_lock (&prio_signal_lock);
}

void
prio_signal_node_init (PrioSignalNode *node, GCancellable *signal, gboolean is_task_signal)
{
  *node = (PrioSignalNode) {
    .signal = signal,
    .is_task_signal = is_task_signal != FALSE,
    .priority = PRIO_TASK_PRIORITY_USER_VISIBLE,
  };
}

gboolean
prio_signal_node_is_aborted (PrioSignalNode *node)
{
  gboolean aborted;

  prio_lock_lock (&prio_signal_lock);
  aborted = prio_signal_node_is_aborted_locked (node);
  prio_lock_unlock (&prio_signal_lock);

  return aborted;
}

/* Returns (transfer full) (nullable) the reason for which the signal was aborted; NULL if the signal is not aborted. */
PrioReason *
prio_signal_node_ref_reason (PrioSignalNode *node)
{
  PrioReason *reason = NULL;
  gboolean aborted;

  prio_lock_lock (&prio_signal_lock);
  aborted = prio_signal_node_is_aborted_locked (node);
  if (node->aborted)
    reason = g_atomic_rc_box_acquire (node->reason);
  prio_lock_unlock (&prio_signal_lock);

  return aborted && reason == NULL ? prio_reason_new (NULL) : reason;
}

PrioTaskPriority
prio_signal_node_get_priority (PrioSignalNode *node)
{
  return (PrioTaskPriority) __atomic_load_n (&node->priority, __ATOMIC_RELAXED);
}

/* Returns whether @node is a dependent whose priority nothing can change. */
gboolean
prio_signal_node_has_fixed_priority (PrioSignalNode *node)
{
  gboolean fixed;

  prio_lock_lock (&prio_signal_lock);
  fixed = node->is_dependent && !node->follows;
  prio_lock_unlock (&prio_signal_lock);

  return fixed;
}

/* Returns TRUE once per abort.  The caller then has to notify the signal's properties `aborted` and `reason`. */
gboolean
prio_signal_node_begin_notice (PrioSignalNode *node)
{
  gboolean first;

  prio_lock_lock (&prio_signal_lock);
  first = node->aborted && !node->notified;
  node->notified = node->aborted;
  prio_lock_unlock (&prio_signal_lock);

  return first;
}

/* Cancels an aborted PrioTaskSignal again after g_cancellable_reset (), which the library can neither prevent nor
 * observe.  In the WICG draft an aborted signal stays aborted, so GIO has to see it cancelled too.  The caller holds a
 * reference to the signal, and has entered no loop. */
void
prio_signal_node_undo_reset_slow (PrioSignalNode *node)
{
  if (g_cancellable_is_cancelled (node->signal) || !__atomic_exchange_n (&node->emitted, FALSE, __ATOMIC_ACQ_REL))
    return;

  g_warning ("A PrioTaskSignal has been reset with g_cancellable_reset (): it is aborted for good, and cancelled "
             "again. Tasks that are to go on need a signal of a new PrioTaskController");
  g_cancellable_cancel (node->signal);
}
