/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-feed-ends.c: the ends of feeds, and waits for their tasks */

#include "feed-world.h"
#include "tsan-suppressions.h"

static void
forget (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
  ((World *) data)->n_asked++;
}

static PrioTask *
next_that_forgets (PrioTaskGroup *group, gpointer data)
{
  World *w = data;

  return w->n_left-- > 0 ? prio_task_group_post_task (group, NULL, forget, w, released) : NULL;
}

static PrioTask *
row_that_forgets (PrioTaskGroup *group, gpointer item G_GNUC_UNUSED, guint position G_GNUC_UNUSED, PrioTaskSignal *signal,
                  gpointer data)
{
  return prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.signal = signal), forget, data, released);
}

static void
run_with_warnings (World *w, guint n)
{
  for (guint i = 0; i < n; i++)
    g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "*the last reference to it has been dropped*");
  run (w);
  g_test_assert_expected_messages ();
}

/* The feed does not hold its tasks. */
static void
test_a_forgotten_task_fails (World *w, gconstpointer data G_GNUC_UNUSED)
{
  prio_task_group_set_limit (w->group, 1);
  w->n_left = 3;
  use (w, prio_feed_new (w->group, next_that_forgets, w, NULL));
  run_with_warnings (w, 3);
  g_assert_cmpuint (w->n_released, ==, 3);
  assert_state (w->all, FULFILLED);

  add_rows (w, 0, 3);
  use (w, prio_feed_new_for_model (w->group, G_LIST_MODEL (w->rows), row_that_forgets, w, NULL));
  prio_feed_set_view (w->feed, 0, ALL);
  run_with_warnings (w, 3);
  g_assert_cmpuint (w->n_released, ==, 6);
  g_assert_cmpuint (w->n_asked, ==, 6);
  g_assert_cmpuint (prio_task_group_get_n_tasks (w->group), ==, 0);
}

static PrioTask *
forget_in_thread (PrioTaskGroup *group, gpointer data)
{
  World *w = data;

  return w->n_left-- > 0 ? prio_task_group_run_in_thread (group, NULL, forget, w, released) : NULL;
}

static void
test_a_task_forgotten_in_a_thread_fails (World *w, gconstpointer data G_GNUC_UNUSED)
{
  prio_task_group_set_limit (w->group, 1);
  w->n_left = 1;
  use (w, prio_feed_new (w->group, forget_in_thread, w, NULL));
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "*the last reference to it has been dropped*");
  while (prio_task_get_state (w->all) == PRIO_TASK_STATE_PENDING)
    g_main_context_iteration (w->f.context, TRUE);
  g_test_assert_expected_messages ();
  assert_state (w->all, FULFILLED);
}

/* After an abort */

/* Must not be called: the feed has ended. */
static PrioTask *
never_again (PrioTaskGroup *group G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  g_assert_not_reached ();
}

static PrioTask *
never_again_for_row (PrioTaskGroup *group G_GNUC_UNUSED, gpointer item G_GNUC_UNUSED, guint position G_GNUC_UNUSED,
                     PrioTaskSignal *signal G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  g_assert_not_reached ();
}

static void
make_room (gpointer data)
{
  World *w = data;

  w->n_released++;
  add_rows (w, 0, 1);
  prio_task_group_set_limit (w->group, 100);
  if (w->feed != NULL)
    prio_feed_set_view (w->feed, 0, 5);
  while (g_main_context_iteration (w->f.context, FALSE))
    ;
}

static void
test_an_abort_is_the_end_whatever_happens_in_it (World *w, gconstpointer data)
{
  gboolean by_hand = data != NULL;
  g_autoptr (PrioTask) queued = NULL;
  g_autoptr (PrioFeed) second = NULL, third = NULL;

  prio_task_group_set_limit (w->group, 2);
  g_object_unref (prio_task_group_post_task (w->group, NULL, stay_open, w, NULL));
  g_object_unref (prio_task_group_post_task (w->group, NULL, stay_open, w, NULL));
  queued = prio_task_group_post_task (w->group, NULL, stay_open, w, make_room);
  run (w);
  second = prio_feed_new (w->group, never_again, w, make_room);
  third = prio_feed_new (w->group, never_again, w, make_room);
  use (w, prio_feed_new_for_model (w->group, G_LIST_MODEL (w->rows), never_again_for_row, w, make_room));
  prio_feed_set_view (w->feed, 0, ALL);
  run (w);
  if (by_hand)
    g_cancellable_cancel (G_CANCELLABLE (prio_task_group_get_signal (w->group)));
  else
    prio_task_group_abort (w->group, NULL);
  run (w);
  g_assert_cmpuint (w->n_released, ==, 4);
  assert_state (w->all, ABORTED);
  assert_state (prio_feed_get_task (second), ABORTED);
}

