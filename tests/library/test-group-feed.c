/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-group-feed.c: a group asks for its next task when a place is free */

#include "helpers.h"
#include "tsan-suppressions.h"

/* A source of tasks: letters, each of which is a task that runs until the test ends it. */
typedef struct
{
  Fixture f;
  PrioTaskGroup *group;
  PrioTask *all;
  guint n_left, n_asked, n_released;
  GPtrArray *open;  /* PrioTask, deferred */
  GListStore *rows; /* objects with a number */
  gboolean in_order;
} World;

static void
set_up (World *w, gconstpointer data)
{
  fixture_set_up (&w->f, data);
  w->group = prio_task_group_new (w->f.scheduler, 3, USER_VISIBLE);
  w->open = g_ptr_array_new_with_free_func (g_object_unref);
  w->rows = g_list_store_new (G_TYPE_OBJECT);
}

static void
tear_down (World *w, gconstpointer data)
{
  g_clear_object (&w->all);
  for (guint i = 0; i < w->open->len; i++)
    prio_task_return_boolean (w->open->pdata[i], TRUE);
  g_ptr_array_unref (w->open);
  g_clear_object (&w->rows);
  g_clear_object (&w->group);
  fixture_tear_down (&w->f, data);
}

static void
released (gpointer data)
{
  ((World *) data)->n_released++;
}

static void
stay_open (PrioTask *task, gpointer data)
{
  World *w = data;

  prio_task_defer (task);
  g_ptr_array_add (w->open, g_object_ref (task));
}

static PrioTask *
next (PrioTaskGroup *group, gpointer data)
{
  World *w = data;

  w->n_asked++;
  return w->n_left-- > 0 ? prio_task_group_post_task (group, NULL, stay_open, w, NULL) : NULL;
}

static void
run (World *w)
{
  fixture_run (&w->f);
}

/* Ends the oldest running task. */
static void
end_one (World *w)
{
  g_autoptr (PrioTask) task = g_ptr_array_steal_index (w->open, 0);

  prio_task_return_boolean (task, TRUE);
  run (w);
}

static void
feed (World *w, guint n)
{
  w->n_left = n;
  w->all = prio_task_group_feed (w->group, next, w, released);
  g_assert_cmpuint (w->n_asked, ==, 0);
  run (w);
}

static void
test_it_asks_when_a_place_is_free (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed (w, 5);
  g_assert_cmpuint (w->n_asked, ==, 3);
  g_assert_cmpuint (prio_task_group_get_n_pending (w->group), ==, 3);
  end_one (w);
  g_assert_cmpuint (w->n_asked, ==, 4);
  end_one (w);
  end_one (w);
  g_assert_cmpuint (w->n_asked, ==, 6);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_PENDING);
  end_one (w);
  end_one (w);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpuint (w->n_released, ==, 1);
  g_assert_cmpuint (w->n_asked, ==, 6);
}

static void
test_none_at_all (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed (w, 0);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpuint (w->n_released, ==, 1);
}

static void
test_others_have_places_too (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) a G_GNUC_UNUSED = prio_task_group_post_task (w->group, NULL, stay_open, w, NULL);
  g_autoptr (PrioTask) b G_GNUC_UNUSED = prio_task_group_post_task (w->group, NULL, stay_open, w, NULL);
  g_autoptr (PrioTask) c G_GNUC_UNUSED = prio_task_group_post_task (w->group, NULL, stay_open, w, NULL);

  run (w);
  feed (w, 1);
  g_assert_cmpuint (w->n_asked, ==, 0);
  end_one (w);
  g_assert_cmpuint (w->n_asked, ==, 1);
  prio_task_group_set_limit (w->group, 9);
  run (w);
  g_assert_cmpuint (w->n_asked, ==, 2);
}

static void
test_an_abort_of_the_group_ends_it (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed (w, 100);
  prio_task_group_abort (w->group, NULL);
  run (w);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpuint (w->n_asked, ==, 3);
  g_assert_cmpuint (w->n_released, ==, 1);
  while (w->open->len > 0)
    end_one (w);
  g_assert_cmpuint (w->n_asked, ==, 3);

  /* The group can be used further. */
  g_clear_object (&w->all);
  w->n_asked = 0;
  feed (w, 1);
  end_one (w);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
}

