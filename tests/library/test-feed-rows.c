/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-feed-rows.c: tasks of rows, which are asked for when they are in view or near it */

#include "feed-world.h"
#include "tsan-suppressions.h"

static void
fails (PrioTask *task, gpointer data G_GNUC_UNUSED)
{
  prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_FAILED, "It is damaged");
}

static void
ends_at_once (PrioTask *task, gpointer data G_GNUC_UNUSED)
{
  prio_task_return_boolean (task, TRUE);
}

static void
test_rows_in_view_come_first (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed_rows (w, 100, 50, 4);
  assert_asked (w, "50 51 52 ");
  end_one (w);
  end_one (w);
  end_one (w);
  assert_asked (w, "53 54 49 ");
  prio_feed_set_view (w->feed, 90, 20);
  end_one (w);
  end_one (w);
  assert_asked (w, "90 91 ");
  /* Beyond the list. */
  prio_feed_set_view (w->feed, 1000, 5);
  end_one (w);
  end_one (w);
  assert_asked (w, "95 96 ");
  prio_feed_set_view (w->feed, 0, 0);
  end_one (w);
  end_one (w);
  assert_asked (w, "");
  prio_feed_set_view (w->feed, 0, 2);
  run (w);
  assert_asked (w, "0 1 ");
}

static void
test_no_row_is_in_view_at_first (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed_rows (w, 10, 0, 0);
  assert_asked (w, "");
  prio_feed_set_view (w->feed, 3, 1);
  g_assert_cmpuint (w->n_asked, ==, 0);
  run (w);
  assert_asked (w, "3 4 2 ");
}

/* When the user scrolls upwards, rows come into view at the top, and the oldest row in view is loaded first. */
static void
test_among_rows_in_view_the_oldest_comes_first (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed_rows (w, 100, 50, 6);
  assert_asked (w, "50 51 52 ");
  prio_feed_set_view (w->feed, 48, 6);
  end_one (w);
  end_one (w);
  assert_asked (w, "53 49 ");
  prio_feed_set_view (w->feed, 49, 6);
  end_one (w);
  assert_asked (w, "54 ");
}

static void
test_far_rows_are_never_asked_for (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->in_order = TRUE;
  feed_rows (w, 1000, 500, 10);
  g_assert_cmpuint (w->n_asked, ==, 30);
  g_object_set (w->feed, "look-ahead", 0.25, NULL);
  prio_feed_set_view (w->feed, 100, 10);
  run (w);
  g_assert_cmpuint (w->n_asked, ==, 30 + 10 + 2 * 3);
  g_object_set (w->feed, "look-ahead", 0.0, NULL);
  prio_feed_set_view (w->feed, 200, 10);
  run (w);
  g_assert_cmpuint (w->n_asked, ==, 46 + 10);
  g_object_set (w->feed, "look-ahead", G_MAXDOUBLE, NULL);
  run (w);
  g_assert_cmpuint (w->n_asked, ==, 56 + 990);
}

/* The user drags a scrollbar from end to end. */
static void
test_a_drag_queues_nothing (World *w, gconstpointer data G_GNUC_UNUSED)
{
  prio_task_group_set_limit (w->group, G_MAXUINT);
  feed_rows (w, 2000, 0, 20);
  for (guint first = 0; first + 20 <= 2000; first += 20)
    {
      prio_feed_set_view (w->feed, first, 20);
      g_main_context_iteration (w->f.context, FALSE);
    }
  run (w);
  /* The tasks of rows that have been passed end as soon as they look. */
  for (guint i = 0; i < w->open->len;)
    {
      if (prio_task_return_error_if_aborted (w->open->pdata[i]))
        g_ptr_array_remove_index (w->open, i);
      else
        i++;
    }
  run (w);
  g_assert_cmpuint (w->open->len, ==, 40);
  g_assert_cmpuint (prio_task_group_get_n_tasks (w->group), ==, 40);
}

/* A function that returns NULL has no task for that row; the feed continues. */
static void
test_rows_that_need_nothing (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->in_order = TRUE;
  feed_rows (w, 5, 0, ALL);
  assert_asked (w, "0 1 2 3 4 ");
  assert_state (w->all, PENDING);
  add_rows (w, 2, 1);
  run (w);
  assert_asked (w, "2 ");
  prio_feed_set_view (w->feed, 1, 1);
  g_object_set (w->feed, "look-ahead", 0.0, NULL);
  run (w);
  assert_asked (w, "");
  prio_feed_set_view (w->feed, 0, 2);
  run (w);
  assert_asked (w, "0 ");
}

