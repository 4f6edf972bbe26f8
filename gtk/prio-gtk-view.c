/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-gtk-view.c: tells a feed which rows a list of GTK shows
 *
 * GTK does not say which rows are in view.  It has widgets for the rows near the view, and for the focused and the
 * selected row; widgets that are not in view are not visible.  It assumes that all rows without a widget have the same
 * height.  So this file computes the number of rows above a widget from the widget's position, and from the heights of
 * the widgets above it.
 */

#include "prio-sched-gtk.h"

#include <math.h>

/* A view, and the feed of its rows. */
typedef struct
{
  GtkWidget *view;
  PrioFeed *feed;
  GdkFrameClock *clock; /* while the view is mapped */
} Following;

/* A list as GTK shows it.  A line is a row or, in a grid, all cells that are side by side. */
typedef struct
{
  GtkWidget *list;
  GtkOrientation orientation;
  gboolean is_flipped;
  GtkAdjustment *adjustment;
  GtkScrollablePolicy policy;
  GPtrArray *cells; /* GtkWidget: all widgets of cells, in order */
  guint first, end; /* the cells in view: from @first to before @end */
  guint n_columns;
  double space; /* the distance between two lines */
} Sight;

/* Returns the distance of @cell from the top of the view or, in a horizontal list, from the side where rows begin. */
static double
begin_of (const Sight *sight, guint cell)
{
  graphene_rect_t at;

  if (!gtk_widget_compute_bounds (sight->cells->pdata[cell], sight->list, &at))
    return 0;
  if (sight->is_flipped)
    return gtk_adjustment_get_page_size (sight->adjustment) - at.origin.x - at.size.width;
  return sight->orientation == GTK_ORIENTATION_HORIZONTAL ? at.origin.x : at.origin.y;
}

/* Returns the height of @cell, or its width in a horizontal list, as GTK computes it. */
static int
height_of (const Sight *sight, guint cell)
{
  GtkWidget *visible = sight->cells->pdata[sight->first];
  int across = sight->orientation == GTK_ORIENTATION_HORIZONTAL ? gtk_widget_get_height (visible) : gtk_widget_get_width (visible), minimum, natural;

  gtk_widget_measure (sight->cells->pdata[cell], sight->orientation, across, &minimum, &natural, NULL, NULL);
  return sight->policy == GTK_SCROLL_MINIMUM ? minimum : natural;
}

static GtkWidget *
list_of (GtkWidget *view)
{
  GtkWidget *child;

  if (!GTK_IS_COLUMN_VIEW (view))
    return view;

  child = gtk_widget_get_first_child (view);
  while (!GTK_IS_LIST_VIEW (child))
    child = gtk_widget_get_next_sibling (child);
  return child;
}

static void
list_cells (Sight *sight)
{
  for (GtkWidget *child = gtk_widget_get_first_child (sight->list); child != NULL; child = gtk_widget_get_next_sibling (child))
    {
      const char *name = gtk_widget_get_css_name (child);

      /* The other children are headers of sections and the rubber band. */
      if (!g_str_equal (name, "row") && !g_str_equal (name, "child"))
        continue;
      if (gtk_widget_get_child_visible (child))
        {
          sight->first = MIN (sight->first, sight->cells->len);
          sight->end = sight->cells->len + 1;
        }
      g_ptr_array_add (sight->cells, child);
    }
}

/* Returns the first cell after the line of @cell that is in view, or @sight->end if there is none. */
static guint
end_of_line (const Sight *sight, guint cell)
{
  double begin = begin_of (sight, cell);

  while (++cell < sight->end && fabs (begin_of (sight, cell) - begin) < 0.5)
    ;
  return cell;
}

/* Returns the height of the lines of the cells from @begin to before @end, with the spaces between lines.  Sets
 * *@n_lines to their number.  The cell @align, which need not be one of these cells, begins a line. */
static double
measure_lines (const Sight *sight, guint begin, guint end, guint align, guint *n_lines)
{
  double height = 0;
  int line = 0;

  *n_lines = 0;
  for (guint i = begin; i < end; i++)
    {
      line = MAX (line, height_of (sight, i));
      if (i + 1 < end && (i + 1) % sight->n_columns != align % sight->n_columns)
        continue;
      height += line + sight->space;
      line = 0;
      ++*n_lines;
    }
  return height;
}

/* Returns the position of the first item in view.  Sets the number of columns and the space in @sight. */
static guint
find_position (Sight *sight, guint n_items)
{
  guint next = end_of_line (sight, sight->first), after = next < sight->end ? end_of_line (sight, next) : next, n_above, n_here, n_below;
  double begin = begin_of (sight, sight->first), above, here, below, height, n_others, value;

  sight->n_columns = MAX (next - sight->first, after - next);
  sight->space = 0;
  here = measure_lines (sight, sight->first, next, next, &n_here);
  if (next < after)
    sight->space = MAX (begin_of (sight, next) - begin - here, 0);
  above = measure_lines (sight, 0, sight->first, sight->first, &n_above);
  below = measure_lines (sight, next, sight->cells->len, next, &n_below);
  n_others = ceil ((double) n_items / sight->n_columns) - n_above - n_here - n_below;
  height = MAX ((gtk_adjustment_get_upper (sight->adjustment) - above - here - below) / MAX (n_others, 1), 1);
  value = gtk_adjustment_get_value (sight->adjustment);
  if (sight->is_flipped)
    value = gtk_adjustment_get_upper (sight->adjustment) - gtk_adjustment_get_page_size (sight->adjustment) - value;

  /* If the first line has fewer widgets than the second, its first cells have none: adds their number. */
  return (n_above + (guint) CLAMP (round ((value + begin - above) / height), 0, MAX (n_others, 0))) * sight->n_columns +
         (after - next > next - sight->first ? sight->n_columns - (next - sight->first) : 0);
}

