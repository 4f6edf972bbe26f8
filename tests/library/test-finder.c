/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-finder.c: code on separate stacks, whose runner finds its state */

#include "helpers.h"

/* A fiber as the library sees it: code whose running only the finder knows. */
static PrioSchedulingState *found;
static gint found_depth;

static PrioSchedulingState *
find (void)
{
  return g_main_depth () == found_depth ? found : NULL;
}

static PrioSchedulingState *
find_otherwise (void)
{
  return NULL;
}

static gboolean
capture (gpointer state)
{
  *(PrioSchedulingState **) state = prio_scheduling_state_ref_current ();
  return G_SOURCE_REMOVE;
}

static void
log_priority (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Fixture *f = data;
  g_autoptr (PrioSchedulingState) state = prio_scheduling_state_ref_current ();

  g_string_append_printf (f->log, "%d", state != NULL ? prio_scheduling_state_get_priority (state) : 0);
}

static void
log_priority_once (gpointer data)
{
  log_priority (NULL, NULL, data);
}

static gboolean
do_nothing (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static void
return_nothing (PrioTask *task, gpointer data)
{
}

/* Runs a fiber in a dispatch that does not belong to a task. */
static gboolean
run_fiber (gpointer data)
{
  Fixture *f = data;
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, NULL, return_nothing, NULL, NULL);

  found_depth = g_main_depth ();
  log_priority (NULL, NULL, f);
  prio_scheduling_state_run (NULL, log_priority_once, f);
  /* The urgent task has a higher priority than the fiber. */
  g_assert_true (prio_scheduler_should_yield (f->scheduler));

  /* All of these calls inherit the fiber's priority. */
  prio_scheduler_yield_async (f->scheduler, NULL, log_priority, f);
  prio_scheduler_queue_microtask (f->scheduler, log_priority_once, f, NULL);
  prio_task_then (task, log_priority, f, NULL);
  found_depth = -1;
  log_priority (NULL, NULL, f);
  return G_SOURCE_REMOVE;
}

static void
test_finder (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GSource *source = g_idle_source_new ();

  prio_scheduler_post (f->scheduler, BACKGROUND, capture, &found, NULL);
  fixture_run (f);

  prio_scheduling_state_set_finder (find);
  prio_scheduling_state_set_finder (find);
  assert_told ("*has one already*", prio_scheduling_state_set_finder (find_otherwise));

  g_source_set_callback (source, run_fiber, f, NULL);
  g_source_attach (source, f->context);
  g_source_unref (source);
  fixture_run (f);
  /* The priorities in the fiber, without it, and after it; then in the microtask, the callback of the more urgent task,
   * and the continuation. */
  g_assert_cmpstr (f->log->str, ==, "100111");

  /* A destroy notify has no state. */
  g_string_truncate (f->log, 0);
  found_depth = g_main_depth ();
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, do_nothing, f,
                            log_priority_once);
  prio_task_controller_abort (controller, NULL);
  g_assert_cmpstr (f->log->str, ==, "0");

  g_clear_pointer (&found, prio_scheduling_state_unref);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/state/finder", test_finder);

  return g_test_run ();
}
