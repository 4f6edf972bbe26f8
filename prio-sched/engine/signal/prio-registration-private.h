/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-registration-private.h: the registration of a signal at a scheduler
 *
 * Promises: the tasks of one signal at one scheduler are a group.  An abort removes them all at once, and a change of
 * the signal's priority moves all that follow it at once.  The users of a registration are entries and captured states.
 * While it has users, it holds a reference to the signal, and is on the list of the signal's node.
 *
 * An aborted registration takes no new tasks.  A plain cancellable that is reset gets a new registration.  So a task
 * that inherits a plain cancellable looks up the cancellable's registration again.
 *
 * The record comes from the loop's slab, and is freed on the owner thread.  The users share one reference, which needs
 * no reference to the loop, because the loop outlives the users.  Every other reference comes with a reference to the
 * loop, which contains the slab.
 *
 * Unless its comment says otherwise, a field belongs to the owner thread. */

#pragma once

#include "loop/prio-run-queue-group-private.h"
#include "signal/prio-signal-node-private.h"

struct _PrioRegistration
{
  PrioGroup group; /* the entries at the scheduler; the group's users are the registration's */
  PrioLoop *loop;
  PrioSignalNode *node;
  GCancellable *signal; /* owned while there are users */
  gint refs; /* one for all users together, and one for each prio_registration_ref (); atomic */
  PrioRegistration *node_next, *node_prev; /* links in the list of the node; under prio_signal_lock */
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

/* Removes a user, and ends the registration after the last user. */
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
