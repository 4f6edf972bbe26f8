/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-react-calls.c: the library for React: levels, the frame rate, paints, wrapped callbacks, the first task
 *
 * Tests are named after the functions of that Scheduler.
 */

#include <prio-sched-react.h>
#include "frozen-fixture.h"

static void
set_up (Fixture *f, gconstpointer data)
{
  frozen_set_up (f, data);
  step_n_freed = 0;
}

/* The slice is the frame's duration in whole milliseconds. */
static void
test_force_frame_rate (Fixture *f, gconstpointer data)
{
  static const struct { gint fps; double slice; } rates[] = {
    { 125, 8 }, { 60, 16 }, { 30, 33 }, { 7, 142 }, { 1, 1000 }, { 0, -1 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      prio_react_force_frame_rate (f->scheduler, rates[i].fps);
      g_assert_cmpfloat (prio_scheduler_get_time_slice (f->scheduler), ==, rates[i].slice);
    }
  if (!HAS_CHECKS)
    return;

  prio_react_force_frame_rate (f->scheduler, 30);
  assert_told ("*prio_react_force_frame_rate(): -1 is not a rate*0 to 125*", prio_react_force_frame_rate (f->scheduler, -1));
  assert_told ("*126 is not a rate that can be forced*", prio_react_force_frame_rate (f->scheduler, 126));
  g_assert_cmpfloat (prio_scheduler_get_time_slice (f->scheduler), ==, 33);
}

static void
step_use_frame (Step *step)
{
  guint ms = 0;

  while (!prio_scheduler_should_yield (step->f->scheduler))
    {
      frozen_time += MS;
      ms++;
    }
  g_string_append_printf (step->f->log, "%u", ms);
}

/* yieldInterval: a task runs for the length of a slice. */
static void
test_yield_interval (Fixture *f, gconstpointer data)
{
  post_step (f, USER_BLOCKING, 'a', step_use_frame, NULL);
  assert_ran (f, "a5");
  prio_react_force_frame_rate (f->scheduler, 125);
  post_step (f, USER_BLOCKING, 'b', step_use_frame, NULL);
  assert_ran (f, "b8");
}

static void
ask (Fixture *f)
{
  g_string_append_c (f->log, prio_scheduler_should_yield (f->scheduler) ? '1' : '0');
}

static void
step_request (Step *step)
{
  ask (step->f);
  prio_react_request_paint (step->f->scheduler);
  ask (step->f);
  ask (step->f);
}

static gboolean
log_g (gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, 'g');
  return G_SOURCE_REMOVE;
}

static void
step_ask (Step *step)
{
  ask (step->f);
}

/* needsPaint: other sources have their turn before the next task, which resets it. */
static void
test_request_paint (Fixture *f, gconstpointer data)
{
  attach_source (f->context, G_PRIORITY_DEFAULT, log_g, f);
  post_letter (f, USER_BLOCKING, 'a');
  post_letter (f, USER_BLOCKING, 'b');
  assert_ran (f, "abg");

  attach_source (f->context, G_PRIORITY_DEFAULT, log_g, f);
  post_step (f, USER_BLOCKING, 'a', step_request, NULL);
  for (guint i = 0; i < 3; i++)
    post_step (f, USER_BLOCKING, 'b', step_ask, NULL);
  assert_ran (f, "a011gb0b0b0");
}

static gboolean
request_in_handler (gpointer data)
{
  ask (data);
  prio_react_request_paint (((Fixture *) data)->scheduler);
  ask (data);
  return G_SOURCE_REMOVE;
}

static gpointer
request_elsewhere (gpointer data)
{
  prio_react_request_paint (data);
  return NULL;
}

static void
step_request_elsewhere (Step *step)
{
  g_thread_join (g_thread_new ("painter", request_elsewhere, step->f->scheduler));
  ask (step->f);
}

static void
test_request_paint_anywhere (Fixture *f, gconstpointer data)
{
  prio_react_request_paint (f->scheduler);
  attach_source (f->context, G_PRIORITY_DEFAULT, request_in_handler, f);
  assert_ran (f, "01");
  post_step (f, USER_BLOCKING, 'a', step_request_elsewhere, NULL);
  assert_ran (f, "a0");
}

static gboolean
log_level (gpointer data)
{
  Step *step = data;

  g_string_append_printf (step->f->log, "%d%s", prio_react_get_current_level (step->f->scheduler),
                          prio_scheduler_did_timeout (step->f->scheduler) ? "!" : "");
  return step->letter == 'y';
}

static void
step_wrap (Step *step)
{
  *(gpointer *) step->data = prio_react_wrap_callback (step->f->scheduler, log_level, step_new (step->f, 'y', NULL, NULL),
                                                           step_free);
}

