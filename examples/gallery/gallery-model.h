/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-model.h: very many rows, each with a picture */

#pragma once

#include "gallery-thumbnail.h"

/* A row that is in use.  It has the properties "picture", a GdkPaintable or NULL, "title" and "subtitle". */
#define GALLERY_TYPE_ROW (gallery_row_get_type ())
G_DECLARE_FINAL_TYPE (GalleryRow, gallery_row, GALLERY, ROW, GObject)

guint gallery_row_get_number (GalleryRow *self);
gboolean gallery_row_is_complete (GalleryRow *self);

#define GALLERY_TYPE_MODEL (gallery_model_get_type ())
G_DECLARE_FINAL_TYPE (GalleryModel, gallery_model, GALLERY, MODEL, GObject)

GalleryModel *gallery_model_new (GPtrArray *files, guint n_rows);
guint gallery_model_get_n_rows (GalleryModel *self);
guint gallery_model_get_n_done (GalleryModel *self);
GFile *gallery_model_get_file (GalleryModel *self, guint row);
gboolean gallery_model_is_done (GalleryModel *self, guint row);
void gallery_model_set_done (GalleryModel *self, guint row, GalleryThumbnail *thumbnail, const GError *error);
