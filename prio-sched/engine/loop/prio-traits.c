/* prio-traits.c: what only few scheduling states have
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-traits-private.h"

#include "loop/prio-lending-private.h"

/* A state has room for such a number. */
#define MAX_NUMBER ((1u << 21) - 1)

/* Those that are free are linked by `member`, from that of number 0. */
static PrioTraits *
record (PrioLoop *loop, guint number)
{
  return &g_array_index (loop->traits, PrioTraits, number);
}

/* The number of a record that is free, or 0 if there can be no more. */
static guint
take_number (PrioLoop *loop)
{
  guint number;

  if (loop->traits == NULL)
    {
      loop->traits = g_array_new (FALSE, TRUE, sizeof (PrioTraits));
      g_array_set_size (loop->traits, 1);
    }

  number = record (loop, 0)->member;
  if (number != 0)
    {
      record (loop, 0)->member = record (loop, number)->member;
      return number;
    }
  if (loop->traits->len > MAX_NUMBER)
    return 0;
  g_array_set_size (loop->traits, loop->traits->len + 1);
  return loop->traits->len - 1;
}

/* Takes over a user of @traits->lend.
 *
 * Returns: the number of a record with one user, or 0 where two million states have one: that state is as one that has none */
guint
prio_traits_new (PrioLoop *loop, const PrioTraits *traits)
{
  guint number = take_number (loop);

  if (number != 0)
    {
      *record (loop, number) = *traits;
      record (loop, number)->users = 1;
    }
  else if (traits->lend != NULL)
    {
      prio_lending_release (loop, traits->lend);
    }
  return number;
}

/* @entry begins to run in @state: gives that what it has if the task has a timeout, or lends its priority. */
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
  /* A closure or a task id has no result here that anybody waits for, and waits with the priority of its state. */
  if (entry->run_queue->lends && entry->funcs->run != NULL)
    traits.lend = prio_lending_begin (entry);
  if (traits.lend != NULL || state->timed != PRIO_TIMED_NOT)
    state->traits = prio_traits_new (entry->run_queue->loop, &traits);
  if (state->traits == 0)
    state->timed = PRIO_TIMED_NOT;
}

/* What runs in @state is over. */
void
prio_traits_end (const PrioState *state)
{
  if (state->traits != 0)
    prio_traits_release (state->run_queue->loop, state->traits);
}

/* For the state of a task of a group, which has the number @member there, and runs within the state @outer. */
guint
prio_traits_new_for_member (PrioLoop *loop, const PrioState *outer, guint member)
{
  PrioTraits traits = prio_traits_of (outer);

  traits.member = member;
  if (traits.lend != NULL)
    prio_lending_hold (traits.lend);
  return prio_traits_new (loop, &traits);
}

void
prio_traits_hold (PrioLoop *loop, guint number)
{
  record (loop, number)->users++;
}

void
prio_traits_release (PrioLoop *loop, guint number)
{
  PrioLendNode *lend = record (loop, number)->lend;

  if (--record (loop, number)->users > 0)
    return;

  record (loop, number)->member = record (loop, 0)->member;
  record (loop, 0)->member = number;
  if (lend != NULL)
    prio_lending_release (loop, lend);
}

/* @loop is being freed. */
void
prio_traits_free (PrioLoop *loop)
{
  g_clear_pointer (&loop->traits, g_array_unref);
}

const PrioTraits *
prio_traits_find (const PrioState *state)
{
  return record (state->run_queue->loop, state->traits);
}