static void
step_call (Step *step)
{
  g_assert_true (prio_react_call_wrapped (step->data));
}

/* A wrapped function can be called often, and anywhere. */
static void
test_wrap_callback (Fixture *f, gconstpointer data)
{
  gpointer wrapped, outside;
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller), .timeout = PRIO_REACT_TIMEOUT_IMMEDIATE },
                            step_run, step_new (f, 'a', step_wrap, &wrapped), step_free);
  assert_ran (f, "a");
  outside = prio_react_wrap_callback (f->scheduler, log_level, step_new (f, 'n', NULL, NULL), step_free);
  g_assert_true (prio_react_call_wrapped (wrapped));
  post_step (f, USER_BLOCKING, 'b', step_call, wrapped);
  assert_ran (f, "4!b4!");
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  g_assert_true (prio_react_call_wrapped (wrapped));
  g_assert_false (prio_react_call_wrapped (outside));
  assert_ran (f, "2!3");
  g_assert_cmpuint (step_n_freed, ==, 2);
  prio_react_free_wrapped (wrapped);
  prio_react_free_wrapped (outside);
  g_assert_cmpuint (step_n_freed, ==, 4);
  g_object_unref (controller);
}

/* A wrapped callback can be used with GLib's functions. */
static void
test_wrap_callback_for_a_source (Fixture *f, gconstpointer data)
{
  GSource *source = g_idle_source_new ();

  g_source_set_callback (source, prio_react_call_wrapped,
                         prio_react_wrap_callback (f->scheduler, log_level, step_new (f, 'n', NULL, NULL), step_free),
                         prio_react_free_wrapped);
  g_source_attach (source, f->context);
  g_source_unref (source);
  assert_ran (f, "3");
  g_assert_cmpuint (step_n_freed, ==, 1);
}

static PrioTask *
post_task (Fixture *f, const PrioTaskOptions *options, char letter)
{
  return prio_scheduler_post_task (f->scheduler, options, step_run_task, step_new (f, letter, NULL, NULL), step_free);
}

static void
assert_first (Fixture *f, PrioTask *expected)
{
  g_autoptr (PrioTask) first = prio_react_dup_first_task (f->scheduler);

  g_assert_true (first == expected);
}

static void
test_first_callback_node (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) low = NULL, low2 = NULL, high = NULL, delayed = NULL, late = NULL;

  assert_first (f, NULL);
  delayed = post_task (f, &(PrioTaskOptions) { .priority = USER_BLOCKING, .delay = 10 }, 'd');
  assert_first (f, NULL);
  low = post_task (f, &(PrioTaskOptions) { .priority = BACKGROUND }, 'b');
  low2 = post_task (f, &(PrioTaskOptions) { .priority = BACKGROUND, .name = "second" }, 'c');
  assert_first (f, low);
  prio_scheduler_pause (f->scheduler);
  assert_first (f, low);
  prio_scheduler_resume (f->scheduler);
  high = post_task (f, NULL, 'h');
  assert_first (f, high);
  frozen_time += 10 * MS;
  assert_first (f, delayed);
  late = post_task (f, &(PrioTaskOptions) { .priority = BACKGROUND, .timeout = -1 }, 'l');
  assert_first (f, late);
  prio_task_cancel (late);
  prio_task_cancel (delayed);
  assert_first (f, high);
  post_letter (f, USER_BLOCKING, 'x');
  assert_first (f, NULL);
  g_assert_cmpuint (prio_scheduler_count_pending (f->scheduler), ==, 4);
  assert_ran (f, "xhbc");
  assert_first (f, NULL);
}

static void
step_first (Step *step)
{
  g_autoptr (PrioTask) first = prio_react_dup_first_task (step->f->scheduler);
  g_autofree char *name = first != NULL ? prio_task_dup_name (first) : NULL;

  g_string_append (step->f->log, first != NULL ? name : "-");
}

static void
test_first_of_groups (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_BLOCKING);
  g_autoptr (PrioTask) own = NULL;

  own = post_task (f, &(PrioTaskOptions) { .name = "own" }, 'o');
  for (guint i = 0; i < 2; i++)
    g_object_unref (prio_task_group_post_task (group, &(PrioTaskOptions) { .name = i == 0 ? "one" : "two" }, step_run_task,
                                               step_new (f, 'g', step_first, NULL), step_free));
  {
    g_autoptr (PrioTask) first = prio_react_dup_first_task (f->scheduler);
    g_autofree char *name = prio_task_dup_name (first);

    g_assert_cmpstr (name, ==, "one");
  }
  /* The group has no free place meanwhile. */
  assert_ran (f, "gowngowno");
}

