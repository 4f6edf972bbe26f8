/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-model.c: very many rows, each with a picture
 *
 * The rows repeat the pictures of a folder, but each row decodes its picture anew.  The model keeps the mean colour of
 * each decoded file.  It keeps thumbnails only of rows in use, and of the last MAX_KEPT rows decoded while in use.
 */

#include "config.h"

#include "gallery-model.h"

#include <glib/gi18n.h>

#define MAX_KEPT 1000 /* rows that keep their thumbnails even when they are not in use */

struct _GalleryRow
{
  GObject parent_instance;
  GalleryModel *model; /* NULL once the model has been freed */
  guint number;
  GdkPaintable *picture; /* or NULL */
  char *title, *subtitle;
  gboolean is_complete; /* TRUE once the row has its thumbnail, or cannot have one */
};

struct _GalleryModel
{
  GObject parent_instance;
  GPtrArray *files;
  guint n_rows, n_done;
  GalleryRow **rows;    /* weak pointers; NULL for rows that are not in use */
  GdkTexture **colours; /* colours of the decoded files, or NULL */
  guint8 *done;         /* whether each row is done */
  GQueue kept;          /* GalleryRow, owned: decoded rows, the latest first */
};

enum
{
  PROP_0,
  PROP_PICTURE,
  PROP_TITLE,
  PROP_SUBTITLE,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (GalleryRow, gallery_row, G_TYPE_OBJECT)

static void
gallery_row_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GalleryRow *self = GALLERY_ROW (object);

  if (id == PROP_PICTURE)
    g_value_set_object (value, self->picture);
  else
    g_value_set_string (value, id == PROP_TITLE ? self->title : self->subtitle);
}

static void
gallery_row_finalize (GObject *object)
{
  GalleryRow *self = GALLERY_ROW (object);

  if (self->model != NULL)
    self->model->rows[self->number] = NULL;
  g_clear_object (&self->picture);
  g_free (self->title);
  g_free (self->subtitle);
  G_OBJECT_CLASS (gallery_row_parent_class)->finalize (object);
}

static void
gallery_row_init (GalleryRow *self)
{
}

static void
gallery_row_class_init (GalleryRowClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->get_property = gallery_row_get_property;
  object_class->finalize = gallery_row_finalize;
  properties[PROP_PICTURE] = g_param_spec_object ("picture", NULL, NULL, GDK_TYPE_PAINTABLE, flags);
  properties[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, NULL, flags);
  properties[PROP_SUBTITLE] = g_param_spec_string ("subtitle", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

guint
gallery_row_get_number (GalleryRow *self)
{
  return self->number;
}

gboolean
gallery_row_is_complete (GalleryRow *self)
{
  return self->is_complete;
}

/* Shows @picture, or NULL while there is none. */
static void
gallery_row_show (GalleryRow *self, gpointer picture, char *subtitle)
{
  g_set_object (&self->picture, picture);
  g_free (self->subtitle);
  self->subtitle = subtitle;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PICTURE]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SUBTITLE]);
}

static GalleryRow *
gallery_row_new (GalleryModel *model, guint number)
{
  GalleryRow *self = g_object_new (GALLERY_TYPE_ROW, NULL);
  GFile *file = gallery_model_get_file (model, number);
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *shown = g_filename_display_name (name);

  self->model = model;
  self->number = number;
  self->title = g_strdup_printf (_("%u · %s"), number + 1, shown);
  gallery_row_show (self, model->colours[number % model->files->len], g_strdup (_("Waiting…")));
  return self;
}

static GType
get_item_type (GListModel *model)
{
  return GALLERY_TYPE_ROW;
}

static guint
get_n_items (GListModel *model)
{
  return GALLERY_MODEL (model)->n_rows;
}

static gpointer
get_item (GListModel *model, guint row)
{
  GalleryModel *self = GALLERY_MODEL (model);

  if (row >= self->n_rows)
    return NULL;
  if (self->rows[row] != NULL)
    return g_object_ref (self->rows[row]);
  self->rows[row] = gallery_row_new (self, row);
  return self->rows[row];
}

static void
init_interface (GListModelInterface *interface)
{
  interface->get_item_type = get_item_type;
  interface->get_n_items = get_n_items;
  interface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (GalleryModel, gallery_model, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, init_interface))

static void
gallery_model_finalize (GObject *object)
{
  GalleryModel *self = GALLERY_MODEL (object);

  g_queue_clear_full (&self->kept, g_object_unref);
  for (guint i = 0; i < self->n_rows; i++)
    {
      if (self->rows[i] != NULL)
        self->rows[i]->model = NULL;
    }
  for (guint i = 0; i < self->files->len; i++)
    g_clear_object (&self->colours[i]);
  g_free (self->rows);
  g_free (self->colours);
  g_free (self->done);
  g_ptr_array_unref (self->files);
  G_OBJECT_CLASS (gallery_model_parent_class)->finalize (object);
}

static void
gallery_model_init (GalleryModel *self)
{
}

static void
gallery_model_class_init (GalleryModelClass *class)
{
  G_OBJECT_CLASS (class)->finalize = gallery_model_finalize;
}

/* Creates a model of @files, which has at least one GFile.
 *
 * Returns: (transfer full): a list of GalleryRow */
GalleryModel *
gallery_model_new (GPtrArray *files, guint n_rows)
{
  GalleryModel *self = g_object_new (GALLERY_TYPE_MODEL, NULL);

  self->files = g_ptr_array_ref (files);
  self->n_rows = n_rows;
  self->rows = g_new0 (GalleryRow *, n_rows);
  self->done = g_new0 (guint8, n_rows);
  self->colours = g_new0 (GdkTexture *, files->len);
  return self;
}

guint
gallery_model_get_n_rows (GalleryModel *self)
{
  return self->n_rows;
}

/* Returns how many rows have been decoded or have failed. */
guint
gallery_model_get_n_done (GalleryModel *self)
{
  return self->n_done;
}

/* Returns: (transfer none): the picture of @row */
GFile *
gallery_model_get_file (GalleryModel *self, guint row)
{
  return self->files->pdata[row % self->files->len];
}

gboolean
gallery_model_is_done (GalleryModel *self, guint row)
{
  return self->done[row];
}

static void
keep (GalleryModel *self, GalleryRow *row)
{
  g_queue_push_head (&self->kept, g_object_ref (row));
  if (self->kept.length > MAX_KEPT)
    g_object_unref (g_queue_pop_tail (&self->kept));
}

/* Stores the result of @row.  @thumbnail is NULL if the picture could not be decoded; @error then says why. */
void
gallery_model_set_done (GalleryModel *self, guint row, GalleryThumbnail *thumbnail, const GError *error)
{
  GalleryRow *shown = self->rows[row];
  GdkTexture **colour = &self->colours[row % self->files->len];

  self->n_done += !self->done[row];
  self->done[row] = TRUE;
  if (thumbnail != NULL)
    g_set_object (colour, thumbnail->colour);
  if (shown == NULL)
    return;

  shown->is_complete = TRUE;
  if (thumbnail != NULL)
    gallery_row_show (shown, thumbnail->texture,
                      g_strdup_printf (_("%d × %d pixels"), thumbnail->width, thumbnail->height));
  else
    gallery_row_show (shown, NULL, g_strdup (error->message));
  keep (self, shown);
}
