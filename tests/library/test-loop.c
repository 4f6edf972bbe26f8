/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-loop.c: the scheduler in a main context, and contexts that are destroyed */

#include "frozen-time.h"
#include "helpers.h"

static void
attach (Fixture *f, gint priority, char letter)
{
  GSource *source = g_idle_source_new ();

  g_source_set_priority (source, priority);
  g_source_set_callback (source, step_run, step_new (f, letter, NULL, NULL), step_free);
  g_source_attach (source, f->context);
  g_source_unref (source);
}

/* The order is the order of sources in PrioScheduler's documentation. */
static void
test_lanes_among_other_sources (Fixture *f, gconstpointer data)
{
  attach (f, G_PRIORITY_DEFAULT_IDLE, 'i');
  attach (f, G_PRIORITY_HIGH, 'h');
  attach (f, G_PRIORITY_DEFAULT, 'd');
  post_letter (f, BACKGROUND, '0');
  post_letter (f, USER_BLOCKING, '2');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "h2di0");
}

/* Background tasks run when no other source is ready, in the first iteration and in later ones. */
static void
test_background_after_sources_of_low_priority (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 3; i++)
    {
      g_string_truncate (f->log, 0);
      post_letter (f, BACKGROUND, '0');
      attach (f, G_PRIORITY_LOW, 'l');
      attach (f, G_PRIORITY_DEFAULT_IDLE, 'i');
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "il0");
    }
}

static gboolean
spin (gpointer data)
{
  Step *step = data;
  gint64 end = g_get_monotonic_time () + 200;

  while (g_get_monotonic_time () < end)
    ;
  g_string_append_c (step->f->log, step->letter);
  return G_SOURCE_REMOVE;
}

/* During a flood longer than a slice, at each priority, a source of the lowest priority has its turn. */
static void
test_a_flood_lets_every_source_have_its_turn (Fixture *f, gconstpointer data)
{
  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    {
      g_string_truncate (f->log, 0);
      for (guint i = 0; i < 200; i++)
        prio_scheduler_post (f->scheduler, priority, spin, step_new (f, '.', NULL, NULL), step_free);
      attach (f, G_PRIORITY_LOW + 100, '!');
      fixture_run (f);
      g_assert_nonnull (strstr (f->log->str, ".!."));
    }
}

/* Sources of the default priority that are always ready delay urgent tasks by an iteration at most, and background
 * tasks indefinitely. */
static gboolean flood_on;

static gboolean
keep_going (gpointer data)
{
  g_string_append_c (data, 'f');
  return flood_on && ((GString *) data)->len < 100;
}

static void
test_a_flood_of_others_does_not_hold_up_urgent_tasks (Fixture *f, gconstpointer data)
{
  GSource *source = g_idle_source_new ();

  flood_on = TRUE;
  prio_scheduler_set_time_slice (f->scheduler, 60000);
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, keep_going, f->log, NULL);
  g_source_attach (source, f->context);
  g_source_unref (source);
  g_main_context_iteration (f->context, FALSE);
  post_letter (f, USER_BLOCKING, '2');
  post_letter (f, USER_VISIBLE, '1');
  post_letter (f, BACKGROUND, '0');
  fixture_run (f);

  g_assert_true (g_str_has_prefix (f->log->str, "f2f1") || g_str_has_prefix (f->log->str, "f21f"));
  g_assert_true (g_str_has_suffix (f->log->str, "f0"));
}

/* A batch, in which no time passes, is one iteration; with a slice of 0, each task is an iteration. */
static void
test_time_slices (Fixture *f, gconstpointer data)
{
  g_assert_cmpfloat (prio_scheduler_get_time_slice (f->scheduler), ==, -1);
  prio_scheduler_set_time_slice (f->scheduler, 60000);
  for (guint i = 0; i < 5; i++)
    post_letter (f, USER_VISIBLE, 'a' + i);
  frozen_time = g_get_monotonic_time ();
  g_main_context_iteration (f->context, FALSE);
  frozen_time = 0;
  g_assert_cmpstr (f->log->str, ==, "abcde");

  g_string_truncate (f->log, 0);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  for (guint i = 0; i < 5; i++)
    post_letter (f, USER_VISIBLE, 'a' + i);
  while (f->log->len < 5)
    {
      gsize before = f->log->len;

      g_main_context_iteration (f->context, FALSE);
      g_assert_cmpuint (f->log->len, <=, before + 1);
    }
}

static gboolean
ask_should_yield (gpointer data)
{
  Step *step = data;

  g_assert_false (prio_scheduler_should_yield (step->f->scheduler));
  post_letter (step->f, USER_VISIBLE, 'b');
  g_assert_false (prio_scheduler_should_yield (step->f->scheduler));
  post_letter (step->f, USER_BLOCKING, 'c');
  g_assert_true (prio_scheduler_should_yield (step->f->scheduler));
  return step_run (data);
}

static gboolean
work_until_told (gpointer data)
{
  Step *step = data;

  while (!prio_scheduler_should_yield (step->f->scheduler))
    ;
  return step_run (data);
}

