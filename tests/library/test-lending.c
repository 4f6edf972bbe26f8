/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-lending.c: a task that waits for another lends it its priority (WICG/scheduling-apis #98) */

#include "frozen-time.h"
#include "helpers.h"

static void
lending_set_up (Fixture *f, gconstpointer data)
{
  fixture_set_up (f, data);
  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
}

/* A task that logs a letter and then waits for others in turn.  It owns the tasks in @awaited that it has not waited
 * for. */
typedef struct _Job Job;

struct _Job
{
  Fixture *f;
  char letter;
  PrioTask *task;
  PrioTask *awaited[4];
  guint n_awaited;
  gboolean never_ends;
};

static Job *
job_new (Fixture *f, char letter)
{
  Job *job = g_new0 (Job, 1);

  job->f = f;
  job->letter = letter;
  return job;
}

static void
job_free (gpointer data)
{
  Job *job = data;

  for (guint i = 0; i < G_N_ELEMENTS (job->awaited); i++)
    g_clear_object (&job->awaited[i]);
  g_free (job);
}

static void
awaited_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (PrioTask) task = NULL;
  Job *job = data;

  if (--job->n_awaited > 0 || job->task == NULL)
    return;
  g_string_append_c (job->f->log, (char) g_ascii_toupper (job->letter));
  task = g_steal_pointer (&job->task);
  prio_task_return_boolean (task, TRUE);
}

static void
job_run (PrioTask *task, gpointer data)
{
  Job *job = data;

  g_string_append_c (job->f->log, job->letter);
  for (guint i = 0; i < G_N_ELEMENTS (job->awaited) && job->awaited[i] != NULL; i++)
    {
      prio_task_then (job->awaited[i], awaited_ended, job, NULL);
      job->n_awaited++;
    }
  if (job->n_awaited > 0)
    {
      prio_task_defer (task);
      job->task = g_object_ref (task);
    }
}

static PrioTask *
post_job (Fixture *f, const PrioTaskOptions *options, char letter, PrioTask *awaited)
{
  Job *job = job_new (f, letter);

  if (awaited != NULL)
    job->awaited[0] = g_object_ref (awaited);
  return prio_scheduler_post_task (f->scheduler, options, job_run, job, job_free);
}

static PrioTask *
post_at (Fixture *f, PrioTaskPriority priority, char letter, PrioTask *awaited)
{
  return post_job (f, &(PrioTaskOptions) { .priority = priority }, letter, awaited);
}

static PrioTask *
post_under (Fixture *f, PrioTaskController *controller, char letter, PrioTask *awaited)
{
  return post_job (f, &(PrioTaskOptions) { .signal = signal_of (controller) }, letter, awaited);
}

static void
test_off_nothing_changes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) low = NULL, high = NULL;

  g_assert_false (prio_scheduler_get_lends_priority (f->scheduler));
  low = post_at (f, BACKGROUND, 'l', NULL);
  post_letter (f, USER_VISIBLE, 'v');
  high = post_at (f, USER_BLOCKING, 'h', low);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hvlH");
}

static void
test_what_is_awaited_comes_first (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) other = NULL, low = NULL, high = NULL;

  other = post_at (f, BACKGROUND, 'o', NULL);
  low = post_at (f, BACKGROUND, 'l', NULL);
  post_letter (f, USER_VISIBLE, 'v');
  high = post_at (f, USER_BLOCKING, 'h', low);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hlHvo");
  g_assert_cmpint (prio_task_get_priority (low), ==, BACKGROUND);
}

/* The lending task is older than one of the tasks of the lent priority, and younger than the other. */
static void
test_it_keeps_its_age (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) low = NULL, high = NULL;

  post_letter (f, USER_VISIBLE, '1');
  low = post_at (f, BACKGROUND, 'l', NULL);
  post_letter (f, USER_VISIBLE, '2');
  high = post_job (f, &(PrioTaskOptions) { .priority = USER_VISIBLE }, 'h', low);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  fixture_run (f);
  /* The priority is lent only when the task that waits has started. */
  g_assert_cmpstr (f->log->str, ==, "12hlH");
}

