/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-inspector-parts.h: the parts of the page
 *
 * Promises: one kind of part shows a scheduler, the other the longest tasks and sources of the default main loop.  Both
 * are refreshed on the thread that runs the default main context, and hold no scheduler between two refreshes.
 */

#pragma once

#include <gtk/gtk.h>
#include <prio-sched-watch.h>

#define PRIO_TYPE_INSPECTOR_SCHEDULER (prio_inspector_scheduler_get_type ())
G_DECLARE_FINAL_TYPE (PrioInspectorScheduler, prio_inspector_scheduler, PRIO, INSPECTOR_SCHEDULER, GtkBox)

/* Returns a part for @scheduler.  @number distinguishes it from other parts. */
GtkWidget *prio_inspector_scheduler_new (PrioScheduler *scheduler, guint number);
gboolean prio_inspector_scheduler_shows (PrioInspectorScheduler *self, PrioScheduler *scheduler);
void prio_inspector_scheduler_refresh (PrioInspectorScheduler *self);
void prio_inspector_scheduler_print (PrioInspectorScheduler *self, GString *text);

#define PRIO_TYPE_INSPECTOR_LONGEST (prio_inspector_longest_get_type ())
G_DECLARE_FINAL_TYPE (PrioInspectorLongest, prio_inspector_longest, PRIO, INSPECTOR_LONGEST, GtkBox)

GtkWidget *prio_inspector_longest_new (void);
/* Shows the longest times.  Call this only while the default main context has a scheduler. */
void prio_inspector_longest_refresh (PrioInspectorLongest *self);
void prio_inspector_longest_print (PrioInspectorLongest *self, GString *text);

/* Formats @time, ms; returns "–" if @time is negative.  The text is valid until the next call, on whatever thread. */
const char *prio_inspector_format_time (double time);

/* Returns a box that begins with @title. */
GtkWidget *prio_inspector_heading_new (const char *title);

/* Adds a switch with the label @text to @box.  @switched is called with @data when the user moves the switch. */
GtkWidget *prio_inspector_add_switch (GtkWidget *box, const char *text, GCallback switched, gpointer data);
/* Sets the switch without calling its callback, which has @data. */
void prio_inspector_set_switch (GtkWidget *widget, gboolean active, gpointer data);