static gpointer
first_elsewhere (gpointer data)
{
  assert_told ("*prio_scheduler_dup_first_task(): *on the thread that runs*",
               g_assert_null (prio_react_dup_first_task (data)));
  return NULL;
}

static void
test_first_elsewhere (Fixture *f, gconstpointer data)
{
  PrioTask *task = post_task (f, NULL, 'a');

  g_thread_join (g_thread_new ("asker", first_elsewhere, f->scheduler));
  g_object_unref (task);
  assert_ran (f, "a");
}

/* Runs as a task of @level, and logs its level and its letter, which is a capital if its timeout had passed. */
static void
tell_level (PrioTask *task, gpointer data)
{
  Step *step = data;
  gboolean late = prio_scheduler_did_timeout (step->f->scheduler);

  g_string_append_printf (step->f->log, "%c%d", late ? g_ascii_toupper (step->letter) : step->letter,
                          prio_react_get_current_level (step->f->scheduler));
}

static void
schedule (Fixture *f, PrioReactLevel level, guint64 delay, char letter)
{
  g_object_unref (prio_react_schedule_callback (f->scheduler, level, delay, tell_level, step_new (f, letter, NULL, NULL), step_free));
}

static void
test_levels (Fixture *f, gconstpointer data)
{
  static const struct { PrioReactLevel level; PrioTaskPriority priority; gint timeout; } levels[] = {
    { PRIO_REACT_LEVEL_IMMEDIATE, USER_BLOCKING, -1 }, { PRIO_REACT_LEVEL_USER_BLOCKING, USER_BLOCKING, 250 },
    { PRIO_REACT_LEVEL_NORMAL, USER_VISIBLE, 5000 }, { PRIO_REACT_LEVEL_LOW, BACKGROUND, 10000 },
    { PRIO_REACT_LEVEL_IDLE, BACKGROUND, 0 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      g_assert_cmpint (levels[i].level, ==, i + 1);
      g_assert_cmpint (prio_react_level_get_priority (levels[i].level), ==, levels[i].priority);
      g_assert_cmpint (prio_react_level_get_timeout (levels[i].level), ==, levels[i].timeout);
    }
  schedule (f, PRIO_REACT_LEVEL_LOW, 0, 'd');
  schedule (f, PRIO_REACT_LEVEL_IDLE, 0, 'e');
  schedule (f, PRIO_REACT_LEVEL_NORMAL, 0, 'c');
  schedule (f, PRIO_REACT_LEVEL_USER_BLOCKING, 0, 'b');
  schedule (f, PRIO_REACT_LEVEL_IMMEDIATE, 0, 'a');
  assert_ran (f, "A1b2c3d4e5");
  g_assert_cmpuint (step_n_freed, ==, 5);
}

static void
test_level_timeouts (Fixture *f, gconstpointer data)
{
  for (PrioReactLevel level = PRIO_REACT_LEVEL_USER_BLOCKING; level <= PRIO_REACT_LEVEL_LOW; level++)
    for (guint before = 0; before < 2; before++)
      {
        schedule (f, level, 20, 'a');
        frozen_time += 20 * MS;
        fixture_run (f);
        g_string_truncate (f->log, 0);

        schedule (f, level, 0, 'a');
        prio_scheduler_pause (f->scheduler);
        frozen_time += (prio_react_level_get_timeout (level) - (gint) before) * MS;
        prio_scheduler_resume (f->scheduler);
        fixture_run (f);
        g_assert_cmpint (f->log->str[0], ==, before ? 'a' : 'A');
        g_string_truncate (f->log, 0);
      }

  /* The timeout never passes. */
  schedule (f, PRIO_REACT_LEVEL_IDLE, 0, 'a');
  frozen_time += (gint64) 1073741823 * MS;
  post_letter (f, USER_BLOCKING, 'x');
  assert_ran (f, "xa5");
}

static void
level_once (gpointer data)
{
  Step *step = data;

  g_string_append_printf (step->f->log, "%d", prio_react_get_current_level (step->f->scheduler));
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  Step *step = data;

  g_assert_true (prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, NULL));
  g_string_append_c (step->f->log, 'y');
  level_once (step);
}

static void
yield_once (gpointer data)
{
  Step *step = data;

  level_once (step);
  prio_scheduler_yield_async (step->f->scheduler, NULL, yielded, step->data);
}

static void
step_other_levels (Step *step)
{
  for (PrioReactLevel level = PRIO_REACT_LEVEL_IMMEDIATE; level <= PRIO_REACT_LEVEL_IDLE; level++)
    prio_react_run_with_level (step->f->scheduler, level, level_once, step);
  level_once (step);
  prio_react_run_with_level (step->f->scheduler, PRIO_REACT_LEVEL_IMMEDIATE, yield_once, step);
}

