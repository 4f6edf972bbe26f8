/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-inspector-page.c: the page in GTK's inspector */

#include "config.h"

#include "prio-inspector-page.h"

#include "prio-inspector-parts.h"

#include <glib/gi18n-lib.h>

#define INTERVAL 500 /* ms */

/* The largest number of schedulers that are shown.  Further schedulers are only counted. */
#define MAX_PARTS 16

struct _PrioInspectorPage
{
  GtkWidget parent_instance;

  GtkWidget *child, *empty, *parts, *longest, *more, *copy;
  guint last_number;
  GSource *source; /* refreshes the page while it is mapped */
};

G_DEFINE_FINAL_TYPE (PrioInspectorPage, prio_inspector_page, GTK_TYPE_WIDGET)

enum
{
  PROP_0,
  PROP_TITLE,
  PROP_OBJECT,
  N_PROPS
};

static PrioInspectorScheduler *
part_of (PrioInspectorPage *self, PrioScheduler *scheduler)
{
  for (GtkWidget *part = gtk_widget_get_first_child (self->parts); part != NULL; part = gtk_widget_get_next_sibling (part))
    {
      if (prio_inspector_scheduler_shows (PRIO_INSPECTOR_SCHEDULER (part), scheduler))
        return PRIO_INSPECTOR_SCHEDULER (part);
    }
  return NULL;
}

/* Removes the parts of schedulers that are not in @schedulers. */
static void
remove_others (PrioInspectorPage *self, GPtrArray *schedulers)
{
  for (GtkWidget *part = gtk_widget_get_first_child (self->parts), *next; part != NULL; part = next)
    {
      guint i = 0;

      next = gtk_widget_get_next_sibling (part);
      while (i < schedulers->len && !prio_inspector_scheduler_shows (PRIO_INSPECTOR_SCHEDULER (part), schedulers->pdata[i]))
        i++;
      if (i == schedulers->len)
        gtk_box_remove (GTK_BOX (self->parts), part);
    }
}

/* Mentions schedulers that are not shown: @n_more because there are too many, and @n_others because they are in other
 * main contexts. */
static void
tell_of_others (PrioInspectorPage *self, guint n_more, guint n_others)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (n_more > 0)
    g_string_append_printf (text, ngettext ("%u scheduler more is not shown.", "%u schedulers more are not shown.", n_more), n_more);
  if (n_more > 0 && n_others > 0)
    g_string_append_c (text, '\n');
  if (n_others > 0)
    g_string_append_printf (text, ngettext ("%u scheduler is in another main context, and only the thread of that may look into it.",
                                            "%u schedulers are in other main contexts, and only the threads of those may look into them.",
                                            n_others), n_others);
  gtk_label_set_text (GTK_LABEL (self->more), text->str);
  gtk_widget_set_visible (self->more, text->len > 0);
}

static void
refresh (PrioInspectorPage *self)
{
  g_autoptr (GPtrArray) all = prio_scheduler_list_all ();
  g_autoptr (GPtrArray) shown = g_ptr_array_new ();
  guint n_own = 0;

  for (guint i = 0; i < all->len; i++)
    {
      if (prio_scheduler_get_context (all->pdata[i]) == g_main_context_default () && n_own++ < MAX_PARTS)
        g_ptr_array_add (shown, all->pdata[i]);
    }

  remove_others (self, shown);
  for (guint i = 0; i < shown->len; i++)
    {
      PrioInspectorScheduler *part = part_of (self, shown->pdata[i]);

      if (part == NULL)
        {
          part = PRIO_INSPECTOR_SCHEDULER (prio_inspector_scheduler_new (shown->pdata[i], ++self->last_number));
          gtk_box_append (GTK_BOX (self->parts), GTK_WIDGET (part));
        }
      prio_inspector_scheduler_refresh (part);
    }
  if (shown->len > 0)
    prio_inspector_longest_refresh (PRIO_INSPECTOR_LONGEST (self->longest));

  gtk_widget_set_visible (self->longest, shown->len > 0);
  gtk_widget_set_visible (self->copy, shown->len > 0);
  gtk_widget_set_visible (self->empty, shown->len == 0);
  tell_of_others (self, n_own - shown->len, all->len - n_own);
}

static gboolean
refresh_again (gpointer self)
{
  /* Holds @self, because releasing a scheduler may run any code, which may release @self. */
  g_object_ref (self);
  refresh (self);
  g_object_unref (self);
  return G_SOURCE_CONTINUE;
}

