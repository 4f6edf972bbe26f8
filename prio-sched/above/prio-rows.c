/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-rows.c: which rows of a list are left, and which is the nearest to the view */

#include "config.h"

#include "above/prio-rows-private.h"

/* Includes @begin, and ends before @end. */
typedef struct
{
  guint begin, end;
} PrioRowRange;

void
prio_rows_init (PrioRows *rows, guint n_rows)
{
  *rows = (PrioRows) { .taken = g_array_new (FALSE, FALSE, sizeof (PrioRowRange)), .n_rows = n_rows, .n_left = n_rows };
}

void
prio_rows_clear (PrioRows *rows)
{
  g_clear_pointer (&rows->taken, g_array_unref);
}

static PrioRowRange *
range (PrioRows *rows, guint i)
{
  return &g_array_index (rows->taken, PrioRowRange, i);
}

/* Returns the index of the range that contains @row, or else of the next range. */
static guint
find (PrioRows *rows, guint row)
{
  guint low = 0, high = rows->taken->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (range (rows, middle)->end > row)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

static void
join (PrioRows *rows, guint i)
{
  if (i == 0 || i >= rows->taken->len || range (rows, i - 1)->end < range (rows, i)->begin)
    return;

  range (rows, i - 1)->end = range (rows, i)->end;
  g_array_remove_index (rows->taken, i);
}

static void
take (PrioRows *rows, guint row)
{
  guint i = find (rows, row);
  PrioRowRange added = { row, row + 1 };

  /* Usually an existing range grows. */
  if (i > 0 && range (rows, i - 1)->end == row)
    {
      range (rows, i - 1)->end++;
      join (rows, i);
    }
  else if (i < rows->taken->len && range (rows, i)->begin == row + 1)
    {
      range (rows, i)->begin--;
    }
  else
    {
      g_array_insert_val (rows->taken, i, added);
    }
  rows->n_left--;
}

/* Follows a change of the list: at @position, @n_removed rows were removed, and @n_added were added, which are left. */
void
prio_rows_splice (PrioRows *rows, guint position, guint n_removed, guint n_added)
{
  guint end = position + n_removed, i = find (rows, position), n_taken = 0;

  /* Cuts a range that begins before @position.  If it continues behind the removed rows, its rest becomes a new range. */
  if (i < rows->taken->len && range (rows, i)->begin < position)
    {
      PrioRowRange rest = { position, range (rows, i)->end };

      range (rows, i)->end = position;
      i++;
      g_array_insert_val (rows->taken, i, rest);
    }
  while (i < rows->taken->len && range (rows, i)->begin < end)
    {
      guint last = MIN (range (rows, i)->end, end);

      n_taken += last - range (rows, i)->begin;
      range (rows, i)->begin = last;
      if (last < range (rows, i)->end)
        break;
      g_array_remove_index (rows->taken, i);
    }
  for (guint j = i; j < rows->taken->len; j++)
    {
      range (rows, j)->begin += n_added - n_removed;
      range (rows, j)->end += n_added - n_removed;
    }
  rows->n_rows += n_added - n_removed;
  rows->n_left += n_added - (n_removed - n_taken);
  join (rows, i);
}

/* Takes the first row left in view, or else the row nearest to the view.  Returns FALSE if no row is left. */
gboolean
prio_rows_take_nearest (PrioRows *rows, guint first, guint n_in_view, guint *row)
{
  guint i, above, below, last;

  if (rows->n_left == 0)
    return FALSE;

  first = MIN (first, rows->n_rows - 1);
  last = n_in_view <= rows->n_rows - first ? first + MAX (n_in_view, 1) - 1 : rows->n_rows - 1;
  i = find (rows, first);
  below = i < rows->taken->len && range (rows, i)->begin <= first ? range (rows, i)->end : first;
  if (below > last)
    {
      /* All rows in view have been taken, so one range contains them. */
      above = range (rows, i)->begin;
      if (below == rows->n_rows || (above > 0 && first - above < below - last - 1))
        below = above - 1;
    }
  *row = below;
  take (rows, below);
  return TRUE;
}
