/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-equals.c: tasks of one priority, of which some take turns */

#include <prio-sched-watch.h>
#include "frozen-fixture.h"

#define TURNS PRIO_TASK_OPTIONS (.takes_turns = TRUE)

/* A callback that logs its letter each time. */
typedef struct
{
  Fixture *f;
  char letter;
  guint left;
  gint64 takes; /* ms */
} Long;

static Long *
long_new (Fixture *f, char letter, guint times, gint64 takes)
{
  Long *self = g_new (Long, 1);

  *self = (Long) { f, letter, times, takes };
  return self;
}

static gboolean
call (gpointer data)
{
  Long *self = data;

  g_string_append_c (self->f->log, self->letter);
  pass (self->takes);
  return --self->left > 0;
}

static gboolean
step (PrioTask *task G_GNUC_UNUSED, gpointer data)
{
  return call (data);
}

static void
yielded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_true (prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, NULL));
  if (call (data))
    prio_scheduler_yield_async (PRIO_SCHEDULER (source), NULL, yielded, data);
  else
    g_free (data);
}

static void
begin_yielding (PrioTask *task, gpointer data)
{
  Long *self = data;

  if (call (self))
    prio_scheduler_yield_async (self->f->scheduler, NULL, yielded, g_memdup2 (self, sizeof *self));
  prio_task_return_boolean (task, TRUE);
}

static void
post_short (Fixture *f, const char *letters)
{
  for (; *letters != '\0'; letters++)
    prio_scheduler_post (f->scheduler, USER_VISIBLE, step_run, step_new (f, *letters, NULL, NULL), step_free);
}

static void
expect (Fixture *f, const char *log)
{
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, log);
  g_string_set_size (f->log, 0);
}

static void
test_a_callback_goes_on_behind_what_waits (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_post_full (f->scheduler, NULL, call, long_new (f, 'L', 3, 0), g_free);
  post_short (f, "ab");
  expect (f, "LLLab");

  prio_scheduler_post_full (f->scheduler, &TURNS, call, long_new (f, 'L', 3, 0), g_free);
  post_short (f, "ab");
  expect (f, "LabLL");
}

static void
test_two_that_take_turns_alternate (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_post_full (f->scheduler, &TURNS, call, long_new (f, 'L', 3, 0), g_free);
  prio_scheduler_post_full (f->scheduler, &TURNS, call, long_new (f, 'M', 3, 0), g_free);
  expect (f, "LMLMLM");
}

/* A step is called again until the time slice of 5 ms is over. */
static void
test_steps_go_on_behind_what_waits (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) plain = NULL, fair = NULL;

  plain = prio_scheduler_post_steps (f->scheduler, NULL, step, long_new (f, 'L', 3, 10), g_free);
  post_short (f, "ab");
  expect (f, "LLLab");

  fair = prio_scheduler_post_steps (f->scheduler, &TURNS, step, long_new (f, 'L', 3, 10), g_free);
  post_short (f, "ab");
  expect (f, "LabLL");
  g_assert_cmpint (prio_task_get_state (fair), ==, PRIO_TASK_STATE_FULFILLED);
}

static void
test_yields_inherit_that_they_take_turns (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) plain = NULL, fair = NULL;

  plain = prio_scheduler_post_task (f->scheduler, NULL, begin_yielding, long_new (f, 'L', 4, 0), g_free);
  post_short (f, "ab");
  expect (f, "LLLLab");

  fair = prio_scheduler_post_task (f->scheduler, &TURNS, begin_yielding, long_new (f, 'L', 4, 0), g_free);
  post_short (f, "ab");
  expect (f, "LabLLL");
}

static void
once (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  g_assert_true (prio_scheduler_yield_finish (NULL, result, NULL));
  step_run (data);
  step_free (data);
}

static void
then_yield_with_turns (Step *self)
{
  prio_scheduler_yield_async (self->f->scheduler, &PRIO_YIELD_OPTIONS (.takes_turns = TRUE), once,
                              step_new (self->f, 'y', NULL, NULL));
  post_short (self->f, "b");
}

static void
test_one_yield_takes_turns_by_its_options (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_post (f->scheduler, USER_VISIBLE, step_run, step_new (f, 'T', then_yield_with_turns, NULL), step_free);
  post_short (f, "a");
  expect (f, "Tayb");
}

/* A more urgent priority beats a turn. */
static void
test_what_is_more_urgent_goes_first (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.priority = USER_BLOCKING, .takes_turns = TRUE), call,
                            long_new (f, 'L', 3, 0), g_free);
  post_short (f, "ab");
  expect (f, "LLLab");
}

/* Turns work together with other options: a signal that changes its priority, a timeout, a delay, another thread. */
static void
test_turns_with_a_signal (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);

  prio_scheduler_post_full (f->scheduler,
                            &PRIO_TASK_OPTIONS (.signal = signal_of (controller), .takes_turns = TRUE), call,
                            long_new (f, 'L', 4, 0), g_free);
  post_short (f, "ab");
  prio_task_controller_set_priority (controller, USER_VISIBLE, NULL);
  expect (f, "LabLLL");
}

