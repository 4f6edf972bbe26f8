/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-idle.c: idle periods, frames, and when to yield */

#include "frozen-time.h"
#include "helpers.h"

static double last_remaining; /* ms */
static gint64 last_begun;     /* µs */
static gboolean last_timed_out;

static void
idle_step (PrioIdleDeadline *deadline, gpointer data)
{
  last_begun = g_get_monotonic_time ();
  last_remaining = prio_idle_deadline_get_time_remaining (deadline);
  last_timed_out = prio_idle_deadline_did_timeout (deadline);
  step_run (data);
}

static guint
request (Fixture *f, guint timeout, char letter, void (*then) (Step *step), gpointer data)
{
  return prio_scheduler_request_idle_callback (f->scheduler, timeout, idle_step, step_new (f, letter, then, data),
                                               step_free);
}

static void
run_until_length (Fixture *f, guint length)
{
  while (f->log->len < length)
    g_main_context_iteration (f->context, TRUE);
}

static gboolean
mark (gpointer data)
{
  g_string_append_c (data, 's');
  return G_SOURCE_REMOVE;
}

static void
test_after_everything_else (Fixture *f, gconstpointer data)
{
  GSource *source = g_idle_source_new ();

  request (f, 0, 'i', NULL, NULL);
  request (f, 0, 'j', NULL, NULL);
  post_letter (f, BACKGROUND, '0');
  g_source_set_priority (source, G_PRIORITY_LOW);
  g_source_set_callback (source, mark, f->log, NULL);
  g_source_attach (source, f->context);
  g_source_unref (source);
  frozen_time = g_get_monotonic_time ();
  run_until_length (f, 4);
  frozen_time = 0;

  g_assert_true (g_str_has_suffix (f->log->str, "ij"));
  g_assert_cmpfloat (last_remaining, >, 0);
  g_assert_cmpfloat (last_remaining, <=, 50);
  g_assert_false (last_timed_out);
}

static void
request_again (Step *step)
{
  request (step->f, 0, step->letter + 1, NULL, NULL);
}

/* A callback that is requested in a period waits for the next period, which is after its deadline. */
static void
test_requested_in_a_period (Fixture *f, gconstpointer data)
{
  gint64 start = g_get_monotonic_time ();

  request (f, 0, 'a', request_again, NULL);
  request (f, 0, 'x', NULL, NULL);
  run_until_length (f, 3);
  g_assert_cmpstr (f->log->str, ==, "axb");
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 49000);
}

static void
post_blocking (Step *step)
{
  post_letter (step->f, USER_BLOCKING, '!');
}

static void
test_one_callback_per_task (Fixture *f, gconstpointer data)
{
  request (f, 0, 'a', post_blocking, NULL);
  request (f, 0, 'b', NULL, NULL);
  run_until_length (f, 3);
  g_assert_cmpstr (f->log->str, ==, "a!b");
}

/* Waits for too long, because the machine was stopped, prove nothing. */
static void
test_ends_at_the_next_delay (Fixture *f, gconstpointer data)
{
  gint64 due = g_get_monotonic_time () + 30000;

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE, .delay = 30 }, step_run,
                            step_new (f, 'd', NULL, NULL), step_free);
  request (f, 0, 'i', NULL, NULL);
  run_until_length (f, 2);
  if (last_begun < due)
    {
      g_assert_cmpfloat (last_remaining, <=, 30);
      g_assert_cmpstr (f->log->str, ==, "id");
    }
}

static void
test_ends_at_the_next_frame (Fixture *f, gconstpointer data)
{
  gint64 frame = g_get_monotonic_time () + 30000;

  prio_scheduler_set_next_frame (f->scheduler, frame);
  g_assert_cmpint (prio_scheduler_get_next_frame (f->scheduler), ==, frame);
  request (f, 0, 'i', NULL, NULL);
  run_until_length (f, 1);
  if (last_begun < frame)
    g_assert_cmpfloat (last_remaining, <=, 30);
}

