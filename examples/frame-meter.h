/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frame-meter.h: shows how long each frame of its window took */

#pragma once

#include <gtk/gtk.h>

#define FRAME_TYPE_METER (frame_meter_get_type ())
G_DECLARE_FINAL_TYPE (FrameMeter, frame_meter, FRAME, METER, GtkWidget)

GtkWidget *frame_meter_new (void);
