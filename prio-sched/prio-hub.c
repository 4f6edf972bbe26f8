/* prio-hub.c: what the library knows of a cancellable
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-hub-private.h"

#include "prio-loop-private.h"

#include <glib/gi18n-lib.h>

PrioLock prio_hub_lock = PRIO_LOCK_INIT;

G_DEFINE_QUARK (prio-sched-hub, prio_hub)

/* Those of PrioTaskSignal; NULL as long as there is none; atomic. */
static const PrioHubFuncs *task_signal_funcs;

/* Returns: (transfer full): why, if nobody said why */
GError *
prio_reason_default (void)
{
  return g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, _("Operation was cancelled"));
}

PrioReason *
prio_reason_new (const GError *error)
{
  PrioReason *reason = g_atomic_rc_box_new (PrioReason);

  reason->error = error != NULL ? g_error_copy (error) : prio_reason_default ();
  return reason;
}

static void
reason_clear (gpointer reason)
{
  g_clear_error (&((PrioReason *) reason)->error);
}

void
prio_reason_unref (PrioReason *reason)
{
  g_atomic_rc_box_release_full (reason, reason_clear);
}

/* Called once, before there is a PrioTaskSignal. */
void
prio_hub_set_funcs (const PrioHubFuncs *funcs)
{
  __atomic_store_n (&task_signal_funcs, funcs, __ATOMIC_RELEASE);
}

/* Of a task signal. */
const PrioHubFuncs *
prio_hub_get_funcs (void)
{
  return __atomic_load_n (&task_signal_funcs, __ATOMIC_ACQUIRE);
}

/* The hub of @signal, or NULL: a plain cancellable may have none yet. */
PrioHub *
prio_hub_find (GCancellable *signal)
{
  const PrioHubFuncs *funcs = prio_hub_get_funcs ();
  PrioHub *hub = funcs != NULL ? funcs->get_hub (signal) : NULL;

  return hub != NULL ? hub : g_object_get_qdata (G_OBJECT (signal), prio_hub_quark ());
}

void
prio_hub_init (PrioHub *hub, GCancellable *signal, gboolean is_task_signal, PrioTaskPriority priority)
{
  static gboolean added = FALSE;

  /* Not g_once_init_enter (): after a fork () meanwhile nobody would leave it. */
  if (G_UNLIKELY (!__atomic_load_n (&added, __ATOMIC_ACQUIRE)))
    {
      prio_loop_add_leaf_lock (&prio_hub_lock);
      __atomic_store_n (&added, TRUE, __ATOMIC_RELEASE);
    }

  *hub = (PrioHub) {
    .signal = signal,
    .is_task_signal = is_task_signal != FALSE,
    .priority = priority,
  };
}

/* Under the lock.  A plain cancellable is asked, since it may be used again after
 * g_cancellable_reset (). */
gboolean
prio_hub_is_aborted_locked (PrioHub *hub)
{
  if (!hub->is_task_signal)
    {
      gboolean cancelled = g_cancellable_is_cancelled (hub->signal);

      hub->aborted = hub->aborted && cancelled;
      return cancelled;
    }

  /* Handlers that are called before its own hear of a cancel by hand first. */
  return hub->aborted || g_cancellable_is_cancelled (hub->signal);
}

gboolean
prio_hub_is_aborted (PrioHub *hub)
{
  gboolean aborted;

  prio_lock_lock (&prio_hub_lock);
  aborted = prio_hub_is_aborted_locked (hub);
  prio_lock_unlock (&prio_hub_lock);

  return aborted;
}

/* Returns: (transfer full): why it was aborted, or would be if it were now */
GError *
prio_hub_dup_reason (PrioHub *hub)
{
  PrioReason *reason = NULL;
  GError *error;

  prio_lock_lock (&prio_hub_lock);
  if (hub->aborted)
    reason = g_atomic_rc_box_acquire (hub->reason);
  prio_lock_unlock (&prio_hub_lock);

  if (reason == NULL)
    return prio_reason_default ();

  error = g_error_copy (reason->error);
  prio_reason_unref (reason);
  return error;
}

PrioTaskPriority
prio_hub_get_priority (PrioHub *hub)
{
  return (PrioTaskPriority) __atomic_load_n (&hub->priority, __ATOMIC_RELAXED);
}

/* A dependent whose priority nothing can change. */
gboolean
prio_hub_has_fixed_priority (PrioHub *hub)
{
  gboolean fixed;

  prio_lock_lock (&prio_hub_lock);
  fixed = hub->is_dependent && hub->n_sources[PRIO_EDGE_PRIORITY] == 0;
  prio_lock_unlock (&prio_hub_lock);

  return fixed;
}

/* Whether the reason of @hub is to be notified now: once. */
gboolean
prio_hub_begin_notice (PrioHub *hub)
{
  gboolean first;

  prio_lock_lock (&prio_hub_lock);
  first = hub->aborted && !hub->notified;
  hub->notified = hub->aborted;
  prio_lock_unlock (&prio_hub_lock);

  return first;
}

/* The signal of @hub is a PrioTaskSignal that was aborted, and has been reset with
 * g_cancellable_reset (), which nothing can prevent, and nobody is told of.  It is aborted for
 * good, as the draft has it: it is cancelled again, for GIO too.  Its caller holds it, and is
 * outside. */
void
prio_hub_undo_reset_slow (PrioHub *hub)
{
  if (g_cancellable_is_cancelled (hub->signal) || !__atomic_exchange_n (&hub->said, FALSE, __ATOMIC_ACQ_REL))
    return;

  g_warning ("A PrioTaskSignal has been reset with g_cancellable_reset (): it is aborted for good, and cancelled again. "
             "What is to go on needs a signal of a new PrioTaskController");
  g_cancellable_cancel (hub->signal);
}
