/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-inspector.c: the page in GTK's inspector
 *
 *   test-inspector [--picture FILE.png]
 *
 * GTK_PATH is a folder with a folder "inspector", which has the module.  With --picture it draws the page, beside some
 * tasks.
 */

#include "helpers.h"
#include "statistics.h"

#include <gtk/gtk.h>

static GtkWidget *window;

/* Finds the first widget of a type, by its name, under @widget, which is included; with @text, one with that label. */
static GtkWidget *
find (GtkWidget *widget, const char *type, const char *text)
{
  g_autofree char *label = NULL;

  if (g_type_is_a (G_OBJECT_TYPE (widget), g_type_from_name (type)))
    {
      if (text != NULL)
        g_object_get (widget, "label", &label, NULL);
      if (g_strcmp0 (label, text) == 0)
        return widget;
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find (child, type, text);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static GtkWidget *
find_inspector (void)
{
  GListModel *toplevels = gtk_window_get_toplevels ();

  for (guint i = 0; i < g_list_model_get_n_items (toplevels); i++)
    {
      g_autoptr (GtkWidget) toplevel = g_list_model_get_item (toplevels, i);

      if (g_str_equal (G_OBJECT_TYPE_NAME (toplevel), "GtkInspectorWindow"))
        return toplevel;
    }
  return NULL;
}

static GtkWidget *
find_page (void)
{
  return find (find_inspector (), "PrioInspectorPage", NULL);
}

/* Returns the stack between the page and the window. */
static GtkStack *
stack_of (GtkWidget *page)
{
  return GTK_STACK (gtk_widget_get_ancestor (page, GTK_TYPE_STACK));
}

static GtkWidget *
open_page (void)
{
  GtkWidget *page;

  gtk_window_set_interactive_debugging (TRUE);
  page = find_page ();
  g_assert_nonnull (page);
  gtk_stack_set_visible_child (stack_of (page), page);
  while (!gtk_widget_get_mapped (page))
    g_main_context_iteration (NULL, TRUE);
  return page;
}

/* GTK 4.8 warns when its own pages are destroyed, and modules that GTK loads may warn, too: only messages of the library and of
 * GLib count. */
static GLogWriterOutput
ignore_warnings (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  const char *domain = "";

  for (gsize i = 0; i < n_fields; i++)
    {
      if (g_str_equal (fields[i].key, "GLIB_DOMAIN"))
        domain = fields[i].value;
    }
  if (level == G_LOG_LEVEL_WARNING && !g_str_has_prefix (domain, "PrioSched") && !g_str_has_prefix (domain, "GLib"))
    return G_LOG_WRITER_HANDLED;
  return g_log_writer_default (level, fields, n_fields, NULL);
}

static void
close_inspector (void)
{
  gtk_window_destroy (GTK_WINDOW (find_inspector ()));
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static GSource *
source_of (GtkWidget *page)
{
  return g_main_context_find_source_by_user_data (NULL, page);
}

static const char *
text_at (GtkWidget *grid, gint column, gint row)
{
  GtkWidget *label = gtk_grid_get_child_at (GTK_GRID (grid), column, row);

  return label != NULL ? gtk_label_get_text (GTK_LABEL (label)) : NULL;
}

/* Waits until a cell of the first grid under @widget has the text. */
static void
wait_for (GtkWidget *widget, gint column, gint row, const char *text)
{
  while (g_strcmp0 (text_at (find (widget, "GtkGrid", NULL), column, row), text) != 0)
    g_main_context_iteration (NULL, TRUE);
}

static guint
count_parts (GtkWidget *page)
{
  GtkWidget *part = find (page, "PrioInspectorScheduler", NULL);
  guint n = 0;

  for (; part != NULL; part = gtk_widget_get_next_sibling (part))
    n++;
  return n;
}

static void
wait_for_parts (GtkWidget *page, guint n)
{
  while (count_parts (page) != n)
    g_main_context_iteration (NULL, TRUE);
}

/* Returns whether a sentence that begins with @text is visible. */
static gboolean
says (GtkWidget *widget, const char *text)
{
  if (GTK_IS_LABEL (widget) && gtk_widget_get_mapped (widget) && g_str_has_prefix (gtk_label_get_text (GTK_LABEL (widget)), text))
    return TRUE;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    {
      if (says (child, text))
        return TRUE;
    }
  return FALSE;
}

static void
wait_until_it_says (GtkWidget *page, const char *text)
{
  while (!says (page, text))
    g_main_context_iteration (NULL, TRUE);
}

static void
press (GtkWidget *widget, const char *text)
{
  GtkWidget *button = find (widget, "GtkButton", text);

  g_assert_nonnull (button);
  g_signal_emit_by_name (button, "clicked");
}

static void
turn (GtkWidget *widget, gboolean on)
{
  gtk_switch_set_active (GTK_SWITCH (find (widget, "GtkSwitch", NULL)), on);
}

static gboolean
nothing (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static gboolean
take (gpointer data)
{
  g_usleep (1000 * GPOINTER_TO_UINT (data));
  return G_SOURCE_REMOVE;
}

static void
post (PrioScheduler *scheduler, const char *name, PrioTaskPriority priority, guint ms)
{
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = name, .priority = priority }, ms > 0 ? take : nothing,
                            GUINT_TO_POINTER (ms), NULL);
}

static guint
count_schedulers (void)
{
  g_autoptr (GPtrArray) schedulers = prio_scheduler_list_all ();

  return schedulers->len;
}

/* Without a scheduler, the page reports that, and does not create a scheduler. */
static void
test_no_scheduler (void)
{
  GtkWidget *page = open_page ();

  wait_until_it_says (page, "This program has no scheduler");
  g_assert_cmpuint (count_parts (page), ==, 0);
  g_assert_cmpuint (count_schedulers (), ==, 0);
  g_assert_false (says (page, "Longest times"));
  /* The inspector selects an object. */
  g_object_set (page, "object", window, NULL);
  close_inspector ();
}

/* Waiting tasks are shown at once, other numbers after the switch has been turned on; Reset sets them to 0. */
static void
test_counts (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  GtkWidget *page = open_page (), *part;

  wait_for_parts (page, 1);
  part = find (page, "PrioInspectorScheduler", NULL);
  wait_until_it_says (part, "Only waiting tasks are known");
  g_assert_false (says (page, "This program has no scheduler"));
  prio_scheduler_pause (scheduler);
  for (guint i = 0; i < 5; i++)
    post (scheduler, NULL, USER_VISIBLE, 0);
  wait_for (part, 1, 3, "5");
  wait_until_it_says (part, "paused");

  turn (part, TRUE);
  g_assert_true (is_collecting (scheduler));
  g_assert_false (says (part, "Only waiting tasks are known"));
  prio_scheduler_resume (scheduler);
  post (scheduler, NULL, USER_BLOCKING, 0);
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .signal = prio_task_controller_get_signal (controller) },
                            nothing, NULL, NULL);
  prio_task_controller_abort (controller, NULL);
  wait_for (part, 3, 2, "1");
  wait_for (part, 3, 3, "5");
  wait_for (part, 4, 4, "1");
  wait_for (part, 1, 3, "0");
  g_assert_cmpstr (text_at (find (part, "GtkGrid", NULL), 5, 3), !=, "–");
  g_assert_cmpstr (text_at (find (part, "GtkGrid", NULL), 8, 4), ==, "–");
  g_assert_false (says (part, "paused"));

  press (part, "Reset");
  g_assert_cmpstr (text_at (find (part, "GtkGrid", NULL), 3, 3), ==, "0");
  turn (part, FALSE);
  g_assert_false (is_collecting (scheduler));
  prio_scheduler_start_statistics (scheduler);
  while (!gtk_switch_get_active (GTK_SWITCH (find (part, "GtkSwitch", NULL))))
    g_main_context_iteration (NULL, TRUE);
  close_inspector ();
}

