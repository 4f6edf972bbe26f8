/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-frame-hook-private.h: follows the frames of GTK and GNOME Shell, without linking to them
 *
 * Promises: when a window has drawn a frame, the loop of its thread knows when the next frame is due. */

#pragma once

#include <glib-object.h>

void prio_frame_hook_leave_alone (GObject *clock);
