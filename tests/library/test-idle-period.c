/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-idle-period.c: the idle period algorithm of requestIdleCallback (), step by step, in frozen time */

#include <prio-sched-watch.h>
#include "frozen-fixture.h"

#include <fcntl.h>
#include <glib-unix.h>

/* Logs its letter, and the remaining time. */
static void
idle_step (PrioIdleDeadline *deadline, gpointer data)
{
  Step *step = data;

  g_string_append_printf (step->f->log, "%c%.0f%s", step->letter, prio_idle_deadline_get_time_remaining (deadline),
                          prio_idle_deadline_did_timeout (deadline) ? "!" : "");
  if (step->then != NULL)
    step->then (step);
}

static guint
request (Fixture *f, guint timeout, char letter, void (*then) (Step *step), gpointer data)
{
  return prio_scheduler_request_idle_callback (f->scheduler, timeout, idle_step, step_new (f, letter, then, data), step_free);
}

static void
step_take (Step *step)
{
  pass (GPOINTER_TO_INT (step->data));
}

static void
step_request (Step *step)
{
  request (step->f, 0, (char) (step->letter + 1), NULL, NULL);
}

/* 6: at most 50 ms; and the deadline says that no timeout had passed. */
static void
test_cap (Fixture *f, gconstpointer data)
{
  request (f, 0, 'a', NULL, NULL);
  request (f, 60000, 'b', NULL, NULL);
  assert_ran (f, "a50b50");
}

static double last_remaining;

static void
keep_remaining (PrioIdleDeadline *deadline, gpointer data)
{
  last_remaining = prio_idle_deadline_get_time_remaining (deadline);
}

static gboolean
tick (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* 5.1: until the next timer, of any code. */
static void
test_timers (Fixture *f, gconstpointer data)
{
  GSource *source = g_timeout_source_new (40);

  /* The time of this source is not frozen. */
  g_source_set_callback (source, tick, NULL, NULL);
  g_source_attach (source, f->context);
  last_remaining = 0;
  prio_scheduler_request_idle_callback (f->scheduler, 0, keep_remaining, NULL, NULL);
  fixture_run (f);
  g_assert_cmpfloat (last_remaining, <=, 40);
  g_source_destroy (source);
  g_source_unref (source);

  pass (100);
  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .delay = 7 }, step_run, step_new (f, 'd', NULL, NULL), step_free);
  request (f, 0, 'a', NULL, NULL);
  assert_ran (f, "a7");
  pass (7);
  assert_ran (f, "d");
}

/* 5.2, 5.3: until the next frame. */
static void
test_frames (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_next_frame (f->scheduler, frozen_time + 12 * MS);
  request (f, 0, 'a', NULL, NULL);
  assert_ran (f, "a12");
}

/* 2 and 12: no period begins before the deadline of the last one. */
static void
test_last_deadline (Fixture *f, gconstpointer data)
{
  request (f, 0, 'a', NULL, NULL);
  assert_ran (f, "a50");
  request (f, 0, 'b', NULL, NULL);
  pass (49);
  assert_ran (f, "");
  pass (1);
  assert_ran (f, "b50");
}

/* 7 to 10: all callbacks that are pending then, in their order; callbacks that are requested in a period wait for the
 * next one. */
static void
test_lists (Fixture *f, gconstpointer data)
{
  request (f, 0, 'a', step_request, NULL);
  request (f, 0, 'm', NULL, NULL);
  request (f, 0, 'x', step_request, NULL);
  assert_ran (f, "a50m50x50");
  pass (50);
  assert_ran (f, "b50y50");
}

static void
step_post (Step *step)
{
  post_letter (step->f, BACKGROUND, '!');
}

/* Invoke, 1 and 4: other work ends the period, or comes between, and the remaining callbacks are called later. */
static void
test_more_urgent (Fixture *f, gconstpointer data)
{
  post_letter (f, BACKGROUND, '0');
  request (f, 0, 'a', step_post, NULL);
  request (f, 0, 'b', NULL, NULL);
  fixture_run (f);
  pass (50);
  fixture_run (f);
  g_assert_true (g_str_has_prefix (f->log->str, "0a50!b"));
}

/* Invoke, 2 and 3: no callback is called after the deadline; the remaining ones are the first of the next period. */
static void
test_deadline_has_passed (Fixture *f, gconstpointer data)
{
  request (f, 0, 'a', step_take, GINT_TO_POINTER (20));
  request (f, 0, 'b', step_take, GINT_TO_POINTER (30));
  request (f, 0, 'c', step_request, NULL);
  assert_ran (f, "a50b30c50");
  pass (50);
  assert_ran (f, "d50");
}

/* Invoke, 3.2: a callback whose timeout has passed is called without an idle period, and its deadline says so; until then the
 * timeout counts as a timer, too. */
static void
test_timeout (Fixture *f, gconstpointer data)
{
  request (f, 10, 'a', NULL, NULL);
  assert_ran (f, "a10");
  request (f, 5, 'b', NULL, NULL);
  assert_ran (f, "");
  pass (5);
  assert_ran (f, "b0!");
  pass (100);
  assert_ran (f, "");
}

/* Each scheduler of a context has its own lists, like a window; the period belongs to the context. */
static void
test_two_schedulers (Fixture *f, gconstpointer data)
{
  PrioScheduler *other = prio_scheduler_new (f->context);

  request (f, 0, 'a', NULL, NULL);
  prio_scheduler_request_idle_callback (other, 0, idle_step, step_new (f, 'b', NULL, NULL), step_free);
  assert_ran (f, "a50b50");
  g_object_unref (other);
}