/* Tells the feed which of @n_items are in view. */
static void
show (PrioFeed *feed, Sight *sight, guint n_items)
{
  if (sight->first < sight->end)
    prio_feed_set_view (feed, sight->first > 0 ? find_position (sight, n_items) : 0, sight->end - sight->first);
  else
    prio_feed_set_view (feed, 0, 0);
}

/* Finds the rows in view, after GTK has placed the widgets. */
static void
laid_out (GdkFrameClock *clock G_GNUC_UNUSED, const Following *self)
{
  GtkScrollable *scrollable = GTK_SCROLLABLE (self->view);
  g_autoptr (GPtrArray) cells = g_ptr_array_new ();
  g_autoptr (GtkSelectionModel) model = NULL;
  Sight sight = { list_of (self->view), GTK_ORIENTATION_VERTICAL, FALSE, gtk_scrollable_get_vadjustment (scrollable),
                  gtk_scrollable_get_vscroll_policy (scrollable), cells, .first = G_MAXUINT };

  if (GTK_IS_ORIENTABLE (self->view) && gtk_orientable_get_orientation (GTK_ORIENTABLE (self->view)) == GTK_ORIENTATION_HORIZONTAL)
    {
      sight.orientation = GTK_ORIENTATION_HORIZONTAL;
      sight.is_flipped = gtk_widget_get_direction (self->view) == GTK_TEXT_DIR_RTL;
      sight.adjustment = gtk_scrollable_get_hadjustment (scrollable);
      sight.policy = gtk_scrollable_get_hscroll_policy (scrollable);
    }
  g_object_get (self->view, "model", &model, NULL);
  list_cells (&sight);
  show (self->feed, &sight, model != NULL ? g_list_model_get_n_items (G_LIST_MODEL (model)) : 0);
}

static void
mapped (GtkWidget *view, Following *self)
{
  self->clock = g_object_ref (gtk_widget_get_frame_clock (view));
  g_signal_connect_after (self->clock, "layout", G_CALLBACK (laid_out), self);
  gdk_frame_clock_request_phase (self->clock, GDK_FRAME_CLOCK_PHASE_LAYOUT);
}

static void
unmapped (GtkWidget *view G_GNUC_UNUSED, Following *self)
{
  g_signal_handlers_disconnect_by_data (self->clock, self);
  g_clear_object (&self->clock);
  prio_feed_set_view (self->feed, 0, 0);
}

static void
following_free (gpointer data, GClosure *closure G_GNUC_UNUSED)
{
  Following *self = data;

  g_object_unref (self->feed);
  g_free (self);
}

/**
 * prio_gtk_feed_view:
 * @group: a group
 * @view: a `GtkListView`, `GtkGridView` or `GtkColumnView` in a `GtkScrolledWindow`
 * @func: (scope notified) (closure user_data) (destroy notify): posts the task of a row
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Loads the rows that a list shows, and then the rows nearest to them.
 *
 * The function makes a feed of the view's model, as [ctor@PrioSched.Feed.new_for_model] does.  It calls
 * [method@PrioSched.Feed.set_view] when the user scrolls, when rows are added or removed, and when the window is
 * resized.  Positions refer to the view's model, which may sort and filter.  The feed also follows the view's property
 * `model`.  While the view is not shown, no row is in view.
 *
 * ```c
 * #include <prio-sched-gtk.h>
 *
 * static PrioTask *
 * load_picture (PrioTaskGroup *group, gpointer item, guint position, PrioTaskSignal *signal, gpointer user_data)
 * {
 *   if (picture_is_loaded (item))
 *     return NULL;
 *   return prio_task_group_run_in_thread (group, &PRIO_TASK_OPTIONS (.signal = signal), load_thumbnail,
 *                                         g_object_ref (item), g_object_unref);
 * }
 *
 * prio_gtk_feed_view (group, list_view, load_picture, NULL, NULL);
 * ```
 *
 * The factory of the view should show a placeholder until a property of the item reports that the row is loaded.
 *
 * Call this function on GTK's thread, with a group whose scheduler has the default main context.  If an argument is
 * wrong, the call logs a critical message, returns %NULL, and does not call @notify.
 *
 * Returns: (transfer none): the feed; the view has a reference to it until the view is disposed of
 *
 * Since: 1.0
 */
PrioFeed *
prio_gtk_feed_view (PrioTaskGroup *group, GtkWidget *view, PrioFeedRowFunc func, gpointer user_data, GDestroyNotify notify)
{
  g_autoptr (GtkNoSelection) rows = NULL;
  PrioFeed *feed;
  Following *self;

  g_return_val_if_fail (GTK_IS_LIST_VIEW (view) || GTK_IS_GRID_VIEW (view) || GTK_IS_COLUMN_VIEW (view), NULL);

  rows = gtk_no_selection_new (NULL);
  feed = prio_feed_new_for_model (group, G_LIST_MODEL (rows), func, user_data, notify);
  if (feed == NULL)
    return NULL;

  g_object_bind_property (view, "model", rows, "model", G_BINDING_SYNC_CREATE);
  self = g_new (Following, 1);
  *self = (Following) { view, feed, NULL };
  g_signal_connect (view, "map", G_CALLBACK (mapped), self);
  g_signal_connect_data (view, "unmap", G_CALLBACK (unmapped), self, following_free, 0);
  if (gtk_widget_get_mapped (view))
    mapped (view, self);
  return feed;
}