static void
not_heard (GObject *source, GAsyncResult *result, gpointer data)
{
}

static void
wait_for (Step *step)
{
  prio_task_then (step->data, not_heard, NULL, NULL);
}

static void
lend_now (Fixture *f, PrioTask *low)
{
  prio_scheduler_post (f->scheduler, USER_BLOCKING, step_run, step_new (f, 'w', wait_for, low), step_free);
}

static void
test_it_is_found_in_order (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) one = NULL, two = NULL, three = NULL;

  post_letter (f, USER_BLOCKING, 'a');
  one = post_at (f, BACKGROUND, '1', NULL);
  post_letter (f, USER_BLOCKING, 'b');
  two = post_at (f, USER_VISIBLE, '2', NULL);
  three = post_at (f, BACKGROUND, '3', NULL);
  lend_now (f, three);
  lend_now (f, one);
  lend_now (f, two);
  post_letter (f, USER_BLOCKING, 'c');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "abw3w1w2c");
}

static void
test_chains (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) a = NULL, b = NULL, c = NULL, d = NULL;

  a = post_at (f, BACKGROUND, 'a', NULL);
  b = post_at (f, USER_VISIBLE, 'b', a);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "baB");
  g_string_truncate (f->log, 0);
  g_clear_object (&a);
  g_clear_object (&b);

  /* A task passes a lent priority on to tasks that it waits for, now or later. */
  a = post_at (f, BACKGROUND, 'a', NULL);
  b = post_at (f, BACKGROUND, 'b', a);
  c = post_at (f, BACKGROUND, 'c', b);
  post_letter (f, USER_VISIBLE, 'v');
  d = post_at (f, USER_BLOCKING, 'd', c);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "dcbaBCDv");
}

static void
test_the_highest_of_several (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  g_autoptr (PrioTask) low = NULL, middle = NULL, high = NULL;

  low = post_at (f, BACKGROUND, 'l', NULL);
  middle = post_at (f, USER_VISIBLE, 'm', low);
  high = post_under (f, controller, 'h', low);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  while (f->log->len < 1)
    g_main_context_iteration (f->context, TRUE);
  post_letter (f, USER_BLOCKING, 'u');
  post_letter (f, USER_VISIBLE, 'v');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hlHumMv");
}

static void
test_the_signal_of_the_lender_changes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  g_autoptr (PrioTask) low = NULL, high = NULL;

  prio_scheduler_pause (f->scheduler);
  low = post_at (f, BACKGROUND, 'l', NULL);
  high = post_under (f, controller, 'h', low);
  prio_scheduler_resume (f->scheduler);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  while (f->log->len < 1)
    g_main_context_iteration (f->context, TRUE);
  prio_task_controller_set_priority (controller, BACKGROUND, NULL);
  post_letter (f, USER_VISIBLE, 'v');
  post_letter (f, BACKGROUND, 'b');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hvlHb");

  g_string_truncate (f->log, 0);
  g_clear_object (&low);
  g_clear_object (&high);
  low = post_at (f, BACKGROUND, 'l', NULL);
  high = post_under (f, controller, 'h', low);
  post_letter (f, BACKGROUND, 'b');
  prio_scheduler_pause (f->scheduler);
  prio_scheduler_resume (f->scheduler);
  prio_task_controller_set_priority (controller, USER_VISIBLE, NULL);
  post_letter (f, BACKGROUND, 'c');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hlHbc");
}

static void
test_the_lender_is_aborted (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  g_autoptr (PrioTask) low = NULL, high = NULL;

  low = post_at (f, BACKGROUND, 'l', NULL);
  high = post_under (f, controller, 'h', low);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  while (f->log->len < 1)
    g_main_context_iteration (f->context, TRUE);
  post_letter (f, USER_VISIBLE, 'v');
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hvlH");
}

