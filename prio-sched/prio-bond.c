/* prio-bond.c: a signal's presence at a scheduler
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-bond-private.h"

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
    prio_slab_free (&bond->loop->groups, bond);
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
  prio_slab_free (&loop->groups, op->target);
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

/* Its group has no users any more. */
static void
bond_ended (PrioGroup *group)
{
  PrioBond *bond = prio_bond_of (group);

  prio_lock_lock (&prio_hub_lock);
  remove_from_hub (bond->hub, bond);
  prio_lock_unlock (&prio_hub_lock);

  bond->hub = NULL;
  prio_loop_bury (bond->loop, g_object_unref, g_steal_pointer (&bond->signal));
  prio_group_leave (group);
  drop_reference (bond);
}

/* For one user. */
static PrioBond *
bond_new (PrioCore *core, PrioHub *hub, GCancellable *signal)
{
  PrioLoop *loop = core->loop;
  PrioBond *bond;

  if (G_UNLIKELY (loop->groups.record_size == 0))
    prio_slab_init (&loop->groups, sizeof (PrioBond));

  bond = prio_slab_alloc (&loop->groups);
  *bond = (PrioBond) {
    .group = { .users = 1, .ended = bond_ended },
    .loop = loop,
    .hub = hub,
    .signal = signal,
    .refs = 1,
  };
  prio_group_join (&bond->group, core, hub->priority);

  return bond;
}

/* Under prio_hub_lock.  The bond is on the list of the signal and on that of the scheduler,
 * either of which may be long: who walks both in step ends with the shorter. */
static PrioBond *
find_bond (PrioHub *hub, PrioCore *core)
{
  PrioBond *of_hub = hub->bonds;
  PrioGroup *of_core = core->groups;

  for (; of_hub != NULL && of_core != NULL; of_hub = of_hub->hub_next, of_core = of_core->next)
    {
      if (of_hub->group.core == core && !of_hub->group.aborted)
        return of_hub;
      if (prio_bond_of (of_core)->hub == hub && !of_core->aborted)
        return prio_bond_of (of_core);
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
      else if (bond != NULL)
        {
          prio_bond_hold (bond);
        }
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

static void
op_arrived (PrioLoop *loop, const PrioOp *op)
{
  PrioBond *bond = op->target;
  PrioOpFunc apply = (PrioOpFunc) (gpointer) op->func;

  if (bond->group.users > 0)
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

/* The signal has been aborted. */
void
prio_bond_abort (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_group_abort (&((PrioBond *) op->target)->group);
}

/* The priority of the signal has changed. */
void
prio_bond_follow (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  PrioBond *bond = op->target;

  prio_group_set_priority (&bond->group, prio_hub_get_priority (bond->hub));
}
