/* test-react-calls.c: what else React's Scheduler has: the frame rate, paints, wrapped callbacks, the first task, continuations
 *
 * Tests are named after the functions of that Scheduler.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "frozen-fixture.h"

static void
set_up (Fixture *f, gconstpointer data)
{
  frozen_set_up (f, data);
  step_n_freed = 0;
}

/* The slice is the whole milliseconds of a frame. */
static void
test_force_frame_rate (Fixture *f, gconstpointer data)
{
  static const struct { gint fps; guint slice; } rates[] = {
    { 125, 8 * MS }, { 60, 16 * MS }, { 30, 33 * MS }, { 7, 142 * MS }, { 1, 1000 * MS }, { 0, 5 * MS }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      prio_scheduler_force_frame_rate (f->scheduler, rates[i].fps);
      g_assert_cmpuint (prio_scheduler_get_time_slice (f->scheduler), ==, rates[i].slice);
    }
  if (!HAS_CHECKS)
    return;

  prio_scheduler_force_frame_rate (f->scheduler, 30);
  assert_told ("*prio_scheduler_force_frame_rate(): -1 is no rate*0 to 125*", prio_scheduler_force_frame_rate (f->scheduler, -1));
  assert_told ("*126 is no rate that can be forced*", prio_scheduler_force_frame_rate (f->scheduler, 126));
  g_assert_cmpuint (prio_scheduler_get_time_slice (f->scheduler), ==, 33 * MS);
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

/* yieldInterval: as long as that a task goes on. */
static void
test_yield_interval (Fixture *f, gconstpointer data)
{
  post_step (f, USER_BLOCKING, 'a', step_use_frame, NULL);
  assert_ran (f, "a5");
  prio_scheduler_force_frame_rate (f->scheduler, 125);
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
  prio_scheduler_request_paint (step->f->scheduler);
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

/* needsPaint: other sources have their turn before the next task, and it is reset by that. */
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
  prio_scheduler_request_paint (((Fixture *) data)->scheduler);
  ask (data);
  return G_SOURCE_REMOVE;
}

static gpointer
request_elsewhere (gpointer data)
{
  prio_scheduler_request_paint (data);
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
  prio_scheduler_request_paint (f->scheduler);
  attach_source (f->context, G_PRIORITY_DEFAULT, request_in_handler, f);
  assert_ran (f, "01");
  post_step (f, USER_BLOCKING, 'a', step_request_elsewhere, NULL);
  assert_ran (f, "a0");
}

static gboolean
log_priority (gpointer data)
{
  Step *step = data;

  g_string_append_printf (step->f->log, "%d%s", prio_scheduler_get_current_priority (step->f->scheduler),
                          prio_scheduler_did_timeout (step->f->scheduler) ? "!" : "");
  return step->letter == 'y';
}

static void
step_wrap (Step *step)
{
  *(gpointer *) step->data = prio_scheduler_wrap_callback (step->f->scheduler, log_priority, step_new (step->f, 'y', NULL, NULL),
                                                           step_free);
}

static void
step_call (Step *step)
{
  g_assert_true (prio_scheduler_call_wrapped (step->data));
}

/* As often as it is called, wherever. */
static void
test_wrap_callback (Fixture *f, gconstpointer data)
{
  gpointer wrapped, outside;
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller), .timeout = PRIO_TIMEOUT_IMMEDIATE },
                            step_run, step_new (f, 'a', step_wrap, &wrapped), step_free);
  assert_ran (f, "a");
  outside = prio_scheduler_wrap_callback (f->scheduler, log_priority, step_new (f, 'n', NULL, NULL), step_free);
  g_assert_true (prio_scheduler_call_wrapped (wrapped));
  post_step (f, USER_BLOCKING, 'b', step_call, wrapped);
  assert_ran (f, "1!b1!");
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  g_assert_true (prio_scheduler_call_wrapped (wrapped));
  g_assert_false (prio_scheduler_call_wrapped (outside));
  assert_ran (f, "3!2");
  g_assert_cmpuint (step_n_freed, ==, 2);
  prio_scheduler_free_wrapped (wrapped);
  prio_scheduler_free_wrapped (outside);
  g_assert_cmpuint (step_n_freed, ==, 4);
  g_object_unref (controller);
}

