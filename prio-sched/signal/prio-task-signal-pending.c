/* prio-task-signal-pending.c: how many tasks of a signal wait
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-task-signal.h"

#include "loop/prio-count-private.h"
#include "signal/prio-registration-private.h"

/**
 * prio_task_signal_get_n_pending:
 * @self: a signal
 *
 * Counts the tasks that have been posted with the signal, at any scheduler whose main context the calling
 * thread runs, and are queued or delayed.  The running task is not counted, nor is one that has
 * deferred its result, nor what waits for a thread of the pool, nor are the tasks of dependent signals.
 *
 * ```c
 * gtk_widget_set_sensitive (stop_button, prio_task_signal_get_n_pending (signal) > 0);
 * ```
 *
 * After an abort there are none.  It counts when it is called, which takes as long as there are tasks, and nothing is
 * counted before.  So this is no property, and is not notified.
 *
 * Any thread may call it; it counts what is in the main contexts of that thread.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint
prio_task_signal_get_n_pending (PrioTaskSignal *self)
{
  g_autoptr (GPtrArray) registrations = NULL;
  PrioSignalNode *node;
  guint n = 0;

  g_return_val_if_fail (PRIO_IS_TASK_SIGNAL (self), 0);

  registrations = g_ptr_array_new_with_free_func ((GDestroyNotify) prio_registration_unref);
  node = prio_signal_node_find (G_CANCELLABLE (self));
  prio_lock_lock (&prio_signal_lock);
  for (PrioRegistration *registration = node->registrations; registration != NULL;
       registration = registration->node_next)
    g_ptr_array_add (registrations, prio_registration_ref (registration));
  prio_lock_unlock (&prio_signal_lock);

  for (guint i = 0; i < registrations->len; i++)
    {
      PrioRegistration *registration = registrations->pdata[i];

      if (!prio_loop_enter (registration->loop))
        continue;
      n += prio_group_count (&registration->group);
      prio_loop_leave (registration->loop);
    }
  return n;
}
