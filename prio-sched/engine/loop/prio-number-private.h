/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-number-private.h: tasks that are only numbers
 *
 * Promises: see prio-numbers.h.  The function of a number is prio_number_func (), and its data is the runner.  The
 * dispatch does not call prio_number_func (): it calls the function of the runner.
 *
 * After the first search, a waiting number that is an entry is found at once; a job is found by a search.
 *
 * Everything here belongs to the owner thread.
 */

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

/* Removes a user; after the last one the runner is closed. */
static inline void
prio_numbers_release (PrioRunner *self)
{
  if (G_UNLIKELY (--self->users == 0))
    prio_numbers_close (self);
}

/* Returns the runner of @job, or NULL if it is not a number. */
static inline PrioRunner *
prio_numbers_of (const PrioJob *job)
{
  return job->func == prio_number_func ? job->data : NULL;
}
