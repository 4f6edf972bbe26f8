/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-group-id.c: tasks of groups that a runner runs, and waits for them */

#include <prio-sched-bindings.h>
#include "frozen-time.h"
#include "helpers.h"

/* A runner whose tasks log the letter of their number.  A small letter keeps its place until the test returns it; a
 * capital letter is a wait that is over. */
typedef struct
{
  Fixture *f;
  PrioRunner *runner;
  PrioTaskGroup *group;
  guint handles[128]; /* by number */
  GString *aborted;
  PrioTask *ended_by; /* task that ended the last wait, held, or NULL */
  guint ended_with;   /* handle of that task, or 0 */
  GError *error;      /* error of the last failed wait */
  gboolean ends, waits_for_itself;
} Run;

static void
end_wait (Run *run, guint id)
{
  g_clear_object (&run->ended_by);
  g_clear_error (&run->error);
  if (!prio_task_group_finish_id (run->group, id, &run->ended_by, &run->ended_with, &run->error))
    g_string_append_c (run->f->log, '!');
}

static void
run_tasks (guint id, gpointer user_data)
{
  Run *run = user_data;

  if (id == 0)
    {
      gsize n;
      g_autofree guint *rejected = prio_runner_take_rejected (run->runner, &n);

      for (gsize i = 0; i < n; i++)
        g_string_append_c (run->aborted, (gchar) rejected[i]);
    }

  for (; id != 0; id = prio_runner_next ())
    {
      g_string_append_c (run->f->log, (gchar) id);
      if (g_ascii_isupper ((gchar) id))
        end_wait (run, id);
      else if (run->waits_for_itself)
        prio_task_group_wait_id (run->group, run->group, run->handles[id], PRIO_TASK_GROUP_WAIT_DRAINED, NULL,
                                 run->runner, 'W');
      if (run->ends && prio_runner_end ())
        g_string_append_c (run->aborted, (gchar) id);
    }
}

static void
set_up (Run *run, Fixture *f)
{
  *run = (Run) { .f = f, .aborted = g_string_new (NULL) };
  run->runner = prio_runner_new (f->scheduler, run_tasks, run, NULL);
  run->group = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
}

static void
tear_down (Run *run)
{
  g_clear_object (&run->ended_by);
  g_clear_error (&run->error);
  g_assert_finalize_object (g_steal_pointer (&run->group));
  g_clear_object (&run->f->scheduler);
  fixture_run (run->f);
  g_clear_pointer (&run->runner, prio_runner_unref);
  g_string_free (run->aborted, TRUE);
}

static void
post (Run *run, char id, gint priority, gpointer signal)
{
  PrioPostResult posted;

  run->handles[(guint) id] = prio_task_group_post_id (run->group, run->runner, (guint) id, priority, signal, 0, 0, FALSE, "named", NULL,
                                                           &posted);
  g_assert_cmpuint (run->handles[(guint) id], !=, 0);
  g_assert_cmpint (posted, ==, PRIO_POST_RESULT_OUTSIDE);
}

static void
return_id (Run *run, char id, const char *failure)
{
  prio_task_group_return_id (run->group, run->handles[(guint) id], failure);
}

/* Places and ages follow the same rules as for other tasks of a group. */
static void
test_places (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  for (const char *id = "abcd"; *id != '\0'; id++)
    post (&run, *id, PRIO_TASK_PRIORITY_UNSET, NULL);
  post (&run, 'e', USER_BLOCKING, NULL);
  g_assert_cmpuint (prio_task_group_get_n_tasks (run.group), ==, 5);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ea");
  return_id (&run, 'c', NULL); /* it has not started, and is cancelled */
  return_id (&run, 'a', NULL);
  return_id (&run, 'a', NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "eab");
  return_id (&run, 'c', NULL);
  prio_task_group_return_id (run.group, 12345, NULL);
  return_id (&run, 'e', "it has failed");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "eabd");
  g_assert_cmpstr (run.aborted->str, ==, "c");
  return_id (&run, 'b', NULL);
  return_id (&run, 'd', NULL);
  fixture_run (f);
  g_assert_cmpuint (prio_task_group_get_n_tasks (run.group), ==, 0);
  tear_down (&run);
}

