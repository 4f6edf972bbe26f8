/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gallery-window.c: the window of the gallery */

#include "config.h"

#include "gallery-window.h"

#include "../frame-meter.h"
#include "gallery-folder.h"
#include "gallery-list.h"

#include <glib/gi18n.h>

typedef struct
{
  GtkWidget *window, *title, *stack, *list, *status, *progress;
  GtkWidget *bottom; /* visible while pictures are shown */
  GalleryOptions options;
  GalleryModel *model;   /* NULL if nothing is shown */
  GalleryLoader *loader; /* or NULL */
  PrioTaskController *finding;
  guint n_shown; /* number of decoded rows in the progress text */
} Window;

static void
window_free (gpointer data, GObject *window)
{
  Window *self = data;

  prio_task_controller_abort (self->finding, NULL);
  g_object_unref (self->finding);
  g_clear_pointer (&self->loader, gallery_loader_free);
  g_clear_object (&self->model);
  g_clear_object (&self->options.folder);
  g_free (self);
}

static GVariant *
state_of (Window *self, const char *name)
{
  return g_action_get_state (g_action_map_lookup_action (G_ACTION_MAP (self->window), name));
}

/* Sets how pictures are decoded: as the states of the actions "way" and "pause" say. */
static void
set_way (Window *self)
{
  g_autoptr (GVariant) way = state_of (self, "way"), paused = state_of (self, "pause");
  gboolean idles = g_str_equal (g_variant_get_string (way, NULL), "idles");

  if (self->loader != NULL)
    gallery_loader_set_way (self->loader, idles ? GALLERY_WAY_IDLES : GALLERY_WAY_PRIO_SCHED, g_variant_get_boolean (paused));
}

static void
show_nothing (Window *self, const char *title, const char *why, const char *icon)
{
  g_autofree char *markup = g_markup_escape_text (why, -1);

  adw_status_page_set_title (ADW_STATUS_PAGE (self->status), title);
  adw_status_page_set_description (ADW_STATUS_PAGE (self->status), markup);
  adw_status_page_set_icon_name (ADW_STATUS_PAGE (self->status), icon);
  gtk_stack_set_visible_child (GTK_STACK (self->stack), self->status);
  gtk_widget_set_visible (self->bottom, FALSE);
  if (self->options.logs)
    g_print ("nothing: %s\n", why);
}

static void
show_pictures (Window *self, GPtrArray *files)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);

  self->model = gallery_model_new (files, (guint) self->options.n_rows);
  self->loader = gallery_loader_new (scheduler, self->model, (guint) self->options.limit, self->options.logs);
  self->n_shown = G_MAXUINT;
  gtk_stack_set_visible_child (GTK_STACK (self->stack), self->list);
  gtk_widget_set_visible (self->bottom, TRUE);
  if (self->options.logs)
    g_print ("pictures %u\n", files->len);
  gallery_list_show (GALLERY_LIST (self->list), self->model, self->loader);
  set_way (self);
  gtk_widget_grab_focus (self->list);
}

static void
found (GObject *source, GAsyncResult *result, gpointer data)
{
  Window *self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) files = prio_task_propagate_pointer (PRIO_TASK (result), &error);

  /* The window may have been closed, or have opened another folder. */
  if (g_cancellable_is_cancelled (prio_task_get_cancellable (PRIO_TASK (result))))
    return;

  if (files == NULL)
    show_nothing (self, _("The folder cannot be read"), error->message, "dialog-error-symbolic");
  else if (files->len == 0)
    show_nothing (self, _("No pictures"), _("There is no picture in this folder, or in a folder of it"),
                  "image-missing-symbolic");
  else
    show_pictures (self, files);
}

static void
find (PrioTask *task, gpointer folders)
{
  GError *error = NULL;
  GPtrArray *files = gallery_folder_find (folders, prio_task_get_cancellable (task), &error);

  if (files != NULL)
    prio_task_return_pointer (task, files, (GDestroyNotify) g_ptr_array_unref);
  else
    prio_task_return_error (task, error);
}

static void
close_folder (Window *self)
{
  gallery_list_show (GALLERY_LIST (self->list), NULL, NULL);
  g_clear_pointer (&self->loader, gallery_loader_free);
  g_clear_object (&self->model);
  if (self->finding != NULL)
    prio_task_controller_abort (self->finding, NULL);
  g_clear_object (&self->finding);
}

