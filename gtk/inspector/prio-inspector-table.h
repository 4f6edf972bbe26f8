/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-inspector-table.h: a grid of changing numbers
 *
 * Promises: a table has columns with titles, some under a common title, and rows of text that can be set at any time.
 * Setting a text that has not changed does nothing.  Assistive technologies describe each cell by the titles of the
 * cell's column and row.
 */

#pragma once

#include <gtk/gtk.h>

typedef struct
{
  const char *group; /* the title over this column and over the next columns with the same group; or NULL */
  const char *title;
  gboolean is_number;
} PrioInspectorColumn;

/* Returns a table with @label for assistive technologies.  @columns must be static; its texts are translated here. */
GtkWidget *prio_inspector_table_new (const char *label, const PrioInspectorColumn *columns, guint n_columns);

/* Adds or removes rows at the end. */
void prio_inspector_table_set_n_rows (GtkWidget *table, guint n_rows);
void prio_inspector_table_set (GtkWidget *table, guint row, guint column, const char *text);

/* Appends the titles and the rows to @text, with tabs and newlines. */
void prio_inspector_table_print (GtkWidget *table, GString *text);