static void
stop (PrioInspectorPage *self)
{
  if (self->source != NULL)
    g_source_destroy (self->source);
  g_clear_pointer (&self->source, g_source_unref);
}

/* Starts a source that refreshes the page.  While a thread dispatches a source, it owns the main context, so it may ask
 * for statistics. */
static void
prio_inspector_page_map (GtkWidget *widget)
{
  PrioInspectorPage *self = PRIO_INSPECTOR_PAGE (widget);

  GTK_WIDGET_CLASS (prio_inspector_page_parent_class)->map (widget);
  stop (self);
  self->source = g_timeout_source_new (INTERVAL);
  g_source_set_static_name (self->source, "prio-sched inspector page");
  g_source_set_callback (self->source, refresh_again, self, NULL);
  g_source_set_ready_time (self->source, 0);
  g_source_attach (self->source, NULL);
}

static void
prio_inspector_page_unmap (GtkWidget *widget)
{
  stop (PRIO_INSPECTOR_PAGE (widget));
  GTK_WIDGET_CLASS (prio_inspector_page_parent_class)->unmap (widget);
}

static void
prio_inspector_page_dispose (GObject *object)
{
  PrioInspectorPage *self = PRIO_INSPECTOR_PAGE (object);

  stop (self);
  g_clear_pointer (&self->child, gtk_widget_unparent);
  G_OBJECT_CLASS (prio_inspector_page_parent_class)->dispose (object);
}

static void
prio_inspector_page_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_TITLE:
      g_value_set_string (value, _("Tasks"));
      break;

    case PROP_OBJECT:
      g_value_set_object (value, NULL);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

/* Ignores the object that the inspector passes to each page, because this page is not about an object. */
static void
prio_inspector_page_set_property (GObject *object, guint id, const GValue *value G_GNUC_UNUSED, GParamSpec *pspec)
{
  if (id != PROP_OBJECT)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
prio_inspector_page_class_init (PrioInspectorPageClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->dispose = prio_inspector_page_dispose;
  object_class->get_property = prio_inspector_page_get_property;
  object_class->set_property = prio_inspector_page_set_property;
  widget_class->map = prio_inspector_page_map;
  widget_class->unmap = prio_inspector_page_unmap;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);

  g_object_class_install_property (object_class, PROP_TITLE,
                                   g_param_spec_string ("title", NULL, NULL, NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_OBJECT,
                                   g_param_spec_object ("object", NULL, NULL, G_TYPE_OBJECT,
                                                        G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
}

static void
copy (GtkButton *button, gpointer data)
{
  PrioInspectorPage *self = data;
  g_autoptr (GString) text = g_string_new (NULL);

  for (GtkWidget *part = gtk_widget_get_first_child (self->parts); part != NULL; part = gtk_widget_get_next_sibling (part))
    {
      prio_inspector_scheduler_print (PRIO_INSPECTOR_SCHEDULER (part), text);
      g_string_append_c (text, '\n');
    }
  prio_inspector_longest_print (PRIO_INSPECTOR_LONGEST (self->longest), text);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (button)), text->str);
}

/* Adds a sentence that is hidden, even from assistive technologies, until it is made visible. */
static GtkWidget *
add_note (GtkWidget *box, const char *text)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_visible (label, FALSE);
  gtk_box_append (GTK_BOX (box), label);
  return label;
}

static void
prio_inspector_page_init (PrioInspectorPage *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 24);

  gtk_widget_set_margin_start (box, 24);
  gtk_widget_set_margin_end (box, 24);
  gtk_widget_set_margin_top (box, 24);
  gtk_widget_set_margin_bottom (box, 24);

  self->empty = add_note (box, _("This program has no scheduler in its default main context, in which its windows are drawn. "
                                 "The page shows a scheduler as soon as it is made."));
  self->parts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 24);
  gtk_box_append (GTK_BOX (box), self->parts);
  self->longest = prio_inspector_longest_new ();
  gtk_widget_set_visible (self->longest, FALSE);
  gtk_box_append (GTK_BOX (box), self->longest);
  self->more = add_note (box, NULL);
  self->copy = gtk_button_new_with_label (_("Copy"));
  gtk_widget_set_tooltip_text (self->copy, _("Copy the numbers as text, with tabs"));
  gtk_widget_set_halign (self->copy, GTK_ALIGN_START);
  gtk_widget_set_visible (self->copy, FALSE);
  g_signal_connect (self->copy, "clicked", G_CALLBACK (copy), self);
  gtk_box_append (GTK_BOX (box), self->copy);

  self->child = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->child), box);
  gtk_widget_set_parent (self->child, GTK_WIDGET (self));
}