static gboolean
keep_busy (gpointer data)
{
  Fixture *f = data;

  return f->log->len == 0;
}

/* Without an idle period, the callback is called at its timeout. */
static void
test_timeout (Fixture *f, gconstpointer data)
{
  prio_scheduler_post (f->scheduler, BACKGROUND, keep_busy, f, NULL);
  request (f, 5, 't', NULL, NULL);
  run_until_length (f, 1);
  g_assert_true (last_timed_out);
  g_assert_cmpfloat (last_remaining, ==, 0);

  /* The callback is called only once. */
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "t");
}

static void
test_timeout_not_needed (Fixture *f, gconstpointer data)
{
  guint freed = step_n_freed;

  request (f, 1, 'i', NULL, NULL);
  g_main_context_iteration (f->context, FALSE);
  run_until_length (f, 1);
  g_usleep (3000);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "i");
  g_assert_cmpuint (step_n_freed - freed, ==, 1);
}

static void
cancel_data (Step *step)
{
  prio_scheduler_cancel_idle_callback (step->f->scheduler, GPOINTER_TO_UINT (step->data));
}

static void
test_cancel (Fixture *f, gconstpointer data)
{
  guint freed = step_n_freed;
  guint later, first;

  first = request (f, 1000, 'x', NULL, NULL);
  g_assert_cmpuint (first, >, 0);
  prio_scheduler_cancel_idle_callback (f->scheduler, first);
  prio_scheduler_cancel_idle_callback (f->scheduler, first);
  prio_scheduler_cancel_idle_callback (f->scheduler, 0);
  g_assert_cmpuint (step_n_freed - freed, ==, 1);

  /* The cancelled callback is part of the running period already. */
  request (f, 0, 'a', cancel_data, GUINT_TO_POINTER (first + 2));
  later = request (f, 0, 'y', NULL, NULL);
  g_assert_cmpuint (later, ==, first + 2);
  request (f, 0, 'b', NULL, NULL);
  run_until_length (f, 2);
  g_assert_cmpstr (f->log->str, ==, "ab");
  g_assert_cmpuint (step_n_freed - freed, ==, 4);
}

static void
resumed (GObject *source, GAsyncResult *result, gpointer data)
{
  Step *step = data;

  g_assert_true (prio_scheduler_yield_finish (step->f->scheduler, result, NULL));
  step_run (step);
  step_free (step);
}

static void
yield_among_others (Step *step)
{
  prio_scheduler_yield_async (step->f->scheduler, NULL, resumed, step_new (step->f, 'y', NULL, NULL));
  post_letter (step->f, BACKGROUND, '0');
  post_letter (step->f, USER_VISIBLE, '1');
}

static void
test_yield_inherits_background (Fixture *f, gconstpointer data)
{
  request (f, 0, 'i', yield_among_others, NULL);
  run_until_length (f, 4);
  g_assert_cmpstr (f->log->str, ==, "i1y0");
}

static void
test_destroyed_context (Fixture *f, gconstpointer data)
{
  guint freed = step_n_freed;

  for (guint i = 0; i < 100; i++)
    request (f, i % 2 * 1000, 'x', NULL, NULL);
  fixture_drop_context (f);
  g_assert_cmpuint (step_n_freed - freed, ==, 100);
}

/* With nothing to do, the context sleeps, both before and after a callback. */
static gint last_timeout;

static gint
watch_poll (GPollFD *fds, guint n_fds, gint timeout)
{
  last_timeout = timeout;
  return g_poll (fds, n_fds, 0);
}

static void
test_sleeps_afterwards (Fixture *f, gconstpointer data)
{
  request (f, 0, 'i', NULL, NULL);
  run_until_length (f, 1);
  fixture_run (f);
  g_main_context_set_poll_func (f->context, watch_poll);
  g_main_context_iteration (f->context, TRUE);
  g_assert_cmpint (last_timeout, ==, -1);
}

/* should_yield () */

