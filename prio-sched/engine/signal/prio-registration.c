/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-registration.c: the registration of a signal at a scheduler */

#include "config.h"

#include "signal/prio-registration-private.h"

/* Takes a reference to the registration, and to its loop.  Any thread may call this function. */
PrioRegistration *
prio_registration_ref (PrioRegistration *registration)
{
  g_atomic_int_inc (&registration->refs);
  prio_loop_ref (registration->loop);
  return registration;
}

/* The functions of the loop's slot, which contains a slab with the records of registrations. */
static const PrioSlotFuncs slot_funcs = {
  .size = sizeof (PrioSlab), .is_large = prio_slab_is_large, .trim = prio_slab_trim, .clear = prio_slab_clear
};

static PrioRegistration *
record_alloc (PrioLoop *loop)
{
  PrioSlab *slab = prio_loop_ensure_slot (loop, PRIO_SLOT_SIGNAL, &slot_funcs);

  if (G_UNLIKELY (slab->record_size == 0))
    prio_slab_init (slab, sizeof (PrioRegistration));
  return prio_slab_alloc (slab);
}

static void
record_free (PrioLoop *loop, PrioRegistration *registration)
{
  prio_slab_free (prio_loop_get_slot (loop, PRIO_SLOT_SIGNAL), registration);
}

/* Drops the reference that all users share, or a reference from prio_registration_ref () whose reference to the loop
 * the caller drops.  The caller has entered the loop. */
static void
drop_reference (PrioRegistration *registration)
{
  if (g_atomic_int_dec_and_test (&registration->refs))
    record_free (registration->loop, registration);
}

static void
op_free (PrioLoop *loop, const PrioOp *op)
{
  record_free (loop, op->target);
}

/* Drops a reference that prio_registration_ref () has taken.  Any thread may call this function. */
void
prio_registration_unref (PrioRegistration *registration)
{
  PrioLoop *loop = registration->loop;

  if (g_atomic_int_dec_and_test (&registration->refs))
    prio_loop_submit (loop, &(PrioOp) { .apply = op_free, .target = registration });
  prio_loop_unref (loop);
}

/* Returns (transfer full) (nullable) the registrations of @node, each referenced.  The caller holds
 * prio_signal_lock. */
GPtrArray *
prio_registrations_list (PrioSignalNode *node)
{
  GPtrArray *registrations = NULL;

  if (node->registrations != NULL)
    registrations = g_ptr_array_new_with_free_func ((GDestroyNotify) prio_registration_unref);
  for (PrioRegistration *registration = node->registrations; registration != NULL;
       registration = registration->node_next)
    g_ptr_array_add (registrations, prio_registration_ref (registration));

  return registrations;
}

/* Removes @registration from the list of @node.  The caller holds prio_signal_lock. */
static void
remove_from_node (PrioSignalNode *node, PrioRegistration *registration)
{
  if (registration->node_prev != NULL)
    registration->node_prev->node_next = registration->node_next;
  else
    __atomic_store_n (&node->registrations, registration->node_next, __ATOMIC_RELAXED);

  if (registration->node_next != NULL)
    registration->node_next->node_prev = registration->node_prev;
  else
    node->last_registration = registration->node_prev;
}

/* Ends the registration, whose group has lost its last user. */
static void
registration_ended (PrioGroup *group)
{
  PrioRegistration *registration = prio_registration_of (group);

  prio_lock_lock (&prio_signal_lock);
  remove_from_node (registration->node, registration);
  prio_lock_unlock (&prio_signal_lock);

  registration->node = NULL;
  prio_loop_defer_release (registration->loop, g_object_unref, g_steal_pointer (&registration->signal));
  prio_group_leave (group);
  drop_reference (registration);
}

/* Creates a registration with one user, and appends it to the list of @node.  Takes the reference to @signal.  The
 * caller holds prio_signal_lock. */
