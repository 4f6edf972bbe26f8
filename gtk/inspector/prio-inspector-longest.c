/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-inspector-longest.c: the part of the page that shows the longest tasks and sources */

#include <prio-sched-watch.h>
#include "config.h"

#include "prio-inspector-parts.h"
#include "prio-inspector-table.h"

#include <glib/gi18n-lib.h>

struct _PrioInspectorLongest
{
  GtkBox parent_instance;

  GtkWidget *watches, *note, *table;
  GPtrArray *records; /* of Longest, the longest first */
  GWeakRef scheduler; /* the scheduler that watches the main loop */
  guint watch;        /* the id of its watch; 0 if there is none */
};

/* All runs that have the same name and priority. */
typedef struct
{
  char *name;            /* or NULL */
  gint priority;         /* of a task, or PRIO_TASK_PRIORITY_UNSET */
  double longest, total; /* ms */
  gint64 ended;          /* when the longest run ended, µs of g_get_monotonic_time () */
  guint64 n_runs;
} Longest;

/* Shorter runs are not listed: half of a frame at 60 Hz, ms. */
#define THRESHOLD 8
#define MAX_RECORDS 32

G_DEFINE_FINAL_TYPE (PrioInspectorLongest, prio_inspector_longest, GTK_TYPE_BOX)

enum
{
  COLUMN_NAME,
  COLUMN_PRIORITY,
  COLUMN_LONGEST,
  COLUMN_ENDED,
  COLUMN_RUNS,
  COLUMN_TOTAL,
  N_COLUMNS
};

static const PrioInspectorColumn columns[N_COLUMNS] = {
  { NULL, N_("Name"), FALSE },
  { NULL, N_("Priority"), FALSE },
  { NULL, N_("Longest, ms"), TRUE },
  { NULL, N_("Ended at"), TRUE },
  { NULL, N_("Runs"), TRUE },
  { NULL, N_("Together, ms"), TRUE },
};

/* Returns (transfer full) the schedulers of the default main context. */
static GPtrArray *
list_schedulers (void)
{
  GPtrArray *schedulers = prio_scheduler_list_all ();

  for (guint i = 0; i < schedulers->len;)
    {
      if (prio_scheduler_get_context (schedulers->pdata[i]) == g_main_context_default ())
        i++;
      else
        g_ptr_array_remove_index (schedulers, i);
    }
  return schedulers;
}

static void
longest_free (gpointer record)
{
  g_free (((Longest *) record)->name);
  g_free (record);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const Longest *x = *(const Longest *const *) a, *y = *(const Longest *const *) b;

  return (x->longest < y->longest) - (x->longest > y->longest);
}

/* Finds the record with @name and @priority, or adds such a record. */
static Longest *
find_record (GPtrArray *records, const char *name, gint priority)
{
  Longest *record;

  for (guint i = 0; i < records->len; i++)
    {
      record = records->pdata[i];
      if (record->priority == priority && g_strcmp0 (record->name, name) == 0)
        return record;
    }
  record = g_new0 (Longest, 1);
  record->name = g_strdup (name);
  record->priority = priority;
  g_ptr_array_add (records, record);
  return record;
}

static void
held (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
  GPtrArray *records = ((PrioInspectorLongest *) data)->records;
  Longest *record = find_record (records, name, priority);

  record->n_runs++;
  record->total += duration;
  if (duration > record->longest)
    {
      record->longest = duration;
      record->ended = g_get_monotonic_time ();
    }
  g_ptr_array_sort (records, compare);
  g_ptr_array_set_size (records, (gint) MIN (records->len, MAX_RECORDS));
}

static void
watch_no_longer (PrioInspectorLongest *self)
{
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&self->scheduler);

  if (scheduler != NULL && self->watch != 0)
    prio_scheduler_remove_long_task_func (scheduler, self->watch);
  self->watch = 0;
}

/* Starts or stops watching the longest runs.  One scheduler is enough, because its watch sees the whole main loop. */
static void
switched (GtkSwitch *widget, GParamSpec *pspec G_GNUC_UNUSED, gpointer data)
{
  PrioInspectorLongest *self = data;
  g_autoptr (GPtrArray) schedulers = list_schedulers ();

  watch_no_longer (self);
  if (gtk_switch_get_active (widget) && schedulers->len > 0)
    {
      g_weak_ref_set (&self->scheduler, schedulers->pdata[0]);
      self->watch = prio_scheduler_add_long_task_func (schedulers->pdata[0], THRESHOLD, held, self, NULL);
    }
  prio_inspector_longest_refresh (self);
}