/* A freed scheduler is no longer shown, a new scheduler appears, and the page holds neither of both. */
static void
test_schedulers_come_and_go (void)
{
  PrioScheduler *scheduler = prio_scheduler_new (NULL), *other;
  GtkWidget *page = open_page ();

  wait_for_parts (page, 1);
  other = prio_scheduler_new (NULL);
  wait_for_parts (page, 2);
  g_assert_cmpuint (G_OBJECT (scheduler)->ref_count, ==, 1);
  g_object_unref (scheduler);
  /* The scheduler's part of the page does nothing before the scheduler is freed. */
  press (page, "Reset");
  turn (page, TRUE);
  wait_for_parts (page, 1);
  g_assert_true (says (page, "Scheduler 2"));
  g_object_unref (other);
  wait_until_it_says (page, "This program has no scheduler");
  close_inspector ();
}

/* Without a scheduler nothing can be watched, so the switch goes off. */
static void
test_longest_without_scheduler (void)
{
  GtkWidget *page = open_page (), *part = find (page, "PrioInspectorLongest", NULL);

  turn (part, TRUE);
  while (gtk_switch_get_active (GTK_SWITCH (find (part, "GtkSwitch", NULL))))
    g_main_context_iteration (NULL, TRUE);
  close_inspector ();
}

