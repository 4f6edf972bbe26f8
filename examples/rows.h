/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rows.h: rows that show a file each, and how soon those in view have theirs */

#pragma once

#include "row-loader.h"

typedef struct
{
  GPtrArray *files; /* GFile; the first comes again after the last */
  guint n_rows;
  guint limit;
  RowLoader *loader;
  char **texts; /* of each row, or NULL: it has not been loaded */

  void (*loaded) (guint row, gpointer user_data); /* or NULL */
  gpointer user_data;

  guint first, n_view; /* rows in view */
  guint n_left;        /* those that have not been loaded */
  gint64 jumped;       /* when they have come into view, µs */
  double total, worst; /* from then until a row is there, ms */
  guint n_shown;
} Rows;

void rows_begin (Rows *rows);
void rows_end (Rows *rows);
void rows_show (Rows *rows, guint first, guint n_view);
void rows_print (Rows *rows);

int rows_run_window (Rows *rows, guint n_jumps);
