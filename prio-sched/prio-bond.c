/* prio-bond.c: a signal's presence at a scheduler
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-bond-private.h"

#include "prio-task-private.h"

void
prio_bonds_init (PrioSlab *bonds)
{
  prio_slab_init (bonds, sizeof (PrioBond));
}

/* Any thread: one more reference, and one of the loop. */
PrioBond *
prio_bond_ref (PrioBond *bond)
{
  g_atomic_int_inc (&bond->refs);
  prio_loop_ref (bond->loop);
  return bond;
}

/* Home: the reference that the users have together, or one of prio_bond_ref () without that
 * of the loop, is dropped. */
static void
drop_reference (PrioBond *bond)
{
  if (g_atomic_int_dec_and_test (&bond->refs))
    prio_slab_free (&bond->loop->bonds, bond);
}

/* Home. */
static void
unref_at_home (PrioLoop *loop, PrioBond *bond)
{
  drop_reference (bond);
  prio_loop_unref (loop);
}

static void
last_reference_arrived (PrioLoop *loop, const PrioOp *op)
{
  prio_slab_free (&loop->bonds, op->target);
}

/* Any thread. */
void
prio_bond_unref (PrioBond *bond)
{
  PrioLoop *loop = bond->loop;
  PrioOp op = { .apply = last_reference_arrived, .target = bond };

  if (g_atomic_int_dec_and_test (&bond->refs))
    prio_loop_submit (loop, &op);
  prio_loop_unref (loop);
}

static PrioBond *
bond_new (PrioCore *core, PrioHub *hub, GCancellable *signal)
{
  PrioBond *bond = prio_slab_alloc (&core->loop->bonds);

  *bond = (PrioBond) {
    .core = core,
    .loop = core->loop,
    .hub = hub,
    .signal = signal,
    .refs = 1,
    .next = core->bonds,
  };
  for (guint i = 0; i < 2; i++)
    prio_queue_init (&bond->queues[i], core, prio_effective (hub->priority, i == 1),
                     PRIO_QUEUE_ENTRIES);

  if (core->bonds != NULL)
    core->bonds->prev = bond;
  core->bonds = bond;
  prio_core_hold (core);

  return bond;
}

/* Under prio_hub_lock. */
static void
add_to_hub (PrioHub *hub, PrioBond *bond)
{
  bond->hub_prev = hub->last_bond;
  if (hub->last_bond != NULL)
    hub->last_bond->hub_next = bond;
  else
    __atomic_store_n (&hub->bonds, bond, __ATOMIC_RELAXED);
  hub->last_bond = bond;
}

/* Under prio_hub_lock. */
static void
remove_from_hub (PrioHub *hub, PrioBond *bond)
{
  if (bond->hub_prev != NULL)
    bond->hub_prev->hub_next = bond->hub_next;
  else
    __atomic_store_n (&hub->bonds, bond->hub_next, __ATOMIC_RELAXED);

  if (bond->hub_next != NULL)
    bond->hub_next->hub_prev = bond->hub_prev;
  else
    hub->last_bond = bond->hub_prev;
}

/* Under prio_hub_lock.  The bond is on the list of the signal and on that of the scheduler,
 * either of which may be long: who walks both in step ends with the shorter. */
static PrioBond *
find_bond (PrioHub *hub, PrioCore *core)
{
  PrioBond *of_hub = hub->bonds, *of_core = core->bonds;

  for (; of_hub != NULL && of_core != NULL; of_hub = of_hub->hub_next, of_core = of_core->next)
    {
      if (of_hub->core == core && !of_hub->aborted)
        return of_hub;
      if (of_core->hub == hub && !of_core->aborted)
        return of_core;
    }
  return NULL;
}

/* The bond between @core and the signal of @hub, for one more user; sets @aborted
 * if that is aborted.
 *
 * A new bond takes the reference in @signal.  References are neither taken nor
 * dropped in here, so without one a new bond cannot be made.
 *
 * Returns: NULL if @signal is aborted, or there is no bond and no reference */
PrioBond *
prio_bond_acquire (PrioCore *core, PrioHub *hub, GCancellable **signal, gboolean *aborted)
{
  PrioBond *bond = NULL;

  prio_lock_lock (&prio_hub_lock);

  *aborted = prio_hub_is_aborted_locked (hub);
  if (!*aborted)
    {
      bond = find_bond (hub, core);
      if (bond == NULL && *signal != NULL)
        {
          bond = bond_new (core, hub, g_steal_pointer (signal));
          add_to_hub (hub, bond);
        }
      if (bond != NULL)
        bond->users++;
    }

  prio_lock_unlock (&prio_hub_lock);

  return bond;
}

/* Whether its signal is a PrioTaskSignal: aborted once, and for good. */
gboolean
prio_bond_is_for_life (PrioBond *bond)
{
  return bond->hub->is_task_signal;
}

