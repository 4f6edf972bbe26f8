/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-lent-counts.c: the statistics of tasks that have been lent a priority */

#include <prio-sched-bindings.h>
#include "helpers.h"
#include "statistics.h"

/* Expects these numbers of @priority, and no waiting task. */
static void
expect (Fixture *f, PrioTaskPriority priority, guint64 run, guint64 aborted)
{
  PrioTaskStatistics statistics = statistics_of (f->scheduler, priority);

  g_assert_cmpuint (statistics.n_run, ==, run);
  g_assert_cmpuint (statistics.n_aborted, ==, aborted);
  g_assert_cmpuint (statistics.n_queued, ==, 0);
}

static void
do_nothing (PrioTask *task, gpointer data)
{
}

/* The end of a task that has been lent a priority. */
typedef struct
{
  Fixture *f;
  PrioTask *low;
  PrioTaskGroup *group;
  PrioRunner *runner;
  enum { RUNS, IS_CANCELLED, LEAVES_ITS_GROUP, IS_ABORTED } end;
  PrioTaskController *controller;
} Lent;

static void
ended (GObject *source, GAsyncResult *result, gpointer data)
{
}

static void
await_low (PrioTask *task, gpointer data)
{
  Lent *lent = data;

  prio_task_then (lent->low, ended, NULL, NULL);
  if (lent->end == IS_CANCELLED)
    prio_task_cancel (lent->low);
  else if (lent->end == LEAVES_ITS_GROUP)
    prio_task_group_cancel_pending (lent->group);
  else if (lent->end == IS_ABORTED)
    prio_task_controller_abort (lent->controller, NULL);
}

static void
test_lent (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
  for (guint end = RUNS; end <= IS_ABORTED; end++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
      PrioTaskOptions low = { .signal = prio_task_controller_get_signal (controller) };
      PrioTaskOptions high = { .priority = USER_BLOCKING };
      g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
      Lent lent = { .f = f, .group = group, .end = end, .controller = controller };

      prio_scheduler_start_statistics (f->scheduler);
      if (end == LEAVES_ITS_GROUP)
        lent.low = prio_task_group_post_task (group, NULL, do_nothing, NULL, NULL);
      else
        lent.low = prio_scheduler_post_task (f->scheduler, &low, do_nothing, NULL, NULL);
      g_object_unref (prio_scheduler_post_task (f->scheduler, &high, await_low, &lent, NULL));
      fixture_run (f);
      expect (f, USER_BLOCKING, 1, 0);
      expect (f, BACKGROUND, end == RUNS, end != RUNS);
      g_object_unref (lent.low);
      prio_scheduler_stop_statistics (f->scheduler);
    }
}

static void
await_id (guint id, gpointer data)
{
  Lent *lent = data;

  for (; id != 0; id = prio_runner_next ())
    {
      if (id == 2)
        {
          guint lender = prio_runner_add_lender (lent->runner, 0, USER_BLOCKING, NULL);

          prio_runner_begin_wait_for_id (lent->runner, lender, 1);
          g_string_append_printf (lent->f->log, "%u", lender != 0);
        }
    }
}

/* The function of a runner requests it as its next task. */
static void
test_lent_id (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (BACKGROUND);
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  Lent lent = { .f = f };

  prio_scheduler_set_lends_priority (f->scheduler, TRUE);
  prio_scheduler_start_statistics (f->scheduler);
  lent.runner = prio_runner_new (f->scheduler, await_id, &lent, NULL);
  prio_runner_post_full (lent.runner, 1, PRIO_TASK_PRIORITY_UNSET, signal, 0, 0, FALSE);
  prio_runner_post_full (lent.runner, 2, USER_BLOCKING, NULL, 0, 0, FALSE);
  prio_runner_post_full (lent.runner, 3, USER_BLOCKING, NULL, 0, 0, FALSE);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "1");
  expect (f, USER_BLOCKING, 2, 0);
  expect (f, BACKGROUND, 1, 0);
  prio_runner_unref (lent.runner);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/lent-counts/task", test_lent);
  add_test ("/lent-counts/task-id", test_lent_id);

  return g_test_run ();
}
