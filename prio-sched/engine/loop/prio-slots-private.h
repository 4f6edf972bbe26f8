/* prio-slots-private.h: what the rooms above keep with a loop
 *
 * Promises: a room has one slot of a loop, with a record of its own, which is made when the room first asks for it and freed with the
 * loop.  The loop knows no more of it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

typedef struct _PrioLoop PrioLoop;

typedef enum
{
  PRIO_SLOT_SIGNAL,    /* the records of registrations */
  PRIO_SLOT_TASK,      /* the pool of tasks */
  PRIO_SLOT_SCHEDULER, /* the scheduler that the context's threads share */
  PRIO_SLOT_POST,      /* nothing: work that waits for a thread ends with the loop */
  PRIO_SLOT_GROUP,     /* the tasks of groups, by number */
  PRIO_SLOT_WATCH,     /* who holds the loop */
  PRIO_N_SLOTS
} PrioSlotNumber;

/* What the loop does with the record of a slot.  All but the size may be left out. */
typedef struct
{
  gsize size;                             /* of the record, which begins with all bytes 0 */
  void (*ends) (PrioLoop *loop, gpointer record); /* outside: the context has gone */
  gboolean (*is_large) (gpointer record); /* owner thread: whether a burst has left memory in it */
  void (*trim) (gpointer record);         /* owner thread: returns some of that memory */
  void (*clear) (gpointer record);        /* the loop is being freed, and frees the record next */
} PrioSlotFuncs;

typedef struct
{
  const PrioSlotFuncs *funcs; /* set before @record */
  gpointer record;            /* atomic; set once */
} PrioSlot;

gpointer prio_slot_make (PrioSlot *slot, const PrioSlotFuncs *funcs);
void prio_slots_end (PrioSlot *slots, PrioLoop *loop);
gboolean prio_slots_are_large (const PrioSlot *slots);
void prio_slots_trim (PrioSlot *slots);
void prio_slots_clear (PrioSlot *slots);
