/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* row-window.c: the rows in a GTK 4 window */

#include "rows.h"

#include <gtk/gtk.h>

/* A row that the list has asked for. */
#define ITEM_TYPE (item_get_type ())
G_DECLARE_FINAL_TYPE (Item, item, EXAMPLE, ITEM, GObject)

struct _Item
{
  GObject parent_instance;
  char *text;
};

G_DEFINE_FINAL_TYPE (Item, item, G_TYPE_OBJECT)

static GParamSpec *text_property;

static void
item_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_string (value, EXAMPLE_ITEM (object)->text);
}

static void
item_finalize (GObject *object)
{
  g_free (EXAMPLE_ITEM (object)->text);
  G_OBJECT_CLASS (item_parent_class)->finalize (object);
}

static void
item_init (Item *self)
{
}

static void
item_class_init (ItemClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->get_property = item_get_property;
  object_class->finalize = item_finalize;
  text_property = g_param_spec_string ("text", NULL, NULL, NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property (object_class, 1, text_property);
}

static void
item_set_text (Item *self, guint row, const char *text)
{
  g_free (self->text);
  self->text = g_strdup_printf ("%u  %s", row, text != NULL ? text : "…");
  g_object_notify_by_pspec (G_OBJECT (self), text_property);
}

/* A model of all rows; only rows that the list has asked for are objects. */
#define MODEL_TYPE (model_get_type ())
G_DECLARE_FINAL_TYPE (Model, model, EXAMPLE, MODEL, GObject)

struct _Model
{
  GObject parent_instance;
  Rows *rows;
  Item **items; /* one for each row, or NULL */
};

static GType
get_item_type (GListModel *model)
{
  return ITEM_TYPE;
}

static guint
get_n_items (GListModel *model)
{
  return EXAMPLE_MODEL (model)->rows->n_rows;
}

static gpointer
get_item (GListModel *model, guint row)
{
  Model *self = EXAMPLE_MODEL (model);

  if (row >= self->rows->n_rows)
    return NULL;
  if (self->items[row] == NULL)
    {
      self->items[row] = g_object_new (ITEM_TYPE, NULL);
      item_set_text (self->items[row], row, self->rows->texts[row]);
    }
  return g_object_ref (self->items[row]);
}

static void
model_init_interface (GListModelInterface *interface)
{
  interface->get_item_type = get_item_type;
  interface->get_n_items = get_n_items;
  interface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (Model, model, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, model_init_interface))

static void
model_finalize (GObject *object)
{
  Model *self = EXAMPLE_MODEL (object);

  for (guint i = 0; i < self->rows->n_rows; i++)
    g_clear_object (&self->items[i]);
  g_free (self->items);
  G_OBJECT_CLASS (model_parent_class)->finalize (object);
}

static void
model_init (Model *self)
{
}

static void
model_class_init (ModelClass *class)
{
  G_OBJECT_CLASS (class)->finalize = model_finalize;
}

typedef struct
{
  Rows *rows;
  Model *model;
  GtkWidget *window, *status;
  GtkAdjustment *place;
  guint n_jumps; /* jumps that are left, if the window jumps by itself */
  gboolean jumps, closing;
} Window;

static void
jump (Window *self)
{
  gtk_adjustment_set_value (self->place, g_random_double () * (gtk_adjustment_get_upper (self->place) -
                                                               gtk_adjustment_get_page_size (self->place)));
}

static gboolean
jump_by_itself (gpointer window)
{
  Window *self = window;

  if (self->rows->n_left > 0 || self->rows->n_view == 0)
    return G_SOURCE_CONTINUE;

  if (self->n_jumps == 0)
    {
      self->closing = TRUE;
      return G_SOURCE_REMOVE;
    }
  self->n_jumps--;
  jump (self);
  return G_SOURCE_CONTINUE;
}

/* Called when the list has been scrolled, or its window resized. */
static void
place_changed (GtkAdjustment *place, gpointer window)
{
  Window *self = window;
  double height = gtk_adjustment_get_upper (place) / self->rows->n_rows;
  double page = gtk_adjustment_get_page_size (place);
  guint first, n;

  if (height < 1 || page < 1)
    return;
  first = (guint) (gtk_adjustment_get_value (place) / height);
  n = (guint) (page / height) + 1;
  if (first != self->rows->first || n != self->rows->n_view)
    rows_show (self->rows, first, n);
}

static void
row_loaded (guint row, gpointer window)
{
  Window *self = window;
  Rows *rows = self->rows;

  if (self->model->items[row] != NULL)
    item_set_text (self->model->items[row], row, rows->texts[row]);
  if (rows->n_left == 0 && row - rows->first < rows->n_view)
    {
      g_autofree char *text = g_strdup_printf ("The rows in view came after %.0f ms",
                                               (g_get_monotonic_time () - rows->jumped) / 1000.0);

      gtk_label_set_text (GTK_LABEL (self->status), text);
    }
}

static void
set_up (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer window)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_list_item_set_child (item, label);
}