/* It has no users any more. */
void
prio_bond_end (PrioBond *bond)
{
  PrioCore *core = bond->core;

  g_assert (bond->entries == NULL && bond->n_elsewhere == 0);

  prio_lock_lock (&prio_hub_lock);
  remove_from_hub (bond->hub, bond);
  prio_lock_unlock (&prio_hub_lock);

  if (bond->prev != NULL)
    bond->prev->next = bond->next;
  else
    core->bonds = bond->next;
  if (bond->next != NULL)
    bond->next->prev = bond->prev;

  bond->core = NULL;
  bond->hub = NULL;
  prio_loop_bury (core->loop, g_object_unref, g_steal_pointer (&bond->signal));
  prio_core_release (core);
  drop_reference (bond);
}

static void
op_arrived (PrioLoop *loop, const PrioOp *op)
{
  PrioBond *bond = op->target;
  PrioOpFunc apply = (PrioOpFunc) (gpointer) op->func;

  if (bond->users > 0)
    apply (loop, op);
  unref_at_home (loop, bond);
}

/* Has @apply carried out for @bond at its home; if @quietly, without releasing
 * anything of the user's before the next dispatch. */
void
prio_bond_send (PrioBond *bond, PrioOpFunc apply, gboolean quietly)
{
  PrioOp op = {
    .apply = op_arrived,
    .target = prio_bond_ref (bond),
    .func = (GSourceFunc) (gpointer) apply,
  };

  if (quietly)
    prio_loop_submit_quietly (bond->loop, &op);
  else
    prio_loop_submit (bond->loop, &op);
}

/* The queues that move with the signal leave their scheduler's group. */
static void
unready_queues (PrioBond *bond)
{
  for (guint i = 0; i < 2; i++)
    {
      if (prio_ready_contains (&bond->queues[i]))
        prio_ready_remove (&bond->loop->ready, &bond->core->ready, &bond->queues[i]);
    }
}

/* Empties both, if all that is in them is aborted with the signal: without a look
 * at what that is. */
static void
drop_queues (PrioBond *bond)
{
  if (bond->n_guests > 0)
    return;

  unready_queues (bond);
  for (guint i = 0; i < 2; i++)
    bond->queues[i].head = bond->queues[i].tail = NULL;
  bond->dropped = TRUE;
}

/* Takes out those entries that drop_queues () has left where they stand, in other queues
 * and among the delayed ones.  One whose function is running is told, and left alone.  They
 * are counted, so that a million that have been dropped are not looked at. */
static void
drop_elsewhere (PrioBond *bond)
{
  gsize left = bond->dropped ? bond->n_elsewhere : G_MAXSIZE;

  for (PrioEntry *entry = bond->entries, *next; entry != NULL && left > 0; entry = next)
    {
      next = entry->abort_next;

      switch (prio_entry_get_state (entry))
        {
        case PRIO_ENTRY_RUNNING:
          prio_core_abort_running (entry);
          left--;
          break;

        case PRIO_ENTRY_DELAYED:
        case PRIO_ENTRY_QUEUED:
          prio_core_withdraw (entry);
          left--;
          break;

        default:
          g_assert (prio_entry_get_state (entry) == PRIO_ENTRY_DROPPED);
        }
    }
}

/* The signal has been aborted: its tasks leave their queues at once, and wait on
 * its list until prio_bond_reap () releases them.  So does one whose function is running,
 * which is told, and left alone. */
void
prio_bond_abort (PrioLoop *loop, const PrioOp *op)
{
  PrioBond *bond = op->target;

  if (bond->aborted)
    return;

  bond->aborted = TRUE;
  drop_queues (bond);
  drop_elsewhere (bond);

  if (bond->entries != NULL)
    {
      loop->attention = TRUE;
      if (loop->condemned == NULL)
        loop->condemned = prio_bond_ref (bond);
      else
        loop->last_condemned->next_condemned = prio_bond_ref (bond);
      loop->last_condemned = bond;
    }
}

/* Releases up to @max of the entries of aborted signals. */
void
prio_bond_reap (PrioLoop *loop, guint max)
{
  PrioBond *bond = loop->condemned;
  PrioEntry *entry;

  while (max-- > 0 && (entry = bond->entries) != NULL)
    prio_core_refuse (entry);

  if (bond->entries == NULL)
    {
      loop->condemned = bond->next_condemned;
      unref_at_home (loop, bond);
    }
}

/* The priority of the signal has changed: its queues move, however long they are. */
void
prio_bond_follow (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  PrioBond *bond = op->target;
  PrioTaskPriority priority = prio_hub_get_priority (bond->hub);

  if (bond->queues[0].effective == prio_effective (priority, FALSE))
    return;

  unready_queues (bond);
  for (guint i = 0; i < 2; i++)
    {
      bond->queues[i].effective = prio_effective (priority, i == 1);
      if (bond->queues[i].head != NULL)
        prio_core_make_ready (bond->core, &bond->queues[i]);
    }
}
