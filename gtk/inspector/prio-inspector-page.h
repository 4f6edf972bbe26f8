/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-inspector-page.h: the page in GTK's inspector
 *
 * Promises: while the page is mapped, it shows the statistics of the default main context's schedulers, and updates
 * them twice a second.  While it is not mapped, it does nothing.  Schedulers of other main contexts are only counted.
 */

#pragma once

#include <gtk/gtk.h>

#define PRIO_TYPE_INSPECTOR_PAGE (prio_inspector_page_get_type ())
G_DECLARE_FINAL_TYPE (PrioInspectorPage, prio_inspector_page, PRIO, INSPECTOR_PAGE, GtkWidget)