static void
prio_inspector_longest_finalize (GObject *object)
{
  PrioInspectorLongest *self = PRIO_INSPECTOR_LONGEST (object);

  watch_no_longer (self);
  g_weak_ref_clear (&self->scheduler);
  g_ptr_array_unref (self->records);
  G_OBJECT_CLASS (prio_inspector_longest_parent_class)->finalize (object);
}

static void
prio_inspector_longest_class_init (PrioInspectorLongestClass *class)
{
  G_OBJECT_CLASS (class)->finalize = prio_inspector_longest_finalize;
}

static void
prio_inspector_longest_init (PrioInspectorLongest *self)
{
  const char *title = _("Longest times that the main loop was held");
  GtkWidget *heading = prio_inspector_heading_new (title);

  g_weak_ref_init (&self->scheduler, NULL);
  self->records = g_ptr_array_new_with_free_func (longest_free);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 12);
  self->watches = prio_inspector_add_switch (heading, _("Watch"), G_CALLBACK (switched), self);
  self->table = prio_inspector_table_new (title, columns, N_COLUMNS);
  self->note = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (self->note), TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->note), 0);
  gtk_box_append (GTK_BOX (self), heading);
  gtk_box_append (GTK_BOX (self), self->table);
  gtk_box_append (GTK_BOX (self), self->note);
}

GtkWidget *
prio_inspector_longest_new (void)
{
  return g_object_new (PRIO_TYPE_INSPECTOR_LONGEST, NULL);
}

static const char *
priority_name (gint priority)
{
  switch (priority)
    {
    case PRIO_TASK_PRIORITY_USER_BLOCKING:
      return "user-blocking";
    case PRIO_TASK_PRIORITY_USER_VISIBLE:
      return "user-visible";
    case PRIO_TASK_PRIORITY_BACKGROUND:
      return "background";
    default:
      return _("no task");
    }
}

/* Returns the time of day at @time, µs of g_get_monotonic_time (). */
static char *
time_of_day (gint64 time)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autoptr (GDateTime) then = g_date_time_add (now, time - g_get_monotonic_time ());

  return g_date_time_format (then, "%H:%M:%S");
}

static void
show_record (PrioInspectorLongest *self, guint row, const Longest *record)
{
  g_autofree char *n_runs = g_strdup_printf ("%" G_GUINT64_FORMAT, record->n_runs), *ended = time_of_day (record->ended);

  prio_inspector_table_set (self->table, row, COLUMN_NAME, record->name != NULL ? record->name : _("(no name)"));
  prio_inspector_table_set (self->table, row, COLUMN_PRIORITY, priority_name (record->priority));
  prio_inspector_table_set (self->table, row, COLUMN_LONGEST, prio_inspector_format_time (record->longest));
  prio_inspector_table_set (self->table, row, COLUMN_ENDED, ended);
  prio_inspector_table_set (self->table, row, COLUMN_RUNS, n_runs);
  prio_inspector_table_set (self->table, row, COLUMN_TOTAL, prio_inspector_format_time (record->total));
}

void
prio_inspector_longest_refresh (PrioInspectorLongest *self)
{
  g_autoptr (PrioScheduler) scheduler = g_weak_ref_get (&self->scheduler);
  gboolean watches = scheduler != NULL && self->watch != 0;

  prio_inspector_set_switch (self->watches, watches, self);
  prio_inspector_table_set_n_rows (self->table, self->records->len);
  for (guint i = 0; i < self->records->len; i++)
    show_record (self, i, self->records->pdata[i]);
  gtk_widget_set_visible (self->table, self->records->len > 0);
  gtk_widget_set_visible (self->note, self->records->len == 0);
  gtk_label_set_text (GTK_LABEL (self->note), watches ? _("Nothing has held the main loop yet.")
                                                      : _("Watch, to see which tasks and sources hold the main loop, and for how long."));
}

void
prio_inspector_longest_print (PrioInspectorLongest *self, GString *text)
{
  if (!gtk_widget_get_visible (self->table))
    return;
  g_string_append_printf (text, "%s\n", _("Longest times that the main loop was held"));
  prio_inspector_table_print (self->table, text);
}
