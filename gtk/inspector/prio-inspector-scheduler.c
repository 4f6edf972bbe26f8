/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-inspector-scheduler.c: the part of the page that shows one scheduler */

#include <prio-sched-watch.h>
#include "config.h"

#include "prio-inspector-parts.h"
#include "prio-inspector-table.h"

#include <glib/gi18n-lib.h>

struct _PrioInspectorScheduler
{
  GtkBox parent_instance;

  GWeakRef scheduler;
  GtkWidget *title, *paused, *counts, *note, *table;
};

G_DEFINE_FINAL_TYPE (PrioInspectorScheduler, prio_inspector_scheduler, GTK_TYPE_BOX)


enum
{
  COLUMN_PRIORITY,
  COLUMN_QUEUED,
  COLUMN_DELAYED,
  COLUMN_RUN,
  COLUMN_ABORTED,
  COLUMN_WAITING,
  COLUMN_RUNNING = COLUMN_WAITING + 3,
  N_COLUMNS = COLUMN_RUNNING + 3
};

static const char waiting[] = N_("Waiting time, ms"), running[] = N_("Running time, ms");

static const PrioInspectorColumn columns[N_COLUMNS] = {
  { NULL, N_("Priority"), FALSE },
  { NULL, N_("Queued"), TRUE },
  { NULL, N_("Delayed"), TRUE },
  { NULL, N_("Run"), TRUE },
  { NULL, N_("Aborted"), TRUE },
  { waiting, N_("median"), TRUE },
  { waiting, N_("99 %"), TRUE },
  { waiting, N_("longest"), TRUE },
  { running, N_("median"), TRUE },
  { running, N_("99 %"), TRUE },
  { running, N_("longest"), TRUE },
};

/* The labels of the rows, the most urgent first. */
static const char *const rows[] = { "user-blocking", "user-visible", "background" };

const char *
prio_inspector_format_time (double time)
{
  static char text[64];

  if (time < 0)
    return "–";
  g_snprintf (text, sizeof text, "%.*f", time < 10 ? 3 : time < 1000 ? 1 : 0, time);
  return text;
}

GtkWidget *
prio_inspector_heading_new (const char *title)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *label = gtk_label_new (title);

  gtk_widget_add_css_class (label, "heading");
  gtk_box_append (GTK_BOX (box), label);
  return box;
}

GtkWidget *
prio_inspector_add_switch (GtkWidget *box, const char *text, GCallback switched, gpointer data)
{
  GtkWidget *label = gtk_label_new (text), *widget = gtk_switch_new ();

  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_halign (label, GTK_ALIGN_END);
  gtk_widget_set_valign (widget, GTK_ALIGN_CENTER);
  gtk_label_set_mnemonic_widget (GTK_LABEL (label), widget);
  gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), widget);
  g_signal_connect (widget, "notify::active", switched, data);
  return widget;
}

void
prio_inspector_set_switch (GtkWidget *widget, gboolean active, gpointer data)
{
  g_signal_handlers_block_matched (widget, G_SIGNAL_MATCH_DATA, 0, 0, NULL, NULL, data);
  gtk_switch_set_active (GTK_SWITCH (widget), active);
  g_signal_handlers_unblock_matched (widget, G_SIGNAL_MATCH_DATA, 0, 0, NULL, NULL, data);
}

static void
switched (GtkSwitch *widget, GParamSpec *pspec G_GNUC_UNUSED, gpointer data)
{
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&((PrioInspectorScheduler *) data)->scheduler);

  if (scheduler == NULL)
    return;
  if (gtk_switch_get_active (widget))
    prio_scheduler_start_statistics (scheduler);
  else
    prio_scheduler_stop_statistics (scheduler);
  prio_inspector_scheduler_refresh (data);
}

static void
reset (GtkButton *button G_GNUC_UNUSED, gpointer data)
{
  PrioInspectorScheduler *self = data;
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&self->scheduler);

  if (scheduler == NULL)
    return;
  prio_scheduler_start_statistics (scheduler);
  if (!gtk_switch_get_active (GTK_SWITCH (self->counts)))
    prio_scheduler_stop_statistics (scheduler);
  prio_inspector_scheduler_refresh (data);
}

static void
prio_inspector_scheduler_finalize (GObject *object)
{
  g_weak_ref_clear (&PRIO_INSPECTOR_SCHEDULER (object)->scheduler);
  G_OBJECT_CLASS (prio_inspector_scheduler_parent_class)->finalize (object);
}

static void
prio_inspector_scheduler_class_init (PrioInspectorSchedulerClass *class)
{
  G_OBJECT_CLASS (class)->finalize = prio_inspector_scheduler_finalize;
}