static void
test_the_list_changes (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) second = NULL;

  feed_rows (w, 6, 0, ALL);
  assert_asked (w, "0 1 2 ");
  second = g_object_ref (w->open->pdata[1]);
  g_list_store_remove (w->rows, 1);
  run (w);
  /* The task is aborted; a task that has deferred its result notices that when it asks. */
  assert_asked (w, "");
  g_assert_true (prio_task_return_error_if_aborted (second));
  run (w);
  g_ptr_array_remove_index (w->open, 1);
  /* The row that was 3. */
  assert_asked (w, "2 ");
  add_rows (w, 0, 2);
  run (w);
  assert_asked (w, "");
  end_one (w);
  assert_asked (w, "0 ");
  end_one (w);
  end_one (w);
  end_one (w);
  assert_asked (w, "1 5 6 ");
  g_list_store_remove_all (w->rows);
  run (w);
  while (w->open->len > 0)
    {
      g_assert_true (prio_task_return_error_if_aborted (w->open->pdata[0]));
      g_ptr_array_remove_index (w->open, 0);
    }
  assert_asked (w, "");
  add_rows (w, 0, 1);
  run (w);
  assert_asked (w, "0 ");
}

/* A list that is sorted removes rows, and adds them again. */
static void
test_a_row_that_moves_keeps_its_task (World *w, gconstpointer data G_GNUC_UNUSED)
{
  gpointer rows[4];
  g_autoptr (GObject) added = g_object_new (G_TYPE_OBJECT, NULL);

  prio_task_group_set_limit (w->group, 9);
  feed_rows (w, 10, 0, 3);
  assert_asked (w, "0 1 2 3 4 5 ");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    rows[i] = g_list_model_get_item (G_LIST_MODEL (w->rows), 3 - i);
  g_list_store_splice (w->rows, 0, 4, rows, 4);
  run (w);
  assert_asked (w, "");
  g_list_store_splice (w->rows, 0, 4, (gpointer[]){ rows[1], added, rows[2] }, 3);
  run (w);
  assert_asked (w, "1 5 ");
  /* The rows that were 3 and 0 at first have gone. */
  for (guint i = 0; i < 6; i++)
    g_assert_true (prio_task_return_error_if_aborted (w->open->pdata[i]) == (i == 3 || i == 0));
  g_ptr_array_remove_index (w->open, 3);
  g_ptr_array_remove_index (w->open, 0);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_object_unref (rows[i]);
}

/* A row that has left the window is asked for again when it comes back. */
static void
test_a_row_that_leaves_is_aborted (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) first = NULL;

  feed_rows (w, 100, 0, 2);
  assert_asked (w, "0 1 2 ");
  first = g_object_ref (w->open->pdata[0]);
  prio_feed_set_view (w->feed, 1, 1);
  run (w);
  g_assert_false (prio_task_return_error_if_aborted (first));
  prio_feed_set_view (w->feed, 50, 1);
  run (w);
  g_assert_true (prio_task_return_error_if_aborted (first));
  g_ptr_array_remove_index (w->open, 0);
  run (w);
  assert_asked (w, "50 ");
  prio_feed_set_view (w->feed, 0, 1);
  end_one (w);
  end_one (w);
  end_one (w);
  assert_asked (w, "0 1 ");
}

static void
test_a_row_that_leaves_is_demoted (World *w, gconstpointer data G_GNUC_UNUSED)
{
  PrioTask *first;

  feed_rows (w, 100, 0, 1);
  g_object_set (w->feed, "demotes", TRUE, NULL);
  assert_asked (w, "0 1 ");
  first = w->open->pdata[0];
  g_assert_cmpint (prio_task_get_priority (first), ==, USER_VISIBLE);
  prio_feed_set_view (w->feed, 50, 1);
  run (w);
  assert_asked (w, "50 ");
  g_assert_cmpint (prio_task_get_priority (first), ==, BACKGROUND);
  g_assert_false (prio_task_return_error_if_aborted (first));
  /* It comes back, and is not asked for again. */
  prio_feed_set_view (w->feed, 0, 1);
  run (w);
  g_assert_cmpint (prio_task_get_priority (first), ==, USER_VISIBLE);
  assert_asked (w, "");
  g_assert_true (prio_task_group_set_priority (w->group, USER_BLOCKING, NULL));
  g_assert_cmpint (prio_task_get_priority (first), ==, USER_BLOCKING);
  end_one (w);
  end_one (w);
  /* This task ends outside of the window, so the row is asked for again. */
  end_one (w);
  assert_asked (w, "");
  prio_feed_set_view (w->feed, 50, 1);
  run (w);
  assert_asked (w, "50 51 49 ");
}

