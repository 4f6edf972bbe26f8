/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-thumbnail.h: a picture, decoded and made small */

#pragma once

#include <gtk/gtk.h>

typedef struct
{
  GdkTexture *texture;
  GdkTexture *colour; /* a single pixel: the mean of the picture */
  int width, height;  /* size of the picture before scaling */
} GalleryThumbnail;

GalleryThumbnail *gallery_thumbnail_new (GFile *file, GCancellable *cancellable, GError **error);
void gallery_thumbnail_free (gpointer thumbnail);
