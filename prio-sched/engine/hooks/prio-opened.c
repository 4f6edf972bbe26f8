/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-opened.c: implements functions of prio-engine.h and prio-numbers.h that use several folders of the engine */

#include "config.h"

#include "loop/prio-dispatch-private.h"
#include "loop/prio-lending-private.h"
#include "loop/prio-loop-source-private.h"
#include "open/prio-engine.h"
#include "scheduler/prio-scheduler-private.h"
#include "signal/prio-dependence-private.h"
#include "signal/prio-registration-private.h"

PrioLoop *
prio_task_get_loop (PrioTask *task)
{
  return prio_task_get_entry (task)->run_queue->loop;
}

/* Keeps a node of prio-lending for a task of @self that has begun.  Returns the node's number, or 0 if @signal is
 * aborted.  If @priority is unset, the task has the priority of @signal or, without a signal, user-visible. */
static guint
keep_begun (PrioRunner *self, gint priority, GCancellable *signal)
{
  GCancellable *held = signal != NULL ? g_object_ref (signal) : NULL;
  PrioState state = { .run_queue = self->run_queue, .priority = (gint8) priority };
  PrioRegistration *registration = NULL;
  gboolean aborted = FALSE;
  guint lender = 0;

  if (signal != NULL)
    registration = prio_registration_acquire (self->run_queue, prio_signal_node_for (signal), &held, &aborted);
  if (!aborted)
    {
      state.group = prio_registration_group (registration);
      if (state.group == NULL && priority == PRIO_TASK_PRIORITY_UNSET)
        state.priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
      lender = prio_lending_keep_state (self->loop, &state);
    }
  g_clear_pointer (&registration, prio_registration_release);
  if (held != NULL)
    prio_loop_defer_release (self->loop, g_object_unref, held);
  return lender;
}

guint
prio_numbers_keep (PrioRunner *self, guint id, gint priority, GCancellable *signal)
{
  PrioEntry *entry;

  if (!prio_lending_is_used (self->loop) || self->run_queue == NULL)
    return 0;
  if (id == 0)
    return keep_begun (self, priority, signal);
  entry = prio_numbers_find (self, id);
  return entry != NULL ? prio_lending_keep (entry) : 0;
}

guint
prio_numbers_keep_task (PrioTask *task)
{
  PrioEntry *entry = prio_task_get_entry (task);

  return prio_lending_is_used (entry->run_queue->loop) ? prio_lending_keep (entry) : 0;
}

void
prio_numbers_begin_wait (PrioRunner *self, guint waiter, guint id)
{
  PrioEntry *entry = prio_lending_is_used (self->loop) ? prio_numbers_find (self, id) : NULL;

  if (entry != NULL)
    prio_lending_begin_wait_for_entry (self->loop, waiter, entry);
}
