/* prio-slots-private.h: what others keep with an owner that knows nothing of them
 *
 * Promises: whoever has a slot has a record of its own in it, which is made when it is first asked for, and freed with the
 * owner of the slots.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

/* What the owner does with the record of a slot.  All but the size may be left out. */
typedef struct
{
  gsize size;                             /* of the record, which begins with all bytes 0 */
  void (*ends) (gpointer owner, gpointer record); /* the owner ends, and will be freed */
  gboolean (*is_large) (gpointer record); /* whether a burst has left memory in it */
  void (*trim) (gpointer record);         /* returns some of that memory */
  void (*clear) (gpointer record);        /* the owner is being freed, and frees the record next */
} PrioSlotFuncs;

typedef struct
{
  const PrioSlotFuncs *funcs; /* set before @record */
  gpointer record;            /* atomic; set once */
} PrioSlot;

gpointer prio_slot_make (PrioSlot *slot, const PrioSlotFuncs *funcs);

/* Any thread: the record of @slot, which is made if there is none. */
static inline gpointer
prio_slot_ensure (PrioSlot *slot, const PrioSlotFuncs *funcs)
{
  gpointer record = __atomic_load_n (&slot->record, __ATOMIC_ACQUIRE);

  return G_LIKELY (record != NULL) ? record : prio_slot_make (slot, funcs);
}

void prio_slots_end (PrioSlot *slots, guint n, gpointer owner);
gboolean prio_slots_are_large (const PrioSlot *slots, guint n);
void prio_slots_trim (PrioSlot *slots, guint n);
void prio_slots_clear (PrioSlot *slots, guint n);
