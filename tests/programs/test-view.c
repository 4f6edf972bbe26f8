/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-view.c: feeds of the rows that a window shows
 *
 * The rows of the feed are compared with the rows whose widgets GTK has mapped.
 */

#include "helpers.h"

#include <prio-sched-gtk.h>

#define N_ROWS 2000

/* A list in a window. */
typedef struct
{
  const char *kind;
  gboolean is_uneven; /* rows have different heights */
} Kind;

typedef struct
{
  const Kind *kind;
  GtkWidget *window, *stack, *scrolled, *view;
  GListStore *rows;
  GHashTable *bound; /* GtkListItem */
  PrioTaskGroup *group;
  PrioFeed *feed; /* of the view */
  GPtrArray *open; /* PrioTask */
  GArray *asked;   /* positions that have been asked for */
  gboolean is_slow; /* whether tasks stay open until the test ends them */
  guint n_ended, n_released;
  guint n_frames;
} World;

static GtkStringObject *
row_new (guint i)
{
  g_autofree char *text = g_strdup_printf ("row %u", i);

  return gtk_string_object_new (text);
}

static gboolean
is_loaded (gpointer item)
{
  return g_object_get_data (item, "loaded") != NULL;
}

static void
add_rows (GListStore *rows, guint n)
{
  g_autoptr (GPtrArray) added = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (added, row_new (i));
  g_list_store_splice (rows, 0, 0, added->pdata, n);
}

/* The factory */

static void
set_up_row (GtkListItemFactory *factory, GtkListItem *item, World *w)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  gtk_list_item_set_child (item, box);
}

/* Returns how much higher, or wider, a row is than the smallest row. */
static int
extra_of (const World *w, GtkListItem *item)
{
  guint number = (guint) g_ascii_strtoull (gtk_string_object_get_string (gtk_list_item_get_item (item)) + 4, NULL, 10);

  return w->kind->is_uneven ? (int) (number * 2654435761u >> 25) : 0;
}

static void
bind_row (GtkListItemFactory *factory, GtkListItem *item, World *w)
{
  int extra = extra_of (w, item);

  gtk_widget_set_size_request (gtk_list_item_get_child (item), 24 + extra, 24 + extra);
  g_hash_table_add (w->bound, item);
}

static void
unbind_row (GtkListItemFactory *factory, GtkListItem *item, World *w)
{
  g_hash_table_remove (w->bound, item);
}

static GtkListItemFactory *
factory_new (World *w)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (set_up_row), w);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_row), w);
  g_signal_connect (factory, "unbind", G_CALLBACK (unbind_row), w);
  return factory;
}

static GtkWidget *
view_new (World *w)
{
  GtkSelectionModel *model = GTK_SELECTION_MODEL (gtk_single_selection_new (g_object_ref (G_LIST_MODEL (w->rows))));
  GtkWidget *view;

  if (g_str_equal (w->kind->kind, "grid"))
    return gtk_grid_view_new (model, factory_new (w));
  if (g_str_equal (w->kind->kind, "columns"))
    {
      GtkColumnViewColumn *column = gtk_column_view_column_new ("row", factory_new (w));

      view = gtk_column_view_new (model);
      gtk_column_view_append_column (GTK_COLUMN_VIEW (view), column);
      g_object_unref (column);
      return view;
    }
  view = gtk_list_view_new (model, factory_new (w));
  if (!g_str_equal (w->kind->kind, "list"))
    gtk_orientable_set_orientation (GTK_ORIENTABLE (view), GTK_ORIENTATION_HORIZONTAL);
  if (g_str_equal (w->kind->kind, "from the right"))
    gtk_widget_set_direction (view, GTK_TEXT_DIR_RTL);
  return view;
}

/* The loader */

static void
ended (GObject *source, GAsyncResult *result, gpointer world)
{
  ((World *) world)->n_ended++;
}

static void
load (PrioTask *task, gpointer world)
{
  World *w = world;

  if (!w->is_slow)
    return;
  prio_task_defer (task);
  g_ptr_array_add (w->open, g_object_ref (task));
}

