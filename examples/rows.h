/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rows.h: rows that each show a file, and how long rows in view take to load */

#pragma once

#include "row-loader.h"

typedef struct
{
  GPtrArray *files; /* GFile; after the last file, rows show the first again */
  guint n_rows;
  guint limit;
  RowLoader *loader;
  char **texts; /* text of each row; NULL until it has been loaded */

  void (*loaded) (guint row, gpointer user_data); /* or NULL */
  gpointer user_data;

  guint first, n_view; /* rows in view */
  guint n_left;        /* rows in view that have not been loaded */
  gint64 jumped;       /* when the rows came into view, µs */
  double total, worst; /* times from @jumped until a row was loaded, ms */
  guint n_shown;
} Rows;

void rows_begin (Rows *rows);
void rows_end (Rows *rows);
void rows_show (Rows *rows, guint first, guint n_view);
void rows_print (Rows *rows);

int rows_run_window (Rows *rows, guint n_jumps);
