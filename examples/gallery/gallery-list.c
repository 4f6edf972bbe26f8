/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-list.c: the list of rows, which tells the loader which rows are in view
 *
 * GTK also binds rows before and after the visible rows.  The vertical adjustment says which rows are in view.
 */

#include "config.h"

#include "gallery-list.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#define PICTURE_SIZE 48 /* pixels */

struct _GalleryList
{
  GtkWidget parent_instance;
  GtkWidget *scrolled, *view;
  GtkAdjustment *place;
  GalleryModel *model;   /* or NULL */
  GalleryLoader *loader; /* NULL, or the loader, without a reference */
};

G_DEFINE_FINAL_TYPE (GalleryList, gallery_list, GTK_TYPE_WIDGET)

/* The parts of a row. */
typedef struct
{
  GtkWidget *picture, *title, *subtitle;
} Parts;

static GtkWidget *
make_label (const char *class)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  /* A line break in a name would make the row higher than the others. */
  gtk_label_set_single_line_mode (GTK_LABEL (label), TRUE);
  if (class != NULL)
    gtk_widget_add_css_class (label, class);
  return label;
}

static void
set_up (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer list)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  Parts *parts = g_new (Parts, 1);

  /* Assistive technologies skip the picture, because the texts describe it completely. */
  parts->picture = g_object_new (GTK_TYPE_IMAGE, "pixel-size", PICTURE_SIZE, "accessible-role",
                                 GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);
  parts->title = make_label (NULL);
  parts->subtitle = make_label ("dim-label");
  gtk_widget_add_css_class (parts->subtitle, "caption");
  gtk_widget_set_valign (texts, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (texts), parts->title);
  gtk_box_append (GTK_BOX (texts), parts->subtitle);
  gtk_box_append (GTK_BOX (box), parts->picture);
  gtk_box_append (GTK_BOX (box), texts);
  gtk_widget_set_margin_start (box, 6);
  gtk_list_item_set_child (item, box);
  g_object_set_data_full (G_OBJECT (item), "parts", parts, g_free);
}

static void
update (GalleryRow *row, GParamSpec *pspec, GtkListItem *item)
{
  Parts *parts = g_object_get_data (G_OBJECT (item), "parts");
  g_autofree char *title = NULL, *subtitle = NULL;
  g_autoptr (GdkPaintable) picture = NULL;

  g_object_get (row, "title", &title, "subtitle", &subtitle, "picture", &picture, NULL);
  gtk_label_set_text (GTK_LABEL (parts->title), title);
  gtk_label_set_text (GTK_LABEL (parts->subtitle), subtitle);
  if (picture != NULL || !gallery_row_is_complete (row))
    gtk_image_set_from_paintable (GTK_IMAGE (parts->picture), picture);
  else
    gtk_image_set_from_icon_name (GTK_IMAGE (parts->picture), "image-missing-symbolic");
}

static void
bind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer list)
{
  GalleryList *self = GALLERY_LIST (list);
  GalleryRow *row = gtk_list_item_get_item (item);

  g_signal_connect (row, "notify::subtitle", G_CALLBACK (update), item);
  update (row, NULL, item);
  if (self->loader != NULL)
    gallery_loader_enter (self->loader, row);
}

static void
unbind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer list)
{
  GalleryList *self = GALLERY_LIST (list);
  GalleryRow *row = gtk_list_item_get_item (item);

  g_signal_handlers_disconnect_by_func (row, update, item);
  if (self->loader != NULL)
    gallery_loader_leave (self->loader, row);
}

/* Called when the list has been scrolled or resized.  All rows have the same height. */
static void
place_changed (GtkAdjustment *place, gpointer list)
{
  GalleryList *self = GALLERY_LIST (list);
  double value = gtk_adjustment_get_value (place), page = gtk_adjustment_get_page_size (place), height;
  guint first;

  if (self->loader == NULL)
    return;
  height = gtk_adjustment_get_upper (place) / gallery_model_get_n_rows (self->model);
  if (height < 1 || page < 1)
    return;
  first = (guint) (value / height);
  gallery_loader_set_view (self->loader, first, (guint) ((value + page) / height) + 1 - first);
}

static void
opened (GObject *parent, GAsyncResult *result, gpointer list)
{
  g_autoptr (GalleryList) self = list;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL, *markup = NULL;
  GtkWidget *toasts = gtk_widget_get_ancestor (GTK_WIDGET (self), ADW_TYPE_TOAST_OVERLAY);

  /* Without an overlay, the window has been closed. */
  if (gtk_show_uri_full_finish (GTK_WINDOW (parent), result, &error) || toasts == NULL
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  text = g_strdup_printf (_("The picture cannot be opened: %s"), error->message);
  markup = g_markup_escape_text (text, -1);
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (toasts), adw_toast_new (markup));
}

/* Opens the picture in its default program. */
static void
activated (GtkListView *view, guint position, gpointer list)
{
  GalleryList *self = GALLERY_LIST (list);
  g_autofree char *uri = g_file_get_uri (gallery_model_get_file (self->model, position));

  gtk_show_uri_full (GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self))), uri, GDK_CURRENT_TIME, NULL, opened,
                     g_object_ref (self));
}

/* Shows @model in place of the previous one, or nothing if it is NULL.  The previous loader gets no more requests. */
void
gallery_list_show (GalleryList *self, GalleryModel *model, GalleryLoader *loader)
{
  GtkSelectionModel *selection = NULL;

  self->loader = NULL;
  gtk_list_view_set_model (GTK_LIST_VIEW (self->view), NULL);
  g_set_object (&self->model, model);
  if (model == NULL)
    return;

  self->loader = loader;
  selection = GTK_SELECTION_MODEL (gtk_single_selection_new (g_object_ref (G_LIST_MODEL (model))));
  gtk_list_view_set_model (GTK_LIST_VIEW (self->view), selection);
  g_object_unref (selection);
  gtk_adjustment_set_value (self->place, 0);
}

static gboolean
gallery_list_grab_focus (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GALLERY_LIST (widget)->view);
}

static void
gallery_list_dispose (GObject *object)
{
  GalleryList *self = GALLERY_LIST (object);

  self->loader = NULL;
  g_clear_pointer (&self->scrolled, gtk_widget_unparent);
  g_clear_object (&self->model);
  G_OBJECT_CLASS (gallery_list_parent_class)->dispose (object);
}

static void
gallery_list_class_init (GalleryListClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = gallery_list_dispose;
  widget_class->grab_focus = gallery_list_grab_focus;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
}

static void
gallery_list_init (GalleryList *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (set_up), self);
  g_signal_connect (factory, "bind", G_CALLBACK (bind), self);
  g_signal_connect (factory, "unbind", G_CALLBACK (unbind), self);
  self->view = gtk_list_view_new (NULL, factory);
  g_signal_connect (self->view, "activate", G_CALLBACK (activated), self);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Pictures"), -1);

  self->scrolled = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scrolled), self->view);
  gtk_widget_set_parent (self->scrolled, GTK_WIDGET (self));
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
  self->place = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->scrolled));
  g_signal_connect (self->place, "value-changed", G_CALLBACK (place_changed), self);
  g_signal_connect (self->place, "changed", G_CALLBACK (place_changed), self);
}

GtkWidget *
gallery_list_new (void)
{
  return g_object_new (GALLERY_TYPE_LIST, NULL);
}