/* Posts tasks that the main loop does not start before the feed has looked at the view again. */
static PrioTask *
queue_row (PrioTaskGroup *group, gpointer item G_GNUC_UNUSED, guint position, PrioTaskSignal *signal, gpointer data)
{
  World *w = data;

  g_string_append_printf (w->f.log, "%u ", position);
  if (++w->n_asked == 4)
    prio_scheduler_pause (w->f.scheduler);
  return prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.priority = BACKGROUND, .signal = signal), stay_open, w,
                                    NULL);
}

/* A task that has not begun is not demoted, but aborted. */
static void
test_a_queued_row_that_leaves_is_aborted (World *w, gconstpointer data G_GNUC_UNUSED)
{
  prio_task_group_set_limit (w->group, 9);
  add_rows (w, 0, 100);
  use_rows (w, queue_row);
  g_object_set (w->feed, "demotes", TRUE, NULL);
  prio_feed_set_view (w->feed, 0, 2);
  run (w);
  assert_asked (w, "0 1 2 3 ");
  prio_feed_set_view (w->feed, 50, 1);
  prio_scheduler_resume (w->f.scheduler);
  run (w);
  assert_asked (w, "50 51 49 ");
  g_assert_cmpuint (w->open->len, ==, 3);
}

static void
count_row (gpointer item)
{
  g_object_set_data (item, "asked", GUINT_TO_POINTER (GPOINTER_TO_UINT (g_object_get_data (item, "asked")) + 1));
}

static guint
asked_for (gpointer item)
{
  return GPOINTER_TO_UINT (g_object_get_data (item, "asked"));
}

static void
change_rows (World *w, gboolean adds)
{
  if (w->n_left == 0)
    return;
  w->n_left--;
  if (adds)
    add_rows (w, (guint) g_test_rand_int_range (0, (gint) n_rows (w) + 1), 3);
  else
    g_list_store_remove (w->rows, (guint) g_test_rand_int_range (0, (gint) n_rows (w)));
}

/* Changes the list while it is read. */
static PrioTask *
note_row (PrioTaskGroup *group G_GNUC_UNUSED, gpointer item, guint position, PrioTaskSignal *signal G_GNUC_UNUSED, gpointer data)
{
  count_row (item);
  if (position % 3 != 2)
    change_rows (data, position % 3 == 0);
  return NULL;
}

static void
test_each_row_is_asked_for_once (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->n_left = 200;
  add_rows (w, 0, 200);
  use_rows (w, note_row);
  prio_feed_set_view (w->feed, 0, ALL);
  run (w);
  g_assert_cmpuint (w->n_left, ==, 0);
  for (guint i = 0; i < n_rows (w); i++)
    {
      g_autoptr (GObject) row = g_list_model_get_item (G_LIST_MODEL (w->rows), i);

      g_assert_cmpuint (asked_for (row), ==, 1);
    }
}

/* Changes the list and the view; the task ends soon or late. */
static PrioTask *
note_row_near (PrioTaskGroup *group, gpointer item, guint position, PrioTaskSignal *signal, gpointer data)
{
  World *w = data;
  guint first, in_view;

  g_object_get (w->feed, "first", &first, "n-rows", &in_view, NULL);
  if (first < n_rows (w))
    g_assert_true (position + in_view >= first && position < first + 2 * in_view);
  g_object_set_data (item, "at", GUINT_TO_POINTER (w->n_asked++));
  count_row (item);
  if (w->n_left > 0 && g_test_rand_int_range (0, 4) == 0)
    {
      change_rows (w, g_test_rand_bit ());
      if (g_test_rand_bit ())
        prio_feed_set_view (w->feed, (guint) g_test_rand_int_range (0, 300), (guint) g_test_rand_int_range (1, 30));
    }
  switch (g_test_rand_int_range (0, 3))
    {
    case 0: return NULL;
    case 1: return prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.signal = signal), stay_open, w, NULL);
    default: return prio_task_group_run_in_thread (group, &PRIO_TASK_OPTIONS (.signal = signal), ends_at_once, NULL, NULL);
    }
}

