/* prio-task-group-signal.c: signals that depend on that of a group and on that of a task
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "group/prio-task-group-private.h"

#include "signal/prio-task-signal-private.h"

/* Below this the table is not looked through for what has gone. */
#define MIN_LIMIT 16

/* Tasks with the same signal share one, so that an abort or a change of priority costs the same however many they are.  It is not
 * held: it lives as long as they do.  Another signal may get the place of one that has gone. */
typedef struct
{
  GWeakRef own, both;
} Shared;

static void
shared_free (gpointer data)
{
  Shared *self = data;

  g_weak_ref_clear (&self->own);
  g_weak_ref_clear (&self->both);
  g_free (self);
}

/* Returns: (transfer full) (nullable): the signal, if it is there and can still abort tasks of @own */
static PrioTaskSignal *
shared_get (Shared *self, GCancellable *own)
{
  g_autoptr (GCancellable) is = g_weak_ref_get (&self->own);
  g_autoptr (PrioTaskSignal) both = g_weak_ref_get (&self->both);

  /* An abort by hand is heard later, when @own may have been reset. */
  if (is != own || both == NULL || prio_signal_node_is_aborted (prio_task_signal_get_node (both)))
    return NULL;
  return g_steal_pointer (&both);
}

static gboolean
has_gone (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskSignal) both = g_weak_ref_get (&((Shared *) value)->both);

  return both == NULL;
}

/* Looks for those that have gone when there are twice as many as were left the last time. */
static void
share (PrioTaskGroup *self, GCancellable *own, PrioTaskSignal *both)
{
  Shared *shared = g_new (Shared, 1);

  if (self->shared == NULL)
    self->shared = g_hash_table_new_full (NULL, NULL, NULL, shared_free);
  if (g_hash_table_size (self->shared) >= MAX (self->shared_limit, MIN_LIMIT))
    {
      g_hash_table_foreach_remove (self->shared, has_gone, NULL);
      self->shared_limit = 2 * g_hash_table_size (self->shared);
    }
  g_weak_ref_init (&shared->own, own);
  g_weak_ref_init (&shared->both, both);
  g_hash_table_insert (self->shared, own, shared);
}

/* What aborts a task of @self with a signal of its own: that, or the group.  Its priority is the first that there is.
 *
 * Returns: (transfer full) */
PrioTaskSignal *
prio_task_group_combine (PrioTaskGroup *self, GCancellable *own)
{
  PrioTaskSignal *signal = prio_task_group_get_signal (self);
  GCancellable *sources[] = { own, G_CANCELLABLE (signal) };
  Shared *shared = self->shared != NULL ? g_hash_table_lookup (self->shared, own) : NULL;
  PrioTaskSignal *both = shared != NULL ? shared_get (shared, own) : NULL;

  if (both != NULL)
    return both;

  both = prio_task_signal_new_any_following (sources, G_N_ELEMENTS (sources),
                                             PRIO_IS_TASK_SIGNAL (own) ? PRIO_TASK_SIGNAL (own) : signal);
  share (self, own, both);
  return both;
}

/* The group has another signal. */
void
prio_task_group_forget_combined (PrioTaskGroup *self)
{
  g_clear_pointer (&self->shared, g_hash_table_unref);
}