static void
test_a_cancel_stops_the_feeding_alone (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed (w, 100);
  prio_task_cancel (w->all);
  run (w);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpuint (w->n_released, ==, 1);
  g_assert_cmpuint (prio_task_group_get_n_pending (w->group), ==, 3);
  end_one (w);
  g_assert_cmpuint (w->n_asked, ==, 3);
}

static PrioTask *
cancel_and_post (PrioTaskGroup *group, gpointer data)
{
  World *w = data;

  prio_task_cancel (w->all);
  return next (group, w);
}

static void
test_it_is_cancelled_by_what_it_asks (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->n_left = 5;
  w->all = prio_task_group_feed (w->group, cancel_and_post, w, released);
  run (w);
  g_assert_cmpuint (w->n_asked, ==, 1);
  g_assert_cmpuint (w->n_released, ==, 1);
}

static void
test_the_context_goes (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed (w, 100);
  g_clear_object (&w->group);
  fixture_drop_context (&w->f);
  g_assert_cmpuint (w->n_released, ==, 1);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_ABORTED);
}

static gint n_in_threads;

static void
in_thread (PrioTask *task, gpointer data G_GNUC_UNUSED)
{
  g_atomic_int_inc (&n_in_threads);
  prio_task_return_boolean (task, TRUE);
}

static PrioTask *
next_in_thread (PrioTaskGroup *group, gpointer data)
{
  World *w = data;

  return w->n_left-- > 0 ? prio_task_group_run_in_thread (group, NULL, in_thread, NULL, NULL) : NULL;
}

static void
test_functions_in_threads (World *w, gconstpointer data G_GNUC_UNUSED)
{
  n_in_threads = 0;
  w->n_left = 200;
  w->all = prio_task_group_feed (w->group, next_in_thread, w, released);
  while (prio_task_get_state (w->all) < PRIO_TASK_STATE_FULFILLED)
    g_main_context_iteration (w->f.context, TRUE);
  g_assert_cmpint (n_in_threads, ==, 200);
}

static PrioTask *
next_that_is_aborted (PrioTaskGroup *group, gpointer data)
{
  World *w = data;
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();

  g_cancellable_cancel (cancelled);
  return w->n_left-- > 0 ? prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.cancellable = cancelled), stay_open,
                                                      w, NULL) : NULL;
}

static void
test_tasks_that_are_aborted_at_once (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->n_left = 1000;
  w->all = prio_task_group_feed (w->group, next_that_is_aborted, w, released);
  run (w);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
}

/* Rows */

static PrioTask *
load_row (PrioTaskGroup *group, gpointer item, guint position, gpointer data)
{
  World *w = data;

  g_assert_true (G_IS_OBJECT (item));
  w->n_asked++;
  g_string_append_printf (w->f.log, "%u ", position);
  return w->in_order ? NULL : prio_task_group_post_task (group, NULL, stay_open, w, NULL);
}

static void
add_rows (World *w, guint position, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GObject) row = g_object_new (G_TYPE_OBJECT, NULL);

      g_list_store_insert (w->rows, position + i, row);
    }
}

static void
feed_rows (World *w, guint n)
{
  add_rows (w, 0, n);
  w->all = prio_task_group_feed_model (w->group, G_LIST_MODEL (w->rows), load_row, w, released);
  run (w);
}

#define assert_asked(w, expected)                         \
  G_STMT_START                                            \
  {                                                       \
    g_assert_cmpstr ((w)->f.log->str, ==, expected);      \
    g_string_truncate ((w)->f.log, 0);                    \
  }                                                       \
  G_STMT_END