static void
bind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer window)
{
  GBinding *binding = g_object_bind_property (gtk_list_item_get_item (item), "text", gtk_list_item_get_child (item),
                                              "label", G_BINDING_SYNC_CREATE);

  g_object_set_data (G_OBJECT (item), "binding", binding);
}

static void
unbind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer window)
{
  g_binding_unbind (g_object_steal_data (G_OBJECT (item), "binding"));
}

static gboolean
close_requested (GtkWindow *window, gpointer data)
{
  ((Window *) data)->closing = TRUE;
  return TRUE;
}

static GtkWidget *
make_list (Window *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new (), *list;
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (set_up), self);
  g_signal_connect (factory, "bind", G_CALLBACK (bind), self);
  g_signal_connect (factory, "unbind", G_CALLBACK (unbind), self);
  self->model = g_object_new (MODEL_TYPE, NULL);
  self->model->rows = self->rows;
  self->model->items = g_new0 (Item *, self->rows->n_rows);
  list = gtk_list_view_new (GTK_SELECTION_MODEL (gtk_no_selection_new (g_object_ref (G_LIST_MODEL (self->model)))),
                            factory);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), list);
  gtk_widget_set_vexpand (scrolled, TRUE);
  self->place = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));
  g_signal_connect (self->place, "value-changed", G_CALLBACK (place_changed), self);
  g_signal_connect (self->place, "changed", G_CALLBACK (place_changed), self);
  return scrolled;
}

static void
open_window (Window *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12), *button = gtk_button_new_with_label ("Jump");

  self->window = gtk_window_new ();
  self->status = gtk_label_new (NULL);
  gtk_window_set_title (GTK_WINDOW (self->window), "Rows");
  gtk_window_set_default_size (GTK_WINDOW (self->window), 560, 480);
  gtk_window_set_child (GTK_WINDOW (self->window), box);
  gtk_box_append (GTK_BOX (box), button);
  gtk_box_append (GTK_BOX (box), make_list (self));
  gtk_box_append (GTK_BOX (box), self->status);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (jump), self);
  g_signal_connect (self->window, "close-request", G_CALLBACK (close_requested), self);
  gtk_window_present (GTK_WINDOW (self->window));
}

/* Runs the window until it is closed or, if @n_jumps is not 0, until it has jumped @n_jumps times. */
int
rows_run_window (Rows *rows, guint n_jumps)
{
  Window self = { .rows = rows, .n_jumps = n_jumps, .jumps = n_jumps > 0 };

  if (!gtk_init_check ())
    {
      g_printerr ("%s\n", "There is no display; --headless does without");
      return 1;
    }

  rows->loaded = row_loaded;
  rows->user_data = &self;
  rows_begin (rows);
  open_window (&self);
  if (self.jumps)
    g_timeout_add (50, jump_by_itself, &self);
  while (!self.closing)
    g_main_context_iteration (NULL, TRUE);

  if (self.jumps)
    rows_print (rows);
  gtk_window_destroy (GTK_WINDOW (self.window));
  g_object_unref (self.model);
  rows_end (rows);
  return 0;
}
