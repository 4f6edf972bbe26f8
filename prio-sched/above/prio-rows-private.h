/* prio-rows-private.h: which rows of a list are left, and which of them is the nearest to what is in view
 *
 * Promises: it keeps the rows that have been taken as ranges, so that a list of a million rows costs as much as one of ten.
 * To take the nearest row, and to follow a change of the list, costs O(log ranges), and a move of what is behind where a
 * range comes or goes.  There are as many ranges as there have been views that do not touch, and changes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
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