static void
test_a_cancel_is_the_end_whatever_happens_in_it (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioFeed) second = NULL;

  prio_task_group_set_limit (w->group, 1);
  g_object_unref (prio_task_group_post_task (w->group, NULL, stay_open, w, NULL));
  run (w);
  use (w, prio_feed_new_for_model (w->group, G_LIST_MODEL (w->rows), never_again_for_row, w, make_room));
  second = prio_feed_new (w->group, never_again, w, released);
  run (w);
  prio_task_cancel (prio_feed_get_task (second));
  prio_task_cancel (w->all);
  make_room (w);
  run (w);
  g_assert_cmpuint (w->n_released, ==, 3);
}

/* The function ends its feed */

typedef enum
{
  ABORT,
  CANCEL,
  DROP,
  ABORT_AND_ITERATE,
  N_ENDS
} End;

static gboolean is_called;
static End how;

static void
not_during_the_call (gpointer data)
{
  g_assert_false (is_called);
  ((World *) data)->n_released++;
}

static void
end_feed (World *w)
{
  switch (how)
    {
    case CANCEL: prio_task_cancel (w->all); break;
    case DROP: g_clear_object (&w->feed); break;
    default: prio_task_group_abort (w->group, NULL);
    }
  if (how == ABORT_AND_ITERATE)
    while (g_main_context_iteration (w->f.context, FALSE))
      ;
}

static PrioTask *
end_in_row (PrioTaskGroup *group, gpointer item G_GNUC_UNUSED, guint position G_GNUC_UNUSED, PrioTaskSignal *signal, gpointer data)
{
  World *w = data;
  PrioTask *task;

  is_called = TRUE;
  if (++w->n_asked == 3)
    end_feed (w);
  task = prio_task_group_post_task (group, &PRIO_TASK_OPTIONS (.signal = signal), stay_open, w, NULL);
  is_called = FALSE;
  return task;
}

static PrioTask *
end_in_next (PrioTaskGroup *group, gpointer data)
{
  return end_in_row (group, NULL, 0, NULL, data);
}

static void
test_data_is_released_after_the_call (World *w, gconstpointer data G_GNUC_UNUSED)
{
  prio_task_group_set_limit (w->group, 8);
  add_rows (w, 0, 10);
  for (how = ABORT; how < N_ENDS; how++)
    for (guint i = 0; i < 2; i++)
      {
        w->n_asked = w->n_released = 0;
        use (w, i == 0 ? prio_feed_new (w->group, end_in_next, w, not_during_the_call)
                       : prio_feed_new_for_model (w->group, G_LIST_MODEL (w->rows), end_in_row, w, not_during_the_call));
        if (i == 1)
          prio_feed_set_view (w->feed, 0, ALL);
        run (w);
        g_assert_cmpuint (w->n_asked, ==, 3);
        g_assert_cmpuint (w->n_released, ==, 1);
        assert_state (w->all, ABORTED);
        while (w->open->len > 0)
          end_one (w);
      }
}

/* Dropped */

static void
test_a_dropped_feed_ends (World *w, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) row = NULL;

  feed_rows (w, 100, 0, 50);
  row = g_object_ref (w->open->pdata[0]);
  g_clear_object (&w->feed);
  run (w);
  assert_state (w->all, ABORTED);
  g_assert_cmpuint (w->n_released, ==, 1);
  g_assert_true (prio_task_return_error_if_aborted (row));
  g_ptr_array_remove_index (w->open, 0);
  while (w->open->len > 0)
    end_one (w);
  g_assert_cmpuint (w->n_asked, ==, 3);
}