static void
test_longest (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  g_autoptr (PrioScheduler) other = prio_scheduler_new (NULL);
  GtkWidget *page = open_page (), *part = find (page, "PrioInspectorLongest", NULL), *grid = find (part, "GtkGrid", NULL);

  wait_until_it_says (part, "Watch, to see");
  turn (part, TRUE);
  post (other, "slow_step", BACKGROUND, 2000);
  wait_for (part, 0, 2, "slow_step");
  g_assert_cmpstr (text_at (grid, 1, 2), ==, "background");
  g_assert_cmpint (atoi (text_at (grid, 2, 2)), >=, 2000);
  g_assert_cmpuint (strlen (text_at (grid, 3, 2)), ==, strlen ("23:59:59"));
  g_assert_cmpstr (text_at (grid, 4, 2), ==, "1");
  g_assert_false (says (part, "Watch, to see"));

  /* Later tasks are not watched. */
  turn (part, FALSE);
  post (other, "not_watched", BACKGROUND, 60);
  while (prio_scheduler_count_pending (other) > 0)
    g_main_context_iteration (NULL, TRUE);

  /* The switch is turned off with the watched scheduler. */
  turn (part, TRUE);
  g_assert_true (says (part, "slow_step"));
  g_assert_false (says (part, "not_watched"));
  g_clear_object (&scheduler);
  while (gtk_switch_get_active (GTK_SWITCH (find (part, "GtkSwitch", NULL))))
    g_main_context_iteration (NULL, TRUE);
  close_inspector ();
}

/* Each number has a label, and each switch has a name. */
static void
test_accessible (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  GtkWidget *page = open_page (), *grid;

  wait_for_parts (page, 1);
  grid = find (page, "GtkGrid", NULL);
  gtk_test_accessible_assert_role (grid, GTK_ACCESSIBLE_ROLE_GROUP);
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (grid), GTK_ACCESSIBLE_PROPERTY_LABEL, "Scheduler 1");
  gtk_test_accessible_assert_relation (GTK_ACCESSIBLE (gtk_grid_get_child_at (GTK_GRID (grid), 3, 2)),
                                       GTK_ACCESSIBLE_RELATION_DESCRIBED_BY, gtk_grid_get_child_at (GTK_GRID (grid), 3, 1),
                                       gtk_grid_get_child_at (GTK_GRID (grid), 0, 2), NULL);
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (find (page, "GtkSwitch", NULL)), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       "Collect statistics");
  g_assert_nonnull (scheduler);
  close_inspector ();
}

static gpointer
run_elsewhere (gpointer data)
{
  gint *stage = data;
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler G_GNUC_UNUSED = prio_scheduler_new (context);

  g_main_context_push_thread_default (context);
  g_atomic_int_set (stage, 1);
  while (g_atomic_int_get (stage) == 1)
    g_main_context_iteration (context, FALSE);
  g_main_context_pop_thread_default (context);
  return NULL;
}

/* Schedulers of other threads are only counted. */
static void
test_other_contexts (void)
{
  gint stage = 0;
  GThread *thread = g_thread_new (NULL, run_elsewhere, &stage);
  GtkWidget *page = open_page ();

  wait_until_it_says (page, "1 scheduler is in another main context");
  g_assert_true (says (page, "This program has no scheduler"));
  g_assert_cmpuint (count_parts (page), ==, 0);
  g_atomic_int_set (&stage, 2);
  g_thread_join (thread);
  while (says (page, "1 scheduler is"))
    g_main_context_iteration (NULL, TRUE);
  close_inspector ();
}

