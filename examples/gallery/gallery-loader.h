/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-loader.h: decodes the rows of a model, rows in view first */

#pragma once

#include "gallery-model.h"

#include <prio-sched.h>

typedef struct _GalleryLoader GalleryLoader;

typedef enum
{
  GALLERY_WAY_PRIO_SCHED,
  GALLERY_WAY_IDLES
} GalleryWay;

GalleryLoader *gallery_loader_new (PrioScheduler *scheduler, GalleryModel *model, guint limit, gboolean logs);
void gallery_loader_free (GalleryLoader *self);
void gallery_loader_wait_for_all (void);
void gallery_loader_set_way (GalleryLoader *self, GalleryWay way, gboolean paused);
void gallery_loader_set_view (GalleryLoader *self, guint first, guint n_rows);
void gallery_loader_enter (GalleryLoader *self, GalleryRow *row);
void gallery_loader_leave (GalleryLoader *self, GalleryRow *row);