/* The entry of a borrower moves out of its group's entries, and is dropped with them. */
static void
test_the_borrower_is_aborted (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTask) before = NULL, low = NULL, after = NULL, high = NULL;

  before = post_under (f, controller, '1', NULL);
  low = post_under (f, controller, 'l', NULL);
  after = post_under (f, controller, '2', NULL);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  high = post_at (f, USER_BLOCKING, 'h', low);
  while (f->log->len < 1)
    g_main_context_iteration (f->context, TRUE);
  prio_task_controller_abort (controller, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hH");
  g_assert_cmpint (prio_task_get_state (before), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpint (prio_task_get_state (low), ==, PRIO_TASK_STATE_ABORTED);
  g_assert_cmpint (prio_task_get_state (after), ==, PRIO_TASK_STATE_ABORTED);
}

static void
test_the_borrower_changes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTask) low = NULL, middle = NULL;

  low = post_under (f, controller, 'l', NULL);
  middle = post_at (f, USER_VISIBLE, 'm', low);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  while (f->log->len < 1)
    g_main_context_iteration (f->context, TRUE);
  post_letter (f, USER_BLOCKING, '1');
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "mlM1");

  /* When the priority falls again, a lent one stays. */
  g_string_truncate (f->log, 0);
  g_clear_object (&low);
  g_clear_object (&middle);
  low = post_under (f, controller, 'l', NULL);
  prio_task_controller_set_priority (controller, BACKGROUND, NULL);
  middle = post_at (f, USER_VISIBLE, 'm', low);
  while (f->log->len < 1)
    g_main_context_iteration (f->context, TRUE);
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  prio_task_controller_set_priority (controller, BACKGROUND, NULL);
  post_letter (f, USER_VISIBLE, 'v');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "mlMv");
}

static void
test_cancelled_and_delayed (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) low = NULL, high = NULL, late = NULL, other = NULL;

  low = post_at (f, BACKGROUND, 'l', NULL);
  high = post_at (f, USER_BLOCKING, 'h', low);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  while (f->log->len < 1)
    g_main_context_iteration (f->context, TRUE);
  prio_task_cancel (low);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hH");

  g_string_truncate (f->log, 0);
  frozen_time = g_get_monotonic_time ();
  late = post_job (f, &(PrioTaskOptions) { .priority = BACKGROUND, .delay = 5 }, 'l', NULL);
  other = post_at (f, USER_BLOCKING, 'o', late);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "o");
  frozen_time += 5000;
  post_letter (f, USER_VISIBLE, 'v');
  fixture_run (f);
  frozen_time = 0;
  g_assert_cmpstr (f->log->str, ==, "olOv");
}

static void
test_cycles (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  PrioTask *ring[3], *low;
  Job *jobs[3];
  g_autoptr (PrioTask) high = NULL;

  low = post_at (f, BACKGROUND, 'l', NULL);
  for (guint i = 0; i < 3; i++)
    {
      jobs[i] = job_new (f, (char) ('1' + i));
      ring[i] = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND }, job_run, jobs[i],
                                          NULL);
    }
  for (guint i = 0; i < 3; i++)
    jobs[i]->awaited[0] = g_object_ref (ring[(i + 1) % 3]);
  /* One task of the circle waits for another task, too. */
  jobs[2]->awaited[1] = g_object_ref (low);

  high = post_under (f, controller, 'h', ring[0]);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  while (f->log->len < 4)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpstr (f->log->str, ==, "h123");
  prio_task_controller_abort (controller, NULL);
  post_letter (f, USER_VISIBLE, 'v');
  fixture_run (f);
  /* The circle does not keep a lent priority. */
  g_assert_cmpstr (f->log->str, ==, "h123vl");

  /* A different task ends it. */
  g_clear_object (&jobs[0]->task);
  prio_task_return_boolean (ring[0], TRUE);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "h123vlH32");
  for (guint i = 0; i < 3; i++)
    {
      job_free (jobs[i]);
      g_object_unref (ring[i]);
    }
  g_object_unref (low);
}

