/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-number-private.h: tasks of bindings, which are only numbers
 *
 * Promises: see prio-numbers.h.  The job of a number has the function prio_number_func (), and the runner as its data.
 * The dispatch recognizes this function, and calls the runner's function instead.
 *
 * The first call of prio_numbers_find () creates a table of the numbers that wait as entries, so that finding one takes
 * O(1).  Numbers that wait as jobs are searched for in their queues.
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "loop/prio-run-queue-private.h"

gboolean prio_number_func (gpointer runner) G_GNUC_INTERNAL;

void prio_numbers_close (PrioRunner *self);
void prio_numbers_append (PrioRunner *self, guint id, PrioEffective effective);
PrioEntry *prio_numbers_new_entry (PrioRunner *self, guint id);
PrioEntry *prio_numbers_find (PrioRunner *self, guint id);
void prio_numbers_reject (PrioRunner *self, guint id);

static inline void
prio_numbers_forget (PrioRunner *self, guint id)
{
  if (G_UNLIKELY (self->waiting != NULL))
    g_hash_table_remove (self->waiting, GUINT_TO_POINTER (id));
}

static inline void
prio_numbers_hold (PrioRunner *self)
{
  self->users++;
}

/* Removes a user, and closes the runner after the last user. */
static inline void
prio_numbers_release (PrioRunner *self)
{
  if (G_UNLIKELY (--self->users == 0))
    prio_numbers_close (self);
}

/* Returns the runner of @job, or NULL if @job is not a number. */
static inline PrioRunner *
prio_numbers_of (const PrioJob *job)
{
  return job->func == prio_number_func ? job->data : NULL;
}
