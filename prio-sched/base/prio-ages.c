/* prio-ages.c: when tasks were queued, found by their order
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "base/prio-ages-private.h"

/* So many are left for those to come. */
#define SPARE (PRIO_N_AGES / 4)

/* The next order is @order.  What has been queued before seems to have been queued now. */
PrioAges *
prio_ages_new (guint64 order, gint64 now)
{
  PrioAges *self = g_new (PrioAges, 1);

  self->from = self->span = 0;
  self->n = 1;
  self->notes[0] = (PrioAge) { order, now };
  return self;
}

/* Drops the notes without which no task seems older by more than 1/@share. */
static void
thin (PrioAges *self, gint64 now, gint64 share)
{
  PrioAge *notes = self->notes;
  guint kept = 1;

  for (guint i = 1; i + 1 < self->n; i++)
    {
      if (notes[i + 1].time - notes[kept - 1].time > (now - notes[i + 1].time) / share)
        notes[kept++] = notes[i];
    }
  notes[kept++] = notes[self->n - 1];
  self->n = kept;
}

/* The time is @now, and the next order @order. */
void
prio_ages_note (PrioAges *self, guint64 order, gint64 now)
{
  /* No task has an order from there on.  The first note is that of those before it. */
  if (self->n > 1 && self->notes[self->n - 1].order == order)
    {
      self->notes[self->n - 1].time = now;
      if (prio_ages_is_found (self, order))
        self->span = 0;
      return;
    }

  /* If no share is left, two notes that are kept halve the time until now. */
  for (gint64 share = self->n == PRIO_N_AGES ? 16 : 0; share > 0 && self->n > PRIO_N_AGES - SPARE; share /= 2)
    thin (self, now, share);
  self->notes[self->n++] = (PrioAge) { order, now };
  self->span = 0;
}

/* Finds since when @order may have been given. */
void
prio_ages_find (PrioAges *self, guint64 order)
{
  guint first = 0, end = self->n;

  /* The last note whose order is not above. */
  while (end - first > 1)
    {
      guint middle = first + (end - first) / 2;

      if (self->notes[middle].order <= order)
        first = middle;
      else
        end = middle;
    }

  self->from = first == 0 ? 0 : self->notes[first].order;
  self->span = (end < self->n ? self->notes[end].order : G_MAXUINT64) - self->from;
  self->time = self->notes[first].time;
}