static gpointer
drop (gpointer feed)
{
  g_object_unref (feed);
  return NULL;
}

static void
test_another_thread_drops_it (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed_rows (w, 100, 0, 50);
  g_thread_join (g_thread_new ("dropper", drop, g_steal_pointer (&w->feed)));
  while (w->open->len > 0)
    end_one (w);
  assert_state (w->all, ABORTED);
  g_assert_cmpuint (w->n_released, ==, 1);
  g_assert_cmpuint (w->n_asked, ==, 3);
}

static void
test_a_dropped_feed_is_demoted (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed_rows (w, 100, 0, 50);
  g_object_set (w->feed, "demotes", TRUE, NULL);
  g_clear_object (&w->feed);
  run (w);
  g_assert_cmpint (prio_task_get_priority (w->open->pdata[0]), ==, BACKGROUND);
  g_assert_false (prio_task_return_error_if_aborted (w->open->pdata[0]));
}

static void
count_gone (gpointer n, GObject *object G_GNUC_UNUSED)
{
  ++*(guint *) n;
}

/* The context is freed although tasks of rows have not ended. */
static void
test_the_context_goes_with_open_rows (World *w, gconstpointer data G_GNUC_UNUSED)
{
  guint n_gone = 0;

  feed_rows (w, 100, 0, 50);
  g_object_weak_ref (G_OBJECT (w->group), count_gone, &n_gone);
  g_object_weak_ref (G_OBJECT (w->rows), count_gone, &n_gone);
  g_clear_object (&w->group);
  g_clear_object (&w->rows);
  fixture_drop_context (&w->f);
  g_assert_cmpuint (w->n_released, ==, 1);
  g_clear_object (&w->feed);
  g_clear_object (&w->all);
  for (; w->open->len > 0; g_ptr_array_remove_index (w->open, 0))
    prio_task_return_boolean (w->open->pdata[0], TRUE);
  g_assert_cmpuint (n_gone, ==, 2);
}

/* Waits and statistics */

static void
note_end (GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer data)
{
  World *w = data;

  w->in_order = TRUE;
  w->n_asked = w->n_released;
}

static void
run_and_count (PrioTask *task G_GNUC_UNUSED, gpointer data)
{
  ((World *) data)->n_released++;
}

static PrioTask *
next_that_runs (PrioTaskGroup *group, gpointer data)
{
  World *w = data;

  return w->n_left-- > 0 ? prio_task_group_post_task (group, NULL, run_and_count, w, NULL) : NULL;
}

/* A wait that begins before the first task waits for all tasks of the feed. */
static void
test_drained_is_drained (World *w, gconstpointer data G_GNUC_UNUSED)
{
  for (guint limit = 1; limit < 9; limit *= 2)
    {
      w->in_order = FALSE;
      w->n_left = 20;
      w->n_released = 0;
      prio_task_group_set_limit (w->group, limit);
      use (w, prio_feed_new (w->group, next_that_runs, w, NULL));
      prio_task_group_wait_async (w->group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, note_end, w);
      run (w);
      g_assert_true (w->in_order);
      g_assert_cmpuint (w->n_asked, ==, 20);
    }
}

static void
test_drained_of_rows (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed_rows (w, 10, 0, 0);
  prio_feed_set_view (w->feed, 0, 2);
  prio_task_group_wait_async (w->group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, note_end, w);
  run (w);
  assert_asked (w, "0 1 2 ");
  end_one (w);
  end_one (w);
  end_one (w);
  g_assert_false (w->in_order);
  end_one (w);
  g_assert_true (w->in_order);
}

/* An abort ends a wait for the tasks that the feed would have asked for. */
static void
test_drained_after_an_abort (World *w, gconstpointer data G_GNUC_UNUSED)
{
  feed (w, 100);
  prio_task_group_wait_async (w->group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, note_end, w);
  prio_task_group_abort (w->group, NULL);
  while (w->open->len > 0)
    end_one (w);
  g_assert_true (w->in_order);
}