static PrioRegistration *
registration_new (PrioRunQueue *run_queue, PrioSignalNode *node, GCancellable *signal)
{
  PrioLoop *loop = run_queue->loop;
  PrioRegistration *registration = record_alloc (loop);

  *registration = (PrioRegistration) {
    .group = { .users = 1, .ended = registration_ended },
    .loop = loop,
    .node = node,
    .signal = signal,
    .refs = 1,
    .node_prev = node->last_registration,
  };
  prio_group_attach (&registration->group, run_queue, prio_effective (node->priority, FALSE));

  if (node->last_registration != NULL)
    node->last_registration->node_next = registration;
  else
    __atomic_store_n (&node->registrations, registration, __ATOMIC_RELAXED);
  node->last_registration = registration;
  return registration;
}

/* Returns the registration of @node at @run_queue that is not aborted, or NULL.  Either list of registrations may be
 * long, so walks both in step, until the shorter one ends.  The caller holds prio_signal_lock. */
static PrioRegistration *
find_registration (PrioSignalNode *node, PrioRunQueue *run_queue)
{
  PrioRegistration *of_node = node->registrations;
  PrioGroup *of_run_queue = run_queue->groups;

  for (; of_node != NULL && of_run_queue != NULL; of_node = of_node->node_next, of_run_queue = of_run_queue->next)
    {
      if (of_node->group.run_queue == run_queue && !of_node->group.aborted)
        return of_node;
      if (prio_registration_of (of_run_queue)->node == node && !of_run_queue->aborted)
        return prio_registration_of (of_run_queue);
    }
  return NULL;
}

/* Finds or creates the registration of @node at @run_queue, and adds a user to it.  Sets *@aborted to whether the
 * signal is aborted.
 *
 * A new registration takes over the reference in *@signal.  If *@signal is NULL, no registration is created, because no
 * reference may be taken under the lock.
 *
 * Returns: NULL if the signal is aborted, or if there is no registration and *@signal is NULL */
PrioRegistration *
prio_registration_acquire (PrioRunQueue *run_queue, PrioSignalNode *node, GCancellable **signal, gboolean *aborted)
{
  PrioRegistration *registration = NULL;

  prio_lock_lock (&prio_signal_lock);

  *aborted = prio_signal_node_is_aborted_locked (node);
  if (!*aborted)
    {
      registration = find_registration (node, run_queue);
      if (registration == NULL && *signal != NULL)
        registration = registration_new (run_queue, node, g_steal_pointer (signal));
      else if (registration != NULL)
        prio_registration_hold (registration);
    }

  prio_lock_unlock (&prio_signal_lock);

  return registration;
}

typedef struct
{
  PrioOp op;
  PrioOpFunc carry_out;
} PrioSentOp;

static void
op_apply (PrioLoop *loop, const PrioOp *op)
{
  PrioRegistration *registration = op->target;

  if (registration->group.users > 0)
    ((const PrioSentOp *) op)->carry_out (loop, op);
  drop_reference (registration);
  prio_loop_unref (loop);
}

/* Calls @apply for @registration on the owner thread of its loop, unless the registration has ended by then.  If
 * @quietly, the next dispatch, not this call, calls the destroy notifies of user data. */
void
prio_registration_send (PrioRegistration *registration, PrioOpFunc apply, gboolean quietly)
{
  PrioSentOp self = { { .apply = op_apply, .target = prio_registration_ref (registration), .size = sizeof self }, apply };

  if (quietly)
    prio_loop_submit_quietly (registration->loop, &self.op);
  else
    prio_loop_submit (registration->loop, &self.op);
}

/* Aborts the entries of a registration, because its signal was aborted.  An operation for the owner thread. */
void
prio_registration_abort (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_group_abort (&((PrioRegistration *) op->target)->group);
}

/* Moves the entries of a registration to the new priority of its signal.  An operation for the owner thread. */
void
prio_registration_follow (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  PrioRegistration *registration = op->target;

  prio_group_set_priority (&registration->group, prio_signal_node_get_priority (registration->node));
}