static void
test_should_yield (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_time_slice (f->scheduler, 10000);
  g_assert_false (prio_scheduler_should_yield (f->scheduler));
  prio_scheduler_post (f->scheduler, USER_VISIBLE, ask_should_yield, step_new (f, 'a', NULL, NULL), step_free);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "acb");

  prio_scheduler_set_time_slice (f->scheduler, 1);
  prio_scheduler_post (f->scheduler, BACKGROUND, work_until_told, step_new (f, 'd', NULL, NULL), step_free);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "acbd");
}

/* Records how the context would poll, with nothing ready. */
static gint last_timeout;
static guint n_polls;

static gint
watch_poll (GPollFD *fds, guint n_fds, gint timeout)
{
  last_timeout = timeout;
  n_polls++;
  return g_poll (fds, n_fds, 0);
}

static void
test_sleeps_when_nothing_is_runnable (Fixture *f, gconstpointer data)
{
  g_main_context_set_poll_func (f->context, watch_poll);
  post_letter (f, BACKGROUND, 'a');
  fixture_run (f);
  g_main_context_iteration (f->context, TRUE);
  g_assert_cmpint (last_timeout, ==, -1);

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE, .delay = 1000000 }, step_run,
                            step_new (f, 'b', NULL, NULL), step_free);
  g_main_context_iteration (f->context, TRUE);
  g_assert_cmpint (last_timeout, >, 900000);
  g_assert_cmpint (last_timeout, <=, 1000000);
}

static gboolean
quit (gpointer data)
{
  g_main_loop_quit (data);
  return G_SOURCE_REMOVE;
}

static gint
count_polls (GPollFD *fds, guint n_fds, gint timeout)
{
  n_polls++;
  return pass_instead_of_sleeping (fds, n_fds, timeout);
}

/* For an hour with nothing queued, after a burst that left memory to be freed, the context polls only for the timer
 * that ends them. */
static void
test_no_wakeups_when_idle (Fixture *f, gconstpointer data)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (f->context, FALSE);
  GSource *timer;

  for (guint i = 0; i < 200000; i++)
    post_letter (f, USER_VISIBLE, 'x');
  fixture_run (f);

  frozen_time = g_get_monotonic_time ();
  timer = g_timeout_source_new_seconds (3600);
  g_main_context_set_poll_func (f->context, count_polls);
  n_polls = 0;
  g_source_set_callback (timer, quit, loop, NULL);
  g_source_attach (timer, f->context);
  g_main_loop_run (loop);
  frozen_time = 0;
  g_assert_cmpuint (n_polls, <=, 3);
  g_source_unref (timer);
}

static gboolean
post_from_a_source (gpointer data)
{
  post_letter (data, USER_VISIBLE, 'p');
  return G_SOURCE_REMOVE;
}

static gboolean
prepare_and_post (GSource *source, gint *timeout)
{
  Fixture **f = (Fixture **) (source + 1);

  *timeout = -1;
  if (*f != NULL)
    post_letter (g_steal_pointer (f), USER_VISIBLE, 'q');
  return FALSE;
}

/* After a post from another source's prepare, called after the library's, the context must not sleep. */
static void
test_posting_from_a_prepare (Fixture *f, gconstpointer data)
{
  static GSourceFuncs funcs = { prepare_and_post, NULL, NULL, NULL, NULL, NULL };
  GSource *source = g_source_new (&funcs, sizeof (GSource) + sizeof (Fixture *));

  *(Fixture **) (source + 1) = f;
  g_source_set_priority (source, G_PRIORITY_LOW + 1);
  g_source_attach (source, f->context);
  while (f->log->len == 0)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpstr (f->log->str, ==, "q");
  g_source_destroy (source);
  g_source_unref (source);
}

static void
test_posting_from_a_source (Fixture *f, gconstpointer data)
{
  GSource *source = g_timeout_source_new (1);

  g_source_set_callback (source, post_from_a_source, f, NULL);
  g_source_attach (source, f->context);
  g_source_unref (source);
  while (f->log->len == 0)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpstr (f->log->str, ==, "p");
}

static guint n_reactions_gone;

static void G_GNUC_NORETURN
never_called (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_not_reached ();
}

static void
count_gone (gpointer data)
{
  n_reactions_gone++;
}