static gboolean
ask_until_told (gpointer data)
{
  Step *step = data;

  while (!prio_scheduler_should_yield (step->f->scheduler))
    ;
  g_assert_true (prio_scheduler_should_yield (step->f->scheduler));
  return step_run (step);
}

static void
test_should_yield_for_a_frame (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_time_slice (f->scheduler, 60000);
  prio_scheduler_set_next_frame (f->scheduler, g_get_monotonic_time () + 5000);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, ask_until_told, step_new (f, 'a', NULL, NULL), step_free);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
}

static void
test_should_yield_for_a_delay (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_time_slice (f->scheduler, 60000);
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING, .delay = 2 }, step_run,
                            step_new (f, 'd', NULL, NULL), step_free);
  prio_scheduler_post (f->scheduler, BACKGROUND, ask_until_told, step_new (f, 'a', NULL, NULL), step_free);
  run_until_length (f, 2);
  g_assert_cmpstr (f->log->str, ==, "ad");
}

/* The priority of a task that follows a signal is the signal's current one. */
static void
ask_while_priority_falls (Step *step)
{
  PrioScheduler *scheduler = step->f->scheduler;

  prio_scheduler_set_time_slice (scheduler, 60000);
  post_letter (step->f, USER_VISIBLE, 'b');
  g_assert_false (prio_scheduler_should_yield (scheduler));
  prio_task_controller_set_priority (step->data, BACKGROUND, NULL);
  g_assert_true (prio_scheduler_should_yield (scheduler));
}

static void
test_should_yield_as_the_signal_says (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);

  post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'a', ask_while_priority_falls,
                    controller);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
}

static void
keep_deadline (PrioIdleDeadline *deadline, gpointer data)
{
  PrioIdleDeadline **kept = data;

  *kept = prio_idle_deadline_copy (deadline);
}

/* The deadline of a callback is freed when the callback returns.  A copy is still valid, and reports the end of the
 * period. */
static void
test_copy_of_a_deadline (Fixture *f, gconstpointer data)
{
  PrioIdleDeadline *kept = NULL, *again;

  frozen_time = g_get_monotonic_time ();
  prio_scheduler_request_idle_callback (f->scheduler, 0, keep_deadline, &kept, NULL);
  while (kept == NULL)
    g_main_context_iteration (f->context, TRUE);
  again = prio_idle_deadline_copy (kept);
  g_assert_cmpfloat (prio_idle_deadline_get_time_remaining (kept), >, 0);
  prio_idle_deadline_free (kept);

  g_assert_cmpfloat (prio_idle_deadline_get_time_remaining (again), >, 0);
  g_assert_false (prio_idle_deadline_did_timeout (again));
  frozen_time += G_USEC_PER_SEC;
  g_assert_cmpfloat (prio_idle_deadline_get_time_remaining (again), ==, 0);
  prio_idle_deadline_free (again);
  frozen_time = 0;
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/idle/after-everything-else", test_after_everything_else);
  add_test ("/idle/requested-in-a-period", test_requested_in_a_period);
  add_test ("/idle/one-callback-per-task", test_one_callback_per_task);
  add_test ("/idle/ends-at-the-next-delay", test_ends_at_the_next_delay);
  add_test ("/idle/ends-at-the-next-frame", test_ends_at_the_next_frame);
  add_test ("/idle/timeout", test_timeout);
  add_test ("/idle/timeout-not-needed", test_timeout_not_needed);
  add_test ("/idle/cancel", test_cancel);
  add_test ("/idle/yield-inherits-background", test_yield_inherits_background);
  add_test ("/idle/copy-of-a-deadline", test_copy_of_a_deadline);
  add_test ("/idle/destroyed-context", test_destroyed_context);
  add_test ("/idle/sleeps-afterwards", test_sleeps_afterwards);
  add_test ("/should-yield/for-a-frame", test_should_yield_for_a_frame);
  add_test ("/should-yield/for-a-delay", test_should_yield_for_a_delay);
  add_test ("/should-yield/as-the-signal-says", test_should_yield_as_the_signal_says);

  return g_test_run ();
}
