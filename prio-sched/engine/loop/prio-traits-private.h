/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-traits-private.h: traits: the fields that only few scheduling states have
 *
 * Promises: a PrioState is small, because every callback and every microtask has a copy.  The state of a task that
 * belongs to a group, lends its priority or has a timeout points to a record with its traits.  Each holder of such a
 * state is a user of the record (prio-current), which never changes.
 *
 * Everything here belongs to the owner thread.
 */

#pragma once

#include "loop/prio-run-queue-private.h"

struct _PrioTraits
{
  guint users;
  guint member;       /* the number of the task in its group, or 0: prio-member.c */
  PrioLendNode *lend; /* held, or NULL */
  gint64 expiry;      /* of the task's timeout, µs, if the state is timed */
};

PrioTraits *prio_traits_new_for_member (const PrioState *outer, guint member);
void prio_traits_begin (PrioEntry *entry, PrioState *state);
void prio_traits_end (const PrioState *state);

static inline PrioTraits
prio_traits_of (const PrioState *state)
{
  return G_LIKELY (state->traits == NULL) ? (PrioTraits) { 0 } : *state->traits;
}