static void
note_drained (GObject *group G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer is_drained)
{
  *(gboolean *) is_drained = TRUE;
}

static void
test_the_window_is_asked_for (World *w, gconstpointer data G_GNUC_UNUSED)
{
  for (guint round = 0; round < times (10); round++)
    {
      guint first, in_view;
      gboolean is_drained;

      g_list_store_remove_all (w->rows);
      w->n_left = 200;
      add_rows (w, 0, 200);
      use_rows (w, note_row_near);
      g_object_set (w->feed, "demotes", g_test_rand_bit (), NULL);
      prio_feed_set_view (w->feed, 100, 20);
      while (w->n_left > 0)
        {
          run (w);
          if (w->open->len > 0)
            end_one (w);
          else if (prio_task_group_get_n_tasks (w->group) == 0)
            prio_feed_set_view (w->feed, (guint) g_test_rand_int_range (0, 300), (guint) g_test_rand_int_range (1, 30));
        }
      is_drained = FALSE;
      prio_task_group_wait_async (w->group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, note_drained, &is_drained);
      while (!is_drained)
        {
          if (w->open->len > 0)
            end_one (w);
          else
            g_main_context_iteration (w->f.context, TRUE);
        }
      g_object_get (w->feed, "first", &first, "n-rows", &in_view, NULL);
      for (guint i = MIN (first, n_rows (w)); i < MIN (first + in_view, n_rows (w)); i++)
        {
          g_autoptr (GObject) row = g_list_model_get_item (G_LIST_MODEL (w->rows), i);

          g_assert_cmpuint (asked_for (row), >, 0);
        }
    }
}

/* Removes the row itself, and the row before it. */
static PrioTask *
load_and_remove (PrioTaskGroup *group, gpointer item, guint position, PrioTaskSignal *signal, gpointer data)
{
  World *w = data;
  PrioTask *task = load_row (group, item, position, signal, data);

  if (w->n_left-- == 1)
    g_list_store_splice (w->rows, position - 1, 2, NULL, 0);
  return task;
}

static void
test_a_row_changes_the_list (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->n_left = 2;
  add_rows (w, 0, 4);
  use_rows (w, load_and_remove);
  prio_feed_set_view (w->feed, 0, ALL);
  run (w);
  /* The first two were removed before they started.  The others have their positions now, and are not mistaken for
   * them. */
  assert_asked (w, "0 1 0 1 ");
  g_assert_cmpuint (w->open->len, ==, 2);
  g_assert_false (prio_task_return_error_if_aborted (w->open->pdata[0]));
  g_assert_false (prio_task_return_error_if_aborted (w->open->pdata[1]));
}

/* Removes the row that was appended after the first three. */
static PrioTask *
remove_fourth (PrioTaskGroup *group, gpointer item G_GNUC_UNUSED, guint position, PrioTaskSignal *signal G_GNUC_UNUSED, gpointer data)
{
  World *w = data;

  if (position == 3)
    g_list_store_remove (w->rows, position);
  return position == 0 ? prio_task_group_post_task (group, NULL, stay_open, w, NULL) : NULL;
}

static PrioTask *
load_existing (PrioTaskGroup *group, gpointer item, guint position, PrioTaskSignal *signal, gpointer data)
{
  g_assert_cmpuint (position, <, 4);
  return load_row (group, item, position, signal, data);
}

