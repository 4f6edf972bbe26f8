/* prio-bond-private.h: a signal's presence at a scheduler
 *
 * Promises: all tasks of a signal at a scheduler that follow its priority are
 * a group, which moves as a whole and is aborted as a whole.  While it has users, entries
 * and captured states, a bond holds the signal, and the signal's hub knows the bond.
 *
 * A bond ends with the abort.  A plain cancellable that is reset gets a new one for
 * its new life: who inherits from something under a plain cancellable comes to it as
 * by that cancellable, and not by the bond.
 *
 * The record is from the loop's slab, and given back at home.  A bond that has users is where
 * its loop is; any other reference of it is one of the loop too, so that the record can be
 * given back whenever that reference goes.
 *
 * Everything but the references is home.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-core-group-private.h"
#include "prio-hub-private.h"

struct _PrioBond
{
  PrioGroup group; /* its entries at the scheduler; the bond's users are the group's */
  PrioLoop *loop;
  PrioHub *hub;
  GCancellable *signal; /* owned while there are users */
  gint refs; /* atomic: of the users together, and of operations on their way */
  PrioBond *hub_next, *hub_prev; /* among those of the hub; under prio_hub_lock */
};

PrioBond *prio_bond_acquire (PrioCore *core, PrioHub *hub, GCancellable **signal, gboolean *aborted);
gboolean prio_bond_is_for_life (PrioBond *bond);
PrioBond *prio_bond_ref (PrioBond *bond);
void prio_bond_unref (PrioBond *bond);

void prio_bond_send (PrioBond *bond, PrioOpFunc apply, gboolean quietly);
void prio_bond_abort (PrioLoop *loop, const PrioOp *op);
void prio_bond_follow (PrioLoop *loop, const PrioOp *op);

static inline void
prio_bond_hold (PrioBond *bond)
{
  prio_group_hold (&bond->group);
}

/* A user less; with the last it ends. */
static inline void
prio_bond_release (PrioBond *bond)
{
  prio_group_release (&bond->group);
}

/* Every group is that of a bond. */
static inline PrioBond *
prio_bond_of (PrioGroup *group)
{
  G_STATIC_ASSERT (G_STRUCT_OFFSET (PrioBond, group) == 0);
  return (PrioBond *) group;
}

/* That of @bond, which may be NULL. */
static inline PrioGroup *
prio_bond_group (PrioBond *bond)
{
  return (PrioGroup *) bond;
}
