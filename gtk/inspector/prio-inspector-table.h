/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-inspector-table.h: a grid of numbers that change
 *
 * Promises: a table has columns with titles, some of them under a common one, and rows of text that can be set at any time; what is
 * the same as before costs nothing.  Each cell is described to accessibility tools by the titles of its column and its row.
 */

#pragma once

#include <gtk/gtk.h>

typedef struct
{
  const char *group; /* over this column and the next ones that have the same; or NULL */
  const char *title;
  gboolean is_number;
} PrioInspectorColumn;

/* @columns is static, and its texts are to be translated. */
GtkWidget *prio_inspector_table_new (const char *label, const PrioInspectorColumn *columns, guint n_columns);

/* Rows are there from the first on. */
void prio_inspector_table_set_n_rows (GtkWidget *table, guint n_rows);
void prio_inspector_table_set (GtkWidget *table, guint row, guint column, const char *text);

/* Appends the titles and the rows, with tabs and newlines. */
void prio_inspector_table_print (GtkWidget *table, GString *text);