/* Finds the pictures of options.folder and shows them. */
static void
open_folder (Window *self)
{
  g_autoptr (GPtrArray) folders = NULL;
  g_autofree char *name = NULL;
  PrioTaskOptions options = PRIO_TASK_OPTIONS (.name = "find pictures");
  g_autoptr (PrioTask) task = NULL;

  close_folder (self);
  if (self->options.folder == NULL)
    folders = gallery_folder_list_default ();
  else
    {
      folders = g_ptr_array_new_with_free_func (g_object_unref);
      g_ptr_array_add (folders, g_object_ref (self->options.folder));
      name = g_file_get_parse_name (self->options.folder);
    }
  adw_window_title_set_subtitle (ADW_WINDOW_TITLE (self->title), name != NULL ? name : _("Icons and pictures of the system"));
  show_nothing (self, _("Looking for pictures…"), "", "folder-pictures-symbolic");

  self->finding = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_BLOCKING);
  options.signal = prio_task_controller_get_signal (self->finding);
  task = prio_scheduler_run_in_thread (prio_scheduler_get_default (), &options, find, g_ptr_array_ref (folders),
                                       (GDestroyNotify) g_ptr_array_unref);
  prio_task_wait_async (task, NULL, found, self);
}

static void
folder_chosen (GtkNativeDialog *dialog, int response, gpointer data)
{
  Window *self = data;
  g_autoptr (GFile) folder = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));

  if (response == GTK_RESPONSE_ACCEPT && folder != NULL)
    {
      g_set_object (&self->options.folder, folder);
      open_folder (self);
    }
  g_object_unref (dialog);
}

static void
choose_folder (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  Window *self = data;
  GtkFileChooserNative *dialog
      = gtk_file_chooser_native_new (_("Open a Folder"), GTK_WINDOW (self->window), GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
                                     NULL, NULL);

  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_signal_connect (dialog, "response", G_CALLBACK (folder_chosen), self);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
state_changed (GSimpleAction *action, GVariant *state, gpointer data)
{
  g_simple_action_set_state (action, state);
  set_way (data);
}

static void
show_about (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  adw_show_about_window (GTK_WINDOW (((Window *) data)->window), "application-name", _("Gallery"), "application-icon",
                         "folder-pictures", "developer-name", _("The prio-sched authors"), "license-type",
                         GTK_LICENSE_LGPL_2_1, "comments",
                         _("Thumbnails in view come first, and the others do not delay frames."), NULL);
}

/* Updates the progress once per frame, however many rows have been decoded. */
static gboolean
tick (GtkWidget *progress, GdkFrameClock *clock, gpointer data)
{
  Window *self = data;
  guint n = self->model != NULL ? gallery_model_get_n_done (self->model) : 0;
  guint n_rows = self->model != NULL ? gallery_model_get_n_rows (self->model) : 1;
  g_autofree char *text = NULL;

  if (n == self->n_shown)
    return G_SOURCE_CONTINUE;
  self->n_shown = n;
  text = self->model != NULL ? g_strdup_printf (_("%'u of %'u decoded"), n, n_rows) : g_strdup ("");
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (progress), (double) n / n_rows);
  gtk_progress_bar_set_text (GTK_PROGRESS_BAR (progress), text);
  return G_SOURCE_CONTINUE;
}

static void
drawn (GdkFrameClock *clock, gpointer data)
{
  g_print ("frame\n");
}

static GtkWidget *
make_toggle (const char *label, const char *tooltip, const char *way)
{
  GtkWidget *button = gtk_toggle_button_new_with_label (label);

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.way");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", way);
  gtk_widget_set_tooltip_text (button, tooltip);
  return button;
}