/* Two feeds of a list: one removes a row that the other is about to load. */
static void
test_two_feeds_of_a_list (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskGroup) other = prio_task_group_new (w->f.scheduler, 8, USER_VISIBLE);
  g_autoptr (PrioFeed) first = NULL;

  add_rows (w, 0, 3);
  first = prio_feed_new_for_model (w->group, G_LIST_MODEL (w->rows), remove_fourth, w, NULL);
  prio_feed_set_view (first, 0, ALL);
  use (w, prio_feed_new_for_model (other, G_LIST_MODEL (w->rows), load_existing, w, released));
  prio_feed_set_view (w->feed, 0, ALL);
  run (w);
  assert_asked (w, "0 1 2 ");
  add_rows (w, 3, 1);
  g_assert_cmpuint (n_rows (w), ==, 4);
  run (w);
  g_assert_cmpuint (n_rows (w), ==, 3);
  while (w->open->len > 0)
    end_one (w);
  assert_state (w->all, PENDING);
}

static PrioTask *
remove_itself (PrioTaskGroup *group G_GNUC_UNUSED, gpointer item G_GNUC_UNUSED, guint position, PrioTaskSignal *signal G_GNUC_UNUSED,
               gpointer data)
{
  World *w = data;

  w->n_asked++;
  g_list_store_remove (w->rows, position);
  return NULL;
}

/* Handlers that were connected later get the changes in the right order. */
static void
test_it_is_not_called_within_a_change (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (GPtrArray) mirror = g_ptr_array_new_with_free_func (g_object_unref);

  use_rows (w, remove_itself);
  prio_feed_set_view (w->feed, 0, ALL);
  g_signal_connect (w->rows, "items-changed", G_CALLBACK (mirror_change), mirror);
  for (guint i = 0; i < 20; i++)
    {
      add_rows (w, 0, 2);
      g_assert_cmpuint (w->n_asked, ==, 2 * i);
      g_assert_cmpuint (mirror->len, ==, 2);
      run (w);
      g_assert_cmpuint (w->n_asked, ==, 2 * (i + 1));
      g_assert_cmpuint (mirror->len, ==, 0);
    }
}

/* Changes the list in a handler that was connected before the feed, which gets that change first. */
static void
remove_added (GListModel *rows, guint position, guint n_removed G_GNUC_UNUSED, guint n_added, gpointer data G_GNUC_UNUSED)
{
  if (n_added > 0)
    g_list_store_remove (G_LIST_STORE (rows), position);
}

static void
test_changes_in_another_order (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_signal_connect (w->rows, "items-changed", G_CALLBACK (remove_added), NULL);
  w->in_order = TRUE;
  use_rows (w, load_row);
  prio_feed_set_view (w->feed, 0, ALL);
  for (guint i = 0; i < 5; i++)
    {
      g_autoptr (GObject) a = g_object_new (G_TYPE_OBJECT, NULL), b = g_object_new (G_TYPE_OBJECT, NULL);
      gpointer both[] = { a, b };

      g_list_store_splice (w->rows, 0, 0, both, 2);
      run (w);
      g_assert_cmpuint (n_rows (w), ==, i + 1);
    }
  prio_feed_set_view (w->feed, 0, 0);
  run (w);
  g_string_truncate (w->f.log, 0);
  prio_feed_set_view (w->feed, 0, ALL);
  run (w);
  assert_asked (w, "0 1 2 3 4 ");
}

static PrioTask *
fail_or_post_more (PrioTaskGroup *group, gpointer item G_GNUC_UNUSED, guint position, PrioTaskSignal *signal, gpointer data)
{
  World *w = data;

  w->n_asked++;
  if (position % 2 == 0)
    g_object_unref (prio_task_group_post_task (group, NULL, fails, w, NULL));
  return prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.signal = signal), fails, w, NULL);
}

static void
test_loaders_that_fail_and_post (World *w, gconstpointer data G_GNUC_UNUSED)
{
  add_rows (w, 0, 50);
  use_rows (w, fail_or_post_more);
  prio_feed_set_view (w->feed, 0, ALL);
  run (w);
  g_assert_cmpuint (w->n_asked, ==, 50);
  assert_state (w->all, PENDING);
}

/* A list with as many equal rows as the test says. */
#define HUGE_TYPE_LIST (huge_list_get_type ())
G_DECLARE_FINAL_TYPE (HugeList, huge_list, HUGE, LIST, GObject)

struct _HugeList
{
  GObject parent_instance;
  guint n_rows;
};

static GType
get_item_type (GListModel *list G_GNUC_UNUSED)
{
  return G_TYPE_OBJECT;
}

static guint
get_n_items (GListModel *list)
{
  return HUGE_LIST (list)->n_rows;
}