/* Each task waits for the previous one. */
static void
test_long_chain (Fixture *f, gconstpointer data)
{
  const guint length = g_test_undefined () ? 100000 : 1000;
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);
  g_autoptr (PrioTask) first = NULL, last = NULL, high = NULL;

  /* The first of the chain belongs to a scheduler that does not run yet. */
  g_autoptr (PrioScheduler) paused = prio_scheduler_new (f->context);
  Job *job = job_new (f, 'f');

  prio_scheduler_pause (paused);
  first = prio_scheduler_post_task (paused, &(PrioTaskOptions) { .priority = BACKGROUND }, job_run, job, job_free);
  last = g_object_ref (first);
  for (guint i = 0; i < length; i++)
    {
      PrioTask *next = post_at (f, BACKGROUND, '.', last);

      g_object_unref (last);
      last = next;
    }
  fixture_run (f);
  g_assert_cmpuint (f->log->len, ==, length);

  g_string_truncate (f->log, 0);
  high = post_under (f, controller, 'h', last);
  fixture_run (f);
  prio_task_controller_set_priority (controller, BACKGROUND, NULL);
  prio_task_controller_set_priority (controller, USER_VISIBLE, NULL);
  prio_task_controller_set_priority (controller, USER_BLOCKING, NULL);
  post_letter (f, USER_VISIBLE, 'v');
  prio_scheduler_resume (paused);
  fixture_run (f);
  g_assert_cmpuint (f->log->len, ==, length + 4);
  g_assert_true (g_str_has_prefix (f->log->str, "hf."));
  g_assert_true (g_str_has_suffix (f->log->str, ".Hv"));
}

static void
go_on (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (PrioTask) task = NULL;
  Job *job = data;

  prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, NULL);
  g_string_append_c (job->f->log, 'y');
  if (++job->n_awaited < 3)
    {
      prio_scheduler_yield_async (job->f->scheduler, NULL, go_on, job);
      return;
    }
  task = g_steal_pointer (&job->task);
  prio_task_return_boolean (task, TRUE);
}

static void
yield_thrice (PrioTask *task, gpointer data)
{
  Job *job = data;

  prio_task_defer (task);
  job->task = g_object_ref (task);
  g_string_append_c (job->f->log, job->letter);
  prio_scheduler_yield_async (job->f->scheduler, NULL, go_on, job);
}

/* A task's continuations keep its lent priority, until it has its result. */
static void
test_continuations (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTask) low = NULL, high = NULL;
  Job *job = job_new (f, 'l');

  low = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = BACKGROUND }, yield_thrice, job, job_free);
  post_letter (f, USER_VISIBLE, 'v');
  high = post_at (f, USER_BLOCKING, 'h', low);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hlyyyHv");
}

static void
went_on (GObject *scheduler, GAsyncResult *result, gpointer data)
{
  Fixture *f = data;

  g_string_append_c (f->log, 'y');
  g_assert_true (prio_scheduler_yield_finish (f->scheduler, result, NULL));
}

static void
yield_under_and_lower (Step *step)
{
  PrioTaskController *controller = step->data;

  prio_scheduler_yield_async (step->f->scheduler, &(PrioYieldOptions) { .signal = signal_of (controller) }, went_on, step->f);
  prio_task_controller_set_priority (controller, BACKGROUND, NULL);
}

/* A continuation keeps the priority of its task when the priority of the yield's signal falls. */
static void
test_a_continuation_whose_signal_falls (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);

  post_step (f, USER_VISIBLE, 'h', yield_under_and_lower, controller);
  post_letter (f, USER_VISIBLE, 'v');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "hyv");
}

static void
post_in_group (Step *step)
{
  g_object_unref (prio_task_group_post_task (step->data, NULL, step_run_task, step_new (step->f, 'l', NULL, NULL), step_free));
}

/* A task that is posted in a group is lent nothing until its poster waits for it. */
static void
test_a_post_in_a_group_is_no_wait (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);

  prio_scheduler_post (f->scheduler, USER_BLOCKING, step_run, step_new (f, 'p', post_in_group, group), step_free);
  post_letter (f, USER_VISIBLE, 'v');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "pvl");
}