static PrioTask *
load_row (PrioTaskGroup *group, gpointer item, guint position, PrioTaskSignal *signal, gpointer world)
{
  World *w = world;
  PrioTask *task;

  g_array_append_val (w->asked, position);
  if (is_loaded (item))
    return NULL;
  g_object_set_data (item, "loaded", w);
  task = prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.signal = signal), load, w, NULL);
  prio_task_wait_async (task, NULL, ended, w);
  return task;
}

static void
released (gpointer world)
{
  ((World *) world)->n_released++;
}

static void
count_frame (GdkFrameClock *clock, World *w)
{
  w->n_frames++;
}

/* Waits until GTK has drawn a change, and the feed has nothing to do. */
static void
settle (World *w)
{
  GdkFrameClock *clock = gtk_widget_get_frame_clock (w->window);

  for (guint i = 0; i < 3; i++)
    {
      guint before = w->n_frames;

      gdk_frame_clock_request_phase (clock, GDK_FRAME_CLOCK_PHASE_AFTER_PAINT);
      while (w->n_frames == before)
        g_main_context_iteration (NULL, TRUE);
    }
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
open_window (World *w, const Kind *kind, guint n_rows)
{
  *w = (World) { .kind = kind };
  w->rows = g_list_store_new (GTK_TYPE_STRING_OBJECT);
  add_rows (w->rows, n_rows);
  w->bound = g_hash_table_new (NULL, NULL);
  w->open = g_ptr_array_new_with_free_func (g_object_unref);
  w->asked = g_array_new (FALSE, FALSE, sizeof (guint));
  w->group = prio_task_group_new (prio_scheduler_get_default (), 4, PRIO_TASK_PRIORITY_USER_VISIBLE);

  g_object_set (w->group, "return-on-abort", TRUE, NULL);

  w->window = gtk_window_new ();
  w->stack = gtk_stack_new ();
  w->scrolled = gtk_scrolled_window_new ();
  w->view = view_new (w);
  gtk_window_set_default_size (GTK_WINDOW (w->window), 300, 400);
  gtk_window_set_child (GTK_WINDOW (w->window), w->stack);
  gtk_stack_add_named (GTK_STACK (w->stack), w->scrolled, "list");
  gtk_stack_add_named (GTK_STACK (w->stack), gtk_label_new ("another page"), "other");
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (w->scrolled), w->view);
  w->feed = prio_gtk_feed_view (w->group, w->view, load_row, w, released);
  g_assert_true (PRIO_IS_FEED (w->feed));

  gtk_window_present (GTK_WINDOW (w->window));
  while (gtk_widget_get_frame_clock (w->window) == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_signal_connect (gtk_widget_get_frame_clock (w->window), "after-paint", G_CALLBACK (count_frame), w);
  settle (w);
}

static void
close_window (World *w)
{
  if (w->window != NULL)
    gtk_window_destroy (GTK_WINDOW (w->window));
  while (prio_task_group_get_n_tasks (w->group) > 0 || w->n_released == 0)
    g_main_context_iteration (NULL, TRUE);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_ptr_array_unref (w->open);
  g_array_unref (w->asked);
  g_hash_table_unref (w->bound);
  g_object_unref (w->group);
  g_object_unref (w->rows);
}

static GtkAdjustment *
adjustment_of (World *w)
{
  GtkScrollable *scrollable = GTK_SCROLLABLE (w->view);
  gboolean is_horizontal = GTK_IS_ORIENTABLE (w->view) && gtk_orientable_get_orientation (GTK_ORIENTABLE (w->view)) == GTK_ORIENTATION_HORIZONTAL;

  return is_horizontal ? gtk_scrollable_get_hadjustment (scrollable) : gtk_scrollable_get_vadjustment (scrollable);
}

static guint
count_visible (World *w)
{
  GHashTableIter iter;
  gpointer item;
  guint n = 0;

  g_hash_table_iter_init (&iter, w->bound);
  while (g_hash_table_iter_next (&iter, &item, NULL))
    n += gtk_widget_get_mapped (gtk_list_item_get_child (item));
  return n;
}

static void
scroll (World *w, double part)
{
  GtkAdjustment *adjustment = adjustment_of (w);

  gtk_adjustment_set_value (adjustment, part * (gtk_adjustment_get_upper (adjustment) - gtk_adjustment_get_page_size (adjustment)));
  settle (w);
  /* GTK 4.8 shows no rows after the first long scroll. */
  if (count_visible (w) == 0)
    {
      gtk_adjustment_set_value (adjustment, gtk_adjustment_get_value (adjustment) * 0.9);
      settle (w);
    }
  g_assert_cmpuint (count_visible (w), >, 0);
}

/* Positions in view: from @first to before @end. */
typedef struct
{
  guint first, end;
} Range;

/* Returns the rows that GTK shows. */
static Range
shown (World *w)
{
  Range range = { G_MAXUINT, 0 };
  GHashTableIter iter;
  gpointer item;

  g_hash_table_iter_init (&iter, w->bound);
  while (g_hash_table_iter_next (&iter, &item, NULL))
    {
      GtkWidget *child = gtk_list_item_get_child (item);

      if (!gtk_widget_get_mapped (child))
        continue;
      range.first = MIN (range.first, gtk_list_item_get_position (item));
      range.end = MAX (range.end, gtk_list_item_get_position (item) + 1);
    }
  return range;
}

static Range
fed (World *w)
{
  guint first, n;

  g_object_get (w->feed, "first", &first, "n-rows", &n, NULL);
  return (Range) { first, first + n };
}

static void
assert_view (World *w)
{
  Range seen = shown (w), given = fed (w);
  guint line = 1;

  g_test_message ("GTK shows %u to %u, the feed has %u to %u", seen.first, seen.end, given.first, given.end);
  if (GTK_IS_GRID_VIEW (w->view))
    line = MAX (seen.end - seen.first, 1);
  g_assert_cmpuint (given.first, <=, seen.first);
  g_assert_cmpuint (given.end, >=, seen.end);
  /* Of a line at an edge, only the margin may be in view. */
  g_assert_cmpuint (given.first + line, >=, seen.first);
  g_assert_cmpuint (given.end, <=, seen.end + line);
}

/* Checks that all rows in view are loaded. */
static void
assert_loaded (World *w)
{
  g_autoptr (GtkSelectionModel) model = NULL;
  Range seen = shown (w);

  g_object_get (w->view, "model", &model, NULL);
  for (guint i = seen.first; i < seen.end; i++)
    {
      g_autoptr (GObject) item = g_list_model_get_item (G_LIST_MODEL (model), i);

      g_assert_true (is_loaded (item));
    }
}

static void
test_range (gconstpointer kind)
{
  World w;

  open_window (&w, kind, N_ROWS);
  assert_view (&w);
  for (guint i = 0; i < 25; i++)
    {
      scroll (&w, i == 7 ? 1 : i == 8 ? 0 : g_test_rand_double ());
      assert_view (&w);
      assert_loaded (&w);
    }
  /* The view scrolls a little each time. */
  for (guint i = 0; i < 15; i++)
    {
      GtkAdjustment *adjustment = adjustment_of (&w);

      gtk_adjustment_set_value (adjustment, gtk_adjustment_get_value (adjustment) + 37);
      settle (&w);
      assert_view (&w);
      assert_loaded (&w);
    }
  close_window (&w);
  g_assert_cmpuint (w.n_released, ==, 1);
}

static const Kind list = { "list", FALSE };

static void
test_order (void)
{
  World w;
  Range view;
  guint n;

  open_window (&w, &list, N_ROWS);
  for (guint round = 0; round < 10; round++)
    {
      g_array_set_size (w.asked, 0);
      /* So far away that no row has been in the window. */
      scroll (&w, 0.05 + 0.09 * round);
      view = fed (&w);
      n = view.end - view.first;
      g_assert_cmpuint (n, >, 5);
      /* Rows in view were asked for first, by place, then their neighbours, and no other rows. */
      g_assert_cmpuint (w.asked->len, >=, n);
      g_assert_cmpuint (w.asked->len, <=, 3 * n);
      for (guint i = 0; i < w.asked->len; i++)
        {
          guint position = g_array_index (w.asked, guint, i);

          g_assert_cmpuint (position + n, >=, view.first);
          g_assert_cmpuint (position, <, view.end + n);
          if (i < n)
            g_assert_true (position >= view.first && position < view.end);
        }
      assert_loaded (&w);
    }
  close_window (&w);
}

/* While GTK scrolls past many rows, few of them are begun. */
static void
test_drag (void)
{
  World w;
  guint n_asked, n;

  open_window (&w, &list, N_ROWS);
  w.is_slow = TRUE;
  for (double part = 0.1; part < 1; part += 0.1)
    {
      n_asked = w.asked->len;
      scroll (&w, part);
      g_assert_cmpuint (w.asked->len - n_asked, <=, 4);
    }
  /* Tasks whose rows have left the view are aborted. */
  g_assert_cmpuint (prio_task_group_get_n_tasks (w.group), ==, 4);
  w.is_slow = FALSE;
  for (guint i = 0; i < w.open->len; i++)
    prio_task_return_boolean (w.open->pdata[i], TRUE);
  settle (&w);
  n = fed (&w).end - fed (&w).first;
  g_assert_cmpuint (w.asked->len, <=, 3 * n + 3 * n + 9 * 4);
  assert_loaded (&w);
  close_window (&w);
}

static void
test_models (void)
{
  World w;
  g_autoptr (GListStore) other = NULL;
  GtkSorter *sorter;
  GtkFilter *filter;
  GListModel *model;
  GtkSelectionModel *selection;

  open_window (&w, &list, N_ROWS);
  scroll (&w, 0.5);

  /* Rows come and go while others are in view. */
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (GtkStringObject) row = row_new (i);

      g_list_store_insert (w.rows, (guint) g_test_rand_int_range (0, 1000), row);
      g_list_store_remove (w.rows, (guint) g_test_rand_int_range (0, 1500));
      settle (&w);
      assert_view (&w);
      assert_loaded (&w);
    }

  /* The view gets another model, which filters and sorts. */
  other = g_list_store_new (GTK_TYPE_STRING_OBJECT);
  add_rows (other, 500);
  sorter = GTK_SORTER (gtk_string_sorter_new (gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string")));
  filter = GTK_FILTER (gtk_string_filter_new (gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string")));
  model = G_LIST_MODEL (gtk_filter_list_model_new (g_object_ref (G_LIST_MODEL (other)), g_object_ref (filter)));
  gtk_filter_list_model_set_incremental (GTK_FILTER_LIST_MODEL (model), TRUE);
  selection = GTK_SELECTION_MODEL (gtk_no_selection_new (G_LIST_MODEL (gtk_sort_list_model_new (model, sorter))));
  gtk_list_view_set_model (GTK_LIST_VIEW (w.view), selection);
  settle (&w);
  assert_view (&w);
  assert_loaded (&w);
  gtk_string_filter_set_search (GTK_STRING_FILTER (filter), "7");
  settle (&w);
  assert_view (&w);
  assert_loaded (&w);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (selection)), ==, 95);

  g_list_store_remove_all (other);
  settle (&w);
  g_assert_cmpuint (fed (&w).end, ==, 0);
  gtk_list_view_set_model (GTK_LIST_VIEW (w.view), NULL);
  settle (&w);
  g_assert_cmpuint (fed (&w).end, ==, 0);
  g_object_unref (selection);
  g_object_unref (filter);
  close_window (&w);
}

/* A selected row far away keeps a widget. */
static void
test_selected (void)
{
  World w;

  open_window (&w, &(Kind) { "list", TRUE }, N_ROWS);
  gtk_single_selection_set_selected (GTK_SINGLE_SELECTION (gtk_list_view_get_model (GTK_LIST_VIEW (w.view))), 400);
  for (guint i = 0; i < 10; i++)
    {
      scroll (&w, g_test_rand_double ());
      assert_view (&w);
    }
  close_window (&w);
}

static void
test_hidden (void)
{
  World w;
  Range before;

  open_window (&w, &list, N_ROWS);
  scroll (&w, 0.3);
  before = fed (&w);
  w.is_slow = TRUE;
  gtk_stack_set_visible_child_name (GTK_STACK (w.stack), "other");
  settle (&w);
  g_assert_cmpuint (fed (&w).end, ==, 0);
  gtk_stack_set_visible_child_name (GTK_STACK (w.stack), "list");
  settle (&w);
  assert_view (&w);
  g_assert_cmpuint (fed (&w).first, ==, before.first);
  gtk_widget_set_visible (w.window, FALSE);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (fed (&w).end, ==, 0);
  gtk_widget_set_visible (w.window, TRUE);
  g_signal_handlers_disconnect_by_data (gtk_widget_get_frame_clock (w.window), &w);
  g_signal_connect (gtk_widget_get_frame_clock (w.window), "after-paint", G_CALLBACK (count_frame), &w);
  settle (&w);
  assert_view (&w);
  close_window (&w);
}

static void
test_destroyed (void)
{
  World w;
  gpointer view;

  open_window (&w, &list, N_ROWS);
  w.is_slow = TRUE;
  scroll (&w, 0.5);
  g_assert_cmpuint (prio_task_group_get_n_tasks (w.group), ==, 4);
  view = w.view;
  g_object_add_weak_pointer (G_OBJECT (w.view), &view);
  gtk_window_destroy (GTK_WINDOW (g_steal_pointer (&w.window)));
  g_assert_null (view);
  while (prio_task_group_get_n_tasks (w.group) > 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (w.n_released, ==, 1);
  close_window (&w);
}

static void
test_wrong (void)
{
  g_autoptr (GtkWidget) label = g_object_ref_sink (gtk_label_new (NULL)), view = g_object_ref_sink (gtk_list_view_new (NULL, NULL));
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (prio_scheduler_get_default (), 4, PRIO_TASK_PRIORITY_USER_VISIBLE);

  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*GTK_IS_LIST_VIEW*");
  g_assert_null (prio_gtk_feed_view (group, label, load_row, NULL, NULL));
  g_test_assert_expected_messages ();
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*func*");
  g_assert_null (prio_gtk_feed_view (group, view, NULL, NULL, NULL));
  g_test_assert_expected_messages ();
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*is not a PrioTaskGroup");
  g_assert_null (prio_gtk_feed_view (NULL, view, load_row, NULL, NULL));
  g_test_assert_expected_messages ();
}

int
main (int argc, char **argv)
{
  static const Kind uneven_list = { "list", TRUE }, grid = { "grid", FALSE }, uneven_grid = { "grid", TRUE }, columns = { "columns", FALSE },
                    uneven_columns = { "columns", TRUE }, horizontal = { "horizontal", TRUE }, from_the_right = { "from the right", TRUE };

  g_test_init (&argc, &argv, NULL);
  gtk_init ();
  g_test_add_data_func ("/view/list", &list, test_range);
  g_test_add_data_func ("/view/list/uneven", &uneven_list, test_range);
  g_test_add_data_func ("/view/grid", &grid, test_range);
  g_test_add_data_func ("/view/grid/uneven", &uneven_grid, test_range);
  g_test_add_data_func ("/view/columns", &columns, test_range);
  g_test_add_data_func ("/view/columns/uneven", &uneven_columns, test_range);
  g_test_add_data_func ("/view/horizontal", &horizontal, test_range);
  g_test_add_data_func ("/view/from-the-right", &from_the_right, test_range);
  g_test_add_func ("/view/order", test_order);
  g_test_add_func ("/view/drag", test_drag);
  g_test_add_func ("/view/models", test_models);
  g_test_add_func ("/view/selected", test_selected);
  g_test_add_func ("/view/hidden", test_hidden);
  g_test_add_func ("/view/destroyed", test_destroyed);
  g_test_add_func ("/view/wrong", test_wrong);
  return g_test_run ();
}
