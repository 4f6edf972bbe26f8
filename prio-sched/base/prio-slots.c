/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-slots.c: slots, in which other rooms keep records with an owner */

#include "config.h"

#include "base/prio-slots-private.h"

/* Makes the record of @slot, on any thread, unless another thread is faster.  Returns the record. */
gpointer
prio_slot_make (PrioSlot *slot, const PrioSlotFuncs *funcs)
{
  gpointer record = g_malloc0 (funcs->size), other = NULL;

  __atomic_store_n (&slot->funcs, funcs, __ATOMIC_RELAXED);
  if (__atomic_compare_exchange_n (&slot->record, &other, record, FALSE, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
    return record;
  g_free (record);
  return other;
}

/* Runs for each slot that has a record and @function, with `slot` and `record`. */
#define FOREACH_SLOT(function)                                                                                         \
  for (const PrioSlot *slot = slots; slot < slots + n; slot++)                                              \
    for (gpointer record = __atomic_load_n (&slot->record, __ATOMIC_ACQUIRE);                                          \
         record != NULL && slot->funcs->function != NULL; record = NULL)

void
prio_slots_end (PrioSlot *slots, guint n, gpointer owner)
{
  FOREACH_SLOT (ends)
    slot->funcs->ends (owner, record);
}

gboolean
prio_slots_are_large (const PrioSlot *slots, guint n)
{
  FOREACH_SLOT (is_large)
    {
      if (slot->funcs->is_large (record))
        return TRUE;
    }
  return FALSE;
}

void
prio_slots_trim (PrioSlot *slots, guint n)
{
  FOREACH_SLOT (trim)
    slot->funcs->trim (record);
}

void
prio_slots_clear (PrioSlot *slots, guint n)
{
  FOREACH_SLOT (clear)
    slot->funcs->clear (record);
  for (guint i = 0; i < n; i++)
    g_free (slots[i].record);
}
