/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-inspector-module.c: the module that GTK loads when its inspector is opened
 *
 * GTK loads the modules in its folder "inspector" when the inspector is opened, and not before.  So the page is in the
 * inspector of each GTK 4 program, even if the program has not created a scheduler yet.
 */

#include "prio-inspector-page.h"

#include <gio/gio.h>

#define EXTENSION_POINT "gtk-inspector-page"

#define EXPORTED __attribute__ ((visibility ("default")))

EXPORTED void
g_io_module_load (GIOModule *module)
{
  /* The types that the module registers are never unregistered, so the module stays loaded. */
  g_type_module_use (G_TYPE_MODULE (module));
  g_io_extension_point_implement (EXTENSION_POINT, PRIO_TYPE_INSPECTOR_PAGE, "prio-sched", 10);
}

EXPORTED void
g_io_module_unload (GIOModule *module G_GNUC_UNUSED)
{
}

EXPORTED char **
g_io_module_query (void)
{
  static const char *const extension_points[] = { EXTENSION_POINT, NULL };

  return g_strdupv ((char **) extension_points);
}