static void
test_rows_in_view_come_first (World *w, gconstpointer data G_GNUC_UNUSED)
{
  prio_task_group_set_view (w->group, 50, 4);
  feed_rows (w, 100);
  assert_asked (w, "50 51 52 ");
  end_one (w);
  end_one (w);
  end_one (w);
  assert_asked (w, "53 54 49 ");
  prio_task_group_set_view (w->group, 90, 20);
  end_one (w);
  end_one (w);
  assert_asked (w, "90 91 ");
  prio_task_group_set_view (w->group, 1000, 5);
  end_one (w);
  end_one (w);
  assert_asked (w, "99 98 ");
  prio_task_group_set_view (w->group, 0, 0);
  end_one (w);
  end_one (w);
  assert_asked (w, "0 1 ");
}

static void
test_rows_that_need_nothing (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->in_order = TRUE;
  feed_rows (w, 5);
  assert_asked (w, "0 1 2 3 4 ");
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpfloat (prio_task_get_progress (w->all), ==, 1);
  g_assert_cmpuint (w->n_released, ==, 1);
}

static void
test_the_list_changes (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) second = NULL;

  feed_rows (w, 6);
  assert_asked (w, "0 1 2 ");
  second = g_object_ref (w->open->pdata[1]);
  g_list_store_remove (w->rows, 1);
  run (w);
  /* The task is cancelled; a task that has deferred its result notices that when it asks. */
  assert_asked (w, "");
  g_assert_true (prio_task_return_error_if_aborted (second));
  run (w);
  g_ptr_array_remove_index (w->open, 1);
  /* The former 3. */
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
  g_assert_cmpfloat (prio_task_get_progress (w->all), >, 0.4);
  g_list_store_remove_all (w->rows);
  run (w);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_PENDING);
  while (w->open->len > 0)
    end_one (w);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
  add_rows (w, 0, 1);
  run (w);
  assert_asked (w, "");
}

static PrioTask *
note_row (PrioTaskGroup *group G_GNUC_UNUSED, gpointer item, guint position, gpointer data)
{
  World *w = data;

  g_object_set_data (item, "asked", GUINT_TO_POINTER (GPOINTER_TO_UINT (g_object_get_data (item, "asked")) + 1));
  prio_task_group_set_view (w->group, (guint) g_test_rand_int_range (0, 300), (guint) g_test_rand_int_range (0, 30));
  /* Changes the list while it is read. */
  if (w->n_left > 0 && position % 3 == 0)
    {
      w->n_left--;
      add_rows (w, (guint) g_test_rand_int_range (0, (gint) g_list_model_get_n_items (G_LIST_MODEL (w->rows)) + 1), 3);
    }
  else if (w->n_left > 0 && position % 3 == 1)
    {
      w->n_left--;
      g_list_store_remove (w->rows, (guint) g_test_rand_int_range (0, (gint) g_list_model_get_n_items (G_LIST_MODEL (w->rows))));
    }
  return NULL;
}

/* Each row that exists at the end has been asked for once. */
static void
test_each_row_is_asked_for_once (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->n_left = 200;
  add_rows (w, 0, 200);
  w->all = prio_task_group_feed_model (w->group, G_LIST_MODEL (w->rows), note_row, w, released);
  run (w);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpuint (w->n_left, ==, 0);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (w->rows)); i++)
    {
      g_autoptr (GObject) row = g_list_model_get_item (G_LIST_MODEL (w->rows), i);

      g_assert_cmpuint (GPOINTER_TO_UINT (g_object_get_data (row, "asked")), ==, 1);
    }
}

/* Removes the row itself, and the row before it. */
static PrioTask *
load_and_remove (PrioTaskGroup *group, gpointer item G_GNUC_UNUSED, guint position, gpointer data)
{
  World *w = data;
  PrioTask *task = prio_task_group_post_task (group, NULL, stay_open, w, NULL);

  g_string_append_printf (w->f.log, "%u ", position);
  if (w->n_left-- == 1)
    g_list_store_splice (w->rows, position - 1, 2, NULL, 0);
  return task;
}