/* An expired task keeps its own level; the continuation of a yield has the level that is closest to its priority. */
static void
test_run_with_level (Fixture *f, gconstpointer data)
{
  Step outside = { f, 'o', NULL, NULL }, after = { f, 'b', NULL, &outside };

  level_once (&outside);
  prio_react_run_with_level (f->scheduler, PRIO_REACT_LEVEL_IDLE, level_once, &outside);
  level_once (&outside);
  post_step (f, BACKGROUND, 'a', step_other_levels, &after);
  post_letter (f, USER_BLOCKING, 'x');
  assert_ran (f, "353xa1234541y2");
}

static void
step_level (Step *step)
{
  level_once (step);
}

static void
run_nested (PrioTask *task, gpointer data)
{
  Step *step = data;

  level_once (step);
  post_step (step->f, USER_BLOCKING, 'n', step_level, NULL);
  fixture_run (step->f);
  level_once (step);
}

/* previousPriorityLevel: after a task the level is as before.  Callbacks of a nested main loop have their own level. */
static void
test_flush_work (Fixture *f, gconstpointer data)
{
  post_step (f, USER_BLOCKING, 'a', step_level, NULL);
  post_step (f, BACKGROUND, 'b', step_level, NULL);
  assert_ran (f, "a2b4");
  g_assert_cmpint (prio_react_get_current_level (f->scheduler), ==, PRIO_REACT_LEVEL_NORMAL);
  g_object_unref (prio_react_schedule_callback (f->scheduler, PRIO_REACT_LEVEL_IMMEDIATE, 0, run_nested,
                                                step_new (f, 'c', NULL, NULL), step_free));
  assert_ran (f, "1n21");
}

static gpointer
level_elsewhere (gpointer data)
{
  Step step = { data, 't', NULL, NULL };

  level_once (&step);
  prio_react_run_with_level (((Fixture *) data)->scheduler, PRIO_REACT_LEVEL_IMMEDIATE, level_once, &step);
  return NULL;
}

/* On another thread there is no state. */
static void
step_in_thread (Step *step)
{
  g_thread_join (g_thread_new ("another", level_elsewhere, step->f));
}

static void
test_level_elsewhere (Fixture *f, gconstpointer data)
{
  post_step (f, USER_BLOCKING, 'a', step_in_thread, NULL);
  assert_ran (f, "a33");
}

static void
test_misused (Fixture *f, gconstpointer data)
{
  PrioReactLevel none = (PrioReactLevel) 6;

  assert_told ("*prio_react_schedule_callback(): 6 is not a PrioReactLevel (1–5)*",
               g_assert_null (prio_react_schedule_callback (f->scheduler, none, 0, tell_level, NULL, step_free)));
  assert_told ("*prio_react_run_with_level(): 0 is not a PrioReactLevel*",
               prio_react_run_with_level (f->scheduler, (PrioReactLevel) 0, level_once, NULL));
  assert_told ("*prio_react_level_get_priority(): 6 *", prio_react_level_get_priority (none));
  assert_told ("*prio_react_level_get_timeout(): 6 *", prio_react_level_get_timeout (none));
  if (HAS_CHECKS)
    assert_told ("*func != NULL*", g_assert_null (prio_react_schedule_callback (f->scheduler, PRIO_REACT_LEVEL_LOW, 0, NULL, NULL, NULL)));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add ("/react/" path, Fixture, NULL, set_up, func, fixture_tear_down)
  add ("scheduleCallback: levels", test_levels);
  add ("scheduleCallback: timeoutForPriorityLevel", test_level_timeouts);
  add ("scheduleCallback: no level", test_misused);
  add ("runWithPriority, getCurrentPriorityLevel", test_run_with_level);
  add ("flushWork: previousPriorityLevel", test_flush_work);
  add ("getCurrentPriorityLevel: on another thread", test_level_elsewhere);
  add ("forceFrameRate", test_force_frame_rate);
  add ("yieldInterval", test_yield_interval);
  add ("requestPaint: needsPaint", test_request_paint);
  add ("requestPaint: anywhere", test_request_paint_anywhere);
  add ("wrapCallback", test_wrap_callback);
  add ("wrapCallback: for a source", test_wrap_callback_for_a_source);
  add ("getFirstCallbackNode", test_first_callback_node);
  add ("getFirstCallbackNode: groups", test_first_of_groups);
  add ("getFirstCallbackNode: on another thread", test_first_elsewhere);
  return g_test_run ();
}
