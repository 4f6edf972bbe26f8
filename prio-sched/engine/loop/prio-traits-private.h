/* prio-traits-private.h: what only few scheduling states have
 *
 * Promises: a PrioState is small, as every callback and every microtask has one.  The state of a task that belongs to a group,
 * lends its priority or has a timeout has a number, by which the rest is found here.  Whoever holds such a state is a user of
 * the number (prio-current); the record never changes while it has users.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

typedef struct
{
  guint users;   /* of this record; or, if that is free, 0 */
  guint member;  /* the number of the task among those of groups, or 0: prio-task-group-post.c; */
  PrioLendNode *lend; /* held, or NULL */
  gint64 expiry; /* of the task's timeout, µs, if the state is timed */
} PrioTraits;

guint prio_traits_new (PrioLoop *loop, const PrioTraits *traits);
void prio_traits_begin (PrioEntry *entry, PrioState *state);
void prio_traits_end (const PrioState *state);
guint prio_traits_new_for_member (PrioLoop *loop, const PrioState *outer, guint member);
void prio_traits_hold (PrioLoop *loop, guint number);
void prio_traits_release (PrioLoop *loop, guint number);
void prio_traits_free (PrioLoop *loop);
const PrioTraits *prio_traits_find (const PrioState *state);

/* Those of @state, until the next call of a function of this part. */
static inline PrioTraits
prio_traits_of (const PrioState *state)
{
  return G_LIKELY (state->traits == 0) ? (PrioTraits) { 0 } : *prio_traits_find (state);
}
