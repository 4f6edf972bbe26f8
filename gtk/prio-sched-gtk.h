/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-gtk.h: loads the rows that a list of GTK 4 shows */

#pragma once

#include <gtk/gtk.h>
#include <prio-sched-feed.h>

G_BEGIN_DECLS

PRIO_AVAILABLE_IN_ALL
PrioFeed *prio_gtk_feed_view (PrioTaskGroup *group, GtkWidget *view, PrioFeedRowFunc func, gpointer user_data,
                              GDestroyNotify notify);

G_END_DECLS
