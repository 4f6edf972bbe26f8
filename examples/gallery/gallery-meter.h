/* gallery-meter.h: shows how long each frame of its window took
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gtk/gtk.h>

#define GALLERY_TYPE_METER (gallery_meter_get_type ())
G_DECLARE_FINAL_TYPE (GalleryMeter, gallery_meter, GALLERY, METER, GtkWidget)

GtkWidget *gallery_meter_new (void);