static gpointer
post_elsewhere (gpointer data)
{
  post_letter (data, BACKGROUND, 't');
  return NULL;
}

static void
step_be_posted_to (Step *step)
{
  g_thread_join (g_thread_new ("other", post_elsewhere, step->f));
}

static gboolean
source_run (gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, 's');
  return G_SOURCE_REMOVE;
}

static gpointer
attach_elsewhere (gpointer data)
{
  Fixture *f = data;

  attach_source (f->context, G_PRIORITY_DEFAULT_IDLE, source_run, f);
  return NULL;
}

static void
step_be_attached_to (Step *step)
{
  g_thread_join (g_thread_new ("other", attach_elsewhere, step->f));
}

static void
step_set_timer (Step *step)
{
  g_autoptr (GSource) source = g_timeout_source_new (5);

  g_source_set_callback (source, source_run, step->f, NULL);
  g_source_attach (source, step->f->context);
}

static void
step_post_delayed (Step *step)
{
  prio_scheduler_post_full (step->f->scheduler, &(PrioTaskOptions) { .delay = 7 }, step_run,
                            step_new (step->f, 'd', NULL, NULL), step_free);
}

static void
step_announce_frame (Step *step)
{
  prio_scheduler_set_next_frame (step->f->scheduler, frozen_time + 12 * MS);
}

static void
step_do_nothing (Step *step)
{
}

static int pipe_fds[2];

static gboolean
drain (gint fd, GIOCondition condition, gpointer data)
{
  char byte;

  g_assert_cmpint (read (fd, &byte, 1), ==, 1);
  return source_run (data);
}

static void
step_write (Step *step)
{
  g_assert_cmpint (write (pipe_fds[1], "!", 1), ==, 1);
}

/* Asks for the remaining time before an event, right after it, and a millisecond later. */
static void
ask_before_and_after (PrioIdleDeadline *deadline, gpointer data)
{
  Step *step = data;
  double before = prio_idle_deadline_get_time_remaining (deadline), at_once;

  step->then (step);
  at_once = prio_idle_deadline_get_time_remaining (deadline);
  pass (1);
  g_string_append_printf (step->f->log, "%.0f %.0f %.0f ", before, at_once,
                          prio_idle_deadline_get_time_remaining (deadline));
}

/* An event during the callback shortens the period, and the next period need not wait for the original end. */
static void
check_falls (Fixture *f, void (*then) (Step *step), const char *expected, const char *next)
{
  prio_scheduler_request_idle_callback (f->scheduler, 0, ask_before_and_after, step_new (f, ' ', then, NULL), step_free);
  assert_ran (f, expected);
  request (f, 0, 'n', NULL, NULL);
  assert_ran (f, next);
  prio_scheduler_set_next_frame (f->scheduler, 0);
  pass (100);
  fixture_run (f);
  pass (100);
  g_string_truncate (f->log, 0);
}

static void
test_falls (Fixture *f, gconstpointer data)
{
  g_autoptr (GSource) source = NULL;

  g_assert_true (g_unix_open_pipe (pipe_fds, FD_CLOEXEC, NULL));
  source = g_unix_fd_source_new (pipe_fds[0], G_IO_IN);
  g_source_set_callback (source, G_SOURCE_FUNC (drain), f, NULL);
  g_source_set_priority (source, G_PRIORITY_LOW);
  g_source_attach (source, f->context);

  check_falls (f, step_do_nothing, "50 50 49 ", "");
  check_falls (f, step_be_posted_to, "50 0 0 t", "n50");
  check_falls (f, step_be_attached_to, "50 50 0 s", "n50");
  check_falls (f, step_write, "50 50 0 s", "n50");
  check_falls (f, step_set_timer, "50 50 0 ", "n4");
  check_falls (f, step_post_delayed, "50 7 6 ", "");
  check_falls (f, step_announce_frame, "50 12 11 ", "");
  g_source_destroy (source);
  close (pipe_fds[0]);
  close (pipe_fds[1]);
}

static void
ignore (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
}

/* A watch for long tasks looks for new sources, too, and does not end the period. */
static void
test_watched (Fixture *f, gconstpointer data)
{
  prio_scheduler_add_long_task_func (f->scheduler, 1000, ignore, NULL, NULL);
  check_falls (f, step_do_nothing, "50 50 49 ", "");
  check_falls (f, step_be_attached_to, "50 50 0 s", "n50");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define add(path, func) g_test_add ("/idle-period/" path, Fixture, NULL, frozen_set_up, func, fixture_tear_down)
  add ("start 2, 12: last_deadline", test_last_deadline);
  add ("start 5.1: timers", test_timers);
  add ("start 5.2, 5.3: frames", test_frames);
  add ("start 6: 50 ms", test_cap);
  add ("start 7 to 10: pending_list and run_list", test_lists);
  add ("invoke 1, 4: more urgent work", test_more_urgent);
  add ("invoke 2, 3: the deadline has passed", test_deadline_has_passed);
  add ("invoke 3.2: timeout", test_timeout);
  add ("several schedulers", test_two_schedulers);
  add ("events during a callback", test_falls);
  add ("events during a watch", test_watched);
  return g_test_run ();
}
