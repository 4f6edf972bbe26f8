/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-slots-private.h: slots, which attach records to a loop or a group
 *
 * Promises: each slot has one record, which is allocated when first needed, and freed with the loop or the group, its
 * owner.  The owner does not know the type of the records. */

#pragma once

#include <glib.h>

/* The size of a slot's record, and functions that the owner calls for the record.  Each function may be NULL. */
typedef struct
{
  gsize size;                             /* the record's size; a new record is zeroed */
  void (*ends) (gpointer owner, gpointer record); /* called when @owner ends, before @owner is freed */
  gboolean (*is_large) (gpointer record); /* whether a burst has left unused memory in @record */
  void (*trim) (gpointer record);         /* frees some of the unused memory */
  void (*clear) (gpointer record);        /* called when @owner is freed, before @record is freed */
} PrioSlotFuncs;

typedef struct
{
  const PrioSlotFuncs *funcs; /* set before @record */
  gpointer record;            /* atomic; set once */
} PrioSlot;

gpointer prio_slot_ensure (PrioSlot *slot, const PrioSlotFuncs *funcs);
void prio_slots_end (PrioSlot *slots, guint n, gpointer owner);
gboolean prio_slots_are_large (const PrioSlot *slots, guint n);
void prio_slots_trim (PrioSlot *slots, guint n);
void prio_slots_clear (PrioSlot *slots, guint n);
