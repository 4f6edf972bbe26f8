/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-registration-private.h: the registration of a signal at a scheduler
 *
 * Promises: the tasks of a signal at a scheduler that follow its priority are one group, which moves as a whole and is
 * aborted as a whole.  The users of a registration are entries and captured states.  While it has users, it holds a
 * reference to the signal, and is on the list of the signal's node.
 *
 * An aborted registration takes no new tasks.  A plain cancellable that is reset gets a new registration: tasks that a
 * task under a plain cancellable starts inherit the cancellable, not the registration, and look the registration up
 * again.
 *
 * The record comes from the loop's slab, and is freed on the owner thread.  A registration that has users keeps no
 * reference to its loop, which outlives them; every other reference to a registration holds a reference to the loop
 * too, so that the record can be freed whenever that reference is dropped.
 *
 * All fields except the references belong to the owner thread.
 */

#pragma once

#include "loop/prio-run-queue-group-private.h"
#include "signal/prio-signal-node-private.h"

struct _PrioRegistration
{
  PrioGroup group; /* the entries at the scheduler; its users are the registration's */
  PrioLoop *loop;
  PrioSignalNode *node;
  GCancellable *signal; /* owned while there are users */
  gint refs; /* atomic: one for all users together, and one for each operation on its way */
  PrioRegistration *node_next, *node_prev; /* in the list of the node; under prio_signal_lock */
};

PrioRegistration *prio_registration_acquire (PrioRunQueue *run_queue, PrioSignalNode *node, GCancellable **signal,
                                             gboolean *aborted);
PrioRegistration *prio_registration_ref (PrioRegistration *registration);
void prio_registration_unref (PrioRegistration *registration);
GPtrArray *prio_registrations_list (PrioSignalNode *node);

void prio_registration_send (PrioRegistration *registration, PrioOpFunc apply, gboolean quietly);
void prio_registration_abort (PrioLoop *loop, const PrioOp *op);
void prio_registration_follow (PrioLoop *loop, const PrioOp *op);

static inline void
prio_registration_hold (PrioRegistration *registration)
{
  prio_group_hold (&registration->group);
}

/* Drops a user; the last one ends the registration. */
static inline void
prio_registration_release (PrioRegistration *registration)
{
  prio_group_release (&registration->group);
}

/* Returns the registration that embeds @group; every group is embedded in one. */
static inline PrioRegistration *
prio_registration_of (PrioGroup *group)
{
  G_STATIC_ASSERT (G_STRUCT_OFFSET (PrioRegistration, group) == 0);
  return (PrioRegistration *) group;
}

static inline PrioGroup *
prio_registration_group (PrioRegistration *registration)
{
  return (PrioGroup *) registration;
}
