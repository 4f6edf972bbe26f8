/* prio-bond-private.h: a signal's presence at a scheduler
 *
 * Promises: all tasks of a signal at a scheduler that follow its priority stand
 * in two queues (tasks, continuations), which move as a whole; all that it aborts
 * are on one list.  While it has users, entries and captured states, a bond holds
 * the signal, and the signal's hub knows the bond.
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

#include "prio-core-private.h"
#include "prio-hub-private.h"

struct _PrioBond
{
  PrioQueue queues[2]; /* tasks, continuations */
  PrioEntry *entries;  /* those that the signal aborts, in the order of their coming */
  PrioEntry *last_entry;
  gsize n_elsewhere;   /* of @entries: those that do not stand in @queues */
  PrioCore *core;      /* NULL once it has no users */
  PrioLoop *loop;
  PrioHub *hub;
  GCancellable *signal; /* owned while there are users */
  gsize users;
  gsize n_guests; /* entries that follow its priority, but not its abort */
  gint refs; /* atomic: of the users together, of being condemned, and of operations on their way */
  guint8 aborted;
  guint8 dropped; /* with the abort, what stood in its queues has been, whole */
  PrioBond *next, *prev;         /* among those of the core */
  PrioBond *next_condemned;      /* among those of the loop */
  PrioBond *hub_next, *hub_prev; /* among those of the hub; under prio_hub_lock */
};

PrioBond *prio_bond_acquire (PrioCore *core, PrioHub *hub, GCancellable **signal, gboolean *aborted);
void prio_bond_end (PrioBond *bond);
gboolean prio_bond_is_for_life (PrioBond *bond);
PrioBond *prio_bond_ref (PrioBond *bond);
void prio_bond_unref (PrioBond *bond);

void prio_bond_send (PrioBond *bond, PrioOpFunc apply, gboolean quietly);
void prio_bond_abort (PrioLoop *loop, const PrioOp *op);
void prio_bond_follow (PrioLoop *loop, const PrioOp *op);
void prio_bond_reap (PrioLoop *loop, guint max);

static inline void
prio_bond_hold (PrioBond *bond)
{
  bond->users++;
}

/* A user less; with the last it ends. */
static inline void
prio_bond_release (PrioBond *bond)
{
  if (G_UNLIKELY (--bond->users == 0))
    prio_bond_end (bond);
}

/* Whether @entry is to be aborted with the signal whose priority it follows, so that it stands
 * in the queues of the bond when it is queued. */
static inline gboolean
prio_entry_is_of_bond (const PrioEntry *entry)
{
  return entry->abort != NULL && entry->abort == entry->follows;
}

/* Where @entry is in its life. */
static inline PrioEntryState
prio_entry_get_state (const PrioEntry *entry)
{
  PrioEntryState state = (PrioEntryState) entry->said_state;

  if (state == PRIO_ENTRY_QUEUED && prio_entry_is_of_bond (entry) && entry->abort->dropped)
    return PRIO_ENTRY_DROPPED;
  return state;
}

/* Takes @entry to its next state.  Nothing else sets one. */
static inline void
prio_entry_move (PrioEntry *entry, PrioEntryState state)
{
  static const guint8 ways[PRIO_N_ENTRY_STATES] G_GNUC_UNUSED = {
    [PRIO_ENTRY_NEW] = 1 << PRIO_ENTRY_DELAYED | 1 << PRIO_ENTRY_QUEUED,
    [PRIO_ENTRY_DELAYED] = 1 << PRIO_ENTRY_QUEUED | 1 << PRIO_ENTRY_DROPPED,
    [PRIO_ENTRY_QUEUED] = 1 << PRIO_ENTRY_RUNNING | 1 << PRIO_ENTRY_DROPPED,
    [PRIO_ENTRY_DROPPED] = 1 << PRIO_ENTRY_DONE,
    [PRIO_ENTRY_RUNNING] = 1 << PRIO_ENTRY_QUEUED | 1 << PRIO_ENTRY_ABORTED | 1 << PRIO_ENTRY_DONE,
    [PRIO_ENTRY_ABORTED] = 1 << PRIO_ENTRY_REJECTED | 1 << PRIO_ENTRY_DONE,
    [PRIO_ENTRY_REJECTED] = 1 << PRIO_ENTRY_DONE,
  };

  g_assert (ways[prio_entry_get_state (entry)] >> state & 1);
  if (prio_entry_is_of_bond (entry))
    {
      entry->abort->n_elsewhere += entry->said_state == PRIO_ENTRY_QUEUED;
      entry->abort->n_elsewhere -= state == PRIO_ENTRY_QUEUED;
    }
  entry->said_state = (guint8) state;
}

/* Whether its function is on the stack, or its checkpoint. */
static inline gboolean
prio_entry_is_running (const PrioEntry *entry)
{
  return entry->said_state >= PRIO_ENTRY_RUNNING && entry->said_state <= PRIO_ENTRY_REJECTED;
}

/* Whether @entry, which is running, or has run, has been aborted meanwhile. */
static inline gboolean
prio_entry_is_aborted (const PrioEntry *entry)
{
  return entry->said_state == PRIO_ENTRY_ABORTED || entry->said_state == PRIO_ENTRY_REJECTED;
}

/* From now on the signal's abort is that of @entry, which is not queued yet. */
static inline void
prio_bond_add (PrioBond *bond, PrioEntry *entry)
{
  entry->abort_next = NULL;
  entry->abort_prev = bond->last_entry;
  if (bond->last_entry != NULL)
    bond->last_entry->abort_next = entry;
  else
    bond->entries = entry;
  bond->last_entry = entry;
  bond->n_elsewhere++;
}

/* @entry is not queued any more. */
static inline void
prio_bond_remove (PrioBond *bond, PrioEntry *entry)
{
  if (entry->abort_prev != NULL)
    entry->abort_prev->abort_next = entry->abort_next;
  else
    bond->entries = entry->abort_next;

  if (entry->abort_next != NULL)
    entry->abort_next->abort_prev = entry->abort_prev;
  else
    bond->last_entry = entry->abort_prev;
  bond->n_elsewhere--;
}
