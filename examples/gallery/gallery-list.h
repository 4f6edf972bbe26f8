/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-list.h: the list of rows, which tells the loader which rows are in view */

#pragma once

#include "gallery-loader.h"

#define GALLERY_TYPE_LIST (gallery_list_get_type ())
G_DECLARE_FINAL_TYPE (GalleryList, gallery_list, GALLERY, LIST, GtkWidget)

GtkWidget *gallery_list_new (void);
void gallery_list_show (GalleryList *self, GalleryModel *model, GalleryLoader *loader);