static GtkWidget *
make_button (GtkWidget *button, const char *icon, const char *label, const char *action)
{
  gtk_button_set_icon_name (GTK_BUTTON (button), icon);
  gtk_widget_set_tooltip_text (button, label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  return button;
}

static GtkWidget *
make_ways (void)
{
  GtkWidget *ways = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  gtk_widget_add_css_class (ways, "linked");
  gtk_widget_set_halign (ways, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (ways), GTK_ACCESSIBLE_PROPERTY_LABEL, _("How the next row is chosen"), -1);
  gtk_box_append (GTK_BOX (ways), make_toggle ("prio-sched", _("Rows in view first, decoded in threads"), "prio-sched"));
  gtk_box_append (
      GTK_BOX (ways),
      make_toggle (_("GLib's idles"), _("An idle source for each row, oldest first, decoded in the main loop"), "idles"));
  return ways;
}

static GtkWidget *
make_header (Window *self)
{
  GtkWidget *header = adw_header_bar_new ();

  self->title = adw_window_title_new (_("Gallery"), "");
  adw_header_bar_set_title_widget (ADW_HEADER_BAR (header), self->title);
  adw_header_bar_pack_start (ADW_HEADER_BAR (header),
                             make_button (gtk_button_new (), "folder-open-symbolic", _("Open a Folder"), "win.open"));
  adw_header_bar_pack_start (
      ADW_HEADER_BAR (header),
      make_button (gtk_toggle_button_new (), "media-playback-pause-symbolic", _("Pause"), "win.pause"));
  adw_header_bar_pack_end (ADW_HEADER_BAR (header),
                           make_button (gtk_button_new (), "help-about-symbolic", _("About Gallery"), "win.about"));
  return header;
}

static GtkWidget *
make_status (void)
{
  GtkWidget *status = adw_status_page_new (), *button = gtk_button_new_with_label (_("Open a Folder"));

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.open");
  gtk_widget_set_halign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "pill");
  gtk_widget_add_css_class (status, "compact");
  adw_status_page_set_child (ADW_STATUS_PAGE (status), button);
  return status;
}

static GtkWidget *
make_bottom (Window *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);

  self->progress = gtk_progress_bar_new ();
  gtk_progress_bar_set_show_text (GTK_PROGRESS_BAR (self->progress), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->progress), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Rows decoded"), -1);
  gtk_widget_add_tick_callback (self->progress, tick, self, NULL);

  gtk_box_append (GTK_BOX (box), make_ways ());
  gtk_box_append (GTK_BOX (box), self->progress);
  gtk_box_append (GTK_BOX (box), frame_meter_new ());
  gtk_widget_set_margin_top (box, 12);
  gtk_widget_set_margin_bottom (box, 12);
  gtk_widget_set_margin_start (box, 12);
  gtk_widget_set_margin_end (box, 12);

  self->bottom = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_box_append (GTK_BOX (self->bottom), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_box_append (GTK_BOX (self->bottom), box);
  return self->bottom;
}

static GtkWidget *
make_content (Window *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *toasts = adw_toast_overlay_new ();

  self->stack = gtk_stack_new ();
  self->list = gallery_list_new ();
  self->status = make_status ();
  gtk_stack_add_child (GTK_STACK (self->stack), self->status);
  gtk_stack_add_child (GTK_STACK (self->stack), self->list);
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (toasts), self->stack);
  gtk_widget_set_vexpand (toasts, TRUE);

  gtk_box_append (GTK_BOX (box), make_header (self));
  gtk_box_append (GTK_BOX (box), toasts);
  gtk_box_append (GTK_BOX (box), make_bottom (self));
  return box;
}

static void
add_actions (Window *self, GtkApplication *application)
{
  const GActionEntry entries[] = {
    { "open", choose_folder }, { "about", show_about },
    { "way", NULL, "s", self->options.idles ? "'idles'" : "'prio-sched'", state_changed },
    { "pause", NULL, NULL, "false", state_changed },
  };
  static const char *const keys[][2] = {
    { "win.open", "<Control>o" },           { "win.pause", "<Control>p" },  { "win.way::prio-sched", "<Control>1" },
    { "win.way::idles", "<Control>2" },     { "window.close", "<Control>w" },
  };

  g_action_map_add_action_entries (G_ACTION_MAP (self->window), entries, G_N_ELEMENTS (entries), self);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    gtk_application_set_accels_for_action (application, keys[i][0], (const char *[]) { keys[i][1], NULL });
}

/* Opens a window, which owns all its data. */
void
gallery_window_open (AdwApplication *application, const GalleryOptions *options)
{
  Window *self = g_new0 (Window, 1);

  self->options = *options;
  self->n_shown = G_MAXUINT;
  if (options->folder != NULL)
    g_object_ref (options->folder);
  self->window = adw_application_window_new (GTK_APPLICATION (application));
  g_object_weak_ref (G_OBJECT (self->window), window_free, self);
  add_actions (self, GTK_APPLICATION (application));
  gtk_window_set_title (GTK_WINDOW (self->window), _("Gallery"));
  gtk_window_set_default_size (GTK_WINDOW (self->window), 720, 560);
  adw_application_window_set_content (ADW_APPLICATION_WINDOW (self->window), make_content (self));
  gtk_window_present (GTK_WINDOW (self->window));

  if (options->logs)
    g_signal_connect (gtk_widget_get_frame_clock (self->window), "after-paint", G_CALLBACK (drawn), NULL);
  open_folder (self);
}
