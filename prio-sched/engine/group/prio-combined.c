/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-combined.c: signals that depend on both a group's signal and a task's own signal */

#include "config.h"

#include "group/prio-combined-private.h"

#include "signal/prio-signal-node-private.h"

/* Entries of finalized signals are removed only from a table with at least this number of entries. */
#define MIN_LIMIT 16

/* A combined signal, which all tasks with the same own signal share, so that the time for an abort or a change of
 * priority does not depend on the number of tasks.  The tasks keep both signals alive, so the references are weak.  If a
 * new signal has the address of a finalized one, @own shows that the record is not for the new signal. */
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

/* Returns (transfer full) (nullable) the combined signal if it still exists, belongs to @own, and is not aborted. */
static PrioTaskSignal *
shared_get (Shared *self, GCancellable *own)
{
  g_autoptr (GCancellable) is = g_weak_ref_get (&self->own);
  g_autoptr (PrioTaskSignal) both = g_weak_ref_get (&self->both);

  /* If @own was cancelled and reset, the combined signal stays aborted, and later tasks need a new one. */
  if (is != own || both == NULL || prio_signal_node_is_aborted (prio_signal_node_find (G_CANCELLABLE (both))))
    return NULL;
  return g_steal_pointer (&both);
}

static gboolean
has_gone (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskSignal) both = g_weak_ref_get (&((Shared *) value)->both);

  return both == NULL;
}

/* Adds @both to the table.  Removes entries of finalized signals if the table has doubled since the last removal. */
static void
share (PrioCombined *self, GCancellable *own, PrioTaskSignal *both)
{
  Shared *shared = g_new (Shared, 1);

  if (self->by_own == NULL)
    self->by_own = g_hash_table_new_full (NULL, NULL, NULL, shared_free);
  if (g_hash_table_size (self->by_own) >= MAX (self->limit, MIN_LIMIT))
    {
      g_hash_table_foreach_remove (self->by_own, has_gone, NULL);
      self->limit = 2 * g_hash_table_size (self->by_own);
    }
  g_weak_ref_init (&shared->own, own);
  g_weak_ref_init (&shared->both, both);
  g_hash_table_insert (self->by_own, own, shared);
}

/* Returns (transfer full) a signal that is aborted with @own, a task's own signal, and with @signal, its group's.  The
 * signal follows the priority of @own if @own has one, and otherwise the priority of @signal. */
PrioTaskSignal *
prio_combined_get (PrioCombined *self, PrioTaskSignal *signal, GCancellable *own)
{
  GCancellable *sources[] = { own, G_CANCELLABLE (signal) };
  Shared *shared = self->by_own != NULL ? g_hash_table_lookup (self->by_own, own) : NULL;
  PrioTaskSignal *both = shared != NULL ? shared_get (shared, own) : NULL;

  if (both != NULL)
    return both;

  both = prio_task_signal_new_any_following (sources, G_N_ELEMENTS (sources),
                                             PRIO_IS_TASK_SIGNAL (own) ? PRIO_TASK_SIGNAL (own) : signal);
  share (self, own, both);
  return both;
}

void
prio_combined_clear (PrioCombined *self)
{
  g_clear_pointer (&self->by_own, g_hash_table_unref);
}