static void
test_a_row_changes_the_list (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->n_left = 2;
  add_rows (w, 0, 4);
  w->all = prio_task_group_feed_model (w->group, G_LIST_MODEL (w->rows), load_and_remove, w, released);
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
remove_fourth (PrioTaskGroup *group, gpointer item G_GNUC_UNUSED, guint position, gpointer data)
{
  World *w = data;

  if (position == 3)
    g_list_store_remove (w->rows, position);
  return position == 0 ? prio_task_group_post_task (group, NULL, stay_open, w, NULL) : NULL;
}

static PrioTask *
load_existing (PrioTaskGroup *group, gpointer item, guint position, gpointer data)
{
  g_assert_cmpuint (position, <, 4);
  return load_row (group, item, position, data);
}

/* The second feed is notified of a removed row before it is notified that the row was added. */
static void
test_changes_in_another_order (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskGroup) other = prio_task_group_new (w->f.scheduler, 8, USER_VISIBLE);
  g_autoptr (PrioTask) first = NULL;

  add_rows (w, 0, 3);
  first = prio_task_group_feed_model (w->group, G_LIST_MODEL (w->rows), remove_fourth, w, NULL);
  w->all = prio_task_group_feed_model (other, G_LIST_MODEL (w->rows), load_existing, w, released);
  run (w);
  assert_asked (w, "0 1 2 ");
  add_rows (w, 3, 1);
  while (w->open->len > 0)
    end_one (w);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
}

/* Returns the task of the feed itself. */
static PrioTask *
ask_for_itself (PrioTaskGroup *group G_GNUC_UNUSED, gpointer data)
{
  World *w = data;

  w->n_asked++;
  return g_object_ref (w->all);
}

static void
test_it_does_not_wait_for_itself (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->all = prio_task_group_feed (w->group, ask_for_itself, w, released);
  assert_told ("*returned the task of the feed*", run (w));
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpuint (w->n_asked, ==, 1);
}

static void
test_bad_input (World *w, gconstpointer data G_GNUC_UNUSED)
{
  if (!HAS_CHECKS)
    return;
  assert_told ("*func is NULL*", g_assert_null (prio_task_group_feed (w->group, NULL, w, released)));
  assert_told ("*func is NULL*", g_assert_null (prio_task_group_feed_model (w->group, G_LIST_MODEL (w->rows), NULL, w, released)));
  assert_told ("*NULL is not a GListModel", g_assert_null (prio_task_group_feed_model (w->group, NULL, load_row, w, released)));
  assert_told ("*NULL is not a PrioTaskGroup", g_assert_null (prio_task_group_feed (NULL, next, w, released)));
  assert_told ("*NULL is not a PrioTaskGroup", prio_task_group_set_view (NULL, 0, 1));
  g_assert_cmpuint (w->n_released, ==, 0);
}

#define add(path, func) g_test_add ("/group-feed/" path, World, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add ("it-asks-when-a-place-is-free", test_it_asks_when_a_place_is_free);
  add ("none-at-all", test_none_at_all);
  add ("others-have-places-too", test_others_have_places_too);
  add ("an-abort-of-the-group-ends-it", test_an_abort_of_the_group_ends_it);
  add ("a-cancel-stops-the-feeding-alone", test_a_cancel_stops_the_feeding_alone);
  add ("it-is-cancelled-by-what-it-asks", test_it_is_cancelled_by_what_it_asks);
  add ("the-context-goes", test_the_context_goes);
  add ("functions-in-threads", test_functions_in_threads);
  add ("tasks-that-are-aborted-at-once", test_tasks_that_are_aborted_at_once);
  add ("rows-in-view-come-first", test_rows_in_view_come_first);
  add ("rows-that-need-nothing", test_rows_that_need_nothing);
  add ("the-list-changes", test_the_list_changes);
  add ("each-row-is-asked-for-once", test_each_row_is_asked_for_once);
  add ("a-row-changes-the-list", test_a_row_changes_the_list);
  add ("changes-in-another-order", test_changes_in_another_order);
  add ("it-does-not-wait-for-itself", test_it_does_not_wait_for_itself);
  add ("bad-input", test_bad_input);
  return g_test_run ();
}
