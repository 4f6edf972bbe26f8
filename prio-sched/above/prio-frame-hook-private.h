/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-frame-hook-private.h: follows the frames of GTK and GNOME Shell, without linking to them
 *
 * Promises: as soon as a window has drawn a frame, the loop that runs it knows when the next one is due.
 */

#pragma once

#include <glib-object.h>

void prio_frame_hook_leave_alone (GObject *clock);
