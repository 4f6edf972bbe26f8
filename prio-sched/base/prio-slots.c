/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-slots.c: slots, which attach records to a loop or a group */

#include "config.h"

#include "base/prio-slots-private.h"

/* Returns the record of @slot, and allocates the record if there is none.  Any thread may call this. */
gpointer
prio_slot_ensure (PrioSlot *slot, const PrioSlotFuncs *funcs)
{
  gpointer record, other = __atomic_load_n (&slot->record, __ATOMIC_ACQUIRE);

  if (G_LIKELY (other != NULL))
    return other;

  record = g_malloc0 (funcs->size);
  __atomic_store_n (&slot->funcs, funcs, __ATOMIC_RELAXED);
  if (__atomic_compare_exchange_n (&slot->record, &other, record, FALSE, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
    return record;
  /* Another thread has set a record first. */
  g_free (record);
  return other;
}

/* Iterates over the slots that have a record and whose functions include @function.  Declares `slot` and `record`. */
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
    if (slot->funcs->is_large (record))
      return TRUE;
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
