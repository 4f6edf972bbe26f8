/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-feed.c: a group asks for its next task when a place is free */

#include "feed-world.h"
#include "tsan-suppressions.h"

static void
test_it_asks_when_a_place_is_free (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed (w, 5);
  g_assert_cmpuint (w->n_asked, ==, 3);
  g_assert_cmpuint (prio_task_group_get_n_tasks (w->group), ==, 3);
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
  g_assert_cmpuint (prio_task_group_get_n_tasks (w->group), ==, 3);
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
  use (w, prio_feed_new (w->group, cancel_and_post, w, released));
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
  use (w, prio_feed_new (w->group, next_in_thread, w, released));
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
  return w->n_left-- > 0 ? prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.cancellable = cancelled), stay_open, w, NULL) : NULL;
}

static void
test_tasks_that_are_aborted_at_once (World *w, gconstpointer data G_GNUC_UNUSED)
{
  w->n_left = 1000;
  use (w, prio_feed_new (w->group, next_that_is_aborted, w, released));
  run (w);
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
}

/* Returns the feed's own task. */
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
  use (w, prio_feed_new (w->group, ask_for_itself, w, released));
  assert_told ("*returned the task of the feed*", run (w));
  g_assert_cmpint (prio_task_get_state (w->all), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpuint (w->n_asked, ==, 1);
}

static void
test_bad_input (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioFeed) none = g_object_new (PRIO_TYPE_FEED, NULL);

  g_assert_null (prio_feed_get_task (none));
  if (!HAS_CHECKS)
    return;
  assert_told ("*func is NULL*", g_assert_null (prio_feed_new (w->group, NULL, w, released)));
  assert_told ("*func is NULL*", g_assert_null (prio_feed_new_for_model (w->group, G_LIST_MODEL (w->rows), NULL, w, released)));
  assert_told ("*NULL is not a GListModel", g_assert_null (prio_feed_new_for_model (w->group, NULL, load_row, w, released)));
  assert_told ("*NULL is not a PrioTaskGroup", g_assert_null (prio_feed_new (NULL, next, w, released)));
  assert_told ("*NULL is not a PrioFeed", prio_feed_set_view (NULL, 0, 1));
  assert_told ("*feeding != NULL*", prio_feed_set_view (none, 0, 1));
  g_assert_cmpuint (w->n_released, ==, 0);
}

#define add(path, func) g_test_add ("/feed/" path, World, NULL, set_up, func, tear_down)

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
  add ("it-does-not-wait-for-itself", test_it_does_not_wait_for_itself);
  add ("bad-input", test_bad_input);
  return g_test_run ();
}