static void
test_turns_with_a_timeout (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTask) fair = NULL;

  fair = prio_scheduler_post_task (f->scheduler, &PRIO_TASK_OPTIONS (.timeout = 1000, .takes_turns = TRUE), begin_yielding,
                                   long_new (f, 'L', 3, 0), g_free);
  post_short (f, "ab");
  expect (f, "LabLL");
}

static void
test_turns_with_a_delay (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_post_full (f->scheduler, &PRIO_TASK_OPTIONS (.delay = 10, .takes_turns = TRUE), call,
                            long_new (f, 'L', 3, 0), g_free);
  pass (11);
  post_short (f, "ab");
  expect (f, "abLLL");
}

static void
test_turns_in_a_group (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTask) fair = NULL;

  fair = prio_task_group_post_steps (group, &TURNS, step, long_new (f, 'L', 3, 10), g_free);
  post_short (f, "ab");
  expect (f, "LabLL");
}

static void
test_turns_when_the_priority_is_lent (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
  test_yields_inherit_that_they_take_turns (f, NULL);
}

static void
test_turns_when_it_is_counted (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  prio_scheduler_start_statistics (f->scheduler);
  test_a_callback_goes_on_behind_what_waits (f, NULL);
  test_steps_go_on_behind_what_waits (f, NULL);
}

static gpointer
post_from_another_thread (gpointer data)
{
  Fixture *f = data;

  prio_scheduler_post_full (f->scheduler, &TURNS, call, long_new (f, 'L', 3, 0), g_free);
  post_short (f, "ab");
  return NULL;
}

static void
test_turns_from_another_thread (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_thread_join (g_thread_new ("poster", post_from_another_thread, f));
  expect (f, "LabLL");
}

/* A task that takes turns ranks like a new one, so a continuation of its priority is more urgent. */
static void
ask (Step *self)
{
  gboolean *asked = self->data;

  *asked = prio_scheduler_should_yield (self->f->scheduler);
}

/* Yields on another thread, and inherits nothing. */
static gpointer
yield_from_another_thread (gpointer data)
{
  Fixture *f = data;

  prio_scheduler_yield_async (f->scheduler, NULL, once, step_new (f, 'y', NULL, NULL));
  return NULL;
}

static void
yield_and_ask (Step *self)
{
  g_thread_join (g_thread_new ("yields", yield_from_another_thread, self->f));
  ask (self);
}

static void
test_it_should_yield_to_a_continuation (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  gboolean asked = FALSE;

  prio_scheduler_post_full (f->scheduler, &TURNS, step_run, step_new (f, 'T', yield_and_ask, &asked), step_free);
  fixture_run (f);
  g_assert_true (asked);

  prio_scheduler_post_full (f->scheduler, NULL, step_run, step_new (f, 'T', yield_and_ask, &asked), step_free);
  fixture_run (f);
  g_assert_false (asked);
}

/* A loop of yields of the highest priority, which must not hold up the library's internal tasks. */
typedef struct
{
  Fixture *f;
  PrioTaskSignal *signal;
  guint n;
} Loop;

static void
go_round (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Loop *self = data;

  g_assert_true (prio_scheduler_yield_finish (NULL, result, NULL));
  pass (1);
  if (++self->n < 1000 && !g_cancellable_is_cancelled (G_CANCELLABLE (self->signal)))
    prio_scheduler_yield_async (self->f->scheduler, &PRIO_YIELD_OPTIONS (.priority = USER_BLOCKING), go_round, self);
}

static void
test_a_timeout_signal_beside_a_loop_of_yields (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (PrioTaskSignal) signal = prio_task_signal_new_timeout (50);
  Loop self = { .f = f, .signal = signal };

  prio_scheduler_yield_async (f->scheduler, &PRIO_YIELD_OPTIONS (.priority = USER_BLOCKING), go_round, &self);
  fixture_run (f);
  g_assert_cmpuint (self.n, <, 60);
}

#define add(path, func) g_test_add ("/equals/" path, Fixture, NULL, frozen_set_up, func, fixture_tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add ("a-callback-goes-on-behind-what-waits", test_a_callback_goes_on_behind_what_waits);
  add ("two-that-take-turns-alternate", test_two_that_take_turns_alternate);
  add ("steps-go-on-behind-what-waits", test_steps_go_on_behind_what_waits);
  add ("yields-inherit-that-they-take-turns", test_yields_inherit_that_they_take_turns);
  add ("one-yield-takes-turns-by-its-options", test_one_yield_takes_turns_by_its_options);
  add ("what-is-more-urgent-goes-first", test_what_is_more_urgent_goes_first);
  add ("turns-with-a-signal", test_turns_with_a_signal);
  add ("turns-with-a-timeout", test_turns_with_a_timeout);
  add ("turns-with-a-delay", test_turns_with_a_delay);
  add ("turns-in-a-group", test_turns_in_a_group);
  add ("turns-when-the-priority-is-lent", test_turns_when_the_priority_is_lent);
  add ("turns-when-it-is-counted", test_turns_when_it_is_counted);
  add ("turns-from-another-thread", test_turns_from_another_thread);
  add ("it-should-yield-to-a-continuation", test_it_should_yield_to_a_continuation);
  add ("a-timeout-signal-beside-a-loop-of-yields", test_a_timeout_signal_beside_a_loop_of_yields);
  return g_test_run ();
}