static void
test_too_many (void)
{
  g_autoptr (GPtrArray) schedulers = g_ptr_array_new_with_free_func (g_object_unref);
  GtkWidget *page = open_page ();

  for (guint i = 0; i < 20; i++)
    g_ptr_array_add (schedulers, prio_scheduler_new (NULL));
  wait_for_parts (page, 16);
  wait_until_it_says (page, "4 schedulers more are not shown");
  g_ptr_array_set_size (schedulers, 16);
  wait_until_it_says (page, "Scheduler 16");
  while (says (page, "4 schedulers more"))
    g_main_context_iteration (NULL, TRUE);
  close_inspector ();
}

static gpointer
make_and_drop (gpointer stopped)
{
  while (!g_atomic_int_get ((gint *) stopped))
    {
      g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);

      prio_scheduler_post (scheduler, BACKGROUND, nothing, NULL, NULL);
    }
  return NULL;
}

/* Other threads create schedulers of this main context, and drop them, while the page lists them. */
static void
test_threads (void)
{
  g_autoptr (PrioScheduler) scheduler G_GNUC_UNUSED = prio_scheduler_new (NULL);
  gint stopped = FALSE;
  GtkWidget *page = open_page ();
  GThread *thread = g_thread_new (NULL, make_and_drop, &stopped);
  guint n_refreshed = 0;

  for (gint64 last = 0; n_refreshed < 4; g_main_context_iteration (NULL, TRUE))
    {
      gint64 next = g_source_get_ready_time (source_of (page));

      n_refreshed += next != last;
      last = next;
    }
  g_atomic_int_set (&stopped, TRUE);
  g_thread_join (thread);
  wait_for_parts (page, 1);
  close_inspector ();
}

static gpointer
make (gpointer scheduler)
{
  *(PrioScheduler **) scheduler = prio_scheduler_new (NULL);
  return NULL;
}

static gboolean
have_it_made (gpointer scheduler)
{
  g_thread_join (g_thread_new (NULL, make, scheduler));
  return G_SOURCE_REMOVE;
}

/* The page finds the first scheduler of this main context in the iteration in which another thread creates it, when
 * this thread is not yet known to run the context. */
static void
test_made_by_another_thread (void)
{
  g_autoptr (GSource) source = g_timeout_source_new (0);
  g_autoptr (PrioScheduler) scheduler = NULL;
  GtkWidget *page;

  /* Of two sources with one priority, GLib dispatches the older first. */
  g_source_set_callback (source, have_it_made, &scheduler, NULL);
  g_source_set_ready_time (source, -1);
  g_source_attach (source, NULL);
  page = open_page ();
  wait_until_it_says (page, "This program has no scheduler");

  g_source_set_ready_time (source, 0);
  g_source_set_ready_time (source_of (page), 0);
  while (scheduler == NULL)
    g_main_context_iteration (NULL, TRUE);
  prio_scheduler_pause (scheduler);
  post (scheduler, NULL, BACKGROUND, 0);
  wait_for_parts (page, 1);
  wait_for (page, 1, 4, "1");
  close_inspector ();
}

/* The page does nothing while it is not visible, and leaks nothing. */
static void
test_hidden_and_destroyed (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  GtkWidget *page = open_page ();

  g_assert_nonnull (source_of (page));
  gtk_stack_set_visible_child (stack_of (page), gtk_widget_get_first_child (GTK_WIDGET (stack_of (page))));
  while (gtk_widget_get_mapped (page))
    g_main_context_iteration (NULL, TRUE);
  g_assert_null (source_of (page));

  g_assert_true (open_page () == page);
  g_assert_nonnull (source_of (page));
  gtk_window_set_interactive_debugging (FALSE);
  g_assert_null (source_of (page));

  open_page ();
  g_object_add_weak_pointer (G_OBJECT (page), (gpointer *) &page);
  close_inspector ();
  g_assert_null (page);
  g_assert_cmpuint (G_OBJECT (scheduler)->ref_count, ==, 1);
}

static void
copied (GObject *clipboard, GAsyncResult *result, gpointer text)
{
  *(char **) text = gdk_clipboard_read_text_finish (GDK_CLIPBOARD (clipboard), result, NULL);
}

