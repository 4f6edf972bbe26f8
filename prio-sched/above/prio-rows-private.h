/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-rows-private.h: which rows of a list are left, and which is the nearest to the view
 *
 * Promises: rows that have been taken are kept as ranges, so a list of a million rows costs as much as a list of ten.
 * Taking the nearest row, and following a change of the list, searches the ranges in O(log n), and moves those behind a
 * range that is added or removed.  The number of ranges grows with views that do not touch, and with changes.
 */

#pragma once

#include <glib.h>

typedef struct
{
  GArray *taken; /* PrioRowRange, in order; no two of them touch */
  guint n_rows;
  guint n_left;
} PrioRows;

void prio_rows_init (PrioRows *rows, guint n_rows);
void prio_rows_clear (PrioRows *rows);
void prio_rows_splice (PrioRows *rows, guint position, guint n_removed, guint n_added);
gboolean prio_rows_take_nearest (PrioRows *rows, guint first, guint n_in_view, guint *row);