static void
prio_inspector_scheduler_init (PrioInspectorScheduler *self)
{
  g_weak_ref_init (&self->scheduler, NULL);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 12);
}

GtkWidget *
prio_inspector_scheduler_new (PrioScheduler *scheduler, guint number)
{
  PrioInspectorScheduler *self = g_object_new (PRIO_TYPE_INSPECTOR_SCHEDULER, NULL);
  g_autofree char *title = g_strdup_printf (_("Scheduler %u"), number);
  GtkWidget *heading = prio_inspector_heading_new (title), *button = gtk_button_new_with_label (_("Reset"));

  g_weak_ref_set (&self->scheduler, scheduler);
  self->title = gtk_widget_get_first_child (heading);
  self->paused = gtk_label_new (_("paused"));
  gtk_widget_add_css_class (self->paused, "dim-label");
  gtk_box_append (GTK_BOX (heading), self->paused);
  self->counts = prio_inspector_add_switch (heading, _("Collect statistics"), G_CALLBACK (switched), self);
  gtk_widget_set_tooltip_text (button, _("Set all counts and times of this scheduler to 0"));
  g_signal_connect (button, "clicked", G_CALLBACK (reset), self);
  gtk_box_append (GTK_BOX (heading), button);

  self->table = prio_inspector_table_new (title, columns, N_COLUMNS);
  prio_inspector_table_set_n_rows (self->table, G_N_ELEMENTS (rows));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    prio_inspector_table_set (self->table, i, COLUMN_PRIORITY, rows[i]);

  self->note = gtk_label_new (_("Only waiting tasks are known: collect statistics to see the others."));
  gtk_label_set_wrap (GTK_LABEL (self->note), TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->note), 0);

  gtk_box_append (GTK_BOX (self), heading);
  gtk_box_append (GTK_BOX (self), self->table);
  gtk_box_append (GTK_BOX (self), self->note);
  return GTK_WIDGET (self);
}

gboolean
prio_inspector_scheduler_shows (PrioInspectorScheduler *self, PrioScheduler *scheduler)
{
  g_autoptr (PrioScheduler) own = g_weak_ref_get (&self->scheduler);

  return own != NULL && own == scheduler;
}

static void
show_count (PrioInspectorScheduler *self, guint row, guint column, guint64 count)
{
  char text[32];

  g_snprintf (text, sizeof text, "%" G_GUINT64_FORMAT, count);
  prio_inspector_table_set (self->table, row, column, text);
}

/* Shows @times, or dashes if @are_there is FALSE. */
static void
show_times (PrioInspectorScheduler *self, guint row, guint column, const PrioTaskTimes *times, gboolean are_there)
{
  const double of[] = { times->median, times->percentile_99, times->longest };

  for (guint i = 0; i < G_N_ELEMENTS (of); i++)
    prio_inspector_table_set (self->table, row, column + i, prio_inspector_format_time (are_there ? of[i] : -1));
}

void
prio_inspector_scheduler_refresh (PrioInspectorScheduler *self)
{
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&self->scheduler);
  PrioStatistics statistics = PRIO_STATISTICS_INIT;
  const PrioTaskStatistics *const of[] = { &statistics.user_blocking, &statistics.user_visible, &statistics.background };
  guint64 n_known = 0;

  if (scheduler == NULL)
    return;
  prio_scheduler_get_statistics (scheduler, &statistics);
  for (guint i = 0; i < G_N_ELEMENTS (of); i++)
    {
      show_count (self, i, COLUMN_QUEUED, of[i]->n_queued);
      show_count (self, i, COLUMN_DELAYED, of[i]->n_delayed);
      show_count (self, i, COLUMN_RUN, of[i]->n_run);
      show_count (self, i, COLUMN_ABORTED, of[i]->n_aborted);
      show_times (self, i, COLUMN_WAITING, &of[i]->waiting, of[i]->n_run > 0);
      show_times (self, i, COLUMN_RUNNING, &of[i]->running, of[i]->n_run > 0);
      n_known += of[i]->n_run + of[i]->n_aborted;
    }
  prio_inspector_set_switch (self->counts, statistics.collecting, self);
  gtk_widget_set_visible (self->paused, prio_scheduler_get_paused (scheduler));
  gtk_widget_set_visible (self->note, n_known == 0 && !statistics.collecting);
}

void
prio_inspector_scheduler_print (PrioInspectorScheduler *self, GString *text)
{
  g_string_append_printf (text, "%s\n", gtk_label_get_text (GTK_LABEL (self->title)));
  prio_inspector_table_print (self->table, text);
}
