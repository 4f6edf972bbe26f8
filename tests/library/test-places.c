/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-places.c: a task of a group takes a free place while other sources have their turn */

#include "frozen-time.h"
#include "helpers.h"

#define MS 1000

/* A source that is always ready; its first dispatch returns the result of a deferred task. */
typedef struct
{
  Fixture *f;
  PrioTask *deferred; /* or NULL */
  gint64 takes;       /* µs, each time */
  guint n_left;
} Other;

static void
defer (PrioTask *task, gpointer data)
{
  Other *other = data;

  g_string_append_c (other->f->log, 'a');
  prio_task_defer (task);
  other->deferred = g_object_ref (task);
}

static gboolean
run_other (gpointer data)
{
  Other *other = data;

  g_string_append_c (other->f->log, 'x');
  frozen_time += other->takes;
  if (other->deferred != NULL)
    prio_task_return_boolean (other->deferred, TRUE);
  g_clear_object (&other->deferred);
  return --other->n_left > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static void
begin_other (Step *step)
{
  Other *other = step->data;
  GSource *source = g_timeout_source_new (0);

  g_source_set_ready_time (source, 0);
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, run_other, other, NULL);
  g_source_attach (source, other->f->context);
  g_source_unref (source);
  /* The turn of other sources begins. */
  frozen_time += 2 * MS;
}

static void
post_task (Fixture *f, char letter, void (*then) (Step *step), gpointer data)
{
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING }, step_run,
                            step_new (f, letter, then, data), step_free);
}

static gboolean
do_nothing (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static void
post_c_and_d (Fixture *f, Other *other)
{
  post_task (f, 'c', begin_other, other);
  /* The loop does not read the clock after each of these tasks. */
  for (guint i = 0; i < 1000; i++)
    prio_scheduler_post (f->scheduler, USER_BLOCKING, do_nothing, NULL, NULL);
  post_task (f, 'd', NULL, NULL);
}

/* Runs a task 'c' after which other sources have their turn, while 'a' has the group's one place, and 'b' and 'd'
 * wait. */
static void
run_beside (Fixture *f, Other *other, gboolean is_older)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_BLOCKING);

  other->f = f;
  frozen_time = g_get_monotonic_time ();
  g_object_unref (prio_task_group_post_task (group, NULL, defer, other, NULL));
  if (is_older)
    post_c_and_d (f, other);
  g_object_unref (prio_task_group_post_task (group, NULL, step_run_task, step_new (f, 'b', NULL, NULL), step_free));
  if (!is_older)
    post_c_and_d (f, other);
  fixture_run (f);
  frozen_time = 0;
}

static void
test_place_in_the_turn_of_others (Fixture *f, gconstpointer data)
{
  run_beside (f, &(Other) { .n_left = 5 }, FALSE);
  g_assert_cmpstr (f->log->str, ==, "acxbxxxxd");
}

/* A task that takes a free place does not overtake older tasks. */
static void
test_place_after_what_is_older (Fixture *f, gconstpointer data)
{
  run_beside (f, &(Other) { .n_left = 5 }, TRUE);
  g_assert_cmpstr (f->log->str, ==, "acxxxxxdb");
}

/* If the turn of other sources does not end, a due frame comes before the next task. */
static void
test_place_in_a_long_turn (Fixture *f, gconstpointer data)
{
  run_beside (f, &(Other) { .n_left = 2, .takes = 6 * MS }, FALSE);
  g_assert_cmpstr (f->log->str, ==, "acxxbd");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define add_test(path, func) g_test_add (path, Fixture, NULL, fixture_set_up, func, fixture_tear_down)
  add_test ("/places/in-the-turn-of-others", test_place_in_the_turn_of_others);
  add_test ("/places/after-what-is-older", test_place_after_what_is_older);
  add_test ("/places/in-a-long-turn", test_place_in_a_long_turn);
  return g_test_run ();
}
