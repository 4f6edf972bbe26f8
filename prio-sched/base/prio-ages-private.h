/* prio-ages-private.h: when tasks were queued, found by their order
 *
 * Promises: no task has to be told when it was queued.  Whoever has read the clock notes which order is given next; so
 * whatever has an order from there on was queued after that moment, and what is told is the last such moment before a
 * task was queued.  There are never more than PRIO_N_AGES notes: among old ones some are dropped, so that what is told
 * of a task is earlier by the time between two readings and by a sixteenth of its age.
 *
 * Everything here belongs to the owner thread of the loop.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#define PRIO_N_AGES 512

typedef struct
{
  guint64 order;
  gint64 time; /* µs */
} PrioAge;

/* Orders of `from`, and of fewer than `span` after it, were given since `time`: the last that was asked for. */
typedef struct
{
  guint64 from, span;
  gint64 time;
  guint n;
  PrioAge notes[PRIO_N_AGES];
} PrioAges;

PrioAges *prio_ages_new (guint64 order, gint64 now);
void prio_ages_note (PrioAges *self, guint64 order, gint64 now);
void prio_ages_find (PrioAges *self, guint64 order);

/* Whether @order is among those that were asked for last. */
static inline gboolean
prio_ages_is_found (const PrioAges *self, guint64 order)
{
  return order - self->from < self->span;
}
