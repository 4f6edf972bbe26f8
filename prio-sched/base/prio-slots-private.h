/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-slots-private.h: slots, in which other rooms keep records with an owner
 *
 * Promises: each slot has one record, which is made when it is first needed, and freed with the owner of the slots.
 * The owner knows nothing about the records.
 */

#pragma once

#include <glib.h>

/* Functions that the owner calls for the record of a slot.  All are optional. */
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

/* Returns the record of @slot, on any thread, and makes it if there is none. */
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
