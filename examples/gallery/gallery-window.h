/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-window.h: the window of the gallery */

#pragma once

#include <adwaita.h>

#include "gallery-loader.h"

typedef struct
{
  GFile *folder; /* NULL for the pictures of the system */
  gint n_rows, limit;
  gboolean idles, logs;
} GalleryOptions;

void gallery_window_open (AdwApplication *application, const GalleryOptions *options);