static void
test_waits (Fixture *f, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Run run;

  set_up (&run, f);
  post (&run, 'a', PRIO_TASK_PRIORITY_UNSET, NULL);
  post (&run, 'b', PRIO_TASK_PRIORITY_UNSET, NULL);
  prio_task_group_wait_id (run.group, NULL, 0, PRIO_TASK_GROUP_WAIT_FIRST, NULL, run.runner, 'F');
  fixture_run (f);
  return_id (&run, 'a', "it has failed");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abF");
  g_assert_cmpuint (run.ended_with, ==, run.handles['a']);

  prio_task_group_wait_id (run.group, NULL, 0, PRIO_TASK_GROUP_WAIT_ANY, NULL, run.runner, 'N');
  prio_task_group_wait_id (run.group, NULL, 0, PRIO_TASK_GROUP_WAIT_DRAINED, cancellable, run.runner, 'C');
  g_cancellable_cancel (cancellable);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abFC!");
  g_assert_error (run.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  return_id (&run, 'b', NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abFC!N");
  g_assert_cmpuint (run.ended_with, ==, run.handles['b']);
  tear_down (&run);
}

/* A task that waits for its own group does not wait for itself. */
static void
test_for_itself (Fixture *f, gconstpointer data)
{
  Run run;

  set_up (&run, f);
  run.waits_for_itself = TRUE;
  post (&run, 'a', PRIO_TASK_PRIORITY_UNSET, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "aW");
  return_id (&run, 'a', NULL);
  fixture_run (f);
  tear_down (&run);
}

static void
return_at_once (PrioTask *task, gpointer data)
{
  prio_task_return_boolean (task, TRUE);
}

static void
test_aborts (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (GCancellable) combined = NULL;
  g_autoptr (PrioTask) other = NULL;
  PrioPostResult posted = PRIO_POST_RESULT_OUTSIDE;
  Run run;

  set_up (&run, f);
  run.ends = TRUE;
  post (&run, 'a', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller));
  post (&run, 'b', PRIO_TASK_PRIORITY_UNSET, NULL);
  post (&run, 'c', PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller));
  fixture_run (f);
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
  g_assert_cmpstr (run.aborted->str, ==, "c");
  return_id (&run, 'a', NULL);

  /* The signal is aborted before the post, so the runner is not called. */
  g_assert_cmpuint (prio_task_group_post_id (run.group, run.runner, 'd', PRIO_TASK_PRIORITY_UNSET,
                                             cancellable_of (controller), 0, 0, FALSE, NULL, &combined,
                                             &posted), ==, 0);
  g_assert_cmpint (posted, ==, PRIO_POST_RESULT_REJECTED);
  g_assert_true (g_cancellable_is_cancelled (combined));

  other = prio_task_group_post_task (run.group, NULL, return_at_once, NULL, NULL);
  prio_task_group_wait_id (run.group, NULL, 0, PRIO_TASK_GROUP_WAIT_FIRST, NULL, run.runner, 'F');
  prio_task_group_abort (run.group, NULL);
  fixture_run (f);
  g_assert_cmpstr (run.aborted->str, ==, "c");
  g_assert_cmpuint (prio_task_group_get_n_tasks (run.group), ==, 1);
  return_id (&run, 'b', NULL);
  fixture_run (f);
  g_assert_cmpuint (prio_task_group_get_n_tasks (run.group), ==, 0);
  tear_down (&run);
}

static void
test_bad_input (Fixture *f, gconstpointer data)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  g_autoptr (PrioTaskGroup) elsewhere = prio_task_group_new (scheduler, 1, USER_VISIBLE);
  Run run;

  if (!HAS_CHECKS)
    return;

  set_up (&run, f);
  assert_told ("*have one main context*",
               prio_task_group_post_id (elsewhere, run.runner, 'a', PRIO_TASK_PRIORITY_UNSET, NULL, 0, 0, FALSE, NULL,
                                        NULL, NULL));
  assert_told ("*have one main context*",
               prio_task_group_wait_id (elsewhere, NULL, 0, PRIO_TASK_GROUP_WAIT_ALL, NULL, run.runner, 'A'));
  assert_told ("*id != 0*",
               prio_task_group_post_id (run.group, run.runner, 0, PRIO_TASK_PRIORITY_UNSET, NULL, 0, 0, FALSE, NULL,
                                        NULL, NULL));
  assert_told ("*ended != NULL*", prio_task_group_finish_id (run.group, 'A', NULL, NULL, NULL));
  assert_told ("*NULL is not a PrioTaskGroup*",
               prio_task_group_post_id (NULL, run.runner, 'a', PRIO_TASK_PRIORITY_UNSET, NULL, 0, 0, FALSE, NULL, NULL,
                                        NULL));
  tear_down (&run);
}

/* The timeout counts from the end of the delay, and 0 means none. */
static void
test_timeouts (Fixture *f, gconstpointer data)
{
  const char *ids = "abcd";
  const gint timeouts[] = { 0, 100000, -1, 0 };
  const guint64 delays[] = { 0, 0, 0, 1 };
  Run run;

  set_up (&run, f);
  prio_task_group_set_limit (run.group, 1);
  /* No delay ends too early; the slowness of this machine does not matter. */
  frozen_time = g_get_monotonic_time ();
  for (guint i = 0; ids[i] != 0; i++)
    {
      g_autoptr (GCancellable) combined = NULL;

      run.handles[(guint) ids[i]] = prio_task_group_post_id (run.group, run.runner, (guint) ids[i], BACKGROUND, NULL, delays[i],
                                                             timeouts[i], FALSE, NULL, &combined, NULL);
      g_assert_true (combined == G_CANCELLABLE (prio_task_group_get_signal (run.group)));
    }
  for (const char *id = "cab"; *id != 0; id++)
    {
      g_assert_cmpuint (prio_runner_get_first (run.runner), ==, *id);
      fixture_run (f);
      return_id (&run, *id, NULL);
    }
  g_assert_cmpuint (prio_runner_get_first (run.runner), ==, 0);
  frozen_time = 0;
  while (f->log->len < 4)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpstr (f->log->str, ==, "cabd");
  return_id (&run, 'd', NULL);
  fixture_run (f);
  tear_down (&run);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/group-id/places", test_places);
  add_test ("/group-id/waits", test_waits);
  add_test ("/group-id/for-itself", test_for_itself);
  add_test ("/group-id/aborts", test_aborts);
  add_test ("/group-id/bad-input", test_bad_input);
  add_test ("/group-id/timeouts", test_timeouts);

  return g_test_run ();
}