/* A destroyed context releases all its objects, once. */
static void
test_destroyed_context_releases_what_is_pending (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  g_autoptr (PrioTask) task = NULL;
  PrioTask *settled;
  guint freed = step_n_freed;
  guint n = 1000;

  for (guint i = 0; i < n; i++)
    {
      post_letter (f, BACKGROUND + i % 3, 'x');
      post_with_signal (f, PRIO_TASK_PRIORITY_UNSET, cancellable_of (controller), 'x', NULL, NULL);
      prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND, .delay = 100000 }, step_run,
                                step_new (f, 'x', NULL, NULL), step_free);
      prio_scheduler_queue_microtask (f->scheduler, step_run_once, step_new (f, 'x', NULL, NULL), step_free);
    }
  task = prio_scheduler_post_task (f->scheduler,
                                   &(PrioTaskOptions) {
                                     .priority = USER_VISIBLE,
                                     .signal = signal_of (controller),
                                     .name = "lost",
                                   },
                                   step_run_task, step_new (f, 'x', NULL, NULL), step_free);
  prio_task_then (task, never_called, NULL, count_gone);

  /* A task that has its result, which has not been reported. */
  settled = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE }, step_run_task,
                                      NULL, NULL);
  prio_task_then (settled, never_called, NULL, count_gone);
  prio_task_cancel (settled);
  g_object_unref (settled);
  prio_scheduler_pause (f->scheduler);

  fixture_drop_context (f);

  g_assert_cmpuint (step_n_freed - freed, ==, 4 * n + 1);
  g_assert_cmpuint (n_reactions_gone, ==, 2);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_error (prio_task_get_error (task), PRIO_ERROR, PRIO_ERROR_CLOSED);
  g_assert_cmpstr (f->log->str, ==, "");

  /* The remaining objects may still be used. */
  prio_task_cancel (task);
  prio_task_then (task, never_called, NULL, count_gone);
  g_assert_cmpuint (n_reactions_gone, ==, 3);
  prio_task_controller_set_priority (controller, BACKGROUND, NULL);
  prio_task_controller_abort (controller, NULL);
}

static void
test_scheduler_may_go_before_its_tasks (Fixture *f, gconstpointer data)
{
  post_letter (f, USER_VISIBLE, 'a');
  g_clear_object (&f->scheduler);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  g_assert_null (g_main_context_find_source_by_user_data (f->context, NULL));
}

static void
drop_scheduler (Step *step)
{
  g_clear_object (&step->f->scheduler);
}

static void
test_task_that_drops_its_scheduler (Fixture *f, gconstpointer data)
{
  post_step (f, USER_VISIBLE, 'a', drop_scheduler, NULL);
  post_letter (f, USER_VISIBLE, 'b');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ab");
}

static void
quit_loop (Step *step)
{
  g_main_loop_quit (step->data);
}

static void
test_task_that_quits_the_loop (Fixture *f, gconstpointer data)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (f->context, FALSE);

  post_step (f, USER_VISIBLE, 'a', quit_loop, loop);
  g_main_loop_run (loop);
  g_assert_cmpstr (f->log->str, ==, "a");
}

/* The record without users is freed: its sources leave the context, and a new scheduler makes a new record. */
static void
test_record_goes_with_the_last_scheduler (Fixture *f, gconstpointer data)
{
  for (guint i = 0; i < 3; i++)
    {
      g_clear_object (&f->scheduler);
      fixture_run (f);
      g_assert_false (g_main_context_pending (f->context));
      f->scheduler = prio_scheduler_new (f->context);
      post_letter (f, USER_VISIBLE, 'a' + i);
      fixture_run (f);
    }
  g_assert_cmpstr (f->log->str, ==, "abc");
}

static void
test_thread_default_scheduler (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) first = prio_scheduler_ref_thread_default ();
  g_autoptr (PrioScheduler) second = prio_scheduler_ref_thread_default ();

  g_assert_true (first == second);
  g_assert_true (prio_scheduler_get_context (first) == f->context);
  g_assert_true (prio_scheduler_get_context (prio_scheduler_get_default ()) == g_main_context_default ());

  g_main_context_pop_thread_default (f->context);
  g_clear_object (&second);
  second = prio_scheduler_ref_thread_default ();
  g_assert_true (second == prio_scheduler_get_default ());
  g_main_context_push_thread_default (f->context);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/loop/lanes-among-other-sources", test_lanes_among_other_sources);
  add_test ("/loop/background-after-sources-of-low-priority", test_background_after_sources_of_low_priority);
  add_test ("/loop/turns/of-every-source", test_a_flood_lets_every_source_have_its_turn);
  add_test ("/loop/turns/of-urgent-tasks", test_a_flood_of_others_does_not_hold_up_urgent_tasks);
  add_test ("/loop/time-slices", test_time_slices);
  add_test ("/loop/should-yield", test_should_yield);
  add_test ("/loop/sleeps-when-nothing-is-runnable", test_sleeps_when_nothing_is_runnable);
  add_test ("/loop/no-wakeups-when-idle", test_no_wakeups_when_idle);
  add_test ("/loop/posting/from-a-prepare", test_posting_from_a_prepare);
  add_test ("/loop/posting/from-a-source", test_posting_from_a_source);
  add_test ("/loop/end/of-the-context", test_destroyed_context_releases_what_is_pending);
  add_test ("/loop/end/of-the-scheduler", test_scheduler_may_go_before_its_tasks);
  add_test ("/loop/end/of-the-scheduler-by-a-task", test_task_that_drops_its_scheduler);
  add_test ("/loop/end/of-the-loop-by-a-task", test_task_that_quits_the_loop);
  add_test ("/loop/end/of-the-record", test_record_goes_with_the_last_scheduler);
  add_test ("/loop/thread-default-scheduler", test_thread_default_scheduler);

  return g_test_run ();
}
