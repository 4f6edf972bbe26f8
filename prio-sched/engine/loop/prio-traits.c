/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-traits.c: fields that only few scheduling states have */

#include "config.h"

#include "loop/prio-traits-private.h"

#include "loop/prio-lending-private.h"

/* Returns a copy of @traits with one user.  Takes over the caller's use of the node `lend`. */
static PrioTraits *
traits_new (const PrioTraits *traits)
{
  PrioTraits *copy = g_memdup2 (traits, sizeof *traits);

  copy->users = 1;
  return copy;
}

/* Gives a PrioTraits to @state, in which @entry begins to run, if the task has a timeout or lends its priority. */
void
prio_traits_begin (PrioEntry *entry, PrioState *state)
{
  PrioTraits traits = { 0 };

  if (entry->timed != PRIO_TIMED_NOT)
    {
      prio_run_queue_begin_timed (entry);
      state->timed = entry->timed;
      traits.expiry = entry->expiry;
    }
  /* A closure or a binding's task (prio-number) has no result here, and gets no node: it lends its state's priority. */
  if (entry->run_queue->lends && entry->funcs->run != NULL)
    traits.lend = prio_lending_begin (entry);
  if (traits.lend != NULL || state->timed != PRIO_TIMED_NOT)
    state->traits = traits_new (&traits);
}

/* Returns a PrioTraits for a task of a PrioTaskGroup: a copy of @outer's record, with the task's number, @member. */
PrioTraits *
prio_traits_new_for_member (const PrioState *outer, guint member)
{
  PrioTraits traits = prio_traits_of (outer);

  traits.member = member;
  if (traits.lend != NULL)
    prio_lending_hold (traits.lend);
  return traits_new (&traits);
}

void
prio_traits_end (const PrioState *state)
{
  PrioTraits *traits = state->traits;

  if (traits == NULL || --traits->users > 0)
    return;
  if (traits->lend != NULL)
    prio_lending_release (state->run_queue->loop, traits->lend);
  g_free (traits);
}
