/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-inspector-table.h: a grid of changing numbers
 *
 * Promises: a table has columns with titles, some of them under a common title, and rows of text that can be set at any time;
 * setting an unchanged text costs nothing.  The titles of its column and row describe each cell to assistive technologies.
 */

#pragma once

#include <gtk/gtk.h>

typedef struct
{
  const char *group; /* title over this column and the next ones with the same group; or NULL */
  const char *title;
  gboolean is_number;
} PrioInspectorColumn;

/* @columns is static, and its texts are to be translated. */
GtkWidget *prio_inspector_table_new (const char *label, const PrioInspectorColumn *columns, guint n_columns);

/* Rows exist starting with the first. */
void prio_inspector_table_set_n_rows (GtkWidget *table, guint n_rows);
void prio_inspector_table_set (GtkWidget *table, guint row, guint column, const char *text);

/* Appends the titles and the rows, with tabs and newlines. */
void prio_inspector_table_print (GtkWidget *table, GString *text);