static void
wait_ended (GObject *group, GAsyncResult *result, gpointer data)
{
  g_autoptr (PrioTask) task = data;

  prio_task_return_boolean (task, prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, NULL, NULL));
}

static void
wait_for_others (PrioTask *task, gpointer data)
{
  World *w = data;

  prio_task_defer (task);
  w->n_released++;
  prio_task_group_wait_async (w->group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, wait_ended, g_object_ref (task));
}

static PrioTask *
next_that_waits (PrioTaskGroup *group, gpointer data)
{
  World *w = data;

  return w->n_left-- > 0 ? prio_task_group_post_task (group, NULL, wait_for_others, w, NULL) : NULL;
}

/* A task of a feed gives its place away while it waits for the group, and the feed asks for the next task. */
static void
test_a_task_waits_for_the_others (World *w, gconstpointer data G_GNUC_UNUSED)
{
  prio_task_group_set_limit (w->group, 1);
  w->n_left = 3;
  use (w, prio_feed_new (w->group, next_that_waits, w, NULL));
  run (w);
  g_assert_cmpuint (w->n_released, ==, 3);
  assert_state (w->all, FULFILLED);
}

static PrioTask *
note_feed (PrioTaskGroup *group, gpointer data)
{
  Step *step = data;

  if (step->f->log->len >= 9)
    return NULL;
  step_run (step);
  return prio_task_group_post_task (group, NULL, run_and_count, step->data, NULL);
}

static void
test_feeds_of_a_group_take_turns (World *w, gconstpointer data G_GNUC_UNUSED)
{
  PrioFeed *feeds[3];

  prio_task_group_set_limit (w->group, 1);
  for (guint i = 0; i < G_N_ELEMENTS (feeds); i++)
    feeds[i] = prio_feed_new (w->group, note_feed, step_new (&w->f, (char) ('a' + i), NULL, w), step_free);
  assert_ran (&w->f, "abcabcabc");
  for (guint i = 0; i < G_N_ELEMENTS (feeds); i++)
    g_object_unref (feeds[i]);
  run (w);
}

static void
test_without_a_scheduler_no_list_is_kept (World *w, gconstpointer data G_GNUC_UNUSED)
{
  GListStore *rows = w->rows;

  g_clear_object (&w->f.scheduler);
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*the scheduler of the group has gone*");
  g_assert_null (prio_feed_new_for_model (w->group, G_LIST_MODEL (rows), load_row, w, NULL));
  g_test_assert_expected_messages ();
  g_object_add_weak_pointer (G_OBJECT (rows), (gpointer *) &rows);
  g_clear_object (&w->rows);
  g_assert_null (rows);
}

#define add(path, func) g_test_add ("/feed-ends/" path, World, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add ("a-forgotten-task-fails", test_a_forgotten_task_fails);
  add ("a-task-forgotten-in-a-thread-fails", test_a_task_forgotten_in_a_thread_fails);
  add ("an-abort-is-the-end-whatever-happens-in-it", test_an_abort_is_the_end_whatever_happens_in_it);
  g_test_add ("/feed-ends/an-abort-by-hand-is-the-end", World, "by hand", set_up, test_an_abort_is_the_end_whatever_happens_in_it, tear_down);
  add ("a-cancel-is-the-end-whatever-happens-in-it", test_a_cancel_is_the_end_whatever_happens_in_it);
  add ("data-is-released-after-the-call", test_data_is_released_after_the_call);
  add ("a-dropped-feed-ends", test_a_dropped_feed_ends);
  add ("another-thread-drops-it", test_another_thread_drops_it);
  add ("a-dropped-feed-is-demoted", test_a_dropped_feed_is_demoted);
  add ("the-context-goes-with-open-rows", test_the_context_goes_with_open_rows);
  add ("drained-is-drained", test_drained_is_drained);
  add ("drained-of-rows", test_drained_of_rows);
  add ("drained-after-an-abort", test_drained_after_an_abort);
  add ("a-task-waits-for-the-others", test_a_task_waits_for_the_others);
  add ("feeds-of-a-group-take-turns", test_feeds_of_a_group_take_turns);
  add ("without-a-scheduler-no-list-is-kept", test_without_a_scheduler_no_list_is_kept);
  return g_test_run ();
}