/* The tasks of a group are tasks of its scheduler. */
static void
test_tasks_of_groups_lend (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) before = prio_task_group_new (f->scheduler, 1, USER_BLOCKING);
  g_autoptr (PrioTaskGroup) group = NULL;

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (PrioTask) low = post_at (f, BACKGROUND, 'l', NULL);
      Job *job = job_new (f, 'h');

      prio_scheduler_set_lends_priority (f->scheduler, i < 2);
      if (i == 1)
        group = prio_task_group_new (f->scheduler, 1, USER_BLOCKING);
      job->awaited[0] = g_object_ref (low);
      post_letter (f, USER_VISIBLE, 'v');
      g_object_unref (prio_task_group_post_task (i == 0 ? before : group, NULL, job_run, job, job_free));
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, i < 2 ? "hlHv" : "hvlH");
      g_string_truncate (f->log, 0);
    }
}

static void
test_the_context_goes (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  g_autoptr (PrioTask) low = NULL, high = NULL, more = NULL, deferred = NULL;
  Job *job = job_new (f, 'h');

  low = post_under (f, controller, 'l', NULL);
  job->awaited[0] = g_object_ref (low);
  high = prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING }, job_run, job, job_free);
  more = post_at (f, USER_BLOCKING, 'm', high);
  prio_scheduler_set_time_slice (f->scheduler, 0);
  while (f->log->len < 1)
    g_main_context_iteration (f->context, TRUE);
  fixture_drop_context (f);
  g_assert_cmpint (prio_task_get_state (low), ==, PRIO_TASK_STATE_ABORTED);
  /* The callback awaited_ended () will not be called. */
  deferred = g_steal_pointer (&job->task);
  prio_task_return_boolean (deferred, FALSE);
}

static void
count_notify (GObject *object, GParamSpec *pspec, gpointer data)
{
  ++*(guint *) data;
}

static void
test_the_property (Fixture *f, gconstpointer data)
{
  gboolean lends;
  guint n = 0;

  g_signal_connect (f->scheduler, "notify::lends-priority", G_CALLBACK (count_notify), &n);
  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
  g_assert_cmpuint (n, ==, 0);
  g_object_set (f->scheduler, "lends-priority", FALSE, NULL);
  g_assert_cmpuint (n, ==, 1);
  g_object_get (f->scheduler, "lends-priority", &lends, NULL);
  g_assert_false (lends);
}

#define ADD(path, function) g_test_add ("/lending/" path, Fixture, NULL, lending_set_up, function, fixture_tear_down)

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add ("/lending/off-nothing-changes", Fixture, NULL, fixture_set_up, test_off_nothing_changes, fixture_tear_down);
  ADD ("what-is-awaited-comes-first", test_what_is_awaited_comes_first);
  ADD ("it-keeps-its-age", test_it_keeps_its_age);
  ADD ("it-is-found-in-order", test_it_is_found_in_order);
  ADD ("chains", test_chains);
  ADD ("the-highest-of-several", test_the_highest_of_several);
  ADD ("the-signal-of-the-lender-changes", test_the_signal_of_the_lender_changes);
  ADD ("the-lender-is-aborted", test_the_lender_is_aborted);
  ADD ("the-borrower-is-aborted", test_the_borrower_is_aborted);
  ADD ("the-borrower-changes", test_the_borrower_changes);
  ADD ("cancelled-and-delayed", test_cancelled_and_delayed);
  ADD ("cycles", test_cycles);
  ADD ("long-chain", test_long_chain);
  ADD ("continuations", test_continuations);
  ADD ("a-continuation-whose-signal-falls", test_a_continuation_whose_signal_falls);
  ADD ("a-post-in-a-group-is-no-wait", test_a_post_in_a_group_is_no_wait);
  ADD ("tasks-of-groups-lend", test_tasks_of_groups_lend);
  ADD ("the-context-goes", test_the_context_goes);
  ADD ("the-property", test_the_property);

  return g_test_run ();
}
