/* test-observer-ends.c: when an observer comes and goes, whatever destroy notifies do meanwhile
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "loop/prio-observer-private.h"

#include "prio-sched.h"

#include <glib/gstdio.h>

static GString *told;

static void
run_all (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
assert_told (const char *expected)
{
  g_assert_cmpstr (told->str, ==, expected);
  g_string_truncate (told, 0);
}

static gboolean
once (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static gpointer
abort_elsewhere (gpointer controller)
{
  prio_task_controller_abort (controller, NULL);
  return NULL;
}

static void
stop_trace (gpointer data)
{
  prio_trace_stop ();
  g_string_append_c (told, 's');
}

/* What another thread has aborted is released by the call that ends the trace. */
static gboolean
stop_trace_after_abort (gpointer controller)
{
  g_thread_join (g_thread_new ("another", abort_elsewhere, controller));
  prio_trace_stop ();
  g_string_append_c (told, 'S');
  return G_SOURCE_REMOVE;
}

static void
test_trace_stopped_in_a_destroy_notify (void)
{
  g_autofree char *folder = g_dir_make_tmp ("observer-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "trace.json", NULL);
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
      PrioTaskOptions options = { .signal = G_CANCELLABLE (prio_task_controller_get_signal (controller)) };
      g_autofree char *trace = NULL;

      g_assert_true (prio_trace_start (path, NULL));
      g_assert_true (prio_scheduler_post_full (scheduler, &options, once, scheduler, stop_trace));
      prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_BLOCKING, stop_trace_after_abort, controller, NULL);
      run_all ();
      assert_told ("sS");
      g_assert_true (g_file_get_contents (path, &trace, NULL, NULL));
      g_assert_true (g_str_has_suffix (trace, "]\n"));
    }
  g_remove (path);
  g_rmdir (folder);
}

static void
fill_trace (PrioScheduler *scheduler)
{
  for (guint i = 0; i < 4000; i++)
    prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = "a task that makes the file larger" }, once, NULL, NULL);
  run_all ();
}

/* A trace that has ended by its size costs nothing any more, and another one may begin, which has all that waits. */
static void
test_trace_ends_by_its_size (void)
{
  g_autofree char *folder = g_dir_make_tmp ("observer-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "trace.json", NULL);
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);

  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (prio_trace_start (path, NULL));
      g_assert_true (prio_observers_exist ());
      g_test_expect_message ("PrioSched", G_LOG_LEVEL_WARNING, "*ends early: it has reached its size*");
      fill_trace (scheduler);
      g_test_assert_expected_messages ();
      g_assert_false (prio_observers_exist ());
    }
  prio_trace_stop ();
  g_remove (path);
  g_rmdir (folder);
}

static gpointer
watch_elsewhere (gpointer data)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);

  prio_scheduler_set_long_task_threshold (scheduler, PRIO_LONG_TASK_THRESHOLD);
  return NULL;
}

static void
await_watch (gpointer data)
{
  g_thread_join (g_thread_new ("another", watch_elsewhere, NULL));
  g_string_append_c (told, 'w');
}

/* What the call that begins to watch releases, of any loop, may wait for a thread that begins to watch too. */
static void
test_watch_in_a_destroy_notify (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL), other = prio_scheduler_new (context);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  PrioTaskOptions options = { .signal = G_CANCELLABLE (prio_task_controller_get_signal (controller)) };

  prio_scheduler_post_full (other, &options, once, NULL, await_watch);
  g_thread_join (g_thread_new ("another", abort_elsewhere, controller));
  prio_scheduler_set_long_task_threshold (scheduler, PRIO_LONG_TASK_THRESHOLD);
  assert_told ("w");
  prio_scheduler_set_long_task_threshold (scheduler, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  told = g_string_new (NULL);
  g_setenv ("PRIO_SCHED_TRACE_SIZE", "1", TRUE);
  g_test_add_func ("/observer/trace-stopped-in-a-destroy-notify", test_trace_stopped_in_a_destroy_notify);
  g_test_add_func ("/observer/trace-ends-by-its-size", test_trace_ends_by_its_size);
  g_test_add_func ("/observer/watch-in-a-destroy-notify", test_watch_in_a_destroy_notify);
  return g_test_run ();
}