/* It fits GLib's functions. */
static void
test_wrap_callback_for_a_source (Fixture *f, gconstpointer data)
{
  GSource *source = g_idle_source_new ();

  g_source_set_callback (source, prio_scheduler_call_wrapped,
                         prio_scheduler_wrap_callback (f->scheduler, log_priority, step_new (f, 'n', NULL, NULL), step_free),
                         prio_scheduler_free_wrapped);
  g_source_attach (source, f->context);
  g_source_unref (source);
  assert_ran (f, "2");
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
  g_autoptr (PrioTask) first = prio_scheduler_get_first_task (f->scheduler);

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
  late = post_task (f, &(PrioTaskOptions) { .priority = BACKGROUND, .timeout = PRIO_TIMEOUT_IMMEDIATE }, 'l');
  assert_first (f, late);
  prio_task_cancel (late);
  prio_task_cancel (delayed);
  assert_first (f, high);
  post_letter (f, USER_BLOCKING, 'x');
  assert_first (f, NULL);
  g_assert_cmpuint (prio_scheduler_get_pending (f->scheduler), ==, 4);
  assert_ran (f, "xhbc");
  assert_first (f, NULL);
}

static void
step_first (Step *step)
{
  g_autoptr (PrioTask) first = prio_scheduler_get_first_task (step->f->scheduler);

  g_string_append (step->f->log, first != NULL ? prio_task_get_name (first) : "-");
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
    g_autoptr (PrioTask) first = prio_scheduler_get_first_task (f->scheduler);

    g_assert_cmpstr (prio_task_get_name (first), ==, "one");
  }
  /* As long as there is no place in the group. */
  assert_ran (f, "gowngowno");
}

static gpointer
first_elsewhere (gpointer data)
{
  assert_told ("*prio_scheduler_get_first_task(): *on the thread that runs*",
               g_assert_null (prio_scheduler_get_first_task (data)));
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

static void
continue_task (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  if (step->letter < 'c')
    prio_task_continue_with (task, continue_task, step_new (step->f, (char) (step->letter + 1), NULL, step->data), step_free);
  else if (step->data != NULL)
    ((void (*) (PrioTask *task)) step->data) (task);
}

static PrioTask *
post_continued (Fixture *f, const PrioTaskOptions *options, void (*end) (PrioTask *task))
{
  return prio_scheduler_post_task (f->scheduler, options, continue_task, step_new (f, 'a', NULL, (gpointer) end), step_free);
}

/* The next function is called before new tasks of the priority, and after what is more urgent. */
static void
test_continuation (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post_continued (f, NULL, NULL);

  post_letter (f, USER_VISIBLE, 'x');
  post_letter (f, BACKGROUND, 'y');
  assert_ran (f, "abcxy");
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpuint (step_n_freed, ==, 5);
}

static void
return_five (PrioTask *task)
{
  prio_task_return_int (task, 5);
}

static PrioTask *deferred;

static void
defer (PrioTask *task)
{
  prio_task_defer (task);
  deferred = g_object_ref (task);
}

static void
test_continuation_results (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = post_continued (f, NULL, return_five), later = NULL;
  g_autoptr (GError) error = NULL;

  assert_ran (f, "abc");
  g_assert_cmpint (prio_task_propagate_int (task, &error), ==, 5);
  g_assert_no_error (error);

  later = post_continued (f, NULL, defer);
  assert_ran (f, "abc");
  g_assert_cmpint (prio_task_get_state (later), ==, PRIO_TASK_STATE_RUNNING);
  prio_task_return_boolean (deferred, TRUE);
  g_clear_object (&deferred);
  fixture_run (f);
  g_assert_true (prio_task_propagate_boolean (later, NULL));
}

/* One of a group keeps its place. */
static void
test_continuation_in_a_group (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);

  for (guint i = 0; i < 2; i++)
    g_object_unref (prio_task_group_post_task (group, NULL, continue_task, step_new (f, 'a', NULL, NULL), step_free));
  assert_ran (f, "abcabc");
  g_assert_cmpuint (prio_task_group_get_pending (group), ==, 0);
}

static void
drop_scheduler (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_clear_object (&step->f->scheduler);
  prio_task_continue_with (task, continue_task, step, NULL);
}

