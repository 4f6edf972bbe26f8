/* prio-registration-private.h: a signal's presence at a scheduler
 *
 * Promises: all tasks of a signal at a scheduler that follow its priority are
 * a group, which moves as a whole and is aborted as a whole.  While it has users, entries
 * and captured states, a registration holds the signal, and the signal's node knows the registration.
 *
 * A registration ends with the abort.  A plain cancellable that is reset gets a new one for
 * its new life: who inherits from something under a plain cancellable comes to it as
 * by that cancellable, and not by the registration.
 *
 * The record is from the loop's slab, and given back on the owner thread.  A registration that has users is where
 * its loop is; any other reference of it is one of the loop too, so that the record can be
 * given back whenever that reference goes.
 *
 * Everything but the references belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-group-private.h"
#include "signal/prio-signal-node-private.h"

struct _PrioRegistration
{
  PrioGroup group; /* its entries at the scheduler; the registration's users are the group's */
  PrioLoop *loop;
  PrioSignalNode *node;
  GCancellable *signal; /* owned while there are users */
  gint refs; /* atomic: of the users together, and of operations on their way */
  PrioRegistration *node_next, *node_prev; /* among those of the node; under prio_signal_lock */
};

PrioRegistration *prio_registration_acquire (PrioRunQueue *run_queue, PrioSignalNode *node, GCancellable **signal,
                                             gboolean *aborted);
gboolean prio_registration_is_for_life (PrioRegistration *registration);
PrioRegistration *prio_registration_ref (PrioRegistration *registration);
void prio_registration_unref (PrioRegistration *registration);

void prio_registration_send (PrioRegistration *registration, PrioOpFunc apply, gboolean quietly);
void prio_registration_abort (PrioLoop *loop, const PrioOp *op);
void prio_registration_follow (PrioLoop *loop, const PrioOp *op);

static inline void
prio_registration_hold (PrioRegistration *registration)
{
  prio_group_hold (&registration->group);
}

/* A user less; with the last it ends. */
static inline void
prio_registration_release (PrioRegistration *registration)
{
  prio_group_release (&registration->group);
}

/* Every group is that of a registration. */
static inline PrioRegistration *
prio_registration_of (PrioGroup *group)
{
  G_STATIC_ASSERT (G_STRUCT_OFFSET (PrioRegistration, group) == 0);
  return (PrioRegistration *) group;
}

/* That of @registration, which may be NULL. */
static inline PrioGroup *
prio_registration_group (PrioRegistration *registration)
{
  return (PrioGroup *) registration;
}