static void
test_copy (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  GtkWidget *page = open_page ();
  g_autofree char *text = NULL;

  prio_scheduler_start_statistics (scheduler);
  post (scheduler, NULL, USER_BLOCKING, 0);
  wait_for_parts (page, 1);
  wait_for (page, 3, 2, "1");
  press (page, "Copy");
  gdk_clipboard_read_text_async (gtk_widget_get_clipboard (page), NULL, copied, &text);
  while (text == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_nonnull (strstr (text, "Priority\tQueued\tDelayed\tRun\tAborted\tWaiting time, ms: median\t"));
  g_assert_nonnull (strstr (text, "\nuser-blocking\t0\t0\t1\t0\t"));
  close_inspector ();
}

static gboolean
quit (gpointer done)
{
  *(gboolean *) done = TRUE;
  return G_SOURCE_REMOVE;
}

/* Does the work of a program that reads a folder, draws rows and answers keys, with one step that is too long. */
static void
work (PrioScheduler *scheduler)
{
  for (guint i = 0; i < 400; i++)
    {
      post (scheduler, i == 200 ? "sort_all" : "read_file", BACKGROUND, i == 200 ? 83 : 1);
      if (i % 8 == 0)
        post (scheduler, "load_row", USER_VISIBLE, 2);
      if (i % 50 == 0)
        post (scheduler, "search", USER_BLOCKING, 1);
    }
  for (guint i = 0; i < 120; i++)
    prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = "save", .priority = BACKGROUND, .delay = 60000 }, nothing, NULL, NULL);
}

static void
draw_page (const char *file)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  g_autoptr (GdkPaintable) paintable = NULL;
  g_autoptr (GtkSnapshot) snapshot = gtk_snapshot_new ();
  g_autoptr (GskRenderNode) node = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  GtkWidget *inspector, *page;
  gboolean done = FALSE;

  prio_scheduler_start_statistics (scheduler);
  page = open_page ();
  inspector = find_inspector ();
  gtk_window_set_default_size (GTK_WINDOW (inspector), 900, 640);
  wait_for_parts (page, 1);
  turn (find (page, "PrioInspectorLongest", NULL), TRUE);
  work (scheduler);
  g_timeout_add (2500, quit, &done);
  while (!done)
    g_main_context_iteration (NULL, TRUE);

  paintable = gtk_widget_paintable_new (inspector);
  gdk_paintable_snapshot (paintable, snapshot, gdk_paintable_get_intrinsic_width (paintable),
                          gdk_paintable_get_intrinsic_height (paintable));
  node = gtk_snapshot_free_to_node (g_steal_pointer (&snapshot));
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (GTK_NATIVE (inspector)), node, NULL);
  g_assert_true (gdk_texture_save_to_png (texture, file));
}

int
main (int argc, char **argv)
{
  if (argc == 3 && g_str_equal (argv[1], "--picture"))
    {
      gtk_init ();
      draw_page (argv[2]);
      return 0;
    }
  g_test_init (&argc, &argv, NULL);
  g_log_set_writer_func (ignore_warnings, NULL, NULL);
  if (!gtk_init_check ())
    return 77;
  window = gtk_window_new ();
  gtk_window_present (GTK_WINDOW (window));

  g_test_add_func ("/inspector/no-scheduler", test_no_scheduler);
  g_test_add_func ("/inspector/counts", test_counts);
  g_test_add_func ("/inspector/schedulers-come-and-go", test_schedulers_come_and_go);
  g_test_add_func ("/inspector/longest-without-scheduler", test_longest_without_scheduler);
  g_test_add_func ("/inspector/longest", test_longest);
  g_test_add_func ("/inspector/accessible", test_accessible);
  g_test_add_func ("/inspector/other-contexts", test_other_contexts);
  g_test_add_func ("/inspector/too-many", test_too_many);
  g_test_add_func ("/inspector/threads", test_threads);
  g_test_add_func ("/inspector/made-by-another-thread", test_made_by_another_thread);
  g_test_add_func ("/inspector/hidden-and-destroyed", test_hidden_and_destroyed);
  g_test_add_func ("/inspector/copy", test_copy);

  return g_test_run ();
}