static gpointer
get_item (GListModel *list, guint position)
{
  return position < HUGE_LIST (list)->n_rows ? g_object_ref (list) : NULL;
}

static void
implement_list_model (GListModelInterface *interface)
{
  interface->get_item_type = get_item_type;
  interface->get_n_items = get_n_items;
  interface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (HugeList, huge_list, G_TYPE_OBJECT, G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, implement_list_model))

static void
huge_list_class_init (HugeListClass *class G_GNUC_UNUSED)
{
}

static void
huge_list_init (HugeList *self)
{
  self->n_rows = G_MAXUINT;
}

static void
test_four_billion_rows (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (HugeList) list = g_object_new (HUGE_TYPE_LIST, NULL);

  use (w, prio_feed_new_for_model (w->group, G_LIST_MODEL (list), load_row, w, released));
  prio_feed_set_view (w->feed, 4000000000u, 100);
  run (w);
  assert_asked (w, "4000000000 4000000001 4000000002 ");
  prio_feed_set_view (w->feed, G_MAXUINT, G_MAXUINT);
  g_object_set (w->feed, "look-ahead", G_MAXDOUBLE, NULL);
  run (w);
  end_one (w);
  assert_asked (w, "4000000003 ");
  prio_feed_set_view (w->feed, G_MAXUINT - 1, G_MAXUINT);
  end_one (w);
  end_one (w);
  assert_asked (w, "4294967294 4294967293 ");
  /* The list shrinks to nothing, grows, and reports wrong numbers. */
  list->n_rows = 0;
  g_list_model_items_changed (G_LIST_MODEL (list), 0, G_MAXUINT, 0);
  run (w);
  list->n_rows = 2;
  g_list_model_items_changed (G_LIST_MODEL (list), 5, 7, 3);
  while (w->open->len > 0)
    end_one (w);
  assert_asked (w, "0 1 ");
}

static void
test_negative_and_other_numbers (World *w, gconstpointer data G_GNUC_UNUSED)
{
  gboolean demotes;
  double look_ahead;

  feed_rows (w, 10, (guint) -1, (guint) -1);
  assert_asked (w, "0 1 2 ");
  g_object_set (w->feed, "look-ahead", 0.0, "demotes", TRUE, NULL);
  g_object_get (w->feed, "look-ahead", &look_ahead, "demotes", &demotes, NULL);
  g_assert_cmpfloat (look_ahead, ==, 0);
  g_assert_true (demotes);
  g_object_set (w->feed, "look-ahead", G_MAXDOUBLE, NULL);
  run (w);
}

#define add(path, func) g_test_add ("/feed-rows/" path, World, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add ("rows-in-view-come-first", test_rows_in_view_come_first);
  add ("no-row-is-in-view-at-first", test_no_row_is_in_view_at_first);
  add ("among-rows-in-view-the-oldest-comes-first", test_among_rows_in_view_the_oldest_comes_first);
  add ("far-rows-are-never-asked-for", test_far_rows_are_never_asked_for);
  add ("a-drag-queues-nothing", test_a_drag_queues_nothing);
  add ("rows-that-need-nothing", test_rows_that_need_nothing);
  add ("the-list-changes", test_the_list_changes);
  add ("a-row-that-moves-keeps-its-task", test_a_row_that_moves_keeps_its_task);
  add ("a-row-that-leaves-is-aborted", test_a_row_that_leaves_is_aborted);
  add ("a-row-that-leaves-is-demoted", test_a_row_that_leaves_is_demoted);
  add ("a-queued-row-that-leaves-is-aborted", test_a_queued_row_that_leaves_is_aborted);
  add ("each-row-is-asked-for-once", test_each_row_is_asked_for_once);
  add ("the-window-is-asked-for", test_the_window_is_asked_for);
  add ("a-row-changes-the-list", test_a_row_changes_the_list);
  add ("two-feeds-of-a-list", test_two_feeds_of_a_list);
  add ("it-is-not-called-within-a-change", test_it_is_not_called_within_a_change);
  add ("changes-in-another-order", test_changes_in_another_order);
  add ("loaders-that-fail-and-post", test_loaders_that_fail_and_post);
  add ("four-billion-rows", test_four_billion_rows);
  add ("negative-and-other-numbers", test_negative_and_other_numbers);
  return g_test_run ();
}
