/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-traits-private.h: fields that only few scheduling states have
 *
 * Promises: a PrioState is small, because every callback and every microtask has a copy.  The state of a task that
 * belongs to a PrioTaskGroup, lends its priority or has a timeout points to a PrioTraits.  All copies of the state
 * share this record, which never changes.
 *
 * Only the loop's owner thread uses these functions and records. */

#pragma once

#include "loop/prio-run-queue-private.h"

struct _PrioTraits
{
  guint users;
  guint member;       /* the number of the task in its PrioTaskGroup, or 0 */
  PrioLendNode *lend; /* owned, or NULL */
  gint64 expiry;      /* when the task's timeout passes, µs, if the state is timed */
};

PrioTraits *prio_traits_new_for_member (const PrioState *outer, guint member);
void prio_traits_begin (PrioEntry *entry, PrioState *state);
void prio_traits_end (const PrioState *state);

static inline PrioTraits
prio_traits_of (const PrioState *state)
{
  return G_LIKELY (state->traits == NULL) ? (PrioTraits) { 0 } : *state->traits;
}
