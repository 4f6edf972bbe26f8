/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-inspector-table.c: a grid of changing numbers */

#include "config.h"

#include "prio-inspector-table.h"

#include <glib/gi18n-lib.h>

/* The titles take the first two rows of the grid. */
#define N_TITLE_ROWS 2

#define CONTENT "prio-inspector-table"

typedef struct
{
  const PrioInspectorColumn *columns;
  guint n_columns, n_rows;
  GPtrArray *cells; /* the labels of all rows */
} Table;

static void
content_free (gpointer data)
{
  g_ptr_array_unref (((Table *) data)->cells);
  g_free (data);
}

static Table *
get (GtkWidget *table)
{
  return g_object_get_data (G_OBJECT (table), CONTENT);
}

static GtkWidget *
make_label (const char *text, gboolean is_number)
{
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), is_number ? 1 : 0);
  if (is_number)
    {
      /* Uses tabular digits, which all have the same width, so that columns keep their width when numbers change. */
      pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum=1"));
      gtk_label_set_attributes (GTK_LABEL (label), attributes);
    }
  return label;
}

static void
attach_title (GtkWidget *table, const char *text, gboolean is_number, gint column, gint row, gint width)
{
  GtkWidget *label = make_label (_(text), is_number);

  gtk_widget_add_css_class (label, "dim-label");
  if (width > 1)
    gtk_label_set_xalign (GTK_LABEL (label), 0.5);
  gtk_grid_attach (GTK_GRID (table), label, column, row, width, 1);
}

GtkWidget *
prio_inspector_table_new (const char *label, const PrioInspectorColumn *columns, guint n_columns)
{
  GtkWidget *table = g_object_new (GTK_TYPE_GRID, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, "column-spacing", 18,
                                   "row-spacing", 6, NULL);
  Table *content = g_new (Table, 1);

  *content = (Table) { .columns = columns, .n_columns = n_columns, .cells = g_ptr_array_new () };
  g_object_set_data_full (G_OBJECT (table), CONTENT, content, content_free);
  gtk_accessible_update_property (GTK_ACCESSIBLE (table), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);

  for (guint i = 0, width; i < n_columns; i += width)
    {
      for (width = 1; columns[i].group != NULL && i + width < n_columns && columns[i + width].group == columns[i].group;)
        width++;
      if (columns[i].group != NULL)
        attach_title (table, columns[i].group, TRUE, (gint) i, 0, (gint) width);
    }
  for (guint i = 0; i < n_columns; i++)
    attach_title (table, columns[i].title, columns[i].is_number, (gint) i, 1, 1);
  return table;
}

static GtkWidget *
cell (const Table *content, guint row, guint column)
{
  return content->cells->pdata[row * content->n_columns + column];
}

static void
add_row (GtkWidget *table, guint row)
{
  const Table *content = get (table);

  for (guint i = 0; i < content->n_columns; i++)
    {
      GtkWidget *label = make_label (NULL, content->columns[i].is_number);

      gtk_grid_attach (GTK_GRID (table), label, (gint) i, (gint) row + N_TITLE_ROWS, 1, 1);
      g_ptr_array_add (content->cells, label);
      if (i == 0)
        {
          gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
          gtk_label_set_width_chars (GTK_LABEL (label), 16);
          gtk_label_set_max_width_chars (GTK_LABEL (label), 64);
          continue;
        }
      gtk_accessible_update_relation (GTK_ACCESSIBLE (label), GTK_ACCESSIBLE_RELATION_DESCRIBED_BY,
                                      gtk_grid_get_child_at (GTK_GRID (table), (gint) i, 1), cell (content, row, 0), NULL, -1);
    }
}

void
prio_inspector_table_set_n_rows (GtkWidget *table, guint n_rows)
{
  Table *content = get (table);

  for (; content->n_rows < n_rows; content->n_rows++)
    add_row (table, content->n_rows);
  for (; content->n_rows > n_rows; content->n_rows--)
    gtk_grid_remove_row (GTK_GRID (table), (gint) content->n_rows - 1 + N_TITLE_ROWS);
  g_ptr_array_set_size (content->cells, (gint) (n_rows * content->n_columns));
}

void
prio_inspector_table_set (GtkWidget *table, guint row, guint column, const char *text)
{
  GtkLabel *label = GTK_LABEL (cell (get (table), row, column));

  if (g_strcmp0 (gtk_label_get_text (label), text) == 0)
    return;
  gtk_label_set_text (label, text);
  /* The tooltip shows the whole text, which may be cut off in the table. */
  if (column == 0)
    gtk_widget_set_tooltip_text (GTK_WIDGET (label), text);
}

void
prio_inspector_table_print (GtkWidget *table, GString *text)
{
  const Table *content = get (table);

  for (guint i = 0; i < content->n_columns; i++)
    {
      const PrioInspectorColumn *column = &content->columns[i];

      g_string_append_printf (text, "%s%s%s%s", i > 0 ? "\t" : "", column->group != NULL ? _(column->group) : "",
                              column->group != NULL ? ": " : "", _(column->title));
    }
  for (guint i = 0; i < content->n_rows; i++)
    {
      for (guint j = 0; j < content->n_columns; j++)
        g_string_append_printf (text, "%s%s", j > 0 ? "\t" : "\n", gtk_label_get_text (GTK_LABEL (cell (content, i, j))));
    }
  g_string_append_c (text, '\n');
}
