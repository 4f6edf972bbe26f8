/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-rows-private.h: which rows of a list are new, under way or done
 *
 * Promises: a run is a row that is under way, or neighbours in the same state: a list of 4 billion new rows is one run.
 * The runs are a treap by position, in which a run knows how many rows are below it, and not where it is.  So a change of
 * the list and each search take O(log runs), and a row under way is found by its run however the list has changed.
 */

#pragma once

#include <glib.h>

/* No position of a row. */
#define PRIO_NO_ROW G_MAXUINT

typedef struct _PrioRun PrioRun;

typedef struct
{
  PrioRun *root;
  guint32 seed;
} PrioRows;

void prio_rows_clear (PrioRows *rows);
guint prio_rows_get_n (const PrioRows *rows);
gboolean prio_rows_splice (PrioRows *rows, guint position, guint n_removed, guint n_added, GPtrArray *removed);
void prio_rows_list (PrioRows *rows, guint begin, guint end, GPtrArray *under_way);
PrioRun *prio_rows_begin (PrioRows *rows, guint position, gpointer data);
guint prio_rows_count_new (const PrioRows *rows, guint end);
guint prio_rows_find_new (const PrioRows *rows, guint n);
void prio_run_end (PrioRun *run, gboolean is_new);
guint prio_run_get_position (const PrioRun *run);