static void
test_continuation_scheduler_goes (Fixture *f, gconstpointer data)
{
  Step step = { f, 'a', NULL, NULL };
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, NULL, drop_scheduler, &step, NULL);

  assert_ran (f, "abc");
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_FULFILLED);
}

static void
abort_now (Step *step)
{
  prio_task_controller_abort (step->data, NULL);
}

/* If it is aborted between two of its functions, the next is not called. */
static void
test_continuation_aborted (Fixture *f, gconstpointer data)
{
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTask) task = post_continued (f, &(PrioTaskOptions) { .signal = signal_of (controller) }, NULL);

  prio_scheduler_set_time_slice (f->scheduler, 0);
  while (f->log->len == 0)
    g_main_context_iteration (f->context, FALSE);
  post_step (f, USER_BLOCKING, 'x', abort_now, controller);
  fixture_run (f);
  g_assert_true (prio_task_get_state (task) >= PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpstr (f->log->str, ==, "ax");
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_object_unref (controller);
}

static void
continue_and_abort (PrioTask *task, gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, step->letter);
  prio_task_continue_with (task, continue_task, step_new (step->f, 'b', NULL, NULL), step_free);
  if (step->data != NULL)
    prio_task_controller_abort (step->data, NULL);
  else
    prio_task_cancel (task);
}

static void
test_continuation_is_not_called (Fixture *f, gconstpointer data)
{
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) },
                                                            continue_and_abort,
                                                            step_new (f, 'a', NULL, i == 1 ? controller : NULL), step_free);

      assert_ran (f, "a");
      g_assert_true (g_error_matches (prio_task_get_error (task), G_IO_ERROR, G_IO_ERROR_CANCELLED));
      g_assert_cmpuint (step_n_freed, ==, 2 * i + 2);
    }
  g_object_unref (controller);
}

static void
return_and_continue (PrioTask *task, gpointer data)
{
  prio_task_return_boolean (task, TRUE);
  assert_told ("prio_task_continue_with: *is not in its function*", prio_task_continue_with (task, continue_task, NULL, NULL));
}

static void
test_continuation_misused (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = prio_scheduler_post_task (f->scheduler, NULL, return_and_continue, NULL, NULL);

  assert_told ("prio_task_continue_with: *is not in its function*", prio_task_continue_with (task, continue_task, NULL, NULL));
  fixture_run (f);
  g_assert_true (prio_task_propagate_boolean (task, NULL));
  if (HAS_CHECKS)
    assert_told ("*func is NULL*", prio_task_continue_with (task, NULL, NULL, NULL));
}

/* What the context leaves behind. */
static void
test_continuation_context_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) task = NULL;

  prio_scheduler_set_time_slice (f->scheduler, 0);
  task = post_continued (f, NULL, NULL);
  while (f->log->len == 0)
    g_main_context_iteration (f->context, FALSE);
  fixture_drop_context (f);
  g_assert_cmpuint (step_n_freed, ==, f->log->len == 3 ? 3 : f->log->len + 1);
  g_assert_true (prio_task_get_state (task) >= PRIO_TASK_STATE_FULFILLED);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add ("/react/" path, Fixture, NULL, set_up, func, fixture_tear_down)
  add ("forceFrameRate", test_force_frame_rate);
  add ("yieldInterval", test_yield_interval);
  add ("requestPaint: needsPaint", test_request_paint);
  add ("requestPaint: anywhere", test_request_paint_anywhere);
  add ("wrapCallback", test_wrap_callback);
  add ("wrapCallback: for a source", test_wrap_callback_for_a_source);
  add ("getFirstCallbackNode", test_first_callback_node);
  add ("getFirstCallbackNode: groups", test_first_of_groups);
  add ("getFirstCallbackNode: on another thread", test_first_elsewhere);
  add ("workLoop: a continuation that is another function", test_continuation);
  add ("workLoop: results of continuations", test_continuation_results);
  add ("workLoop: a continuation is aborted", test_continuation_aborted);
  add ("workLoop: a continuation that is not called", test_continuation_is_not_called);
  add ("workLoop: no continuation", test_continuation_misused);
  add ("workLoop: a continuation in a group", test_continuation_in_a_group);
  add ("workLoop: the scheduler goes", test_continuation_scheduler_goes);
  add ("workLoop: the context goes", test_continuation_context_goes);
  return g_test_run ();
}
